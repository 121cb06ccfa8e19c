"""Traces on disk (or in memory): Zarr v3 arrays that are written once per chunk, then the manifest by rename.

    state           [boundary, chain, column]   int32, x at the start and after each chunk, −1 beyond a chain's length
    changed, stay, entropy, production, production_raw   [window, chain]   float64, means over the window's steps
    temperature, chain_id, n_sites  [chain];    free  [chain, free_site]
    changes/000012  [m, 5]   int32 rows (chain, step − first step of the chunk, site, old, new)

A chunk that a kill left half-written lies beyond the manifest's ``complete_steps`` and is written anew. Every part has
a CRC-32 in the manifest, since a missing Zarr chunk would otherwise read as fill values.
"""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.codecs import Crc32cCodec, ZstdCodec

from maskov.errors import InputError, RunError, StoreError
from maskov.glauber.chains import Chains
from maskov.glauber.engine import SERIES, Chunk
from maskov.glauber.guard import check_room, guarded
from maskov.glauber.manifest import FILE as MANIFEST
from maskov.glauber.manifest import ChunkEntry, Manifest, read_manifest, write_manifest
from maskov.place import LOCK, Folder, Place, place_of

_DIMENSIONS: dict[str, tuple[str, ...]] = {
    "state": ("boundary", "chain", "column"),
    **dict.fromkeys(SERIES, ("window", "chain")),
    **dict.fromkeys(("temperature", "chain_id", "n_sites", "length"), ("chain",)),
    "free": ("chain", "free_site"),
}
# What lies in a store, whatever moment it was left at.
_OWN = {"zarr.json", "changes", *_DIMENSIONS, MANIFEST, f"{MANIFEST}.part", LOCK}
_CODECS = (ZstdCodec(level=1), Crc32cCodec())


def crc(*arrays: NDArray[Any]) -> int:
    """CRC-32 of the arrays' bytes, in order."""
    value = 0
    for array in arrays:
        value = zlib.crc32(np.ascontiguousarray(array).tobytes(), value)
    return value


def start_crc(chains: Chains) -> int:
    """A number that two arrangements share only when tokens, free sites, temperatures and stream numbers agree."""
    return crc(*chains)


