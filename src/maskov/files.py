"""Files that are whole or not there: written beside the target, renamed over it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from maskov.errors import InputError, RunError


def write_whole(path: Path, content: bytes) -> None:
    """Write a file by renaming a finished one over it, so that no reader ever meets half of it.

    Raises ``InputError`` when ``path`` is a folder or has none, ``RunError`` when the disk refuses; the old file stays.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "a.txt", b"whole")
    ...     (Path(folder) / "a.txt").read_text()
    'whole'
    """
    if path.is_dir() or not path.parent.is_dir():
        came = "a folder" if path.is_dir() else f"no folder {path.parent}"
        raise InputError(str(path), expected="a file that can be written", came=came)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o644)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise RunError(f"{path}: could not be written ({error.strerror}); nothing was overwritten") from error
