"""Views: laws as models of texts, and any conditionals at another temperature."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.laws.base import MOST_STATES, EnumerableLaw, as_log_table, digest
from maskov.models.text import check_text
from maskov.protocols import Flags, Floats, JointLaw, State, Tokens

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


class LawModel:
    """A law (joint, or conditionals only) as a ``TextModel``: a state is written as its symbols, every site is free.

    law: a ``JointLaw``, or conditionals with ``vocabulary_size`` and ``n_sites``; what it lacks is derived from
    ``log_prob`` and ``log_marginal``. name: default ``law.name``; symbols: one character each, default 0–9, a–z for up
    to 36 symbols, beyond that numbers with commas.

    >>> from maskov.laws import law
    >>> model = LawModel(law("curie-weiss?sites=3&beta=1"), symbols="-+")
    >>> model.decode(model.encode("-+-").tokens)
    '-+-'
    """

    architecture = "exact law"

    def __init__(self, law: Any, name: str | None = None, symbols: Sequence[str] | None = None) -> None:
        for need in ("vocabulary_size", "n_sites"):
            if not hasattr(law, need):
                raise InputError("law", expected=f"a law with {need}", came=type(law).__name__)
        self.law = law
        self.vocabulary_size: int = int(law.vocabulary_size)
        self.n_sites: int = int(law.n_sites)
        self.name = name or str(getattr(law, "name", f"law:{type(law).__name__}"))
        self._rows: Any = law if hasattr(law, "logits") else _FromJoint(law)
        self._symbols = _check_symbols(symbols, self.vocabulary_size)
        self.fingerprint = _law_fingerprint(law)

    def logits(self, states: Tokens, sites: Tokens) -> NDArray[np.float64]:
        """The law's own row: float64 [B, V]."""
        return np.asarray(self._rows.logits(states, sites), dtype=np.float64)

    def score_tokens(self, states: Tokens, sites: Tokens, tokens: Tokens) -> NDArray[np.float64]:
        """The law's own scores: float64 [B, k]."""
        if hasattr(self._rows, "score_tokens"):
            return np.asarray(self._rows.score_tokens(states, sites, tokens), dtype=np.float64)
        return np.take_along_axis(self.logits(states, sites), tokens, axis=1)

    def predict(self, states: Tokens, hidden: Flags, sites: Tokens) -> NDArray[np.float64]:
        """The law's own row given a visible set: float64 [B, V]. Conditionals without it hide the site alone."""
        if hasattr(self._rows, "predict"):
            return np.asarray(self._rows.predict(states, hidden, sites), dtype=np.float64)
        if (hidden.sum(axis=1) != 1).any() or not hidden[np.arange(len(states)), sites].all():
            raise InputError(f"model {self.name}", expected="the site alone hidden", came="several hidden sites")
        return self.logits(states, sites)

    def encode(self, text: str) -> State:
        """The state that a string of symbols names."""
        text = check_text(text).strip()
        parts = [part.strip() for part in text.split(",")] if self._symbols is None else list(text)
        tokens = [self._token(part) for part in parts]
        remedy = f"the states of {self.name} are written that way"
        if len(tokens) != self.n_sites:
            came = f"{len(tokens)} in {text[:60]!r}"
            raise InputError("text", expected=f"{self.n_sites} symbols of {self._alphabet}", came=came, remedy=remedy)
        if None in tokens:
            wrong = parts[tokens.index(None)][:20]
            raise InputError("text", expected=f"symbols of {self._alphabet}", came=repr(wrong), remedy=remedy)
        return State(np.array(tokens, dtype=np.int64), np.arange(self.n_sites, dtype=np.int64))

    def decode(self, tokens: Tokens) -> str:
        """The string of a state."""
        return ("," if self._symbols is None else "").join(self.token_text(int(token)) for token in tokens)

    def token_text(self, token: int) -> str:
        """One symbol."""
        if not 0 <= token < self.vocabulary_size:
            return f"<{token}>"
        return str(token) if self._symbols is None else self._symbols[token]

    def _token(self, symbol: str) -> int | None:
        if self._symbols is not None:
            return self._symbols.index(symbol) if symbol in self._symbols else None
        token = int(symbol) if re.fullmatch(r"\d{1,9}", symbol, re.ASCII) else self.vocabulary_size
        return token if token < self.vocabulary_size else None

    @property
    def _alphabet(self) -> str:
        if self._symbols is None:
            return f"0 … {self.vocabulary_size - 1}, with commas"
        return f"{self._symbols[0]} … {self._symbols[-1]}"


