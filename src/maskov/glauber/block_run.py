"""Block heat-bath chains: what a user calls."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from maskov.glauber.run import Progress, glauber
from maskov.glauber.trace import Trace
from maskov.schedules import Schedule


def block_glauber(
    model: Any,
    starts: Sequence[Any] | None = None,
    *,
    schedule: str | Schedule,
    temperature: float | Sequence[float] = 1.0,
    steps: int | None = None,
    sweeps: float | None = None,
    seed: int = 0,
    chains: int | None = None,
    out: str | os.PathLike[str] | None = None,
    refill: str = "auto",
    clamp: str | None = None,
    resume: bool = False,
    window: int | None = None,
    command: str = "",
    progress: Callable[[Progress], None] | None = None,
) -> Trace:
    """Block heat-bath dynamics: a step keeps S ~ schedule and resamples the other free sites given x_S.

    P = E_S Π_S, Π_S f = E[f | x_S]: for a joint law at τ = 1 reversible with p as stationary law, and ``hide:1`` is
    single-site Glauber dynamics (the same law; not the same trajectory, since the sets have a stream of their own).

    model: a law, or any ``MaskedPredictor`` with a codec; schedule: of the visible sets of the free sites ("hide:3",
    "0.95*bert+0.05*full", …); steps: block updates of every chain, or sweeps: until each site was drawn that often on
    average; refill: "joint" (one exact draw of the block from a law of at most 2^20 states; p^{1/τ} is stationary),
    "sequential" (site by site in random order, the rest of the block masked: one row a hidden site), or "auto", joint
    for laws of up to 2^16 states. The rest as for ``glauber``. In the trace, ``changed`` is the mean number of sites
    that a step changes and ``entropy`` that of the whole block (nats); sequential refills leave ``stay`` and
    ``production`` NaN. docs/block.md says what is known of the stationary law.

    >>> from maskov.laws import law
    >>> trace = block_glauber(law("product?sites=8&gap=0.4&weight=0.3"), schedule="0.5*hide:1+0.5*full", steps=20)
    >>> trace.manifest.scan, trace.steps
    ('0.5*hide:1+0.5*full (joint)', 20)
    """
    return glauber(
        model,
        starts,
        temperature=temperature,
        steps=steps,
        sweeps=sweeps,
        seed=seed,
        chains=chains,
        out=out,
        clamp=clamp,
        resume=resume,
        window=window,
        command=command,
        progress=progress,
        scan=schedule,
        refill=refill,
    )
