"""Interleaved timing: only ratios of loops that ran in turn, in one process, mean anything on a machine in use."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import torch


def interleaved(loops: dict[str, tuple[Callable[[], object], int]], rounds: int) -> dict[str, list[float]]:
    """Seconds per update of each loop, by turns. loops: name → (one piece of work, updates in it).

    Processor time of one thread: a neighbour on the machine slows it (caches, clock), but does not count as ours.
    """
    seconds: dict[str, list[float]] = {name: [] for name in loops}
    for _ in range(rounds):
        for name, (work, updates) in loops.items():
            start = time.process_time()
            work()
            seconds[name].append((time.process_time() - start) / updates)
    return seconds


def median_ratio(slow: list[float], fast: list[float]) -> float:
    """Median over rounds of the ratio within a round."""
    return float(np.median(np.array(slow) / np.array(fast)))


def gemm(rows: int, width: int) -> tuple[Callable[[], object], float]:
    """A product of a feed-forward's shape, [rows, width] × [width, 4 width], and its floating-point operations."""
    a, b, c = torch.randn(rows, width), torch.randn(width, 4 * width), torch.empty(rows, 4 * width)
    return lambda: torch.mm(a, b, out=c), 2.0 * rows * width * 4 * width


def needed_operations(model: torch.nn.Module, n: int) -> float:
    """Operations of one row of a BERT with the last layer and the head at one site: multiply-adds count two.

    A layer: 12 D² (or 4 D² + 2 D F) per token and 2 n D for scores and values; the last: 2 D² per token, the rest once.
    """
    c = model.config
    D, F = c.hidden_size, c.intermediate_size
    layer = n * (4 * D * D + 2 * D * F + 2 * n * D)
    last = n * 2 * D * D + 2 * D * D + 2 * D * F + 2 * n * D
    head = D * D + D * c.vocab_size
    return 2.0 * ((c.num_hidden_layers - 1) * layer + last + head)
