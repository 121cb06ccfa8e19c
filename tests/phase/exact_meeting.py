"""Exact meeting times of the monotone coupling on Curie–Weiss from all plus and all minus."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def survival(n: int, beta: float, steps: int) -> np.ndarray:
    """P(T > t), t = 0 … steps.

    Both chains have x ≥ y at every site, so (a, d) = (pluses of y, sites that differ) is a Markov chain: at a site the
    spins become + with chances of each chain's own field, by one uniform. A pair conditional given the other n − 1
    spins is 1/(1 + e^{−2βS/n}), S the sum of the others.
    """
    index = {(a, d): k for k, (a, d) in enumerate((a, d) for d in range(1, n + 1) for a in range(n - d + 1))}
    rows, cols, values = [], [], []

    def up(pluses: int) -> float:
        return 1 / (1 + np.exp(-2 * beta * (2 * pluses - (n - 1)) / n))

    for (a, d), k in index.items():
        for kind, count in (("both", a), ("differ", d), ("neither", n - a - d)):
            if not count:
                continue
            below = a - (kind == "both")
            above = a + d - (kind != "neither")
            p_low, p_high = up(below), up(above)
            to = {
                (below + 1, above - below): p_low,
                (below, above - below + 1): p_high - p_low,
                (below, above - below): 1 - p_high,
            }
            for target, p in to.items():
                if target in index:
                    rows.append(k), cols.append(index[target]), values.append(count / n * p)
    kernel = sparse.csr_matrix((values, (rows, cols)), shape=(len(index), len(index)))
    state, out = np.zeros(len(index)), [1.0]
    state[index[0, n]] = 1.0
    for _ in range(steps):
        state = state @ kernel
        out.append(float(state.sum()))
    return np.array(out)
