"""Reading a trace: any state x_t, the changes, the series, as arrays or as an xarray Dataset."""

from __future__ import annotations

import html
import os
from bisect import bisect_left
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.glauber.chains import Chains
from maskov.glauber.engine import SERIES
from maskov.glauber.manifest import Manifest
from maskov.glauber.store import Store, open_store
from maskov.protocols import State, Tokens


class Changes(NamedTuple):
    """Every change of a trace in order of step, then chain; each int64 [m].

    chain: index b; step: t from 1, so that x_t holds the change; site: column; old, new: tokens.
    """

    chain: Tokens
    step: Tokens
    site: Tokens
    old: Tokens
    new: Tokens


class Trace:
    """B chains over T steps, stored as changes plus the states at chunk boundaries.

    Memory does not grow with T: chunks are read when asked for and few are kept.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._changes = lru_cache(maxsize=8)(self._read_changes)
        self._boundary = lru_cache(maxsize=16)(self._read_boundary)
        self._chains: Chains | None = None

    @property
    def manifest(self) -> Manifest:
        """Provenance and progress."""
        return self.store.manifest

    @property
    def steps(self) -> int:
        """T, the steps that are complete."""
        return self.manifest.complete_steps

    @property
    def window(self) -> int:
        """Steps per entry of a series."""
        return self.manifest.window

    @property
    def temperatures(self) -> NDArray[np.float64]:
        """Temperature of each chain: [B]."""
        return self.chains().temperatures

    @property
    def chain_ids(self) -> Tokens:
        """Number of each chain's random stream: [B]."""
        return self.chains().ids

    @property
    def n_chains(self) -> int:
        """B, temperatures times chains."""
        return int(self.store.array("n_sites").shape[0])

    @cached_property
    def starts(self) -> list[State]:
        """x_0 of each chain."""
        chains = self.chains()
        return [State(*(part.copy() for part in chains.state(b))) for b in range(chains.count)]

    def chains(self) -> Chains:
        """The chains as the engine takes them."""
        if self._chains is None:
            names = ("length", "free", "n_sites", "temperature", "chain_id")
            parts = (self.store.read(name) for name in names)
            found = Chains(self.store.read("state", 0).astype(np.int64), *parts)
            # A file that is gone reads as fill values, so every array of the start stands behind one sum.
            self.store.checked("the arrays of the start", *found, expected=self.manifest.start_crc)
            self._chains = found
        return self._chains

    def _read_boundary(self, k: int) -> Tokens:
        if k == 0:
            return self.chains().tokens
        values = self.store.read("state", k)
        self.store.checked("state", values, expected=self.manifest.chunks[k - 1].state_crc)
        return values.astype(np.int64)

    def _read_changes(self, k: int) -> NDArray[np.int32]:
        name = f"changes/{k:06d}"
        # Before it is read: metadata may promise any size.
        self.store.sized(name, (self.manifest.chunks[k].changes, 5))
        rows = self.store.read(name)
        self.store.checked(name, rows, expected=self.manifest.chunks[k].changes_crc)
        return rows

    def _rows_at(self, step: int) -> Tokens:
        if not 0 <= step <= self.steps:
            raise InputError(
                "step", expected=f"0 … {self.steps}", came=str(step), remedy="the run holds no more complete steps"
            )
        stops = [c.stop for c in self.manifest.chunks]
        k = bisect_left(stops, step) if step else 0
        states = self._boundary(k).copy()
        if step and stops[k] == step:
            return self._boundary(k + 1).copy()
        if step:
            changes = self._changes(k)
            upto = np.searchsorted(changes[:, 1], step - (stops[k - 1] if k else 0), side="right")
            rows = changes[:upto]
            states[rows[:, 0], rows[:, 2]] = rows[:, 4]  # in order of step: the last write is the state
        return states

    def states_at(self, step: int) -> list[Tokens]:
        """x_t of every chain: B arrays int64 [L_b]."""
        rows, lengths = self._rows_at(step), self.chains().lengths
        return [rows[b, : lengths[b]] for b in range(self.n_chains)]

    def state(self, chain: int, step: int) -> Tokens:
        """x_t of one chain: int64 [L]."""
        if not 0 <= chain < self.n_chains:
            raise InputError(
                "chain",
                expected=f"0 … {self.n_chains - 1}",
                came=str(chain),
                remedy="chains are numbered temperature by temperature",
            )
        return self.states_at(step)[chain]

    def changes(self) -> Changes:
        """All changes of the trace."""
        first, parts = 0, [np.empty((0, 5), dtype=np.int64)]
        for k, chunk in enumerate(self.manifest.chunks):
            rows = self._read_changes(k).astype(np.int64)
            rows[:, 1] += first
            parts.append(rows)
            first = chunk.stop
        return Changes(*np.concatenate(parts).T)

    @property
    def series(self) -> dict[str, NDArray[np.float64]]:
        """Window means of ``changed``, ``stay``, ``entropy``, ``production`` and ``production_raw``: each [W, B]."""
        values = {name: self.store.read(name, slice(0, -(-self.steps // self.window))) for name in SERIES}
        first = 0
        for chunk in self.manifest.chunks:
            part = slice(first // self.window, -(-chunk.stop // self.window))
            self.store.checked("series", *(values[name][part] for name in SERIES), expected=chunk.series_crc)
            first = chunk.stop
        return values

    def verify(self) -> None:
        """Read every stored number once; ``StoreError`` names the part that does not match the manifest's sums."""
        self.chains()
        assert self.series is not None
        for k in range(len(self.manifest.chunks)):
            self._read_boundary(k + 1)
            self._read_changes(k)

    def to_xarray(self, check: bool = True) -> Any:
        """An xarray Dataset: series over (window, chain), opened lazily; ``step`` is each window's last step.

        ArviZ reads it after ``.rename(window="draw")``. check: ``verify`` first, since xarray knows of no sums and
        takes a missing file for missing values; False opens without reading.
        """
        if check:
            self.verify()
        data = self.store.dataset()
        windows = -(-self.steps // self.window)
        data = data.isel(window=slice(0, windows), boundary=slice(0, len(self.manifest.chunks) + 1))
        ends = np.minimum(self.window * np.arange(1, windows + 1), self.steps)
        stops = np.array([0, *(c.stop for c in self.manifest.chunks)])
        return data.assign_coords(step=("window", ends), boundary_step=("boundary", stops)).set_coords(
            ["temperature", "chain_id", "n_sites", "length"]
        )

    def to_dataframe(self) -> Any:
        """A pandas DataFrame of the series, one row per window and chain: chain, temperature, step (the window's last),
        then the window means of ``series``.
        """
        import pandas as pd

        series, B = self.series, self.n_chains
        windows = -(-self.steps // self.window)
        steps = np.minimum(self.window * np.arange(1, windows + 1), self.steps)
        keys = {"chain": np.tile(np.arange(B), windows), "temperature": np.tile(self.temperatures, windows)}
        means = {name: values.ravel() for name, values in series.items()}
        return pd.DataFrame({**keys, "step": np.repeat(steps, B), **means})

    def _repr_html_(self) -> str:
        m = self.manifest
        rows = {
            "model": m.model["name"],
            "temperatures": ", ".join(f"{t:g}" for t in m.temperatures),
            "chains": f"{m.chains} per temperature, {self.n_chains} in all",
            "steps": f"{self.steps} of {m.steps}",
            "scan": m.scan,
            "seed": m.seed,
            "place": self.store.place or "in memory",
        }
        cells = "".join(f"<tr><th>{key}</th><td>{html.escape(str(value))}</td></tr>" for key, value in rows.items())
        return f"<table><caption>Trace</caption>{cells}</table>"

    def __repr__(self) -> str:
        m = self.manifest
        where = self.store.place or "in memory"
        size = f"{len(m.temperatures)} temperatures × {m.chains} chains, {self.steps} of {m.steps} steps"
        return f"Trace({m.model['name']}, {size}, seed {m.seed}, {where})"


def open_trace(path: str | os.PathLike[str]) -> Trace:
    """A stored trace; ``StoreError`` (exit code 2) when it can't be read.

    path: the folder, or the fsspec URL, that ``maskov sample --out`` wrote.
    """
    return Trace(open_store(path))
