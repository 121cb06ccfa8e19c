"""Laws given by a table: any joint law of a few sites, and conditionals that no joint law has."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax, logsumexp

from maskov.errors import InputError
from maskov.laws.base import ExactLaw, as_log_table, enumerate_states, state_index
from maskov.protocols import Flags, JointLaw, Tokens
from maskov.randomness import Stream, generator


class Tabular(ExactLaw):
    """A joint law by its table of (unnormalised) log-probabilities.

    log_table: float64, shape (V,)·n, −inf where impossible; normalised here. Raises ``InputError`` on another shape, NaN or no mass.

    >>> law = Tabular(np.log([[0.1, 0.2], [0.3, 0.4]]))
    >>> round(float(np.exp(law.log_prob(np.array([[1, 0]])))[0]), 3)
    0.3
    """

    def __init__(self, log_table: ArrayLike, text: str | None = None) -> None:
        table = np.asarray(log_table, dtype=np.float64)
        _check_table(table)
        self.table = table - logsumexp(table)
        self.vocabulary_size, self.n_sites = table.shape[0], table.ndim
        self._text = text

    @property
    def text(self) -> str:
        """``table?file=…`` where it came from a file, else a digest of the table."""
        return self._text or f"table?sha256={self.digest()[:12]}"

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the table."""
        return self.digest()

    def digest(self) -> str:
        """SHA-256 of the table's bytes."""
        return hashlib.sha256(self.table.tobytes()).hexdigest()

    def log_prob(self, states: Tokens) -> NDArray[np.float64]:
        """log p(x): [B]."""
        return self.table.ravel()[state_index(states, self.vocabulary_size)]

    def log_marginal(self, states: Tokens, visible: Flags) -> NDArray[np.float64]:
        """log p_S(x_S): [B]; one pass over the table per distinct visible set."""
        out = np.empty(len(states))
        patterns, which = np.unique(visible, axis=0, return_inverse=True)
        for k, pattern in enumerate(patterns):
            hidden = tuple(np.flatnonzero(~pattern))
            marginal = logsumexp(self.table, axis=hidden) if hidden else self.table
            rows = np.flatnonzero(which.ravel() == k)
            shown = states[np.ix_(rows, np.flatnonzero(pattern))]
            out[rows] = np.ravel(marginal)[state_index(shown, self.vocabulary_size)] if pattern.any() else 0.0
        return out

    def sample(self, rng: np.random.Generator, size: int) -> Tokens:
        """Independent draws: [size, n]."""
        cells = rng.choice(self.table.size, size=size, p=np.exp(self.table.ravel()))
        return np.stack(np.unravel_index(cells, self.table.shape), axis=1).astype(np.int64)


def _check_table(table: NDArray[np.float64]) -> None:
    if table.ndim < 1 or len(set(table.shape)) != 1 or table.shape[0] < 2:
        raise InputError("table", expected="an array of shape (V, V, …, V) with V ≥ 2", came=f"shape {table.shape}")
    if np.isnan(table).any() or (table == np.inf).any():
        raise InputError("table", expected="log-probabilities below +inf", came="NaN or +inf", remedy="pass logarithms of probabilities")
    if not np.isfinite(logsumexp(table)):
        raise InputError("table", expected="some probability", came="a table without mass")


def random_tabular(vocabulary_size: int, n_sites: int, seed: int = 0, strength: float = 1.0) -> Tabular:
    """log p = strength × independent standard normals, normalised: every state possible, nothing else special.

    >>> random_tabular(3, 3).table.shape
    (3, 3, 3)
    """
    enumerate_states(vocabulary_size, n_sites)
    rng = generator(seed, stream=Stream.LAW)
    return Tabular(strength * rng.standard_normal((vocabulary_size,) * n_sites))


