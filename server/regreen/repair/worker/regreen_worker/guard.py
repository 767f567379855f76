"""Limits of one candidate's process: memory, file sizes, time on the processor, and a belt against side effects.

The seal around the worker is the wall; the audit hook only keeps one candidate from spoiling the copy for
the next one.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import warnings
from typing import Any, Iterable

WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
CHANGES = (
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.mkdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "shutil.rmtree",
)
OWN = (".hypothesis", ".pytest_cache", "__pycache__")
"""Folders that testing itself keeps; what is written there spoils nothing."""
SPAWNS = (
    "os.system",
    "subprocess.Popen",
    "os.posix_spawn",
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.kill",
    "os.killpg",
)


class OutOfTime(BaseException):
    """A test used more time than it may."""


def _alarm(signum: int, frame: Any) -> None:
    raise OutOfTime("the test used up its time")


def limit(memory: int) -> None:
    """Cap memory, file sizes and core dumps of this process and its children. `memory` is in bytes."""
    import resource

    for what, value in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, 64 << 20),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(what, (value, value))
    signal.signal(signal.SIGPROF, _alarm)


def clock(seconds: float) -> None:
    """Start the clock of one test: `seconds` on the processor, so that a busy machine fails nobody."""
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.02 if seconds else 0)


def quiet() -> None:
    """Nothing more is read from or written to the descriptors that this process began with."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    warnings.simplefilter("ignore")


def free_places() -> tuple[str, ...]:
    """Folders where a candidate may write."""
    return tuple({os.path.realpath(tempfile.gettempdir()) + os.sep, "/dev/"})


class Effects:
    """Sees writes, deletions, spawned processes and connections; refuses them when `closed`."""

    def __init__(self, root: str, free: tuple[str, ...], closed: Iterable[str]) -> None:
        self.root = root
        self.closed = frozenset(closed)
        self.seen: set[str] = set()
        self.free = free

    def install(self) -> None:
        """Start watching; cannot be undone in this process."""
        sys.addaudithook(self._hook)

    def _inside(self, path: Any) -> bool:
        try:
            real = os.path.realpath(os.fsdecode(path))
        except (TypeError, ValueError):
            return False
        if real.startswith(self.root + os.sep) or real == self.root:
            return not any(name in OWN for name in real[len(self.root) :].split(os.sep))
        return not real.startswith(self.free)

    def _hook(self, event: str, args: Any) -> None:
        kind = ""
        if event == "open":
            if isinstance(args[2], int) and args[2] & WRITE and self._inside(args[0]):
                kind = "write"
        elif event in CHANGES:
            if self._inside(args[0]):
                kind = "write"
        elif event in SPAWNS:
            kind = "spawn"
        elif event == "socket.connect":
            kind = "connect"
        if kind:
            self.seen.add(kind)
            if kind in self.closed:
                raise PermissionError("%s is refused while a candidate is tried" % event)
