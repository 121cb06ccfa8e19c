"""The pictures of docs/concepts.md, each from an exact law.

python examples/concepts.py --out docs/figures
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import maskov as mk
from maskov.plots.style import plain_powers

LAW = "law:curie-weiss?sites=24&beta=1"
SPECS = ["bert", "mae", "uniform", "uniform:0.3,0.8", "cosine", "0.95*bert+0.05*full"]


def pictures() -> dict[str, Any]:
    """Name → axes."""
    model = mk.load(LAW)
    meeting = mk.meeting_times(model, coupling="uniform", temperatures=[0.8, 1.0, 1.5, 3.0], n_pairs=60, max_steps=4000)
    traps = mk.find_traps(
        mk.load("law:curie-weiss?sites=12&beta=1"), temperatures=[0.3, 0.5, 1.0], starts=8, steps=5000
    )
    return {
        "meeting": meeting.plot(),
        "influence": mk.influence(model, temperatures=[0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0]).plot(),
        "dwell": traps.plot(),
        "schedules": mk.compare_schedules(SPECS, 512).plot(),
    }


def main() -> None:
    """Draw them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results"), metavar="FOLDER")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for name, ax in pictures().items():
        plain_powers(ax)
        ax.figure.savefig(out / f"concept-{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
