"""How often a step of single-site Gibbs sampling changes a token: the short mixing facts of the card.

python gibbs.py MODEL_FOLDER --corpus corpus.npz
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from maskov.glauber import glauber
from maskov.models import load
from maskov.protocols import State

TEMPERATURES = (0.2, 0.5, 1.0, 1.5, 2.0)
SPECIAL = (0, 100, 101, 102, 103)


def starts(held_out: np.ndarray, leads: int, sites: int) -> list[State]:
    """The first ``sites`` tokens of the first ``leads`` held-out leads without [UNK], as states [CLS] … [SEP]."""
    long = held_out[(held_out > 0).sum(1) >= sites + 2]
    chosen = long[~np.isin(long[:, 1 : sites + 1], SPECIAL).any(1)]
    states = [np.concatenate([row[: sites + 1], [102]]).astype(np.int64) for row in chosen[:leads]]
    return [State(tokens, np.arange(1, sites + 1)) for tokens in states]


def change_shares(
    model: str, held_out: np.ndarray, leads: int = 8, sites: int = 40, sweeps: int = 20
) -> dict[str, object]:
    """Share of steps that change a token in the second half of the chains, mean and standard error over starts.

    held_out: ids [documents, width]; one chain a start and temperature, ``sweeps`` sweeps of ``sites`` steps each.
    """
    trace = glauber(load(model), starts(held_out, leads, sites), temperature=list(TEMPERATURES), sweeps=sweeps, seed=0)
    changed = trace.series["changed"]
    late = changed[len(changed) // 2 :].mean(0)
    rows = {str(t): late[trace.temperatures == t] for t in TEMPERATURES}
    share = {t: [round(float(r.mean()), 3), round(float(r.std(ddof=1) / np.sqrt(len(r))), 3)] for t, r in rows.items()}
    return {"starts": leads, "sites": sites, "sweeps": sweeps, "changed": share}


def main() -> None:
    """Print the shares as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--corpus", type=Path, required=True)
    args = parser.parse_args()
    print(json.dumps(change_shares(str(args.model), np.load(args.corpus)["held_out"])))


if __name__ == "__main__":
    main()
