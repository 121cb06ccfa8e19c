"""Speed against the loop that people write today: interleaved, one process, one thread; rewrites docs/performance.md.

python benchmarks/run.py            all shapes, about twenty minutes
python benchmarks/run.py --quick    small shapes, one to two minutes; prints, and leaves the page alone
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measure import gemm, interleaved, median_ratio, needed_operations
from ours import OurLoop
from page import SECTIONS, Row, page
from peer import PeerLawLoop, PeerLoop
from shapes import antibody, bert_base, english, ragged

from maskov.glauber.draw import draw_tokens
from maskov.glauber.precision import dtype_gap
from maskov.laws import CurieWeiss, Potts
from maskov.models import load
from maskov.protocols import State

TABLES = Path(__file__).parent / "tables.json"
PAGE = Path(__file__).parent.parent / "docs" / "performance.md"


LAWS = {
    "Curie–Weiss, n = 30, β = 4.6": CurieWeiss(30, 4.6),
    "Potts, n = 20, 10 symbols, β = 6.2": Potts(20, 10, 6.2),
}
# Temperature → sweeps of en-tiny before the clock starts, and steps of our loop in a round.
SETTLED = {0.05: (20.0, 500), 0.2: (10.0, 32), 0.5: (4.0, 16), 1.0: (1.0, 8), 2.0: (1.0, 8)}


def _ms(seconds: list[float]) -> str:
    return f"{1e3 * float(np.median(seconds)):.3g}"


def against_peer(model: Any, starts: list[State], temperature: float, rounds: int, sweeps: float, steps: int) -> Row:
    """One row of a table of networks: our loop, from where ``sweeps`` sweeps led it, in turn with the peer loop."""
    n, B, free = len(starts[0].tokens), len(starts), starts[0].free
    ours = OurLoop(model, starts, temperature)
    ours.run(max(1, round(sweeps * len(free))))
    ours.forget()
    plain = OurLoop(model, ours.present, temperature, "plain", seed=1)
    peer = PeerLoop(model.model, model.mask_token_id, ours.block, free, temperature, model.forbidden)
    loops = {
        "peer": (lambda: peer.run(1), B),
        "ours": (lambda: ours.run(steps), B * steps),
        "plain": (lambda: plain.run(1), B),
    }
    for work, _ in loops.values():
        work()
    ours.forget()
    seconds = interleaved(loops, rounds)
    forwards, changes = ours.per_update()
    return [
        f"{model.name}", str(n), str(B), f"{temperature:g}", _ms(seconds["peer"]), _ms(seconds["ours"]),
        f"**{median_ratio(seconds['peer'], seconds['ours']):.2f}**",
        f"{median_ratio(seconds['peer'], seconds['plain']):.2f}", f"{forwards:.2f}", f"{changes:.2f}",
    ]  # fmt: skip


def gemm_share(model: Any, n: int, B: int, rounds: int) -> Row:
    """How much of the machine's own product rate the rows of a batch reach, in turns."""
    starts = english(model, n, B)
    states, sites = np.stack([s.tokens for s in starts]), np.arange(B) % (n - 2) + 1
    work, operations = gemm(B * n, model.model.config.hidden_size)
    repeats = max(1, round(2e9 / operations))
    loops = {
        "gemm": (lambda: [work() for _ in range(repeats)], repeats),
        "rows": (lambda: model.logits(states, sites), B),
        "after": (lambda: [work() for _ in range(repeats)], repeats),
    }
    interleaved(loops, 1)
    seconds = interleaved(loops, rounds)
    rates = [operations * (1 / a + 1 / b) / 2 for a, b in zip(seconds["gemm"], seconds["after"], strict=True)]
    reached = [needed_operations(model.model, n) / s for s in seconds["rows"]]
    share = float(np.median(np.array(reached) / np.array(rates)))
    rate = float(np.median(rates))
    return [model.name, str(n), str(B), f"{rate / 1e9:.0f}", f"{np.median(reached) / 1e9:.0f}", f"{share:.0%}"]


