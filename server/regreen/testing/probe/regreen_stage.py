"""A pytest that stands ready in front of its collection, and forks once for every run (Linux).

Reading the configuration, loading plugins and conftest files and taking in their fixtures is most of what a run of
one test costs, and the same each time, as long as nothing changes that took part in it. So everything that was opened,
listed, written or started on the way is watched: a run is only served while all of it is as it was, and not at all
after anything that does not survive a fork. Whoever asks then gets a start from the beginning. Standard library only,
Python 3.8 and later.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import sys
import threading
import time
from typing import Any, Callable, Dict, Generator, List, Optional, Tuple

import pytest
from regreen_records import Records

_MOST = 400
"""Files and folders that are looked at before each run; a project whose set-up takes in more starts afresh."""
_HEAD = 1 << 16
"""Bytes of what the set-up printed that stand in front of every run's output."""
_OLDEST = 60.0
"""Seconds that a set-up with code of the project in it is used: it may have looked at the clock."""
_BREAKS = ("socket.", "subprocess.", "sqlite3.", "os.fork", "os.exec", "os.posix_spawn", "os.system", "pty.")
_WRITES = (
    "os.mkdir",
    "os.rename",
    "os.remove",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "shutil.",
)
_LISTS = ("os.listdir", "os.scandir", "glob.glob")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

State = Tuple[Any, ...]


def state_of(path: str) -> State:
    """Equal as long as a file, or what a folder lists, has not changed. () for what is not there."""
    try:
        found = os.stat(path)
        if os.path.isdir(path):
            return tuple(sorted(name for name in os.listdir(path) if not name.startswith("__pycache__")))
    except OSError:
        return ()
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


class Watch:
    """What a set-up depends on. `broken` says why it cannot be used twice, "" when it can."""

    def __init__(self, roots: List[str], own: str) -> None:
        self.seen: Dict[str, State] = {}
        self.broken = ""
        self.begun = time.monotonic()
        self._on = True
        self._roots = tuple(os.path.join(os.path.realpath(root), "") for root in roots if root)
        self._not = (os.path.join(os.path.realpath(own), ""), os.path.join(os.path.realpath(sys.prefix), ""))
        sys.addaudithook(self._hear)

    def stop(self) -> None:
        self._on = False

    def add(self, path: str) -> None:
        path = os.path.abspath(path)
        if path not in self.seen:
            self.seen[path] = state_of(path)

    def holds(self) -> bool:
        """Whether everything is as it was."""
        return all(state_of(path) == state for path, state in self.seen.items())

    def _hear(self, event: str, arguments: Tuple[Any, ...]) -> None:
        if not self._on:
            return
        self._on = False
        try:
            self._take(event, arguments)
        finally:
            self._on = True

    def _take(self, event: str, arguments: Tuple[Any, ...]) -> None:
        if event == "open":
            path, _mode, flags = arguments[:3]
            if self._mine(path):
                if flags and flags & _WRITING:
                    self.broken = "it writes files"
                elif len(self.seen) < _MOST:
                    self.add(os.fsdecode(path))
                else:
                    self.broken = "it reads many files"
        elif event.startswith(_LISTS):
            if self._mine(arguments[0] or "."):
                self.add(os.fsdecode(arguments[0] or "."))
        elif event.startswith(_BREAKS):
            self.broken = "it uses %s" % event
        elif event.startswith(_WRITES) and any(self._mine(argument) for argument in arguments[:2]):
            self.broken = "it changes files"

    def _mine(self, path: Any) -> bool:
        if not isinstance(path, (str, bytes, os.PathLike)):
            return False
        whole = os.path.join(os.path.realpath(os.fsdecode(path)), "")  # pyright: ignore
        return whole.startswith(self._roots) and not whole.startswith(self._not)


