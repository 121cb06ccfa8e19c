"""Has a run mixed: effective sample sizes, R-hat, stuck chains, and how long to run."""

from maskov.diagnostics.convergence import Convergence, convergence
from maskov.diagnostics.diagnose import diagnose, with_texts
from maskov.diagnostics.result import Diagnosis, DiagnosisCell, DiagnosisGroup, ScalarDiagnosis, StuckChain
from maskov.diagnostics.stuck import stuck_chains

__all__ = [
    "Convergence",
    "Diagnosis",
    "DiagnosisCell",
    "DiagnosisGroup",
    "ScalarDiagnosis",
    "StuckChain",
    "convergence",
    "diagnose",
    "stuck_chains",
    "with_texts",
]
