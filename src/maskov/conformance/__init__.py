"""The laws that every protocol states, as checks for our implementations and outside ones.

Each check returns a small frozen result, or raises ``ConformanceError`` that names the broken law.
"""

from maskov.conformance.exact import check_joint_law, check_law_samples, check_schedule
from maskov.conformance.model import check_model
from maskov.conformance.rows import (
    check_batch_independent,
    check_ignores_hidden,
    check_ignores_own_token,
    check_no_forbidden_mass,
    check_normalised,
    check_padding_independent,
    check_predict_matches_logits,
    check_rows,
    check_scores_ignore_own_token,
    check_scores_match_logits,
)
from maskov.conformance.samplers import check_chain_frequencies, check_frequencies, check_sampler, tail_row
from maskov.conformance.verdict import Conformance, GoodnessOfFit

__all__ = [
    "Conformance",
    "GoodnessOfFit",
    "check_batch_independent",
    "check_chain_frequencies",
    "check_frequencies",
    "check_ignores_hidden",
    "check_ignores_own_token",
    "check_joint_law",
    "check_law_samples",
    "check_model",
    "check_no_forbidden_mass",
    "check_normalised",
    "check_padding_independent",
    "check_predict_matches_logits",
    "check_rows",
    "check_sampler",
    "check_schedule",
    "check_scores_ignore_own_token",
    "check_scores_match_logits",
    "tail_row",
]
