"""What masked prediction can identify of mode weights: discrepancy, modulus, tensorisation, and the bridge to
mixing."""

from maskov.identifiability.bridge import count_log_gap, dense_log_gap, single_site_log_gap
from maskov.identifiability.counting import BinaryCounts, MultinomialCounts, count_modes
from maskov.identifiability.discrepancy import (
    blindness_ratio,
    log_joint_discrepancy,
    log_kl_joint,
    log_kl_weights,
    log_tilted_integral,
    log_token_discrepancy,
    token_ratio,
)
from maskov.identifiability.experiment import Experiment, count_experiment, set_experiment
from maskov.identifiability.growth import BridgeRow, BridgeTable, bridge_table
from maskov.identifiability.identify import identify
from maskov.identifiability.log_quantities import LogBound, LogEstimate, LogExact
from maskov.identifiability.modes import ModeLaw, TableModes
from maskov.identifiability.modulus import WitnessFamily, full_mask_bound, witness_modulus
from maskov.identifiability.pinning import Pinning, chernoff_information, fit_pinning
from maskov.identifiability.result import Identification, ModulusRow
from maskov.identifiability.search import BlockDivergence, searched_modulus
from maskov.identifiability.switching import (
    LagRow,
    SwitchRates,
    bridge_on_model,
    core_switches,
    probe_values,
    switch_rates,
)
from maskov.identifiability.tensorization import searched_tensorization, witness_tensorization
from maskov.identifiability.views import View, mmse_curve, view
from maskov.identifiability.visibility import LowVisibilityBound, low_visibility_bound

__all__ = [
    "BinaryCounts",
    "BlockDivergence",
    "BridgeRow",
    "BridgeTable",
    "Experiment",
    "Identification",
    "LagRow",
    "LogBound",
    "LogEstimate",
    "LogExact",
    "LowVisibilityBound",
    "ModeLaw",
    "ModulusRow",
    "MultinomialCounts",
    "Pinning",
    "SwitchRates",
    "TableModes",
    "View",
    "WitnessFamily",
    "blindness_ratio",
    "bridge_on_model",
    "bridge_table",
    "chernoff_information",
    "core_switches",
    "count_experiment",
    "count_log_gap",
    "count_modes",
    "dense_log_gap",
    "fit_pinning",
    "full_mask_bound",
    "identify",
    "log_joint_discrepancy",
    "log_kl_joint",
    "log_kl_weights",
    "log_tilted_integral",
    "log_token_discrepancy",
    "low_visibility_bound",
    "mmse_curve",
    "probe_values",
    "searched_modulus",
    "searched_tensorization",
    "set_experiment",
    "single_site_log_gap",
    "switch_rates",
    "token_ratio",
    "view",
    "witness_modulus",
    "witness_tensorization",
]
