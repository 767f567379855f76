"""Who sealed code runs as when we are root: an id of nobody's, which owns the trial and nothing else."""

from __future__ import annotations

import contextlib
import functools
import os
import stat
from pathlib import Path

# The range systemd keeps for services without an account (its DynamicUser), which no package gives out.
_FIRST, _LAST = 61184, 65519


def is_root() -> bool:
    """True when this process has the rights of the super-user."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


@functools.cache
def nobody() -> int:
    """A user and group id that no account has: its own for each of our processes, so that limits on the
    number of processes, which count by user, do not add up over two runs."""
    import pwd

    span = _LAST - _FIRST + 1
    for step in range(span):
        candidate = _FIRST + (os.getpid() + step) % span
        try:
            pwd.getpwuid(candidate)
        except KeyError:
            return candidate
    return 65534


def give(tree: Path, scratch: Path) -> None:
    """Make nobody the owner of what sealed code may write to. A trial is gone through once only: it gives each new
    file away itself."""
    with contextlib.suppress(FileNotFoundError):
        if tree.lstat().st_uid != nobody():
            hand_over(tree, nobody())
    hand_over(scratch, nobody())


def hand_over(folder: Path, owner: int) -> None:
    """Make `owner` the owner of everything below `folder`, without following a link and whatever is swapped
    meanwhile: each name is looked up in an open folder. Files with several links are left as they are, and so are
    folders inside that are `owner`'s already, with what `owner` did in them."""
    with contextlib.suppress(FileNotFoundError):
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            _hand_over(fd, owner)
        finally:
            os.close(fd)


def _hand_over(fd: int, owner: int) -> None:
    with os.scandir(fd) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                found = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(found.st_mode) and found.st_uid == owner:
                    continue
                if stat.S_ISDIR(found.st_mode):
                    inner = os.open(
                        entry.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd
                    )
                    try:
                        _hand_over(inner, owner)
                    finally:
                        os.close(inner)
                elif found.st_uid != owner and found.st_nlink == 1:
                    os.chown(entry.name, owner, owner, dir_fd=fd, follow_symlinks=False)
    if os.fstat(fd).st_uid != owner:
        os.fchown(fd, owner, owner)  # Last: its owner says that all of it was gone through.
