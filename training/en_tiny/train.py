"""Train en-tiny from seed weights: masked language modelling under a wall-clock budget.

    python train.py --corpus corpus.npz --seed-model FOLDER --out checkpoints --minutes 95

One run is one cosine from the peak rate to zero over the given minutes, so a slower machine makes fewer steps, not a
worse schedule. Every few minutes the averaged weights are measured on a fixed part of the held-out leads; the best are
kept.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from transformers import BertForMaskedLM

from evaluate import masked_in_turn

SHARES = {"leads": 0.62, "wordnet": 0.20, "gcide": 0.13, "moby": 0.05}
MASK, PAD, SPECIAL = 103, 0, 1000  # ids below 1000 are special or unused in this vocabulary
ROWS = {64: 96, 128: 48}
WIDE_SHARE = 0.25


def deeper(seed: BertForMaskedLM, layers: int, dropout: float) -> BertForMaskedLM:
    """The seed model, its stack of layers repeated to ``layers`` layers [Gong et al. 2019, progressive stacking]."""
    config = copy.deepcopy(seed.config)
    config.num_hidden_layers = layers
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = dropout
    model = BertForMaskedLM(config)
    weights = seed.state_dict()
    for k in range(layers):
        source = f"bert.encoder.layer.{k % seed.config.num_hidden_layers}."
        for name, value in seed.state_dict().items():
            if name.startswith(source):
                weights[name.replace(source, f"bert.encoder.layer.{k}.")] = value
    model.load_state_dict(weights)
    return model


def mask_rates(rng: np.random.Generator, rows: int) -> np.ndarray:
    """Hidden fraction of each row: 60 % at 0.15, 20 % uniform in (0.02, 0.15), 20 % uniform in (0.15, 0.55). [rows]."""
    kind = rng.random(rows)
    few, many = rng.uniform(0.02, 0.15, rows), rng.uniform(0.15, 0.55, rows)
    return np.where(kind < 0.6, 0.15, np.where(kind < 0.8, few, many))


def batches(corpus: dict[str, np.ndarray], seed: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Endless (token ids, hidden flags), int64 and bool [rows, width]; no repeats within a pass of a source."""
    rng = np.random.default_rng(seed)
    queues: dict[str, np.ndarray] = {}
    while True:
        width = 128 if rng.random() < WIDE_SHARE else 64
        counts = rng.multinomial(ROWS[width], list(SHARES.values()))
        parts = []
        for name, count in zip(SHARES, counts, strict=True):
            key = f"{name}_{width}"
            if len(queues.get(key, ())) < count:
                queues[key] = np.concatenate([queues.get(key, np.empty(0, int)), rng.permutation(len(corpus[key]))])
            parts.append(corpus[key][queues[key][:count]])
            queues[key] = queues[key][count:]
        ids = np.concatenate(parts).astype(np.int64)
        ids = ids[:, : int((ids > 0).sum(1).max())]
        hidden = (rng.random(ids.shape) < mask_rates(rng, len(ids))[:, None]) & (ids >= SPECIAL)
        yield torch.from_numpy(ids), torch.from_numpy(hidden)


def loss_of(model: BertForMaskedLM, ids: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy (nats) at the hidden positions; the decoder sees those rows only."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        states = model.bert(ids.masked_fill(hidden, MASK), attention_mask=(ids != PAD).long()).last_hidden_state
        logits = model.cls(states[hidden])
    return torch.nn.functional.cross_entropy(logits.float(), ids[hidden])


def learning_rate(progress: float, peak: float, warm: float = 0.02) -> float:
    """Linear warm-up over the first ``warm`` of the run, then a cosine to 1 % of the peak."""
    if progress < warm:
        return peak * max(progress, 1e-3) / warm
    return peak * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * (progress - warm) / (1 - warm))))


def optimizer(model: BertForMaskedLM, peak: float) -> torch.optim.AdamW:
    """AdamW with decay on matrices only."""
    decayed = [p for p in model.parameters() if p.ndim > 1]
    plain = [p for p in model.parameters() if p.ndim <= 1]
    return torch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}],
        lr=peak,
        betas=(0.9, 0.98),
        eps=1e-6,
    )


def average_into(average: BertForMaskedLM, model: BertForMaskedLM, decay: float) -> None:
    """average ← decay · average + (1 − decay) · model."""
    with torch.no_grad():
        for a, p in zip(average.parameters(), model.parameters(), strict=True):
            a.lerp_(p, 1 - decay)


def main() -> None:
    """Train, log one JSON line per measurement, keep the best averaged weights in ``--out``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--seed-model", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=95)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--peak", type=float, default=1.2e-3)
    parser.add_argument("--dropout", type=float, default=0.05)
    parser.add_argument("--every", type=float, default=6, help="minutes between measurements")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    corpus = dict(np.load(args.corpus))
    model = deeper(BertForMaskedLM.from_pretrained(args.seed_model), args.layers, args.dropout).train()
    average = copy.deepcopy(model).eval()
    steps = optimizer(model, args.peak)
    start, measured, step, tokens, best, running = time.time(), time.time(), 0, 0, math.inf, 0.0
    for ids, hidden in batches(corpus, args.seed):
        progress = (time.time() - start) / (60 * args.minutes)
        for group in steps.param_groups:
            group["lr"] = learning_rate(min(progress, 1.0), args.peak)
        loss = loss_of(model, ids, hidden)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        steps.step()
        steps.zero_grad(set_to_none=True)
        step, tokens = step + 1, tokens + int((ids != PAD).sum())
        running += (loss.item() - running) / min(step, 100)
        average_into(average, model, min(0.999, step / (step + 10)))
        if time.time() - measured < 60 * args.every and progress < 1:
            continue
        measured = time.time()
        nll, top1, _ = masked_in_turn(average, corpus["held_out"][:60].astype(np.int64))
        print(
            json.dumps(
                {
                    "seconds": round(measured - start),
                    "step": step,
                    "tokens": tokens,
                    "loss": round(running, 4),
                    "nll": round(nll, 4),
                    "top1": round(top1, 4),
                }
            ),
            flush=True,
        )
        if nll < best:
            best = nll
            average.save_pretrained(args.out)
        if progress >= 1:
            break


if __name__ == "__main__":
    main()