class Store:
    """One run's arrays and manifest. ``place`` is None for a run that is kept in memory."""

    def __init__(self, group: zarr.Group, place: Place | None, manifest: Manifest) -> None:
        self.group, self.place, self.manifest = group, place, manifest
        self._open: dict[
            str, zarr.Array[Any]
        ] = {}  # reading an array's metadata costs as much as writing a chunk of it

    def array(self, name: str) -> zarr.Array[Any]:
        """One stored array, or ``StoreError`` when it is missing."""
        if name in self._open:
            return self._open[name]
        try:
            found = cast("zarr.Array[Any]", guarded(self.group[name]))
        except Exception as error:  # zarr raises many kinds on damaged metadata
            raise StoreError(
                f"{self.place}/{name}",
                expected="a stored array",
                came=f"none that can be read ({str(error)[:200]})",
                remedy=_REMEDY,
            ) from error
        if "/" not in name:
            self._open[name] = found
        return found

    def read(self, name: str, selection: Any = ()) -> NDArray[Any]:
        """Values of a stored array; damage is an error that names the array, never a wrong number."""
        try:
            array = self.array(name)
            check_room(array, selection)
            return np.asarray(array[selection])
        except StoreError:
            raise
        except Exception as error:  # the codecs raise many kinds
            raise StoreError(
                f"{self.place}/{name}", expected="data that match their checksum", came=str(error)[:200], remedy=_REMEDY
            ) from error

    def sized(self, name: str, shape: tuple[int, ...]) -> None:
        """``StoreError`` unless an array has this shape."""
        found = self.array(name).shape
        if found != shape:
            told = {"expected": f"an array of shape {shape}, as the manifest says", "came": str(found)}
            raise StoreError(f"{self.place}/{name}", **told, remedy=_REMEDY)

    def dataset(self) -> Any:
        """The arrays as xarray sees them, opened lazily; ``StoreError`` where they are not as they were made."""
        import warnings

        import xarray as xr

        try:
            with warnings.catch_warnings():  # the manifest, and parts of files that a kill left
                warnings.filterwarnings("ignore", message=".*is not recognized as a component")
                data = xr.open_zarr(self.group.store, consolidated=False, zarr_format=3)
            if {name: data[name].dims for name in _DIMENSIONS} != _DIMENSIONS:
                raise ValueError("other dimensions than those of a run")
        except Exception as error:  # zarr and xarray raise many kinds on damaged metadata
            remedy, came = _REMEDY, str(error)[:200]
            raise StoreError(
                f"{self.place}", expected="arrays with their own names", came=came, remedy=remedy
            ) from error
        return data[list(_DIMENSIONS)]

    def checked(self, name: str, *values: NDArray[Any], expected: int) -> None:
        """``StoreError`` unless the CRC-32 of the values is the manifest's."""
        if crc(*values) != expected:
            raise StoreError(
                f"{self.place}/{name}",
                expected="data that match the manifest",
                came="other data (damaged or missing)",
                remedy=_REMEDY,
            )

    def append(self, chunk: Chunk) -> None:
        """Store one chunk: data first, then the manifest."""
        k = len(self.manifest.chunks)
        windows = slice(chunk.start // self.manifest.window, -(-chunk.stop // self.manifest.window))
        with _disk_errors(self.manifest.complete_steps):
            state = chunk.states.astype(np.int32)
            self.array("state")[k + 1] = state
            for name in SERIES:
                self.array(name)[windows] = chunk.series[name]
            self._write_changes(k, chunk.changes)
            series_crc = crc(*(chunk.series[name] for name in SERIES))
            entry = ChunkEntry(chunk.stop, len(chunk.changes), crc(chunk.changes), crc(state), series_crc)
            self._commit(self.manifest.with_chunk(entry))

    def _write_changes(self, k: int, changes: NDArray[np.int32]) -> None:
        group = cast(zarr.Group, self.group["changes"])
        rows = max(1, len(changes))
        array = group.create_array(
            f"{k:06d}", shape=changes.shape, chunks=(rows, 5), dtype="int32", compressors=_CODECS, overwrite=True
        )
        if len(changes):
            array[:] = changes

    def _commit(self, manifest: Manifest) -> None:
        if self.place is not None:
            write_manifest(self.place, manifest)
        self.manifest = manifest

    def extend(self, steps: int) -> None:
        """Make room for a run of ``steps`` steps in all, and drop a last chunk that is not whole."""
        manifest = self.manifest.whole_chunks() if steps > self.manifest.complete_steps else self.manifest
        steps = max(steps, self.manifest.steps)
        with _disk_errors(self.manifest.complete_steps):
            self._commit(Manifest(**{**manifest.__dict__, "steps": steps}))
            for name, shape in _run_shapes(self.manifest).items():
                self.array(name).resize((shape, *self.array(name).shape[1:]))
            self._open.clear()


_REMEDY = "restore the run from a copy or run it again; nothing was overwritten"


def _run_shapes(manifest: Manifest) -> dict[str, int]:
    windows = -(-manifest.steps // manifest.window)
    return {"state": 1 + -(-manifest.steps // manifest.chunk_steps), **dict.fromkeys(SERIES, windows)}


def create(place: Place | None, chains: Chains, manifest: Manifest) -> Store:
    """A new store with the starts in it, at an empty place or in memory."""
    with _disk_errors(0):
        target = zarr.storage.MemoryStore() if place is None else place.zarr()
        group = zarr.open_group(target, mode="a", zarr_format=3)
        _make_arrays(group, chains, manifest)
        store = Store(group, place, manifest)
        store._commit(manifest)
    return store


@contextmanager
def writing(place: Place | None, resume: bool) -> Iterator[bool]:
    """A place that is held against other writers. Yields whether it holds a run to go on with; makes it if not.

    A place that a kill left before its first manifest holds nothing yet: ``resume`` begins it anew.
    """
    if place is None:
        yield False
        return
    there = resume and place.exists()
    with _disk_errors(0):
        if not there:
            place.make()
    with place.writer():
        yield there and not _begun(place)


def _begun(place: Place) -> bool:
    """Whether it has no manifest, and nothing that another than ``create`` makes."""
    left = {name for name in place.names() if not (name.startswith("zarr.") and name.endswith(".partial"))}
    return place.read(MANIFEST) is None and left <= _OWN


def _make_arrays(group: zarr.Group, chains: Chains, manifest: Manifest) -> None:
    B, L = chains.tokens.shape
    shapes = _run_shapes(manifest)
    windows_per_chunk = max(1, manifest.chunk_steps // manifest.window)
    state = group.create_array(
        "state",
        shape=(shapes["state"], B, L),
        chunks=(1, B, L),
        dtype="int32",
        overwrite=True,
        fill_value=-1,
        compressors=_CODECS,
        dimension_names=_DIMENSIONS["state"],
    )
    state[0] = chains.tokens.astype(np.int32)
    for name in SERIES:
        group.create_array(
            name,
            shape=(shapes[name], B),
            chunks=(windows_per_chunk, B),
            dtype="float64",
            overwrite=True,
            fill_value=np.nan,
            compressors=_CODECS,
            dimension_names=_DIMENSIONS[name],
        )
    coordinates = {
        "temperature": chains.temperatures,
        "chain_id": chains.ids,
        "n_sites": chains.n_sites,
        "length": chains.lengths,
        "free": chains.free,
    }
    for name, values in coordinates.items():
        group.create_array(name, data=values, overwrite=True, compressors=_CODECS, dimension_names=_DIMENSIONS[name])
    group.create_group("changes", overwrite=True)


def open_store(out: str | os.PathLike[str] | Place) -> Store:
    """A stored run: a path, a URL or a place."""
    place = place_of(out) if isinstance(out, (str, os.PathLike)) else out
    manifest = read_manifest(place)
    try:
        group = zarr.open_group(place.zarr(), mode="r" if _read_only(place) else "r+", zarr_format=3)
    except Exception as error:  # zarr raises many kinds on damaged metadata
        raise StoreError(str(place), expected="a Zarr v3 group", came=str(error)[:200], remedy=_REMEDY) from error
    return Store(group, place, manifest)


def _read_only(place: Place) -> bool:
    return isinstance(place, Folder) and not os.access(place.path, os.W_OK)


@contextmanager
def _disk_errors(complete: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise RunError(
                f"the disk is full; the {complete} steps stored before are intact: "
                "free some space and go on with --resume"
            ) from error
        if error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
            raise InputError(
                "--out", expected="a folder that can be written", came=str(error), remedy="choose another folder"
            ) from error
        raise
