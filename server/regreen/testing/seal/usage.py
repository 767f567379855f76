"""What a sealed process tree uses of memory and disk, as far as /proc shows it. The kernel limits single processes only.

Files without a name are counted too: files in memory (memfd_create), and files that were removed while open. They are in no
folder and in no process's resident memory, and would fill the disk or the memory of the whole computer.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

_MOST_DESCRIPTORS = 50_000
"""Looked at in one go. Whoever has more open, and lets the disk or the memory shrink, is stopped."""


def descendants(root: int) -> list[int]:
    """`root` and everything below it that /proc shows; [] where there is no such process or no /proc."""
    found: list[int] = []
    todo = [root] if root > 0 else []
    while todo:
        pid = todo.pop()
        found.append(pid)
        with contextlib.suppress(OSError, ValueError):
            for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
                with open(f"/proc/{pid}/task/{thread}/children", "rb") as children:
                    todo += [int(child) for child in children.read().split()]
    return found


def is_dead(pid: int) -> bool:
    """True when the process does not exist or only waits to be reaped."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as text_file:
            text = text_file.read()
    except OSError:
        return True
    return text[text.rindex(b")") + 2 :][:1] == b"Z"


def resident(root: int) -> int:
    """Resident bytes of a process tree. Shared pages count once for each process: too much rather than too little."""
    pages = 0
    for pid in descendants(root):
        with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/statm", "rb") as statm:
            pages += int(statm.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def free_memory() -> tuple[int, int]:
    """Bytes that programs could still have, and how many there are in all; (0, 0) where /proc does not say."""
    try:
        with open("/proc/meminfo", "rb") as meminfo:
            lines = dict(line.split(b":", 1) for line in meminfo.read().splitlines())
        return int(lines[b"MemAvailable"].split()[0]) << 10, int(lines[b"MemTotal"].split()[0]) << 10
    except (OSError, ValueError, KeyError, IndexError):
        return 0, 0


def free_space(folder: Path) -> Written:
    """What could still be written to the disk of a folder; nothing when it is gone, and no number of files where the
    file system has no limit for them."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return Written()
    return Written(found.f_bavail * found.f_frsize, found.f_ffree)


@dataclass(slots=True)
class Written:
    """What was written: bytes on disk, and how many files and folders there are."""

    size: int = 0
    files: int = 0


def written(folders: Sequence[Path], root: int, most: Written, since: int, hidden: bool) -> Written:
    """What is new below the folders since a time (nanoseconds of the clock), and removed files that are still open;
    stops counting above `most`. `hidden`: whether what we cannot look at counts as too much, such as a process that
    keeps its descriptors from us."""
    found = Written()
    for folder in folders:
        _add_new(folder, found, most, since, hidden)
    if found.size <= most.size and found.files <= most.files:
        disks = _devices(folders)
        found.size += _nameless(root, most.size - found.size, lambda device: device in disks, hidden)
    return found


def files_on(root: int, disks: Sequence[Path]) -> int:
    """How many files and folders lie on the memory disks that only process `root` and those below it see."""
    count = 0
    for disk in disks:
        with contextlib.suppress(OSError):
            found = os.statvfs(f"/proc/{root}/root{disk}")
            count += found.f_files - found.f_ffree
    return count


def in_memory(folders: Sequence[Path], root: int, enough: int, hidden: bool) -> int:
    """Bytes in files that lie in memory and in no folder; stops counting above `enough`. `folders` are on a disk.
    `hidden` as in `written`."""
    disks = _devices(folders)
    return _nameless(root, enough, lambda device: os.major(device) == 0 and device not in disks, hidden)


def _devices(folders: Sequence[Path]) -> set[int]:
    found: set[int] = set()
    for folder in folders:
        with contextlib.suppress(OSError):
            found.add(folder.stat().st_dev)
    return found


def _nameless(root: int, enough: int, counts: Callable[[int], bool], hidden: bool) -> int:
    """Bytes in open files without a name, on the devices that count. A living process that keeps its descriptors from us
    counts as `enough` and one if `hidden` says so; agents that hold keys do that too (prctl(2), PR_SET_DUMPABLE)."""
    seen: set[tuple[int, int]] = set()
    total = looked = 0
    for pid in descendants(root):
        try:
            names = os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208
        except PermissionError:
            if is_dead(pid) or not hidden:
                continue
            return enough + 1
        except OSError:
            continue
        looked += len(names)
        if looked > _MOST_DESCRIPTORS:
            return enough + 1
        for name in names:
            try:
                found = os.stat(f"/proc/{pid}/fd/{name}")  # noqa: PTH116
            except OSError:
                continue
            if not stat.S_ISREG(found.st_mode) or found.st_nlink or (found.st_dev, found.st_ino) in seen:
                continue
            seen.add((found.st_dev, found.st_ino))
            if counts(found.st_dev):
                total += found.st_blocks * 512
        if total > enough:
            break
    return total


def _add_new(folder: Path, found: Written, most: Written, since: int, hidden: bool) -> None:
    """Add what was made or changed below `folder` since then; stops above `most`. Nobody can set the time that is looked
    at (st_ctime). `hidden`: whether what lies too deep to be looked at counts as too much."""
    todo = [str(folder)]
    while todo and found.size <= most.size and found.files <= most.files:
        try:
            with os.scandir(todo.pop()) as entries:
                for entry in entries:
                    with contextlib.suppress(FileNotFoundError):
                        status = entry.stat(follow_symlinks=False)
                        if status.st_ctime_ns >= since:
                            found.size += status.st_blocks * 512
                            found.files += 1
                        if entry.is_dir(follow_symlinks=False):
                            todo.append(entry.path)
                    if found.size > most.size or found.files > most.files:
                        return
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG and hidden:
                found.size = most.size + 1
