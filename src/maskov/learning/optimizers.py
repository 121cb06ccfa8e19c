"""The two optimisers of practice, for parameters in one array: momentum SGD and Adam.

In NumPy, since the theory half works without torch and a step is five lines.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError

Floats = NDArray[np.float64]


class Optimizer(Protocol):
    """A rule from gradients to steps; it keeps what it must remember."""

    @property
    def normalised(self) -> bool:
        """Whether the size of a step does not depend on the size of the gradient."""
        ...

    def step(self, parameters: Floats, gradient: Floats, rate: float) -> Floats:
        """The parameters after one step."""
        ...


class Momentum:
    """SGD with momentum: m ← β m + g, x ← x − rate · m [Polyak 1964]; β = 0.9 has the pace of ten times the rate."""

    normalised = False

    def __init__(self, beta: float = 0.9) -> None:
        self.beta, self.m = beta, np.zeros(())

    def step(self, parameters: Floats, gradient: Floats, rate: float) -> Floats:
        """One step."""
        self.m = self.beta * self.m + gradient
        return parameters - rate * self.m


class Adam:
    """Adam (Kingma & Ba 2015), β = (0.9, 0.999), ε = 10^-8.

    Its steps are normalised: a gradient of e^−30 moves a weight as far as one of 1, unless it is below ε. On a blind
    schedule it therefore walks at random where SGD stands still; neither learns.
    """

    normalised = True

    def __init__(self) -> None:
        self.m, self.v, self.t = np.zeros(()), np.zeros(()), 0

    def step(self, parameters: Floats, gradient: Floats, rate: float) -> Floats:
        """One step."""
        self.t += 1
        self.m = 0.9 * self.m + 0.1 * gradient
        self.v = 0.999 * self.v + 0.001 * gradient**2
        size = np.sqrt(self.v / (1 - 0.999**self.t)) + 1e-8
        return np.asarray(parameters - rate * self.m / (1 - 0.9**self.t) / size)


def make_optimizer(name: str) -> Optimizer:
    """``sgd`` or ``adam``; ``InputError`` otherwise."""
    if name == "sgd":
        return Momentum()
    if name == "adam":
        return Adam()
    raise InputError("optimizer", expected="sgd or adam", came=repr(name)[:60])
