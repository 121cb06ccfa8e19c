"""What a model, a law and a schedule are: the one page to read first.

Every tool asks for the weakest of these views, so BERT, GPT-2 and a table of 27 states come in by the same door:

    TokenScores      score a few given tokens at a site (enough for rectangles; causal models stop here)
    Conditionals     the whole row s_i(· ; x_{-i}) at a site (enough for chains, influence, traps)
    MaskedPredictor  the row at a site with any set of sites hidden (enough for schedules and block chains)
    JointLaw         log p(x) and every marginal (exact; gives all of the above)
    MaskSchedule     a law of visible sets
    Codec            text <-> state
    TextModel        MaskedPredictor + Codec: what a chain on texts needs

Shapes: B chains or rows, L columns of a state (special tokens included), n free sites, V vocabulary.
A *site* argument is a column of ``states``. Rows are unnormalised log-weights (nats) at temperature 1; a token that
must never be written has −inf. A row at site i must not depend on x_i.
``maskov.conformance`` checks these laws on any implementation.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Tokens = NDArray[np.int64]
Floats = NDArray[np.floating]
Flags = NDArray[np.bool_]


class State(NamedTuple):
    """A state of a chain: what the model reads, and which columns may change.

    tokens: int64 [L], special tokens included; free: int64 [n] columns that may change, ascending.
    """

    tokens: Tokens
    free: Tokens


@runtime_checkable
class TokenScores(Protocol):
    """Log-weights of given tokens at a site, up to one constant per row."""

    @property
    def vocabulary_size(self) -> int:
        """V."""
        ...

    def score_tokens(self, states: Tokens, sites: Tokens, tokens: Tokens) -> Floats:
        """log p(v | x_{-i}) + constant(row) for the given tokens.

        states: [B, L]; sites: [B]; tokens: [B, k]. Result: float [B, k], nats.
        """
        ...


@runtime_checkable
class Conditionals(TokenScores, Protocol):
    """Single-site conditionals p(x_i | x_{-i}) as rows of logits."""

    def logits(self, states: Tokens, sites: Tokens) -> Floats:
        """s_i(v; x_{-i}) for every v. states: [B, L]; sites: [B]. Result: float [B, V], nats, −inf where forbidden."""
        ...


@runtime_checkable
class MaskedPredictor(Conditionals, Protocol):
    """Conditionals given any visible set: p(x_i | x_S)."""

    def predict(self, states: Tokens, hidden: Flags, sites: Tokens) -> Floats:
        """Row at ``sites`` with every site of ``hidden`` masked (the site itself must be among them).

        states: [B, L]; hidden: bool [B, L]; sites: [B]. Result: float [B, V], nats.
        """
        ...


@runtime_checkable
class JointLaw(Protocol):
    """A law on [V]^n known exactly, in float64 log space."""

    @property
    def vocabulary_size(self) -> int:
        """V."""
        ...

    @property
    def n_sites(self) -> int:
        """n."""
        ...

    def log_prob(self, states: Tokens) -> NDArray[np.float64]:
        """log p(x). states: [B, n]. Result: [B], nats."""
        ...

    def log_marginal(self, states: Tokens, visible: Flags) -> NDArray[np.float64]:
        """log p_S(x_S), S the true columns of ``visible``. states: [B, n]; visible: bool [B, n]. Result: [B], nats."""
        ...

    def sample(self, rng: np.random.Generator, size: int) -> Tokens:
        """Independent draws: int64 [size, n]."""
        ...


@runtime_checkable
class MaskSchedule(Protocol):
    """A law of visible sets S ⊆ {1..N}."""

    def visible_law(self, length: int) -> NDArray[np.float64]:
        """P(|S| = v) for v = 0 … N: float64 [N + 1], sums to 1."""
        ...

    def sample_visible(self, length: int, size: int, rng: np.random.Generator) -> Flags:
        """Visible sets: bool [size, N], true where visible."""
        ...


@runtime_checkable
class Codec(Protocol):
    """Text <-> state, and what is needed to name the model in a record."""

    @property
    def name(self) -> str:
        """The string that loads it."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hash of everything that the answers depend on (weights, tokenizer, law parameters)."""
        ...

    def encode(self, text: str) -> State:
        """The state of a text; raises ``InputError`` on text that the model cannot hold."""
        ...

    def decode(self, tokens: Tokens) -> str:
        """The text of a state's tokens [L]; special tokens are left out."""
        ...

    def token_text(self, token: int) -> str:
        """One token as a person reads it."""
        ...


@runtime_checkable
class TextModel(MaskedPredictor, Codec, Protocol):
    """Conditionals of texts: what ``maskov.load`` returns."""
