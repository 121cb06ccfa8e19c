"""Bernoulli masks with a fixed or random rate t: each site is hidden with probability t."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, betaln, log_ndtr, ndtr, ndtri, xlog1py, xlogy

from maskov.protocols import Flags
from maskov.schedules.base import Schedule, check_length, log_choose, normalised, number_text
from maskov.schedules.quadrature import log_count_law

Floats = NDArray[np.float64]


class _Rate(Schedule):
    """A random rate on [low, high]; a family gives ``quantile`` and either ``log_density`` or closed forms."""

    def support(self) -> tuple[float, float]:
        """The interval of rates."""
        return 0.0, 1.0

    def log_density(self, t: Floats, rest: Floats) -> Floats:
        """log f(t), with ``rest`` = 1 − t given to full precision."""
        raise TypeError("a rate family gives its density")

    def quantile(self, u: Floats) -> Floats:
        """The rate at level u of its law."""
        raise TypeError("a rate family gives its quantile")

    def sample_visible(self, length: int, size: int, rng: np.random.Generator) -> Flags:
        """Visible sets: bool [size, N], the rate first."""
        rates = self.quantile(rng.random(size))
        return np.asarray(rng.random((size, check_length(length))) >= rates[:, None])

    def log_visible_law(self, length: int) -> Floats:
        """log ∫ f(t) Bin(v; N, 1 − t) dt: [N + 1]."""
        return normalised(log_count_law(check_length(length), *self.support(), self.log_density))

    def log_weighted_law(self, length: int, weight: str) -> Floats:
        """Objective mass under ``1/t`` (the rate itself), ``N/h`` or ``elbo`` (1/(t f(t)): the measure dt/t of the
        diffusion bound)."""
        if weight == "N/h":
            return super().log_weighted_law(length, weight)
        low, high = self.support()
        density = (
            (lambda t, rest: -np.log(t))
            if weight == "elbo"
            else (lambda t, rest: self.log_density(t, rest) - np.log(t))
        )
        if low > 0 or weight == "elbo":
            law = log_count_law(check_length(length), low, high, density)
        else:
            law = self._log_inverse_rate_law(length)
        law[-1] = -np.inf  # nothing hidden, nothing to predict; the integral may diverge there
        return law

    def _log_inverse_rate_law(self, length: int) -> Floats:
        return log_count_law(
            check_length(length), 0.0, self.support()[1], lambda t, rest: self.log_density(t, rest) - np.log(t)
        )


@dataclass(frozen=True, repr=False)
class Bernoulli(Schedule):
    """Hides each site with probability p, independently: ``bernoulli:p`` (the usual BERT collator, p = 0.15).

    >>> Bernoulli(0.5).visible_law(2).round(6).tolist()
    [0.25, 0.5, 0.25]
    """

    rate: float

    @property
    def text(self) -> str:
        """``bernoulli:p``."""
        return f"bernoulli:{number_text(self.rate)}"

    def log_visible_law(self, length: int) -> Floats:
        """Binomial(N, 1 − p): [N + 1]."""
        v = np.arange(check_length(length) + 1)
        return normalised(log_choose(length, v) + xlog1py(v, -self.rate) + xlogy(length - v, self.rate))

    def log_weighted_law(self, length: int, weight: str) -> Floats:
        """Under ``1/t`` every mass is divided by p."""
        law = super().log_weighted_law(length, weight)
        return (
            np.where(law > -np.inf, self.log_visible_law(length) - math.log(self.rate), law) if weight == "1/t" else law
        )

    def sample_visible(self, length: int, size: int, rng: np.random.Generator) -> Flags:
        """Visible sets: bool [size, N]."""
        return np.asarray(rng.random((size, check_length(length))) >= self.rate)


@dataclass(frozen=True, repr=False)
class BetaRate(_Rate):
    """Rate t ~ Beta(a, b): ``beta:a,b``; the visible law is beta-binomial. ``poly:k`` (t = u^k) is Beta(1/k, 1).

    >>> BetaRate(1, 1).visible_law(3).round(6).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """

    a: float
    b: float

    @property
    def text(self) -> str:
        """``beta:a,b``."""
        return f"beta:{number_text(self.a)},{number_text(self.b)}"

    def quantile(self, u: Floats) -> Floats:
        """Inverse of the regularised incomplete beta function."""
        return np.asarray(betaincinv(self.a, self.b, u))

    def log_visible_law(self, length: int) -> Floats:
        """log C(N, v) + log B(a + N − v, b + v) − log B(a, b): [N + 1]."""
        v = np.arange(check_length(length) + 1)
        return normalised(log_choose(length, v) + betaln(self.a + length - v, self.b + v) - betaln(self.a, self.b))

    def _log_inverse_rate_law(self, length: int) -> Floats:
        v = np.arange(check_length(length))
        law = log_choose(length, v) + betaln(self.a + length - v - 1, self.b + v) - betaln(self.a, self.b)
        return np.append(law, -np.inf)


@dataclass(frozen=True, repr=False)
class PowerRate(BetaRate):
    """Rate t = u^k, u uniform: ``poly:k``, the law Beta(1/k, 1); k > 1 shows more, k < 1 hides more.

    >>> PowerRate.of(2.0).text
    'poly:2'
    """

    power: float = 1.0

    @classmethod
    def of(cls, power: float) -> PowerRate:
        """From k."""
        return cls(1 / power, 1.0, power)

    @property
    def text(self) -> str:
        """``poly:k``."""
        return f"poly:{number_text(self.power)}"

    def quantile(self, u: Floats) -> Floats:
        """u^k."""
        return np.asarray(u**self.power)


@dataclass(frozen=True, repr=False)
class UniformRate(_Rate):
    """Rate t ~ U(low, high): ``uniform`` (masked diffusion) or ``uniform:low,high`` (clipped).

    >>> UniformRate(0.0, 1.0).visible_law(4).round(12).tolist()
    [0.2, 0.2, 0.2, 0.2, 0.2]
    """

    low: float = 0.0
    high: float = 1.0

    @property
    def text(self) -> str:
        """``uniform`` or ``uniform:low,high``."""
        return (
            "uniform"
            if (self.low, self.high) == (0, 1)
            else f"uniform:{number_text(self.low)},{number_text(self.high)}"
        )

    def support(self) -> tuple[float, float]:
        """[low, high]."""
        return self.low, self.high

    def log_density(self, t: Floats, rest: Floats) -> Floats:
        """−log(high − low)."""
        return np.full_like(t, -math.log(self.high - self.low))

    def quantile(self, u: Floats) -> Floats:
        """low + (high − low) u."""
        return self.low + (self.high - self.low) * u

    def log_visible_law(self, length: int) -> Floats:
        """1/(N + 1) each on [0, 1]; the incomplete beta integral otherwise."""
        if (self.low, self.high) == (0, 1):
            return np.full(check_length(length) + 1, -math.log(length + 1))
        return super().log_visible_law(length)

    def _log_inverse_rate_law(self, length: int) -> Floats:
        """1/h on [0, 1]: the masses of the any-order factorisation."""
        if self.high < 1:
            return super()._log_inverse_rate_law(length)
        hidden = check_length(length) - np.arange(length)
        return np.append(-np.log(hidden), -np.inf)


@dataclass(frozen=True, repr=False)
class TruncatedNormal(_Rate):
    """Rate t ~ N(mean, sd²) cut to [low, high]: ``truncnorm:mean,sd,low,high`` (MAGE 0.55, 0.25, 0.5, 1; MAR 1,
    0.25, 0.7, 1)."""

    mean: float
    sd: float
    low: float
    high: float

    @property
    def text(self) -> str:
        """``truncnorm:mean,sd,low,high``."""
        return "truncnorm:" + ",".join(map(number_text, (self.mean, self.sd, self.low, self.high)))

    def support(self) -> tuple[float, float]:
        """[low, high]."""
        return self.low, self.high

    def _levels(self) -> tuple[float, float, float]:
        """The ends in units of sd, mirrored so that both lie in the accurate tail, and the sign of the mirror."""
        a, b = (self.low - self.mean) / self.sd, (self.high - self.mean) / self.sd
        return (a, b, 1.0) if a + b <= 0 else (-b, -a, -1.0)

    def log_density(self, t: Floats, rest: Floats) -> Floats:
        """log of the cut normal density."""
        a, b, _ = self._levels()
        log_mass = float(log_ndtr(b)) + math.log1p(-math.exp(float(log_ndtr(a) - log_ndtr(b))))
        return -(((t - self.mean) / self.sd) ** 2) / 2 - math.log(self.sd * math.sqrt(2 * math.pi)) - log_mass

    def quantile(self, u: Floats) -> Floats:
        """Inverse of the cut normal CDF."""
        a, b, sign = self._levels()
        level = u if sign > 0 else 1 - u
        z = ndtri(ndtr(a) + level * (ndtr(b) - ndtr(a)))
        return np.clip(self.mean + sign * self.sd * z, self.low, self.high)


@dataclass(frozen=True, repr=False)
class CosineRate(_Rate):
    """Rate t = cos(πu/2), u uniform: ``cosine`` (MaskGIT); density 2/(π√(1 − t²)).

    >>> round(CosineRate().mean_visible(100), 6)  # E t = 2/π
    36.338023
    """

    @property
    def text(self) -> str:
        """``cosine``."""
        return "cosine"

    def log_density(self, t: Floats, rest: Floats) -> Floats:
        """log 2/π − ½ log((1 − t)(1 + t))."""
        return math.log(2 / math.pi) - 0.5 * (np.log(rest) + np.log1p(t))

    def quantile(self, u: Floats) -> Floats:
        """cos(π(1 − u)/2): rising in u."""
        return np.cos(math.pi * (1 - u) / 2)
