"""Held-out NLL and top-1 of a masked language model, every free token masked in turn.

python evaluate.py MODEL_FOLDER --corpus corpus.npz
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from transformers import BertForMaskedLM

MASK, PAD, CLS, SEP = 103, 0, 101, 102


@torch.inference_mode()
def masked_in_turn(model: BertForMaskedLM, rows: np.ndarray, batch: int = 128) -> tuple[float, float, np.ndarray]:
    """NLL (nats a token), top-1 share, and per-document sums (tokens, NLL, hits) float64 [documents, 3].

    rows: int64 [documents, width], padded with 0; a free token is any but [CLS], [SEP] and padding.
    """
    sums = np.zeros((len(rows), 3))
    for k, row in enumerate(rows):
        ids = torch.from_numpy(row[: int((row != PAD).sum())])
        sites = torch.nonzero((ids != CLS) & (ids != SEP)).flatten()
        for part in sites.split(batch):
            masked = ids.repeat(len(part), 1)
            masked[torch.arange(len(part)), part] = MASK
            states = model.bert(masked).last_hidden_state[torch.arange(len(part)), part]
            logp = model.cls(states).float().log_softmax(-1)
            truth = ids[part]
            nll = -logp[torch.arange(len(part)), truth].sum().item()
            hits = (logp.argmax(-1) == truth).sum().item()
            sums[k] += (len(part), nll, hits)
    tokens, nll, hits = sums.sum(0)
    return nll / tokens, hits / tokens, sums


def clustered_error(sums: np.ndarray, column: int) -> float:
    """Standard error of a ratio of sums over documents, by the delta method (documents are the independent units)."""
    tokens, values = sums[:, 0], sums[:, column]
    ratio = values.sum() / tokens.sum()
    return float(np.sqrt(((values - ratio * tokens) ** 2).sum()) / tokens.sum())


def main() -> None:
    """Print the figures of the model card."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=None)
    args = parser.parse_args()
    model = BertForMaskedLM.from_pretrained(args.model).float().eval()
    rows = np.load(args.corpus)["held_out"].astype(np.int64)[: args.documents]
    nll, top1, sums = masked_in_turn(model, rows)
    print(f"documents {len(rows)}, tokens {int(sums[:, 0].sum())}")
    print(
        f"NLL {nll:.4f} ± {clustered_error(sums, 1):.4f} nats, "
        f"top-1 {100 * top1:.2f} ± {100 * clustered_error(sums, 2):.2f} %"
    )


if __name__ == "__main__":
    main()