def hot_overhead(model: Any, starts: list[State], rounds: int, steps: int) -> Row:
    """The lazy loop in turn with the plain one where memory never helps: the same steps of the same chains."""
    lazy, plain = (OurLoop(model, starts, 2.0, engine) for engine in ("lazy", "plain"))
    loops = {name: (lambda loop=loop: loop.run(steps), len(starts) * steps) for name, loop in
             (("lazy", lazy), ("plain", plain))}  # fmt: skip
    interleaved(loops, 2)
    lazy.forwards = lazy.changes = 0
    done, lazy_steps = lazy.done, 0
    seconds = interleaved(loops, rounds)
    lazy_steps = (lazy.done - done) * len(starts)
    own = median_ratio(seconds["lazy"], seconds["plain"]) - 1
    share = lazy.forwards / lazy_steps
    return [model.name, str(len(starts)), _ms(seconds["plain"]), _ms(seconds["lazy"]), f"{own:+.1%}", f"{share:.3f}"]


def sampling_share(model: Any, starts: list[State], rounds: int) -> Row:
    """The draw's part of a plain step."""
    B, n = len(starts), len(starts[0].tokens)
    states, sites = np.stack([s.tokens for s in starts]), np.arange(B) % (n - 2) + 1
    rows, u = model.logits(states, sites), np.random.default_rng(0).random(B)
    now = states[np.arange(B), sites]
    loops = {
        "rows": (lambda: model.logits(states, sites), B),
        "draw": (lambda: draw_tokens(rows, np.ones(B), now, u), B),
    }
    seconds = interleaved(loops, rounds)
    share = [d / (d + r) for d, r in zip(seconds["draw"], seconds["rows"], strict=True)]
    return [model.name, str(n), str(B), _ms(seconds["rows"]), _ms(seconds["draw"]), f"{np.median(share):.1%}"]


def trap(law: Any, name: str, B: int, rounds: int, steps: int) -> Row:
    """An exact law in a trap."""
    starts = [State(np.zeros(law.n_sites, np.int64), np.arange(law.n_sites))] * B
    ours, peer = OurLoop(law, starts, 1.0), PeerLawLoop(law, np.zeros((B, law.n_sites), np.int64), 1.0)
    ours.run(40_000)
    ours.forget()
    seconds = interleaved(
        {"peer": (lambda: peer.run(20), 20 * B), "ours": (lambda: ours.run(steps), steps * B)}, rounds
    )
    forwards, _ = ours.per_update()
    leave = float(np.mean([_leave(law, i) for i in range(law.n_sites)]))
    return [
        name, str(B), f"{1 / leave / law.n_sites:.0f} n", f"{1e3 * np.median(seconds['peer']) * 1e3:.3g}",
        f"{np.median(seconds['ours']) * 1e9:.3g}", f"**{median_ratio(seconds['peer'], seconds['ours']):,.0f}**",
        f"{forwards:.1e}",
    ]  # fmt: skip


def _leave(law: Any, site: int) -> float:
    row = law.logits(np.zeros((1, law.n_sites), np.int64), np.array([site]))[0]
    return float(1 - np.exp(row[0] - row.max()) / np.exp(row - row.max()).sum())


def ragged_gain(model: Any, chains: int, rounds: int) -> Row:
    """Texts of lengths 8 … 128: our plain engine with its packs, in turn with the same rows padded to the longest."""
    starts = ragged(model, chains)
    ours = OurLoop(model, starts, 1.0, "plain")
    width = max(len(s.tokens) for s in starts)
    padded = np.full((chains, width), model.pad_token_id)
    for row, s in zip(padded, starts, strict=True):
        row[: len(s.tokens)] = s.tokens
    sites, u = np.array([s.free[0] for s in starts]), np.random.default_rng(0).random(chains)
    now = padded[np.arange(chains), sites]
    loops = {
        "padded": (lambda: draw_tokens(model.logits(padded, sites), np.ones(chains), now, u), chains),
        "ours": (lambda: ours.run(1), chains),
    }
    interleaved(loops, 1)
    seconds = interleaved(loops, rounds)
    ratio = median_ratio(seconds["padded"], seconds["ours"])
    return [model.name, str(chains), _ms(seconds["padded"]), _ms(seconds["ours"]), f"**{ratio:.2f}**"]


