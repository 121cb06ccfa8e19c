"""What a run of single-site chains costs per unit on this machine: forwards, bytes, milliseconds a chunk.

OMP_NUM_THREADS=1 python reliability/unit_costs.py --model en-tiny --steps 400

Rates are per second of the processor, so that a busy machine makes no difference; writing a chunk is by the clock.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any


def measure(name: str, temperature: float, chains: int, steps: int, chunk: int) -> dict[str, float]:
    """One run to a store: rates, sizes, and the time that storing took."""
    import maskov as mk
    from maskov.glauber.store import Store
    from maskov.texts import bundled_texts

    model, forwards, storing = mk.load(name), 0, 0.0
    append = Store.append

    def timed(self: Store, part: Any) -> None:
        nonlocal storing
        begun = time.perf_counter()
        append(self, part)
        storing += time.perf_counter() - begun

    def note(progress: Any) -> None:
        nonlocal forwards
        forwards = progress.forwards

    Store.append = timed  # type: ignore[method-assign]
    options: dict[str, Any] = {"chains": chains, "chunk_steps": chunk, "window": 16, "temperature": temperature}
    with tempfile.TemporaryDirectory() as folder:
        out, texts = Path(folder) / "run.zarr", bundled_texts(name)
        begun, clock = time.process_time(), time.perf_counter()
        trace = mk.glauber(model, texts[:chains] if texts else None, steps=steps, out=out, progress=note, **options)
        seconds, waited = time.process_time() - begun, time.perf_counter() - clock
        files = [p.stat().st_size for p in out.rglob("*") if p.is_file()]
        changes = len(trace.changes().step)
    Store.append = append  # type: ignore[method-assign]
    updates = steps * chains
    return {
        "updates": updates,
        "updates a CPU second": updates / seconds,
        "forwards a CPU second": forwards / seconds,
        "forwards an update": forwards / updates,
        "changes an update": changes / updates,
        "bytes an update": sum(files) / updates,
        "files a chunk": len(files) / (steps / chunk),
        "ms a chunk write": 1000 * storing / (steps / chunk),
        "share of time storing": storing / waited,
    }


def main() -> None:
    """Print one column a temperature."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="en-tiny")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--chains", type=int, default=8)
    parser.add_argument("--chunk", type=int, default=80)
    parser.add_argument("--temperatures", default="0.5,1,2")
    given = parser.parse_args()
    taus = [float(t) for t in given.temperatures.split(",")]
    columns = [measure(given.model, tau, given.chains, given.steps, given.chunk) for tau in taus]
    print(f"{'temperature':24}" + "".join(f"{tau:>12g}" for tau in taus))
    for row in columns[0]:
        print(f"{row:24}" + "".join(f"{column[row]:>12.4g}" for column in columns))


if __name__ == "__main__":
    main()
