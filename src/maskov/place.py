"""Where a store lies: a folder of this machine, or an fsspec URL such as ``s3://bucket/run.zarr``."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from maskov.errors import InputError

LOCK = "writer.lock"
_URL = re.compile(r"(?P<protocol>[a-z][a-z0-9+.-]+)://.*", re.IGNORECASE | re.DOTALL)


class Place(Protocol):
    """What a store needs of where it lies. Files are whole or not there."""

    def __str__(self) -> str: ...

    def exists(self) -> bool:
        """Whether anything is there."""
        ...

    def make(self) -> None:
        """Make an empty place; ``InputError`` when something is there."""
        ...

    def names(self) -> set[str]:
        """Names of what lies in it, not deeper."""
        ...

    def zarr(self, read_only: bool = False) -> Any:
        """A Zarr store of it."""
        ...

    def read(self, name: str) -> bytes | None:
        """A file's content, None when there is none."""
        ...

    def write(self, name: str, content: bytes) -> None:
        """Replace a file: a reader sees the old one or the new one."""
        ...

    def writer(self) -> Any:
        """A context in which nobody else writes here, as far as the place can tell."""
        ...


def place_of(out: str | os.PathLike[str]) -> Place:
    """The place that a path or URL means; ``file://`` is a folder.

    >>> str(place_of("run.zarr")), type(place_of("file:///tmp/run.zarr")).__name__
    ('run.zarr', 'Folder')
    """
    text = os.fspath(out)
    match = _URL.fullmatch(text)
    if match is None:
        return Folder(Path(text))
    if match["protocol"].lower() in ("file", "local"):
        from urllib.parse import unquote

        return Folder(Path(unquote(text.split("://", 1)[1])))
    return Remote(text)


class Folder:
    """A folder of a file system that renames atomically."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __str__(self) -> str:
        return str(self.path)

    def exists(self) -> bool:
        """Whether anything is there."""
        return self.path.exists()

    def make(self) -> None:
        """A new folder; two processes that try at once are told apart by the file system."""
        if self.path.exists():
            raise _taken(str(self.path))
        if not self.path.parent.is_dir():
            came, remedy = str(self.path.parent), "create the folder first"
            raise InputError("--out", expected="an existing parent folder", came=came, remedy=remedy)
        try:
            self.path.mkdir()
        except FileExistsError:
            raise _taken(str(self.path)) from None

    def names(self) -> set[str]:
        """Names of what lies in it, not deeper."""
        return set(os.listdir(self.path)) if self.path.is_dir() else {self.path.name}

    def zarr(self, read_only: bool = False) -> Any:
        """Its Zarr store."""
        from zarr.storage import LocalStore

        return LocalStore(str(self.path), read_only=read_only or not os.access(self.path, os.W_OK))

    def read(self, name: str) -> bytes | None:
        """A file's content, None when there is none."""
        try:
            return (self.path / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write(self, name: str, content: bytes) -> None:
        """Written beside the target, made durable, renamed over it."""
        target, part = self.path / name, self.path / f"{name}.part"
        with part.open("wb") as handle:
            handle.write(content)
            handle.flush()
            os.fsync(handle.fileno())
        part.replace(target)

    def writer(self) -> Any:
        """Held by the operating system, so that a killed process leaves no lock behind."""
        return only_writer(self.path)


class Remote:
    """An object store or another file system behind fsspec. It has no lock: one writer is the user's care."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self.system, self.root = _open(self.url)

    def __str__(self) -> str:
        return self.url

    def exists(self) -> bool:
        """Whether anything is there."""
        return bool(_told(self.url, lambda: self.system.exists(self.root)))

    def make(self) -> None:
        """Object stores have no folders; only that nothing is there is checked."""
        if self.exists():
            raise _taken(self.url)
        _told(self.url, lambda: self.system.makedirs(self.root, exist_ok=True))

    def names(self) -> set[str]:
        """Names of what lies in it, not deeper."""
        found = _told(self.url, lambda: self.system.ls(self.root, detail=False))
        return {str(name).rstrip("/").rsplit("/", 1)[-1] for name in found}

    def zarr(self, read_only: bool = False) -> Any:
        """Its Zarr store, through fsspec's asynchronous face."""
        from zarr.storage import FsspecStore

        return FsspecStore.from_url(self.url, read_only=read_only)

    def read(self, name: str) -> bytes | None:
        """A file's content, None when there is none."""
        try:
            return bytes(_told(self.url, lambda: self.system.cat_file(f"{self.root}/{name}")))
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes) -> None:
        """One put: object stores replace an object whole."""
        self.system.pipe_file(f"{self.root}/{name}", content)

    @contextmanager
    def writer(self) -> Iterator[None]:
        """Nothing is locked."""
        yield


def _open(url: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError:
        remedy = "run: pip install fsspec, and the package of the protocol (s3fs, gcsfs, adlfs)"
        raise InputError("--out", expected="the package fsspec for a URL", came="none", remedy=remedy) from None
    try:
        system, root = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        remedy = "install the package that it names, or write to a folder"
        raise InputError(url, expected="a URL that fsspec can open", came=str(error)[:160], remedy=remedy) from error
    return system, str(root).rstrip("/")


def _told(url: str, action: Any) -> Any:
    """An action on a remote place; what only the network or the account can mend is told as such."""
    try:
        return action()
    except FileNotFoundError:
        raise
    except Exception as error:  # each protocol raises its own kinds
        remedy = "check the address, the account and the network"
        came = f"{type(error).__name__}: {error}"[:200]
        raise InputError(url, expected="a place that can be reached", came=came, remedy=remedy) from error


def _taken(where: str) -> InputError:
    remedy = "choose another, or continue it with --resume"
    return InputError("--out", expected="a new path", came=f"{where}, which exists", remedy=remedy)


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold a folder against other writers; ``InputError`` at once when another process holds it.

    The lock is the operating system's (flock): it ends with its process however that ends. File systems without locks
    are written without one.
    """
    handle = _lock(folder)
    try:
        yield
    finally:
        if handle is not None:
            (folder / LOCK).unlink(missing_ok=True)  # still held: nobody else can have this file
            os.close(handle)


def _lock(folder: Path) -> int | None:
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    while True:
        try:
            handle = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR | getattr(os, "O_CLOEXEC", 0), 0o644)
        except OSError:
            return None  # a folder that cannot be written is told of where it is written
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            remedy = "wait until it ends, stop it, or choose another --out"
            came = "one that another process is writing now"
            raise InputError(str(folder), expected="a store without a writer", came=came, remedy=remedy) from None
        except OSError as error:
            os.close(handle)
            if error.errno in (errno.ENOLCK, errno.ENOTSUP, errno.EINVAL, errno.ENOSYS):
                return None
            raise
        if _same_file(handle, folder / LOCK):
            return handle
        os.close(handle)  # its last holder removed it between the two calls


def _same_file(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