def read_table(path: str | Path) -> Tabular:
    """A law from ``law.npz`` with an array ``table`` (probabilities) or ``log_table``; nothing is unpickled."""
    file = Path(path)
    if not file.is_file():
        raise InputError("law file", expected="an .npz file", came=f"no file {file}")
    try:
        with np.load(file, allow_pickle=False) as data:
            arrays = {name: np.asarray(data[name], dtype=np.float64) for name in data.files}
    except (ValueError, OSError, zipfile.BadZipFile, EOFError, AttributeError, TypeError) as error:
        raise InputError("law file", expected="an .npz file of plain numbers", came=f"{file}: {error}", remedy="write it with numpy.savez(path, table=p)") from error
    if "log_table" in arrays:
        return Tabular(arrays["log_table"], text=f"table?file={path}")
    if "table" not in arrays:
        raise InputError("law file", expected="an array named table or log_table", came=f"{file} with {sorted(arrays)}")
    table = arrays["table"]
    if (table < 0).any() or abs(table.sum() - 1) > 1e-6:
        raise InputError("law file", expected="probabilities that sum to 1", came=f"sum {table.sum():.6g}, minimum {table.min():.3g}")
    with np.errstate(divide="ignore"):
        return Tabular(np.log(table), text=f"table?file={path}")


class TabularConditionals:
    """Single-site conditionals by table, from no joint law in general (``Conditionals``, not ``JointLaw``).

    log_rows: float64 [n, V^n, V]: row of site i in the context of the enumerated state x, the same for every x_i.

    >>> c = random_conditionals(3, 2, seed=1)
    >>> c.logits(np.array([[0, 1]]), np.array([0])).shape
    (1, 3)
    """

    def __init__(self, log_rows: NDArray[np.float64], text: str) -> None:
        self.log_rows = log_softmax(log_rows, axis=2)
        self.n_sites, _, self.vocabulary_size = log_rows.shape
        self.text = text

    @property
    def name(self) -> str:
        """What the command line calls it."""
        return f"law:{self.text}"

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the rows."""
        return hashlib.sha256(self.log_rows.tobytes()).hexdigest()

    def logits(self, states: Tokens, sites: Tokens) -> NDArray[np.float64]:
        """log p(v | x_{-i}): [B, V]."""
        return self.log_rows[sites, state_index(states, self.vocabulary_size)]

    def score_tokens(self, states: Tokens, sites: Tokens, tokens: Tokens) -> NDArray[np.float64]:
        """log p(v | x_{-i}) of the given v: [B, k]."""
        return np.take_along_axis(self.logits(states, sites), tokens, axis=1)

    def predict(self, states: Tokens, hidden: Flags, sites: Tokens) -> NDArray[np.float64]:
        """Single-site rows only: refuses a hidden set beyond the site itself, since nothing defines that answer."""
        if (hidden.sum(axis=1) > 1).any():
            raise InputError("hidden sites", expected="the site itself", came="more", remedy="conditionals without a joint law have no marginals")
        return self.logits(states, sites)


def random_conditionals(vocabulary_size: int, n_sites: int, seed: int = 0, strength: float = 1.0) -> TabularConditionals:
    """Independent random rows for every site and context: as incompatible as can be at this strength."""
    return perturbed(Tabular(np.zeros((vocabulary_size,) * n_sites)), strength, seed, text=f"incompatible?sites={n_sites}&symbols={vocabulary_size}&strength={strength:g}&seed={seed}")


def perturbed(law: JointLaw, strength: float, seed: int = 0, text: str | None = None) -> TabularConditionals:
    """The conditionals of a joint law plus strength × normal noise on every logit: strength 0 is compatible."""
    V, n = law.vocabulary_size, law.n_sites
    table = as_log_table(law)
    noise = generator(seed, stream=Stream.LAW).standard_normal((n, *(V,) * n))
    rows = np.empty((n, V**n, V))
    for i in range(n):
        shape = [V] * n
        context = strength * noise[i] + table
        moved = np.moveaxis(context, i, -1)  # rows over x_i for each context
        full = np.broadcast_to(np.expand_dims(moved, i), (*shape[:i], V, *shape[i + 1 :], V))
        rows[i] = full.reshape(V**n, V)
    return TabularConditionals(rows, text or f"perturbed?strength={strength:g}&seed={seed}")
