"""The tables as a page."""

from __future__ import annotations

import platform
import time
from pathlib import Path

import numpy as np
import torch

Row = list[str]

PEER_HEAD = ["model", "n", "B", "τ", "peer, ms", "ours, ms", "peer/ours", "peer/plain", "rows per update", "changes"]
SECTIONS: list[tuple[str, str, list[str]]] = [
    ("networks", "Networks, against the peer loop", PEER_HEAD),
    ("gemm", "Share of the machine's product rate", ["model", "n", "B", "products, GFLOP/s", "rows, GFLOP/s", "share"]),
    ("hot", "Where memory never helps (τ = 2)", ["model", "B", "plain, ms", "lazy, ms", "overhead", "rows/update"]),
    ("draw", "The draw's share of a plain step", ["model", "n", "B", "row, ms", "draw, ms", "share"]),
    ("traps", "Traps of exact laws", ["law", "B", "hold", "peer, µs", "ours, ns", "peer/ours", "rows per update"]),
    ("ragged", "Ragged texts, 8 … 128 tokens", ["model", "B", "padded to longest, ms", "ours, ms", "padded/ours"]),
    ("half", "bfloat16 (opt-in)", ["model", "n", "B", "float32, ms", "bfloat16, ms", "ratio", "mean TV", "largest TV"]),
]  # fmt: skip


INTRODUCTION = """# Performance

Written by `python benchmarks/run.py`; do not edit. {date}, {machine}, one thread, torch {torch}, numpy {numpy}.
The machine was shared with other work, so only ratios of loops that ran in turn within one process are worth quoting:
times are processor times, medians over rounds; ratios are medians of the ratio within a round. A table is one
run's, the page may hold tables of several (`--only TABLE`).

*Peer loop*: the loop that scripts use today, written anew: one random position shared by the batch, a full forward
with logits at every position under `no_grad`, float32 softmax and `torch.multinomial`. *Ours*:
`glauber(..., engine="auto")`, each chain with its own position, float64 inverse CDF, every diagnostic of a step
recorded. *Plain*: our loop without memory. Times are per site update of one chain. *Rows per update* is the share of
steps that needed the network, *changes* the share that changed a token; both fall as chains settle, so a long run does
better than these short ones. Starts are one passage for all chains; before the clock started, en-tiny ran 20, 10, 4, 1
and 1 sweeps at τ = 0.05, 0.2, 0.5, 1, 2, the antibody model a tenth of a sweep.
"""


def page(tables: dict[str, list[Row]]) -> str:
    """The page as Markdown."""
    facts = {
        "machine": _machine(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "date": time.strftime("%Y-%m-%d"),
    }
    parts = [INTRODUCTION.format(**facts)]
    for key, title, head in SECTIONS:
        lines = ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *tables[key])]
        parts.append(f"## {title}\n\n" + "\n".join(lines) + f"\n\n{NOTES.get(key, '')}")
    return "\n".join(parts).rstrip() + "\n"


NOTES: dict[str, str] = {
    "networks": "BERT-base has random weights, hence near-uniform conditionals: it shows arithmetic, not memory.\n",
    "gemm": "Operations that a row needs (last layer and head at one site), over the rate of a product of the\n"
    "feed-forward's shape, measured before and after each batch. Softmax, norms, GELU and copies count as time only.\n",
    "hot": "Both run the same steps; the lazy loop's bookkeeping and its memory of rows are the difference. Room for\n"
    "rows grows only when dropped ones are missed: touching 180 MB of new memory at once had cost 10 % here.\n",
    "draw": "Softmax, entropy and inverse CDF in float64, one row at a time within the second-level cache; a chain\n"
    "that leaves finds its token by a CDF of two levels.\n",
    "traps": "Hold: expected steps until the trap is left. The peer loop evaluates the law at every site. In a batch\n"
    "of 64 a law's row costs next to nothing, so that the peer's step is cheap there; with a network every row\n"
    "counts, see τ = 0.05 in the first table. What is left is near its floor: by profile, of about 110 ns a step, 22\n"
    "are the random stream, 9 the site, 20 looking up and recording, the rest the events of leaving and returning.\n",
    "ragged": "Chains of near lengths share a forward (the groups minimise padding plus a forward's overhead), all\n"
    "chains one decoder. The padded side has our head and last layer too: padding is the only difference.\n",
    "half": "Total variation between the conditionals of bfloat16 and float32 at every site of the passage.\n",
}


def _machine() -> str:
    names = [line.split(":")[1].strip() for line in _cpuinfo() if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.is_file() else []
