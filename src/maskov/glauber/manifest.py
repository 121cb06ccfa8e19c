"""The manifest of a trace: what was run, and up to which step it is complete. Written last, by rename."""

from __future__ import annotations

import json
import platform
import zlib
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from maskov.errors import StoreError
from maskov.place import Place

SCHEMA = 1
FILE = "manifest.json"


class ChunkEntry(NamedTuple):
    """One complete chunk: its last step, how many changes it holds, and CRC-32 sums of its three parts."""

    stop: int
    changes: int
    changes_crc: int
    state_crc: int
    series_crc: int


@dataclass(frozen=True)
class Manifest:
    """Provenance and progress of one run.

    steps: steps that were asked for; window: steps per entry of a series; chunk_steps: steps per chunk;
    model: ``name``, ``fingerprint``, ``vocabulary_size``; texts: one dict per start (``topic``, ``name``); scan: which
    sites a step updates (``glauber.scan``; runs stored without it are single-site); chunks: complete ones.
    """

    steps: int
    seed: int
    window: int
    chunk_steps: int
    temperatures: tuple[float, ...]
    chains: int
    model: dict[str, Any]
    texts: tuple[dict[str, Any], ...] = ()
    start_crc: int = 0
    versions: dict[str, str] = field(default_factory=dict)
    command: str = ""
    scan: str = "single"
    chunks: tuple[ChunkEntry, ...] = ()
    schema: int = SCHEMA

    @property
    def complete_steps(self) -> int:
        """The last step that is stored."""
        return self.chunks[-1].stop if self.chunks else 0

    def with_chunk(self, entry: ChunkEntry) -> Manifest:
        """The manifest after one more chunk."""
        return replace(self, chunks=(*self.chunks, entry))

    def whole_chunks(self) -> Manifest:
        """Without a last chunk that is shorter than ``chunk_steps``: a longer run writes that one anew, in full."""
        kept = self.chunks
        if kept and kept[-1].stop % self.chunk_steps:
            kept = kept[:-1]
        return replace(self, chunks=kept)

    def identity(self) -> dict[str, Any]:
        """What must be the same for a run to be continued."""
        return {
            "seed": self.seed,
            "temperatures": list(self.temperatures),
            "chains": self.chains,
            "model": self.model["fingerprint"],
            "starts": self.start_crc,
            "scan": self.scan,
        }


def versions() -> dict[str, str]:
    """Versions of what a run's numbers depend on."""
    found = {"python": platform.python_version()}
    for package in ("maskov", "numpy", "scipy", "torch", "transformers", "zarr"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def to_json(manifest: Manifest) -> str:
    """The manifest as JSON text, with a sum over all of it."""
    body = asdict(manifest) | {"complete_steps": manifest.complete_steps}
    return json.dumps({**body, "sum": _sum(body)}, indent=1, allow_nan=False)


def _sum(body: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(body, sort_keys=True, separators=(",", ":")).encode())


def write_manifest(place: Place, manifest: Manifest) -> None:
    """Replace the manifest atomically: a reader sees the old one or the new one, never a part."""
    place.write(FILE, to_json(manifest).encode())


def read_manifest(place: Place) -> Manifest:
    """The manifest of a stored run; ``StoreError`` names the file and the remedy when it can't be used."""
    path, content = f"{place}/{FILE}", place.read(FILE)
    if content is None:
        raise _absent(place)
    try:
        raw = json.loads(content.decode("utf-8"))
        _check_schema(path, raw)
        return _parse(raw)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StoreError(
            path,
            expected="a readable manifest",
            came=f"damaged JSON ({str(error)[:120]})",
            remedy="restore the file from a copy; the chunks beside it are untouched",
        ) from error


def _absent(place: Place) -> StoreError:
    if not place.exists():
        remedy = "check the path, or run `maskov sample … --out`"
        return StoreError(str(place), expected="the folder of a run", came="no such folder", remedy=remedy)
    remedy = "this is not a maskov run, or its first chunk was never completed"
    return StoreError(str(place), expected=f"a run with a {FILE}", came="a folder without one", remedy=remedy)


def _check_schema(path: str, raw: dict[str, Any]) -> None:
    schema = raw.get("schema")
    if schema != SCHEMA:
        wrote = str(raw.get("versions", {}).get("maskov", "unknown"))
        remedy = f"read it with the version of maskov that wrote it: {wrote}"
        raise StoreError(path, expected=f"schema {SCHEMA}", came=f"schema {schema}", remedy=remedy)


def _parse(raw: dict[str, Any]) -> Manifest:
    told = raw.pop("sum", None)  # runs of before there was one have none
    if told is not None and told != _sum(raw):
        raise ValueError("its content does not match its sum")
    raw = {key: value for key, value in raw.items() if key != "complete_steps"}
    chunks = tuple(ChunkEntry(*(int(v) for v in entry)) for entry in raw.pop("chunks"))
    stops = [c.stop for c in chunks]
    if any(b <= a for a, b in zip([0, *stops], stops, strict=False)):
        raise ValueError("chunks out of order")
    raw["temperatures"] = tuple(float(t) for t in raw["temperatures"])
    raw["texts"] = tuple(raw.get("texts", ()))
    return Manifest(**raw, chunks=chunks)
