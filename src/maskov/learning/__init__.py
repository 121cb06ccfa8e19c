"""Gradient learning: masked predictors trained on samples of an exact law, and the mode weights they end with."""

from maskov.learning.grid import learn, learn_weights
from maskov.learning.information import steps_needed, weight_stderr
from maskov.learning.modes import Modes, modes_of
from maskov.learning.optimum import optimal_loss
from maskov.learning.problems import Masked, draw_problems, exact_problems, population
from maskov.learning.readings import any_order_weight, chain_weight, full_mask_weight
from maskov.learning.result import Learning, LearningRun, ScheduleLearning
from maskov.learning.scaling import error_slope
from maskov.learning.tabular import CountTable, SetTable, table_learner
from maskov.learning.training import Settings, train
from maskov.learning.witness import Witness

__all__ = [
    "CountTable",
    "Learning",
    "LearningRun",
    "Masked",
    "Modes",
    "ScheduleLearning",
    "SetTable",
    "Settings",
    "Witness",
    "any_order_weight",
    "chain_weight",
    "draw_problems",
    "error_slope",
    "exact_problems",
    "full_mask_weight",
    "learn",
    "learn_weights",
    "modes_of",
    "optimal_loss",
    "population",
    "steps_needed",
    "table_learner",
    "train",
    "weight_stderr",
]
