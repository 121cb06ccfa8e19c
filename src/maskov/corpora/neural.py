"""A small network: hashed runs of tokens into a bag of embeddings, one hidden layer (scikit-learn's MLP).

The first layer of an MLP on counts *is* a sum of embeddings, so a bag-of-embeddings network needs no torch. What it
adds to naive Bayes: a posterior that is not a sum over tokens, such as under signals whose strength varies from
document to document.
"""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.corpora.naive_bayes import run_buckets
from maskov.corpora.subsets import Seen

HASHED = 1 << 13
HIDDEN = 16
EPOCHS = 8
MOST_ROWS = 8000
SMALLEST = 1e-13
_BATCH = 500


def have_network() -> bool:
    """Whether scikit-learn is installed."""
    return importlib.util.find_spec("sklearn") is not None


def hashed_counts(seen: Seen, orders: int) -> Any:
    """Counts of tokens and of whole runs up to ``orders`` in 2^13 buckets, over √v: a sparse matrix [n, 2^13]."""
    from scipy.sparse import csr_matrix

    n, v = seen.tokens.shape
    table = csr_matrix((n, HASHED), dtype=np.float32)
    for order in range(1, min(orders, v) + 1):  # one order after the other: together they would need a gigabyte
        buckets = run_buckets(seen.tokens, order, HASHED).astype(np.int32)
        whole = seen.positions[:, order - 1 :] - seen.positions[:, : v - order + 1] == order - 1
        rows = np.repeat(np.arange(n, dtype=np.int32), whole.sum(axis=1))
        columns = buckets[whole]
        table = table + csr_matrix((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=(n, HASHED))
    table.data /= np.float32(np.sqrt(v))
    return table


def fit_network(table: Any, modes: NDArray[np.int64], weight: NDArray[np.float64], seed: int) -> Any:
    """An MLP fitted to rows of ``hashed_counts``, 8,000 at most. modes: [n]; weight: [n]. A few epochs of Adam."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    if len(modes) > MOST_ROWS:
        few = np.random.Generator(np.random.Philox(seed)).permutation(len(modes))[:MOST_ROWS]
        table, modes, weight = table[few], modes[few], weight[few]
    net = MLPClassifier(
        (HIDDEN,),
        batch_size=min(_BATCH, len(modes)),
        learning_rate_init=0.01,
        max_iter=EPOCHS,
        random_state=seed % 2**32,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a fixed number of epochs is what is asked for
        return net.fit(table, modes, sample_weight=weight / weight.mean())


def network_scores(net: Any, table: Any, K: int) -> NDArray[np.float64]:
    """log q(z | x) of the network: [n, K]."""
    q = net.predict_proba(table)
    out = np.full((len(q), K), np.log(SMALLEST))
    out[:, net.classes_] = np.log(np.maximum(q, SMALLEST))
    return out