class Tempered:
    """Conditionals at temperature τ: rows, scores and predictions divided by τ; the codec of the model, if it has one.

    τ = 1 is the model itself; a joint law's tempered conditionals are those of p^{1/τ} for single sites.

    >>> from maskov.laws import law
    >>> model = LawModel(law("curie-weiss?sites=3&beta=1"))
    >>> x, i = np.zeros((1, 3), dtype=np.int64), np.zeros(1, dtype=np.int64)
    >>> bool(np.allclose(Tempered(model, 2.0).logits(x, i), model.logits(x, i) / 2))
    True
    """

    def __init__(self, conditionals: Any, temperature: float) -> None:
        if not (isinstance(temperature, (int, float)) and math.isfinite(temperature) and temperature > 0):
            raise InputError("temperature", expected="a number above 0", came=str(temperature))
        self.inner, self.temperature = conditionals, float(temperature)

    def __getattr__(self, attribute: str) -> Any:
        # Codec, sizes and forbidden tokens are the model's own; log_prob would be another law's.
        if attribute.startswith("_") or attribute == "inner" or attribute.startswith("log_"):
            raise AttributeError(attribute)
        return getattr(self.inner, attribute)

    @property
    def vocabulary_size(self) -> int:
        """V."""
        return int(self.inner.vocabulary_size)

    @property
    def fingerprint(self) -> str:
        """The model's, with the temperature."""
        return f"{getattr(self.inner, 'fingerprint', type(self.inner).__name__)}@{self.temperature!r}"

    def logits(self, states: Tokens, sites: Tokens) -> Floats:
        """s_i(v; x_{-i}) / τ: [B, V]."""
        return np.asarray(self.inner.logits(states, sites)) / self.temperature

    def score_tokens(self, states: Tokens, sites: Tokens, tokens: Tokens) -> Floats:
        """Scores / τ: [B, k]."""
        return np.asarray(self.inner.score_tokens(states, sites, tokens)) / self.temperature

    def predict(self, states: Tokens, hidden: Flags, sites: Tokens) -> Floats:
        """The row given a visible set, / τ: [B, V]."""
        return np.asarray(self.inner.predict(states, hidden, sites)) / self.temperature

    def in_float64(self) -> Tempered:
        """The same with rows in float64: a law's own are already."""
        if not hasattr(self.inner, "in_float64"):
            return self
        return Tempered(self.inner.in_float64(), self.temperature)


class _FromJoint(EnumerableLaw):
    """Rows of a joint law that gives ``log_prob`` and ``log_marginal`` only."""

    def __init__(self, law: JointLaw) -> None:
        for need in ("log_prob", "log_marginal"):
            if not hasattr(law, need):
                raise InputError("law", expected="logits, or log_prob and log_marginal", came=f"no {need}")
        self.law, self.vocabulary_size, self.n_sites = law, law.vocabulary_size, law.n_sites

    def log_prob(self, states: Tokens) -> NDArray[np.float64]:
        return self.law.log_prob(states)

    def log_marginal(self, states: Tokens, visible: Flags) -> NDArray[np.float64]:
        return self.law.log_marginal(states, visible)


def _check_symbols(symbols: Sequence[str] | None, vocabulary_size: int) -> list[str] | None:
    """One distinct visible character per symbol, or None where numbers with commas are used."""
    if symbols is None:
        return list(_DIGITS[:vocabulary_size]) if vocabulary_size <= len(_DIGITS) else None
    letters = list(symbols)
    distinct = len(set(letters)) == vocabulary_size == len(letters)
    if not distinct or any(len(s) != 1 or s.isspace() for s in letters):
        expected = f"{vocabulary_size} different visible characters"
        raise InputError("symbols", expected=expected, came=repr("".join(letters)[:60]))
    return letters


def _law_fingerprint(law: Any) -> str:
    """The law's own, its canonical text, or a hash of its table or arrays."""
    for attribute in ("fingerprint", "text"):
        if isinstance(getattr(law, attribute, None), str):
            return str(getattr(law, attribute))
    name = type(law).__name__
    if hasattr(law, "log_prob") and law.n_sites * math.log2(max(2, law.vocabulary_size)) <= math.log2(MOST_STATES):
        return f"{name} {digest(as_log_table(law))}"
    kinds = (np.ndarray, int, float, str)
    fields = sorted(((key, value) for key, value in vars(law).items() if isinstance(value, kinds)), key=lambda f: f[0])
    return f"{name} {[key for key, _ in fields]} {digest(*(np.asarray(value) for _, value in fields))}"
