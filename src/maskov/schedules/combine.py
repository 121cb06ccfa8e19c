"""Schedules made of schedules: mixtures, loss weights, and names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from maskov.protocols import Flags
from maskov.schedules.base import Schedule, SetLaw, number_text

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Mixture(Schedule):
    """μ = Σ_k a_k μ_k: ``a*SPEC+b*SPEC``; the parts may carry loss weights.

    >>> from maskov.schedules import schedule
    >>> schedule("0.95*bert+0.05*full").full_mask_mass(512)
    0.05
    """

    shares: tuple[float, ...]
    parts: tuple[Schedule, ...]

    @property
    def text(self) -> str:
        """``a*SPEC+b*SPEC+…``."""
        return "+".join(f"{number_text(a)}*{part.text}" for a, part in zip(self.shares, self.parts, strict=True))

    @property
    def weighted(self) -> bool:
        """Whether any part has a loss weight."""
        return any(part.weighted for part in self.parts)

    @property
    def uniform_given_count(self) -> bool:  # type: ignore[override]
        """Whether every part is uniform given the count."""
        return all(part.uniform_given_count for part in self.parts)

    def _combine(self, laws: list[Floats]) -> Floats:
        return np.asarray(logsumexp(np.stack(laws) + np.log(self.shares)[:, None], axis=0))

    def log_visible_law(self, length: int) -> Floats:
        """log Σ a_k P_k(|S| = v): [N + 1]."""
        return self._combine([part.log_visible_law(length) for part in self.parts])

    def visible_law(self, length: int) -> Floats:
        """Σ a_k P_k(|S| = v): [N + 1]."""
        return np.asarray(sum(a * part.visible_law(length) for a, part in zip(self.shares, self.parts, strict=True)))

    def log_objective_law(self, length: int) -> Floats:
        """log Σ a_k × objective mass of part k: [N + 1]."""
        return self._combine([part.log_objective_law(length) for part in self.parts])

    def log_weighted_law(self, length: int, weight: str) -> Floats:
        """The same weight on every part."""
        return self._combine([part.log_weighted_law(length, weight) for part in self.parts])

    def sample_visible(self, length: int, size: int, rng: np.random.Generator) -> Flags:
        """Visible sets: bool [size, N], the part first."""
        which = rng.choice(len(self.parts), size=size, p=np.array(self.shares) / sum(self.shares))
        visible = np.empty((size, length), dtype=bool)
        for k, part in enumerate(self.parts):
            visible[which == k] = part.sample_visible(length, int((which == k).sum()), rng)
        return visible

    def set_law(self, length: int) -> SetLaw:
        """Every visible set with mass, equal sets of different parts merged."""
        laws = [part.set_law(length) for part in self.parts]
        visible, which = np.unique(np.concatenate([law.visible for law in laws]), axis=0, return_inverse=True)
        shares = np.concatenate(
            [np.full(len(law.log_mass), np.log(a)) for a, law in zip(self.shares, laws, strict=True)]
        )
        mass = np.exp(shares + np.concatenate([law.log_mass for law in laws]))
        objective = np.exp(shares + np.concatenate([law.log_objective for law in laws]))
        with np.errstate(divide="ignore"):
            merged = [np.log(np.bincount(which.ravel(), weights=w, minlength=len(visible))) for w in (mass, objective)]
        return SetLaw(visible, merged[0], merged[1])


@dataclass(frozen=True, repr=False)
class Weighted(Schedule):
    """A schedule whose loss is weighted: ``SPEC*1/t``, ``SPEC*N/h``, ``SPEC*elbo``. Sampling is the base's.

    With hide-rate t uniform and weight 1/t the objective mass is 1/h on every count of h ≥ 1 hidden sites: the masses
    of the any-order factorisation, so the token form of the discrepancy is KL(p‖q).

    >>> from maskov.schedules import schedule
    >>> schedule("uniform*1/t").objective_law(4).round(6).tolist()
    [0.25, 0.333333, 0.5, 1.0, 0.0]
    """

    base: Schedule
    weight: str

    @property
    def text(self) -> str:
        """``SPEC*weight``."""
        return f"{self.base.text}*{self.weight}"

    @property
    def weighted(self) -> bool:
        """Always."""
        return True

    @property
    def uniform_given_count(self) -> bool:  # type: ignore[override]
        """As the base."""
        return self.base.uniform_given_count

    def log_visible_law(self, length: int) -> Floats:
        """The base's law: the weight is not in the sampling."""
        return self.base.log_visible_law(length)

    def log_objective_law(self, length: int) -> Floats:
        """log of mass × weight: [N + 1]."""
        return self.base.log_weighted_law(length, self.weight)

    def sample_visible(self, length: int, size: int, rng: np.random.Generator) -> Flags:
        """The base's samples."""
        return self.base.sample_visible(length, size, rng)

    def set_law(self, length: int) -> SetLaw:
        """The base's sets; each objective mass times the mean weight of its count."""
        law = self.base.set_law(length)
        with np.errstate(invalid="ignore"):
            log_weight = self.log_objective_law(length) - self.log_visible_law(length)
        return SetLaw(law.visible, law.log_mass, law.log_mass + log_weight[law.visible.sum(axis=1)])


@dataclass(frozen=True, repr=False)
class Named(Schedule):
    """A schedule under the name that people use for it; everything else is the schedule's.

    >>> from maskov.schedules import schedule
    >>> schedule("bert").text, schedule("bert").base.text
    ('bert', 'fixed:0.15')
    """

    label: str
    base: Schedule

    @property
    def text(self) -> str:
        """The name."""
        return self.label

    @property
    def uniform_given_count(self) -> bool:  # type: ignore[override]
        """As the base."""
        return self.base.uniform_given_count

    def log_visible_law(self, length: int) -> Floats:
        """As the base."""
        return self.base.log_visible_law(length)

    def log_weighted_law(self, length: int, weight: str) -> Floats:
        """As the base."""
        return self.base.log_weighted_law(length, weight)

    def sample_visible(self, length: int, size: int, rng: np.random.Generator) -> Flags:
        """As the base."""
        return self.base.sample_visible(length, size, rng)

    def set_law(self, length: int) -> SetLaw:
        """As the base."""
        return self.base.set_law(length)
