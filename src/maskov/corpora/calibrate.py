"""Calibration: from scores of any origin to a posterior that has learned, on held-out documents, how far to trust
them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp

Floats = NDArray[np.float64]
RIDGE = 1e-6
SMALLEST_SCALE = 0.1


class Calibrator(NamedTuple):
    """log q(z | x) = Σ_c slope_c F_cz + bias_z + log w_z − const. slope: [C], per unit of ``scale`` [C]; bias: [K]."""

    slope: Floats
    bias: Floats
    scale: Floats
    log_weights: Floats

    def log_posterior(self, scores: Floats) -> Floats:
        """log q(z | x): [n, K], from scores [n, C, K]."""
        logits = np.tensordot(scores, self.slope / self.scale, axes=(1, 0)) + self.bias + self.log_weights
        return np.asarray(logits - logsumexp(logits, axis=1, keepdims=True))


def fit_calibrator(scores: Floats, modes: NDArray[np.int64], weight: Floats, log_weights: Floats) -> Calibrator:
    """One slope a channel and one bias a mode that minimise the weighted log loss (Platt 1999; for one channel and two
    modes it is his sigmoid, for K modes a temperature with biases).

    scores: [n, C, K]; modes: int64 [n]; weight: [n], sums to 1; log_weights: [K], log w. As in Platt's paper the
    targets are (n_z + 1)/(n_z + 2) in place of 1, n_z the rows of the mode, so that rows without one error do not earn
    boundless confidence.
    """
    _, C, K = scores.shape
    # A score that is nearly always 0 (runs of bytes in a thin subset) must not be blown up where it isn't.
    scale = np.maximum(scores.std(axis=(0, 2)), SMALLEST_SCALE)
    F = scores / scale[:, None]
    target = np.eye(K)[modes]
    miss = (1 / (np.bincount(modes, minlength=K) + 2))[modes, None]
    target = target * (1 - miss) + (1 - target) * miss / (K - 1)

    def loss(theta: Floats) -> tuple[float, Floats]:
        slope, bias = theta[:C], theta[C:]
        logits = np.tensordot(F, slope, axes=(1, 0)) + bias + log_weights
        log_q = logits - logsumexp(logits, axis=1, keepdims=True)
        value = -float((weight[:, None] * target * log_q).sum()) + RIDGE * float(theta @ theta)
        gap = weight[:, None] * (np.exp(log_q) - target)
        gradient = np.concatenate([np.einsum("nk,nck->c", gap, F), gap.sum(axis=0)])
        return value, gradient + 2 * RIDGE * theta

    start = np.concatenate([np.ones(C) / C, np.zeros(K)])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    return Calibrator(found[:C], found[C:], scale, log_weights)
