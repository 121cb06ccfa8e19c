"""Figures: one file per room, every function takes (record, ax=None) and reads the record alone."""

from maskov.plots.registry import FIGURES, Figure, draw, figures, plot

__all__ = ["FIGURES", "Figure", "draw", "figures", "plot"]
