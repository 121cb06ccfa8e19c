"""Exact laws in float64 (NumPy and SciPy only): the oracles of every tool."""

from maskov.laws.base import ExactLaw, as_log_table, enumerate_states, state_index
from maskov.laws.distances import kullback_leibler, total_variation
from maskov.laws.mixtures import ProductMixture, reference_mixture
from maskov.laws.parse import law
from maskov.laws.spins import CurieWeiss, IsingRing, Potts
from maskov.laws.tabular import Tabular, TabularConditionals, perturbed, random_conditionals, random_tabular, read_table

__all__ = [
    "CurieWeiss",
    "ExactLaw",
    "IsingRing",
    "Potts",
    "ProductMixture",
    "Tabular",
    "TabularConditionals",
    "as_log_table",
    "enumerate_states",
    "kullback_leibler",
    "law",
    "perturbed",
    "random_conditionals",
    "random_tabular",
    "read_table",
    "reference_mixture",
    "state_index",
    "total_variation",
]
