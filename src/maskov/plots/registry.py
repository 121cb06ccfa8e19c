"""Which figures a record has: name, function, and what a reader sees in it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

from maskov.errors import InputError
from maskov.plots.style import plain_powers


class Figure(NamedTuple):
    """One figure of a command's record. name: its file; function: ``module:function`` under maskov.plots; caption: what
    it shows, and how each mark was obtained (exact, bound or estimate); shown: whether a record holds what it draws.
    """

    name: str
    function: str
    caption: str
    shown: Callable[[dict[str, Any]], bool] = lambda record: True


FIGURES: dict[str, tuple[Figure, ...]] = {
    "rectangle": (
        Figure(
            "rectangle",
            "compatibility:plot_rectangle",
            "Defects |Δ| of the sampled rectangles, in nats (estimate), beside the rounding noise of the model itself.",
        ),
        Figure(
            "rectangle-distance",
            "compatibility:plot_rectangle_distance",
            "Mean |Δ| by distance between the two sites; bars are 95 % intervals, clustered by text (estimate).",
        ),
    ),
    "entropy": (
        Figure("change-rate", "compatibility:plot_change_rate", "Share of steps that change a token (estimate, 95 %)."),
        Figure("entropy", "compatibility:plot_entropy", "Mean entropy of the conditionals in nats (estimate, 95 %)."),
        Figure(
            "production",
            "compatibility:plot_production",
            "Entropy production σ in nats per step (estimate, 95 %): 0 exactly when the chain is reversible.",
        ),
    ),
    "drift": (
        Figure(
            "drift",
            "drift:plot_drift",
            "1 − cosine to the start against time, one line a temperature, and the plateau: the distance of "
            "independent passages (estimates; bands are 95 %).",
        ),
    ),
    "couple": (
        Figure(
            "meeting",
            "coupling:plot_meeting",
            "Share of pairs that have not met (Kaplan–Meier estimate, 95 %); pairs that ran out of time are censored, "
            "not dropped. It bounds the total variation distance between the two starts from above.",
        ),
        Figure(
            "tv-bound",
            "coupling:plot_tv_bound",
            "Bound on the distance to stationarity from lagged chains (estimate, 95 %).",
            lambda record: any(cell.get("tv_bound") for cell in record["cells"]),
        ),
    ),
    "phase": (
        Figure(
            "phase",
            "phase:plot_phase",
            "Above: median meeting time over n log n, one line per n (Kaplan–Meier estimates, 95 %; △ lower bounds), "
            "and C(τ) where n log n fits best (estimate, 95 %); past the crossover the lines meet. Below: "
            "median sweeps to meet over temperature τ and sites n (estimates); hatched and ≥ where fewer than half met "
            "(lower bounds: the length of the runs). White line: the crossover τ_c(n) (estimate, 95 %, bootstrap over "
            "pairs); an arrow at the edge: it lies beyond the grid (bound).",
        ),
    ),
    "diagnose": (
        Figure(
            "needed",
            "diagnostics:plot_needed",
            "Sweeps that would be enough for the wanted effective draws and R-hat (estimates, 95 %), beside those that "
            "were run; the verdict in words where no length can be named.",
        ),
        Figure(
            "r-hat",
            "diagnostics:plot_r_hat",
            "R-hat − 1 of each scalar summary (estimates), the target, and what noise alone would show (short bars).",
        ),
        Figure(
            "ess",
            "diagnostics:plot_ess",
            "Effective draws of each scalar summary, bulk (filled) and tail (open), and the target (estimates, 95 %).",
        ),
    ),
    "dwell": (
        Figure(
            "dwell",
            "drift:plot_dwell",
            "The longest stays near one text, in sweeps (exact on this run; + went on at its end).",
        ),
    ),
    "topics": (
        Figure(
            "topics",
            "topics:plot_topics",
            "Share of time in a topic minus the share of random passages that pass for it, in percentage points "
            "(estimates). Rows: topic of the start; framed: the start's own; ★: the topic recurs.",
        ),
        Figure(
            "topic-shares",
            "topics:plot_topic_verdicts",
            "Share of time in each topic of chains that began elsewhere (estimates, 95 % over passages); grey: random "
            "passages (95 %).",
        ),
        Figure(
            "topic-courses",
            "topics:plot_topic_courses",
            "Share of chains in the topics with the largest excess along the run, chains from elsewhere, and in the "
            "topic of their start (estimates).",
        ),
    ),
    "influence": (
        Figure(
            "influence",
            "influence:plot_influence",
            "Influence α(τ) in several norms (on a network a lower bound: a sampled maximum), and the line at 1.",
        ),
        Figure(
            "influence-matrix",
            "influence:plot_influence_matrix",
            "Influence of site j on site i (on a network the largest seen).",
        ),
        Figure(
            "influence-class",
            "influence:plot_influence_class",
            "Mean influence by the class of the token that was changed (estimate, 95 %).",
            lambda record: bool(record["by_class"]),
        ),
        Figure(
            "influence-distance", "influence:plot_influence_distance", "Influence by distance: mean, and largest seen."
        ),
    ),
    "traps": (
        Figure(
            "traps",
            "basins:plot_traps",
            "Measured against predicted dwell time (estimate against exact); censored ones are open.",
        ),
        Figure(
            "escape",
            "basins:plot_escape",
            "Mean escape time against 1/τ (estimates, 95 %); the slope of each line is a trap's effective margin.",
            lambda record: any(escape["slope"] is not None for escape in record["escape"]),
        ),
    ),
    "tokens": (
        Figure("tokens", "basins:plot_tokens", "p(a | every other site holds a) of the strongest tokens (exact)."),
        Figure(
            "token-drift",
            "basins:plot_token_drift",
            "Mean drift of the number of sites with the token (estimate, 95 %), and the worst drift seen (dotted).",
            lambda record: bool(record["profiles"]),
        ),
    ),
    "schedule": (Figure("schedule", "schedules:plot_schedules", "P(visible sites ≤ s) of each schedule (exact)."),),
    "identify": (
        Figure("mmse", "identifiability:plot_mmse", "Residual mode uncertainty against visible sites (exact)."),
        Figure("modulus", "identifiability:plot_modulus", "Lower and upper bounds of the modulus against ε."),
    ),
    "corpus": (
        Figure(
            "corpus",
            "corpora:plot_corpus",
            "Residual mode uncertainty of the collections against the visible tokens (upper bounds from held-out "
            "documents, 95 %), three fits, and under them the visible counts of mask schedules.",
        ),
    ),
    "advise": (
        Figure(
            "left-open",
            "advisor:plot_left_open",
            "Mode weights that each schedule leaves open at this excess loss: dots inside the family of predictors "
            "that get every mode right (a lower bound over all predictors, or an estimate on a corpus), marks the "
            "upper bound for every predictor; the last row is the recommendation.",
        ),
    ),
    "learn": (
        Figure(
            "learning-loss",
            "learning:plot_loss",
            "Held-out loss above the exact optimum (dotted), as a share of it: mean over seeds (estimate, 95 %).",
        ),
        Figure(
            "learning-weights",
            "learning:plot_weights",
            "Mode weight after training against its start, a point a seed: the diagonal learned nothing.",
            lambda record: any(run["weight_full_mask"] is not None for s in record["schedules"] for run in s["runs"]),
        ),
        Figure(
            "learning-recovery",
            "learning:plot_recovery",
            "Error of the mode weights against the full-mask mass: seeds, their mean (95 %), and what n texts allow.",
            lambda record: sum(s["full_mask_mass"] > 0 and bool(s["weight_error"]) for s in record["schedules"]) > 1,
        ),
    ),
    "basins": (
        Figure(
            "basin-map",
            "basins_states:plot_basin_map",
            "Chains on the first two principal components of their embeddings (exact on the kept states), by basin.",
        ),
        Figure(
            "timescales",
            "basins_states:plot_timescales",
            "Implied timescales against the lag (estimates, 95 % over chains), and the lag that was chosen.",
            lambda record: any(row["timescales"][0] for cell in record["cells"] for row in cell["timescales"]),
        ),
        Figure(
            "basin-lifetimes",
            "basins_states:plot_basin_lifetimes",
            "Mean lifetime and population of each basin (estimates, 95 % over chains): from the Markov state model, "
            "and measured on the paths (open).",
            lambda record: any(len(cell["basins"]) > 1 for cell in record["cells"]),
        ),
    ),
    "trajectories": (
        Figure(
            "trajectories",
            "basins_states:plot_trajectories",
            "Chains on the first two principal components of their embeddings (exact on the kept states).",
        ),
    ),
    "bridge": (
        Figure("bridge", "identifiability:plot_bridge", "Blindness ratio and spectral gap against the sites (exact)."),
        Figure("tensorization", "identifiability:plot_tensorization", "Lower bounds of C_AT against the sites."),
    ),
    "switching": (
        Figure(
            "switching",
            "switching:plot_switching",
            "Autocorrelation of the mode probe against the lag (estimates, 95 % over chains); dashed: (1 − ρ)^t, the "
            "least that the blindness ratio allows (a bound where ρ is one).",
        ),
    ),
}


def figures(command: str, record: dict[str, Any]) -> list[Figure]:
    """The figures that a command's record can show."""
    return [figure for figure in FIGURES.get(command, ()) if figure.shown(record)]


def draw(figure: Figure, record: dict[str, Any], ax: Any = None) -> Any:
    """Draw one figure of a record's ``results``; returns the axes."""
    module, function = figure.function.split(":")
    drawn = getattr(importlib.import_module(f"maskov.plots.{module}"), function)(record, ax=ax)
    plain_powers(drawn)
    return drawn


def plot(command: str, record: dict[str, Any], ax: Any = None) -> Any:
    """The first figure of a command's record; returns the axes."""
    if command not in FIGURES:
        raise InputError("plot", expected="one of " + ", ".join(FIGURES), came=repr(command))
    return draw(FIGURES[command][0], record, ax)