class Stage:
    """Records and plugin of a waiting pytest. `job` is one whose like will be run."""

    def __init__(
        self,
        job: Dict[str, Any],
        inside: int,
        outside: int,
        seed: Callable[[], None],
        tidy: Callable[[], int],
    ) -> None:
        self._inside, self._outside = inside, outside
        self._seed, self._tidy = seed, tidy
        self._scraps: List[Tuple[int, int, int]] = []
        self._said = b""
        self._early: List[Tuple[str, Dict[str, Any]]] = []
        self._emit: Optional[Callable[..., None]] = None
        self._out = os.fstat(1)
        self._cache = job.get("cache") or ""
        self._watch = Watch([job["root"], job.get("workspace") or ""], os.path.dirname(job["records"]))
        for argument in job["args"]:
            self._watch_above(argument.partition("::")[0], job["root"])

    def _watch_above(self, path: str, root: str) -> None:
        """The folders from a test file up to the root: a new conftest or configuration may appear in them."""
        while path.startswith(root) and len(path) > len(root):
            path = os.path.dirname(path)
            self._watch.add(path)

    def emit(self, event: str, **fields: Any) -> None:
        """Records of the set-up are kept for every run; those of a run are its own."""
        if self._emit is None:
            self._early.append((event, dict(fields)))
        else:
            self._emit(event, **fields)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection(self, session: Any) -> Generator[None, Any, None]:
        self._serve()
        yield

    def _serve(self) -> None:
        """Wait for jobs and fork for each. Returns in the forked processes alone."""
        self._watch.stop()
        why = self._watch.broken or self._unfit()
        if why:
            os._exit(71)
        gc.freeze()
        sys.stdout.flush()
        sys.stderr.flush()
        self._said = os.pread(1, _HEAD, 0)
        os.write(self._outside, b"ready\n")
        aged = any(path.endswith(".py") for path in self._watch.seen)
        with os.fdopen(self._inside, closefd=False) as jobs:
            for line in jobs:
                path = line.strip()
                old = aged and time.monotonic() - self._watch.begun > _OLDEST
                if old or not self._watch.holds():
                    os._exit(71)
                self._clean()
                pid = os.fork()
                if pid == 0:
                    self._become(path)
                    return
                _, status = os.waitpid(pid, 0)
                self._tidy()
                os.write(self._outside, b"%d\n" % status)
        os._exit(0)

    def _unfit(self) -> str:
        """Why a fork would not be like a start: threads, and open things that both sides would share."""
        if threading.active_count() > 1 or len(os.listdir("/proc/self/task")) > 1:
            return "it has threads"
        for name in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):
                opened = os.readlink("/proc/self/fd/" + name)
                if opened.endswith(" (deleted)"):
                    self._scraps.append((int(name), os.fstat(int(name)).st_size, os.lseek(int(name), 0, 1)))
                if int(name) not in (self._inside, self._outside) and opened.startswith(
                    ("socket:", "pipe:", "anon_inode:")
                ):
                    return "it holds %s" % opened
        return ""

    def _clean(self) -> None:
        """Take away what the last run left in the cache, and in the files that output is captured in: a run that
        crashed does not empty them."""
        for number, size, place in self._scraps:
            with contextlib.suppress(OSError):
                os.ftruncate(number, size)
                os.lseek(number, place, 0)
        if self._cache and os.path.isdir(self._cache):
            import shutil

            shutil.rmtree(self._cache, ignore_errors=True)

    def _become(self, path: str) -> None:
        """In the forked process: the run of this job. What is printed goes where it belongs to."""
        os.close(self._inside)
        os.close(self._outside)
        with contextlib.suppress(OSError):
            os.setsid()
        with open(path, encoding="utf-8") as file:
            job = json.load(file)
        os.unlink(path)
        self._redirect(os.path.join(os.path.dirname(path), "out"))
        self._emit = Records(job["records"], bytes.fromhex(job.pop("key"))).emit
        for event, fields in self._early:
            self._emit(event, **fields)
        self._seed()

    def _redirect(self, path: str) -> None:
        """pytest keeps copies of its first standard output, to write to while it captures: all of them move."""
        out = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for name in os.listdir("/proc/self/fd"):
            number = int(name)
            with contextlib.suppress(OSError):
                found = os.fstat(number)
                if number != out and (found.st_dev, found.st_ino) == (self._out.st_dev, self._out.st_ino):
                    os.dup2(out, number, number <= 2)
        os.write(out, self._said)
        os.close(out)
