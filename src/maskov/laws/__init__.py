"""Exact laws in float64 (NumPy and SciPy only): the oracles of every tool."""

from maskov.laws.base import (
    EnumerableLaw,
    as_log_table,
    check_enumerable,
    draw_rows,
    draw_values,
    enumerate_states,
    state_index,
)
from maskov.laws.distances import hellinger, kullback_leibler, total_variation
from maskov.laws.incompatible import IncompatibleConditionals, perturbed, random_conditionals
from maskov.laws.ising import IsingRing, IsingTorus
from maskov.laws.markov import MarkovMixture, sticky_mixture
from maskov.laws.mixtures import Mixture, ProductMixture, reference_mixture
from maskov.laws.parse import law, law_text
from maskov.laws.spins import CurieWeiss, Potts
from maskov.laws.tabular import Tabular, random_tabular, read_table

__all__ = [
    "CurieWeiss",
    "EnumerableLaw",
    "IncompatibleConditionals",
    "IsingRing",
    "IsingTorus",
    "MarkovMixture",
    "Mixture",
    "Potts",
    "ProductMixture",
    "Tabular",
    "as_log_table",
    "check_enumerable",
    "draw_rows",
    "draw_values",
    "enumerate_states",
    "hellinger",
    "kullback_leibler",
    "law",
    "law_text",
    "perturbed",
    "random_conditionals",
    "random_tabular",
    "read_table",
    "reference_mixture",
    "state_index",
    "sticky_mixture",
    "total_variation",
]
