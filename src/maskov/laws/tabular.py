"""Joint laws of a few sites given by their table."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from maskov.errors import InputError
from maskov.laws.base import (
    EnumerableLaw,
    check_enumerable,
    check_states,
    check_visible,
    digest,
    draw_values,
    number_text,
    state_index,
)
from maskov.protocols import Flags, Tokens
from maskov.randomness import Stream, generator


class Tabular(EnumerableLaw):
    """A joint law by its table of (unnormalised) log-probabilities.

    log_table: float64, shape (V,)·n, −inf where impossible; normalised here. Raises ``InputError`` on another shape,
    NaN, +inf or no mass.

    >>> law = Tabular(np.log([[0.1, 0.2], [0.3, 0.4]]))
    >>> round(float(np.exp(law.log_prob(np.array([[1, 0]])))[0]), 3)
    0.3
    """

    def __init__(self, log_table: ArrayLike, text: str | None = None) -> None:
        table = real_array("table", log_table)
        _check_table(table)
        self.table = table - logsumexp(table)
        self.vocabulary_size, self.n_sites = table.shape[0], table.ndim
        self._digest = digest(self.table)
        self._text = text

    @property
    def text(self) -> str:
        """``table?file=…`` where it came from a file, else a digest of the table."""
        return self._text or f"table?sha256={self._digest[:12]}"

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the table."""
        return self._digest

    def log_prob(self, states: Tokens) -> NDArray[np.float64]:
        """log p(x): [B]."""
        return self.table.ravel()[state_index(check_states(self, states), self.vocabulary_size)]

    def log_marginal(self, states: Tokens, visible: Flags) -> NDArray[np.float64]:
        """log p_S(x_S): [B]; one pass over the table per distinct visible set."""
        x = check_states(self, states)
        out = np.empty(len(x))
        patterns, which = np.unique(check_visible(x, visible), axis=0, return_inverse=True)
        for k, pattern in enumerate(patterns):
            rows = np.flatnonzero(which.ravel() == k)
            shown = x[np.ix_(rows, np.flatnonzero(pattern))]
            out[rows] = self.log_marginal_table(pattern).ravel()[state_index(shown, self.vocabulary_size)]
        return out

    def log_marginal_table(self, visible: Flags) -> NDArray[np.float64]:
        """log p_S as a table over the visible sites: shape (V,)·|S|. visible: bool [n]."""
        hidden = tuple(int(i) for i in np.flatnonzero(~np.asarray(visible)))
        return np.asarray(logsumexp(self.table, axis=hidden)) if hidden else self.table

    def sample(self, rng: np.random.Generator, size: int) -> Tokens:
        """Independent draws: [size, n]."""
        cells = draw_values(self.table.ravel(), rng.random(size))
        return np.stack(np.unravel_index(cells, self.table.shape), axis=1).astype(np.int64)


