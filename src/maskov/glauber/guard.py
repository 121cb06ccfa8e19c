"""Arrays of a store that somebody else may have written: only what ``store`` writes, in bounded memory.

No codec of a store runs code or unpickles. A chunk may expand to the size that its array's shape gives it and no more.
"""

from __future__ import annotations

import copy
import math
import os
from typing import Any

import zarr
from zarr.codecs import BytesCodec, Crc32cCodec, ZstdCodec

_MAGIC = b"\x28\xb5\x2f\xfd"
_TYPES = ("int32", "int64", "float64")


class BoundedZstd(ZstdCodec):  # type: ignore[misc]
    """Zstandard that looks at a frame's own word on its size before it makes room for it."""

    def _decode_sync(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
        room = math.prod(chunk_spec.shape) * chunk_spec.dtype.item_size
        claimed = content_size(bytes(chunk_bytes.to_bytes()[:14]))
        if claimed is None or claimed > room:
            told = "an unknown number" if claimed is None else f"{claimed:,}"
            raise ValueError(f"a chunk of {told} of bytes where there is room for {room:,}")
        return super()._decode_sync(chunk_bytes, chunk_spec)


def content_size(head: bytes) -> int | None:
    """Bytes that a Zstandard frame says it expands to (RFC 8878 §3.1.1.1); None where it does not say.

    head: the first 14 bytes of the frame.

    >>> content_size(bytes.fromhex("28b52ffd2005")), content_size(b"no frame")
    (5, None)
    """
    if len(head) < 6 or head[:4] != _MAGIC:
        return None
    flag, single, dictionary = head[4] >> 6, head[4] >> 5 & 1, head[4] & 3
    length = (single, 2, 4, 8)[flag]
    first = 5 + (1 - single) + (0, 1, 2, 4)[dictionary]
    field = head[first : first + length]
    if not length or len(field) < length:
        return None
    return int.from_bytes(field, "little") + (256 if length == 2 else 0)


def guarded(found: Any) -> Any:
    """A stored array whose decoding is bounded; ``ValueError`` on anything that ``store`` does not write."""
    if not isinstance(found, zarr.Array):
        raise ValueError("a group where an array should be")
    if str(found.dtype) not in _TYPES:
        raise ValueError(f"values of type {str(found.dtype)[:40]}, none of {', '.join(_TYPES)}")
    codecs = tuple(getattr(found.metadata, "codecs", ()))
    if [type(codec) for codec in codecs] != [BytesCodec, ZstdCodec, Crc32cCodec]:
        names = ", ".join(type(codec).__name__ for codec in codecs)
        raise ValueError(f"codecs {names[:80] or 'none'}, not bytes, zstd, crc32c")
    metadata = copy.copy(found.metadata)
    bounded = (codecs[0], BoundedZstd(level=codecs[1].level, checksum=codecs[1].checksum), codecs[2])
    object.__setattr__(metadata, "codecs", bounded)
    return zarr.Array(zarr.AsyncArray(metadata, found.store_path, found.async_array.config))


def check_room(array: Any, selection: Any) -> None:
    """``ValueError`` where reading a selection needs more than half of this machine's memory."""
    rows = 1 if isinstance(selection, int) else len(range(array.shape[0])[selection or slice(None)])
    wanted = max(rows * math.prod(array.shape[1:]), math.prod(array.chunks)) * array.dtype.itemsize
    if wanted > memory() // 2:
        raise ValueError(f"{wanted:,} bytes to read, more than half of this machine's memory")


def memory() -> int:
    """Bytes of this machine's memory; 16 GiB where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 16 * 2**30