def half_precision(model: Any, starts: list[State], rounds: int) -> Row:
    """bfloat16 rows in turn with float32 rows, and what they cost in total variation."""
    import copy

    half = copy.copy(model)
    half.__dict__.pop("last_layer", None)
    half.model = copy.deepcopy(model.model).to(torch.bfloat16)
    states, sites = np.stack([s.tokens for s in starts]), np.arange(len(starts)) % 20 + 1
    loops = {
        "float32": (lambda: model.logits(states, sites), len(starts)),
        "bfloat16": (lambda: half.logits(states, sites), len(starts)),
    }
    interleaved(loops, 1)
    seconds, gap = interleaved(loops, rounds), dtype_gap(half, model, starts[:1])
    ratio = median_ratio(seconds["float32"], seconds["bfloat16"])
    return [model.name, str(len(starts[0].tokens)), str(len(starts)), _ms(seconds["float32"]), _ms(seconds["bfloat16"]),
            f"{ratio:.2f}", f"{gap.mean.value:.2g}", f"{gap.largest.value:.2g}"]  # fmt: skip


def jobs(quick: bool) -> Iterator[tuple[str, Callable[[], Row]]]:
    """Every row of every table: its table and how to measure it."""
    tiny, rounds = load("en-tiny"), 3 if quick else 7
    start = english(tiny, 32, 64)
    yield "hot", lambda: hot_overhead(tiny, start, 2 * rounds + 1, 4)
    yield "draw", lambda: sampling_share(tiny, start, rounds)
    for (name, law), B in product(LAWS.items(), (1, 64)):
        steps = 4000 if quick else 40_000 // (1 if B == 1 else 4)
        yield "traps", partial(trap, law, name, B, rounds, steps)
    yield "ragged", lambda: ragged_gain(tiny, 64, rounds)
    yield "half", lambda: half_precision(tiny, start, rounds)
    for tau in (0.2, 1.0) if quick else SETTLED:
        sweeps, steps = (2.0, 16) if quick else SETTLED[tau]
        yield "networks", partial(against_peer, tiny, start, tau, rounds, sweeps, steps)
    yield from big_jobs(quick)
    found = None if quick else antibody(8)
    for tau in (0.2, 0.5, 1.0, 2.0) if found is not None else ():
        yield "networks", partial(against_peer, *found, tau, 5, 0.1, 4)


def big_jobs(quick: bool) -> Iterator[tuple[str, Callable[[], Row]]]:
    """Those of BERT-base."""
    base = bert_base(2 if quick else 12)
    for n, B in ((32, 1), (32, 8)) if quick else ((32, 1), (32, 8), (32, 32), (128, 1), (128, 8), (128, 32)):
        rounds = 2 if n * B > 1024 else 3 if quick or n * B > 256 else 7
        yield "networks", partial(against_peer, base, english(base, n, B), 1.0, rounds, 0.0, 3 if B == 1 else 1)
        if n * B >= 256:
            yield "gemm", partial(gemm_share, base, n, B, rounds)
    yield "draw", lambda: sampling_share(base, english(base, 32, 8), 3)
    yield "half", lambda: half_precision(base, english(base, 32, 8), 3)
    for tau in () if quick else (0.2, 0.5, 2.0):
        yield "networks", partial(against_peer, base, english(base, 32, 8), tau, 3, 0.0, 1)
    if not quick:
        yield "ragged", lambda: ragged_gain(base, 32, 2)


def measure(quick: bool, only: set[str]) -> dict[str, list[Row]]:
    """Every table; with ``only``, those tables anew and the rest as it was."""
    tables: dict[str, list[Row]] = {key: [] for key, *_ in SECTIONS}
    if only:
        before = json.loads(TABLES.read_text("utf-8"))
        tables |= {key: rows for key, rows in before.items() if key not in only}
    for key, work in jobs(quick):
        if only and key not in only:
            continue
        tables[key].append(work())
        print(f"{time.strftime('%H:%M:%S')} {key}: " + " | ".join(tables[key][-1]), flush=True)
        if not quick:
            TABLES.write_text(json.dumps(tables, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return tables


def main() -> None:
    """Measure, and write or print the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small shapes; print only")
    parser.add_argument(
        "--only", nargs="*", default=[], help="names of tables to measure anew", choices=[k for k, *_ in SECTIONS]
    )
    parser.add_argument("--render", action="store_true", help="write the page from the last run's tables")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page to write")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    tables = (
        json.loads(TABLES.read_text("utf-8")) if arguments.render else measure(arguments.quick, set(arguments.only))
    )
    if arguments.quick:
        print(page(tables))
        return
    arguments.out.write_text(page(tables), encoding="utf-8")


if __name__ == "__main__":
    main()