def real_array(what: str, values: Any) -> NDArray[np.float64]:
    """Values as float64; ``InputError`` where they are no real numbers."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiub":
            raise TypeError(f"values of type {array.dtype}")
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(what, expected="an array of real numbers", came=str(error)) from error


def _check_table(table: NDArray[np.float64]) -> None:
    if table.ndim < 1 or len(set(table.shape)) != 1 or table.shape[0] < 2:
        raise InputError("table", expected="an array of shape (V, V, …, V) with V ≥ 2", came=f"shape {table.shape}")
    check_enumerable(table.shape[0], table.ndim)
    if np.isnan(table).any() or (table == np.inf).any():
        came = "NaN" if np.isnan(table).any() else "+inf"
        raise InputError(
            "table", expected="log-probabilities below +inf", came=came, remedy="pass logarithms of probabilities"
        )
    if (table == -np.inf).all():
        raise InputError("table", expected="some probability", came="a table without mass")


def random_tabular(
    vocabulary_size: int, n_sites: int, seed: int = 0, concentration: float = 1.0, text: str | None = None
) -> Tabular:
    """A law drawn from the Dirichlet law on all states: every state possible, small concentrations give peaked laws.

    concentration: > 0, 1 is uniform on the simplex. Raises ``InputError`` on others and on more than 2^20 states.

    >>> random_tabular(3, 3).table.shape
    (3, 3, 3)
    """
    if not (np.isfinite(concentration) and concentration > 0):
        raise InputError("concentration", expected="a finite number above 0", came=repr(concentration))
    count = check_enumerable(vocabulary_size, n_sites)
    rng = generator(seed, stream=Stream.LAW)
    # log G(a) = log G(a + 1) + log U / a in law: no underflow to 0 at small concentrations.
    log_gamma = np.log(rng.standard_gamma(concentration + 1, count)) + np.log1p(-rng.random(count)) / concentration
    form = f"random?sites={n_sites}&symbols={vocabulary_size}&seed={seed}&concentration={number_text(concentration)}"
    return Tabular(log_gamma.reshape((vocabulary_size,) * n_sites), text=text or form)


# The largest array of a law that can be enumerated: 2^20 numbers of 16 bytes and a header.
_LARGEST_ARRAY, _MOST_ARRAYS = 16 * 2**20 + 2**16, 16
_UNREADABLE = (
    ValueError,
    MemoryError,
    OSError,
    RuntimeError,  # encrypted, or packed in a way that zipfile does not know
    zlib.error,
    zipfile.BadZipFile,
    EOFError,
    AttributeError,
    TypeError,
    KeyError,
    SyntaxError,
)


def read_table(path: str | Path) -> Tabular:
    """A law from ``law.npz`` with one array ``table`` (probabilities) or ``log_table``; nothing is unpickled.

    Raises ``InputError`` that says what is wrong with the file: absent, no archive, objects instead of numbers, another
    name, two tables, negative entries, NaN, a sum other than 1, a wrong shape.
    """
    arrays = _read_arrays(Path(path))
    found = [name for name in ("table", "log_table") if name in arrays]
    if len(found) != 1:
        came = "both" if found else f"{path} with {sorted(arrays) or 'no array'}"
        raise InputError("law file", expected="one array named table or log_table", came=came)
    values = real_array("law file", arrays[found[0]])
    log_table = values if found[0] == "log_table" else _log_of(values)
    return Tabular(log_table, text=f"table?file={path}")


def _read_arrays(file: Path) -> dict[str, NDArray[Any]]:
    try:
        if not file.is_file():
            came = f"{file}, which is a folder" if file.is_dir() else f"no file {file}"
            raise InputError("law file", expected="an .npz file", came=came)
        with file.open("rb") as stream:  # ours to close: np.load leaves it open when the archive is cut
            data = np.load(stream, allow_pickle=False)
            if isinstance(data, np.ndarray):
                remedy = "numpy.savez(path, table=p)"
                raise InputError("law file", expected="an .npz archive", came="a single array", remedy=remedy)
            _check_sizes(data.zip.infolist())
            return {name: data[name] for name in data.files}
    except _UNREADABLE as error:
        reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise InputError(
            "law file",
            expected="an .npz file of plain numbers",
            came=f"{str(file)!r} ({reason})",
            remedy="write it with numpy.savez(path, table=p)",
        ) from error


def _check_sizes(members: list[zipfile.ZipInfo]) -> None:
    """``ValueError`` before anything unpacks to more than a law may have; zipfile stops at the size that it is told."""
    if len(members) > _MOST_ARRAYS or any(member.file_size > _LARGEST_ARRAY for member in members):
        raise ValueError(f"more than {_MOST_ARRAYS} arrays, or one of more than {_LARGEST_ARRAY >> 20} MiB")


def _log_of(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms of a table of probabilities."""
    if np.isnan(table).any():
        raise InputError("law file", expected="probabilities", came="NaN")
    if table.size == 0 or (table < 0).any():
        raise InputError(
            "law file", expected="probabilities", came="a negative one" if table.size else "an empty table"
        )
    if not abs(float(table.sum()) - 1) <= 1e-6:
        raise InputError(
            "law file",
            expected="probabilities that sum to 1",
            came=f"a sum of {table.sum():.6g}",
            remedy="divide by the sum, or store log_table, which need not be normalised",
        )
    with np.errstate(divide="ignore"):
        return np.log(table)
