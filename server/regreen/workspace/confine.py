"""Opening files beneath one folder, whatever links are put in the way and whenever they are swapped.

Linux: `openat2` with RESOLVE_BENEATH, RESOLVE_NO_MAGICLINKS and RESOLVE_NO_SYMLINKS (openat2(2), Linux 5.6),
from one descriptor of the folder that is held all the time. Elsewhere, and where openat2 is missing or
filtered away: a walk from folder to folder, each opened with O_NOFOLLOW relative to the last. What was opened is
then looked at by its descriptor, never again by its name. Links are refused even inside the folder, since rules
go by names.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import os
import stat
import struct
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

from regreen.workspace.names import PathRefused

_OPENAT2 = 437
_RESOLVE_NO_MAGICLINKS, _RESOLVE_NO_SYMLINKS, _RESOLVE_BENEATH = 0x02, 0x04, 0x08
_STRICT = _RESOLVE_NO_MAGICLINKS | _RESOLVE_NO_SYMLINKS | _RESOLVE_BENEATH
_TRIES = 128
_CLOEXEC: int = getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_FOLDER: int = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
# O_NONBLOCK: opening a named pipe must not wait for its other end. O_NOCTTY: nor take over a terminal.
_READ: int = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


@functools.cache
def libc() -> Any:
    """The C library, loaded on first use."""
    return ctypes.CDLL(None, use_errno=True)


class Root:
    """One folder, held open. Paths are tuples of names that `names.split` has let through."""

    def __init__(self, path: Path) -> None:
        """Raises OSError when `path` is no folder that can be opened."""
        self.path = Path(os.path.realpath(path))
        self._fd = os.open(self.path, _FOLDER | _CLOEXEC)
        found = os.fstat(self._fd)
        self.identity = (found.st_dev, found.st_ino)
        self._openat2 = sys.platform == "linux"

    def close(self) -> None:
        """Let go of the folder. Safe to call twice."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def check(self) -> None:
        """PathRefused when the folder was moved away or replaced since it was opened."""
        try:
            found = self.path.lstat()
        except OSError as error:
            raise PathRefused("the workspace folder is gone or was moved: start a new run") from error
        if (found.st_dev, found.st_ino) != self.identity:
            raise PathRefused("the workspace folder was replaced by another one: start a new run")

    def read(self, names: tuple[str, ...], limit: int) -> tuple[bytes, os.stat_result]:
        """A file's bytes and state. Raises FileNotFoundError and PathRefused."""
        fd = self.open(names, _READ)
        try:
            return read_all(fd, "/".join(names), limit)
        finally:
            os.close(fd)

    def open(self, names: tuple[str, ...], flags: int) -> int:
        """A new descriptor for an existing file or folder. Raises FileNotFoundError and PathRefused."""
        try:
            return self._open(names, flags | _CLOEXEC | _NOFOLLOW)
        except OSError as error:
            raise _explained(error, "/".join(names)) from error

    @contextlib.contextmanager
    def folder(self, names: tuple[str, ...], made: list[str] | None = None) -> Generator[int]:
        """The descriptor of a folder, () for the root itself. With `made`, missing folders are created and
        their paths added to it."""
        if made is not None:
            for depth in range(1, len(names) + 1):
                self._make(names[:depth], made)
        fd = self.open(names, _FOLDER) if names else os.dup(self._fd)
        try:
            yield fd
        finally:
            os.close(fd)

    def missing(self, names: tuple[str, ...]) -> list[str]:
        """The paths of folders that do not exist yet on the way to, and including, the folder `names`."""
        for depth in range(len(names), 0, -1):
            try:
                os.close(self.open(names[:depth], _FOLDER))
            except FileNotFoundError:
                continue
            return ["/".join(names[:further]) for further in range(depth + 1, len(names) + 1)]
        return ["/".join(names[:further]) for further in range(1, len(names) + 1)]

    def _make(self, names: tuple[str, ...], made: list[str]) -> None:
        with self.folder(names[:-1]) as above, contextlib.suppress(FileExistsError):
            os.mkdir(names[-1], dir_fd=above)
            made.append("/".join(names))

    def _open(self, names: tuple[str, ...], flags: int) -> int:
        if self._openat2:
            try:
                return _openat2(self._fd, "/".join(names), flags)
            except OSError as error:
                # ENOSYS: Linux before 5.6. EPERM: filters of old container programs.
                if error.errno not in (errno.ENOSYS, errno.EPERM):
                    raise
                self._openat2 = False
        fd = os.dup(self._fd)
        try:
            for name in names[:-1]:
                inner = os.open(name, _FOLDER | _NOFOLLOW | _CLOEXEC, dir_fd=fd)
                os.close(fd)
                fd = inner
            return os.open(names[-1], flags, dir_fd=fd)
        finally:
            os.close(fd)


def read_leaf(
    folder: int, name: str, limit: int, several_links: bool = False
) -> tuple[bytes, os.stat_result]:
    """As `Root.read`, for a name in an open folder."""
    try:
        fd = os.open(name, _READ | _NOFOLLOW | _CLOEXEC, dir_fd=folder)
    except OSError as error:
        raise _explained(error, name) from error
    try:
        return read_all(fd, name, limit, several_links)
    finally:
        os.close(fd)


def read_all(fd: int, shown: str, limit: int, several_links: bool = False) -> tuple[bytes, os.stat_result]:
    """Everything in an open file of at most `limit` bytes. PathRefused for what is no plain file of its own."""
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        raise PathRefused(f"not a regular file: '{shown}'")
    if found.st_nlink > 1 and not several_links:
        raise PathRefused(
            f"the file has a second name (hard link), which may lie outside the workspace: '{shown}'"
        )
    if found.st_size > limit:
        raise PathRefused(f"too large: '{shown}' has {found.st_size} bytes, {limit} are allowed")
    data = bytearray()
    while chunk := os.read(fd, 1 << 20):
        data += chunk
        if len(data) > limit:
            raise PathRefused(f"too large: '{shown}' grew beyond {limit} bytes while it was read")
    return bytes(data), found


def _openat2(folder: int, path: str, flags: int) -> int:
    how = struct.pack("QQQ", flags, 0, _STRICT)
    for _ in range(_TRIES):
        fd = libc().syscall(
            ctypes.c_long(_OPENAT2), ctypes.c_int(folder), os.fsencode(path), how, ctypes.c_size_t(len(how))
        )
        if fd >= 0:
            return int(fd)
        number = ctypes.get_errno()
        if number not in (errno.EAGAIN, errno.EINTR):
            raise OSError(number, os.strerror(number), path)
    raise OSError(errno.EAGAIN, "it kept changing while it was opened", path)


def _explained(error: OSError, shown: str) -> Exception:
    """The error a caller can act on: what is missing stays FileNotFoundError, links and the like are refusals."""
    if isinstance(error, FileNotFoundError):
        return FileNotFoundError(errno.ENOENT, "no such file", shown)
    if error.errno in (errno.ELOOP, errno.EXDEV, errno.EMLINK):
        return PathRefused(f"links are not followed: '{shown}'")
    if error.errno == errno.ENOTDIR:
        return PathRefused(f"links are not followed, and only folders hold files: '{shown}'")
    if error.errno in (errno.ENXIO, errno.ENODEV):
        return PathRefused(f"not a regular file: '{shown}'")
    if isinstance(error, IsADirectoryError):
        return PathRefused(f"it is a folder: '{shown}'")
    if isinstance(error, PermissionError):
        return PathRefused(f"the file cannot be opened with your rights: '{shown}'")
    return PathRefused(f"{error.strerror or error}: '{shown}'")
