"""The manifest of a trace: what was run, and up to which step it is complete. Written last, by rename."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from maskov.errors import StoreError

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
    """The manifest as JSON text."""
    return json.dumps(asdict(manifest) | {"complete_steps": manifest.complete_steps}, indent=1, allow_nan=False)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest atomically: a reader sees the old one or the new one, never a part."""
    target, part = folder / FILE, folder / f"{FILE}.part"
    with part.open("w", encoding="utf-8") as handle:
        handle.write(to_json(manifest))
        handle.flush()
        os.fsync(handle.fileno())
    part.replace(target)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a stored run; ``StoreError`` names the file and the remedy when it can't be used."""
    path = folder / FILE
    if not folder.is_dir():
        raise StoreError(
            str(folder),
            expected="the folder of a run",
            came="no such folder",
            remedy="check the path, or run `maskov sample … --out`",
        )
    if not path.is_file():
        raise StoreError(
            str(folder),
            expected=f"a run with a {FILE}",
            came="a folder without one",
            remedy="this is not a maskov run, or its first chunk was never completed",
        )
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        schema = raw.get("schema")
        if schema != SCHEMA:
            raise StoreError(
                str(path),
                expected=f"schema {SCHEMA}",
                came=f"schema {schema}",
                remedy="read it with the version of maskov that wrote it: "
                + str(raw.get("versions", {}).get("maskov", "unknown")),
            )
        return _parse(raw)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(
            str(path),
            expected="a readable manifest",
            came=f"damaged JSON ({error})",
            remedy="restore the file from a copy; the chunks beside it are untouched",
        ) from error


def _parse(raw: dict[str, Any]) -> Manifest:
    raw = {key: value for key, value in raw.items() if key != "complete_steps"}
    chunks = tuple(ChunkEntry(*(int(v) for v in entry)) for entry in raw.pop("chunks"))
    stops = [c.stop for c in chunks]
    if any(b <= a for a, b in zip([0, *stops], stops, strict=False)):
        raise ValueError("chunks out of order")
    raw["temperatures"] = tuple(float(t) for t in raw["temperatures"])
    raw["texts"] = tuple(raw.get("texts", ()))
    return Manifest(**raw, chunks=chunks)
