"""A small transformer, trained as masked language models are: cross-entropy at the hidden sites, Adam (needs torch).

Symbols 0 … V − 1 and a mask token; learned positions; pre-norm encoder layers; a row of V logits at every site.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.learning.modes import Modes
from maskov.learning.problems import Counted, Masked
from maskov.learning.tabular import SPREAD
from maskov.protocols import Flags, Tokens

Floats = NDArray[np.float64]
WIDTH, HEADS, LAYERS = 32, 2, 2
ROWS_AT_ONCE = 4096


class Tensors(NamedTuple):
    """Problems as tensors. inputs: [R, N] with the mask token; targets: [R, N]; hidden: [R, N]; weight: [R]."""

    inputs: Any
    targets: Any
    hidden: Any
    weight: Any


def torch_module() -> Any:
    """torch, imported where it is used; ``InputError`` where it is not installed."""
    try:
        import torch
    except ImportError:
        remedy = "pip install 'maskov[models]', or take --learner witness or table"
        raise InputError("learner transformer", expected="the torch package", came="none", remedy=remedy) from None
    return torch


class Transformer:
    """A transformer of width 32 and two layers on [V]^N, as a learner and as a ``MaskedPredictor``.

    seed: of the initial parameters, the output bias included (normal, sd 0.5): what it says at full mask before
    training differs from seed to seed. optimizer: ``adam`` or ``sgd``.
    """

    name = "transformer"

    def __init__(self, modes: Modes, seed: int = 0, optimizer: str = "adam") -> None:
        torch = torch_module()
        self.modes, self.vocabulary_size, self.n_sites = modes, modes.law.vocabulary_size, modes.law.n_sites
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.network = _build(torch, self.vocabulary_size, self.n_sites)
        make = torch.optim.Adam if optimizer == "adam" else torch.optim.SGD
        self.normalised = optimizer == "adam"
        self.optimizer = make(self.network.parameters(), lr=1e-3)

    def prepare(self, problems: Counted | Masked) -> Tensors:
        """What each step needs of the problems."""
        if isinstance(problems, Counted):
            raise InputError("problems", expected="texts", came="counts")
        torch, hidden = torch_module(), ~problems.visible
        inputs = np.where(hidden, self.vocabulary_size, problems.states)
        arrays = (inputs, problems.states, hidden, problems.weight.astype(np.float32))
        return Tensors(*(torch.from_numpy(np.ascontiguousarray(a)) for a in arrays))

    def _losses(self, rows: Tensors) -> Any:
        log_q = self.network(rows.inputs).log_softmax(-1)
        tokens = log_q.gather(-1, rows.targets[..., None])[..., 0]
        return -rows.weight * (tokens * rows.hidden).sum(1)

    def losses(self, rows: Tensors) -> Floats:
        """Weighted loss of each problem, nats: [R]."""
        torch, parts = torch_module(), []
        with torch.no_grad():
            for k in range(0, len(rows.inputs), ROWS_AT_ONCE):
                part = Tensors(*(t[k : k + ROWS_AT_ONCE] for t in rows))
                parts.append(self._losses(part).double().numpy())
        return np.concatenate(parts)

    def step(self, rows: Tensors, batch: NDArray[np.int64], rate: float) -> None:
        """One step on the loss per hidden token of a minibatch, gradients clipped at norm 1."""
        torch = torch_module()
        part = Tensors(*(t[torch.from_numpy(batch)] for t in rows))
        loss = self._losses(part).sum() / part.hidden.sum().clamp(min=1)
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.param_groups[0]["lr"] = rate
        self.optimizer.step()

    def default_rate(self, rows: Tensors) -> float:
        """0.003 for Adam, 0.1 for SGD."""
        return 0.003 if self.normalised else 0.1

    def predict(self, states: Tokens, hidden: Flags, sites: Tokens) -> Floats:
        """log q(x_i | x_S), S the sites that are not hidden: float64 [B, V]."""
        torch, parts = torch_module(), []
        inputs = torch.from_numpy(np.where(np.asarray(hidden), self.vocabulary_size, np.asarray(states)))
        where = torch.from_numpy(np.asarray(sites, dtype=np.int64))
        with torch.no_grad():
            for k in range(0, len(inputs), ROWS_AT_ONCE):
                out = self.network(inputs[k : k + ROWS_AT_ONCE])
                at = where[k : k + ROWS_AT_ONCE]
                parts.append(out[torch.arange(len(at)), at].double().log_softmax(-1).numpy())
        return np.concatenate(parts)

    def logits(self, states: Tokens, sites: Tokens) -> Floats:
        """The row with only the site hidden: [B, V]."""
        hidden = np.zeros(np.shape(states), dtype=bool)
        hidden[np.arange(len(states)), sites] = True
        return self.predict(states, hidden, sites)

    def score_tokens(self, states: Tokens, sites: Tokens, tokens: Tokens) -> Floats:
        """Entries of ``logits``: [B, k]."""
        return np.take_along_axis(self.logits(states, sites), tokens, axis=1)


def _build(torch: Any, V: int, N: int) -> Any:
    nn = torch.nn

    class Network(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.symbols, self.positions = nn.Embedding(V + 1, WIDTH), nn.Embedding(N, WIDTH)
            layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 2 * WIDTH, 0.0, batch_first=True, norm_first=True)
            self.encoder = nn.TransformerEncoder(layer, LAYERS, nn.LayerNorm(WIDTH), enable_nested_tensor=False)
            self.head = nn.Linear(WIDTH, V)
            nn.init.normal_(self.head.bias, std=SPREAD)

        def forward(self, tokens: Any) -> Any:
            hidden = self.symbols(tokens) + self.positions.weight
            return self.head(self.encoder(hidden))

    # Without dropout the modes agree, and evaluation mode has the faster kernels where no gradient is asked for.
    return Network().eval()
