"""ESS, R-hat and the needed length, from the record of a diagnosis alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from maskov.plots.style import COLOURS, axes, interval_of

_MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
# An infinite R-hat (chains that never change and differ) is drawn at the edge.
_EDGE = 10.0


def plot_r_hat(record: dict[str, Any], ax: Any = None) -> Any:
    """R-hat − 1 of each scalar against temperature, the target, and what noise alone explains (short bars).

    record: the ``results`` of a ``diagnose`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    cells, target = record["cells"], record["target_r_hat"] - 1
    for k, name, places, found in _by_scalar(cells):
        values = np.array([_EDGE if s["r_hat"]["value"] is None else s["r_hat"]["value"] - 1 for s in found])
        noise = np.maximum([s["r_hat_noise"] - 1 for s in found], 1e-4)
        ax.plot(places, np.clip(values, 1e-4, _EDGE), _MARKS[k % len(_MARKS)], color=COLOURS[k % 7], label=name, ms=6)
        ax.plot(places, noise, "_", color=COLOURS[k % 7], ms=11, mew=1.6)
    ax.axhline(target, color="0.4", linestyle="--", linewidth=1, label=f"target {record['target_r_hat']:g}")
    ax.set_yscale("log")
    ax.set_ylabel("R-hat − 1")
    return _finished(ax, cells)


def plot_ess(record: dict[str, Any], ax: Any = None) -> Any:
    """Effective draws of each scalar against temperature: bulk (filled) and tail (open), and the target.

    record: the ``results`` of a ``diagnose`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    cells = record["cells"]
    for k, name, places, found in _by_scalar(cells):
        colour, mark = COLOURS[k % 7], _MARKS[k % len(_MARKS)]
        bulk = np.array([s["ess_bulk"]["value"] for s in found])
        ends = np.array([interval_of(s["ess_bulk"]) for s in found])
        spread = np.abs(ends - bulk[:, None]).T
        ax.errorbar(places, bulk, yerr=spread, fmt=mark, color=colour, ms=6, capsize=2, linewidth=1, label=name)
        ax.plot(places, [s["ess_tail"]["value"] for s in found], mark, color=colour, mfc="none", ms=6)
    ax.axhline(record["target_ess"], color="0.4", linestyle="--", linewidth=1, label=f"target {record['target_ess']:g}")
    ax.set_yscale("log")
    ax.set_ylabel("effective draws")
    return _finished(ax, cells)


def plot_needed(record: dict[str, Any], ax: Any = None) -> Any:
    """Sweeps that would be enough against temperature, beside those that were run; a word where none would.

    record: the ``results`` of a ``diagnose`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax, (4.8, 3.6))
    cells = record["cells"]
    x = np.array([c["temperature"] for c in cells], dtype=float)
    ax.plot(x, [c["sweeps"] for c in cells], "_", color=COLOURS[1], ms=22, mew=2.2, label="were run")
    known = [c for c in cells if c["needed_sweeps"] is not None]
    values = np.array([c["needed_sweeps"]["value"] for c in known], dtype=float)
    ends = np.array([interval_of(c["needed_sweeps"]) for c in known], dtype=float).reshape(-1, 2)
    at = [c["temperature"] for c in known]
    spread = np.abs(ends - values[:, None]).T
    ax.errorbar(at, values, yerr=spread, fmt="o", color=COLOURS[0], capsize=3, ms=5, label="would be enough")
    for cell in cells:
        if cell["needed_sweeps"] is None:
            ax.annotate(cell["verdict"], (cell["temperature"], cell["sweeps"]), xytext=(0, 7), ha="center",
                        textcoords="offset points", fontsize="small", color=COLOURS[3])  # fmt: skip
    ax.set_yscale("log")
    ax.margins(x=0.15, y=0.25)
    ax.set_xlabel("temperature τ")
    ax.set_ylabel("sweeps of each chain")
    ax.legend(frameon=False, fontsize="small")
    return ax


def _by_scalar(cells: list[dict[str, Any]]) -> Any:
    """Number, name, places and entries of each scalar; marks of one temperature stand side by side."""
    names = list(dict.fromkeys(s["name"] for cell in cells for s in cell["scalars"]))
    for k, name in enumerate(names):
        rows = [(i, s) for i, cell in enumerate(cells) for s in cell["scalars"] if s["name"] == name]
        shift = (k - (len(names) - 1) / 2) * 0.7 / max(1, len(names))
        yield k, name.replace("_", " "), np.array([i + shift for i, _ in rows]), [s for _, s in rows]


def _finished(ax: Any, cells: list[dict[str, Any]]) -> Any:
    ax.set_xticks(range(len(cells)), [f"{c['temperature']:g}\n{c['verdict']}" for c in cells])
    ax.set_xlim(-0.6, len(cells) - 0.4)
    ax.set_xlabel("temperature τ and verdict")
    ax.legend(frameon=False, fontsize="x-small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax
