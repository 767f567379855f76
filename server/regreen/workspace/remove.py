"""Removing folders that code under test could write to: however deep, closed or full of links they are.

Every name is looked up in an open folder and no link is followed. What lies deep down is first moved up to the top,
so that neither the length of a path nor the number of open files nor Python's own depth is a limit.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from pathlib import Path

_FOLDER = (
    os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
)
_DEEPEST = 40


def remove_tree(folder: Path) -> None:
    """Remove a folder with all that is in it, as far as that is possible; nothing when it is not there."""
    if os.name == "nt":  # No descriptors of folders.
        shutil.rmtree(folder, ignore_errors=True)
        return
    try:
        fd = os.open(folder, _FOLDER)
    except PermissionError:
        with contextlib.suppress(OSError):
            folder.chmod(0o700)
            fd = os.open(folder, _FOLDER)
            _remove_opened(fd, folder)
    except OSError:
        return
    else:
        _remove_opened(fd, folder)


def _remove_opened(fd: int, folder: Path) -> None:
    try:
        empty(fd)
        folder.rmdir()
    except OSError:
        with contextlib.suppress(RecursionError):  # Something resists: take away what does not.
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(fd)


def empty(folder: int) -> None:
    """Remove everything in an open folder. Raises OSError when something cannot be removed."""
    os.fchmod(folder, 0o700)
    while _empty(folder, folder, 0):
        pass


def remove_entry(name: str, folder: int) -> None:
    """Remove one folder in an open folder, with all that is in it. Raises OSError when that is not possible."""
    inner = open_folder(name, folder)
    try:
        empty(inner)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=folder)


def open_folder(name: str, folder: int) -> int:
    """Open a folder in an open folder, closed ones too, never through a link."""
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=folder)
        return os.open(name, _FOLDER, dir_fd=folder)


def _empty(folder: int, top: int, depth: int) -> bool:
    """Remove what lies in `folder`; True when something was moved to `top` instead, and is to be removed there."""
    moved = False
    with os.scandir(folder) as opened:
        entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in opened]
    for name, is_folder in entries:
        if not is_folder:
            os.unlink(name, dir_fd=folder)
            continue
        inner = open_folder(name, folder)
        try:
            os.fchmod(inner, 0o700)
            if depth >= _DEEPEST:
                os.rename(name, f"moved-{secrets.token_hex(8)}", src_dir_fd=folder, dst_dir_fd=top)
                moved = True
                continue
            moved = _empty(inner, top, depth + 1) or moved
        finally:
            os.close(inner)
        os.rmdir(name, dir_fd=folder)
    return moved
