"""A sealed process tree on Linux and macOS: its output, its limits, its end. What kills it is the tier's business."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from regreen.errors import RegreenError
from regreen.testing.seal import usage
from regreen.testing.seal.door import Finished, Limits, Status
from regreen.testing.seal.output import Output

_TICK = 0.25
_LOOK_AT_MEMORY = 4
_LOOK_AT_DISK = 16
"""So many ticks apart both are looked at closely, whatever the computer as a whole seems to have free."""
_CLOCK_STEP = 10_000_000
"""Nanoseconds by which the times of files can be behind the clock."""
_START_TIME = 30.0
_END_TIME = 2.0
_DRAIN = 4 << 20
_OUTPUT_FACTOR = 8


class Hold(Protocol):
    """How one tier reaches every process of its tree."""

    @property
    def root(self) -> int:
        """The process whose descendants are the tree, 0 when not known yet."""
        ...

    def kill(self) -> None:
        """Kill the whole tree now. Synchronous, safe to call at any time and again."""
        ...

    def insist(self) -> None:
        """Called when the tree has not ended a second after `kill`, and once more at its end."""
        ...

    def returncode(self, launcher: int) -> int | None:
        """The command's exit code, from the launcher's; None when the launcher did not tell."""
        ...

    def release(self) -> None:
        """Close what is held. Called once, when no process is left."""
        ...


class SealedProcess:
    """A running tree behind one launcher process; implements `door.Running`.

    No task runs for it: the event loop's readers and timers do the work, so that there is no instant in which
    a cancelled task could leave it behind. The launcher is started by the thread that calls, which must be the
    loop's own: Linux sends the parent-death signal when the *thread* that started a process ends.
    """

    def __init__(
        self,
        popen: subprocess.Popen[bytes],
        hold: Hold,
        token: bytes,
        limits: Limits,
        folders: Sequence[Path],
        disks: Sequence[Path] = (),
    ) -> None:
        """`folders` are those that the tree can write to, `disks` the memory disks that are its own, as it sees them."""
        assert popen.stdout is not None
        self._popen, self._hold, self._limits = popen, hold, limits
        self._folders, self._disks = folders, disks
        self._since = time.time_ns() - _CLOCK_STEP
        self._looking: asyncio.Future[str] | None = None
        self._loop = asyncio.get_running_loop()
        self._begun = time.monotonic()
        self._output = Output(limits.output, token)
        self._status: Status | None = None
        self._detail = ""
        self._done: asyncio.Future[Finished] = self._loop.create_future()
        self._started: asyncio.Future[None] = self._loop.create_future()
        self._timers: list[asyncio.TimerHandle] = []
        self._pidfd = -1
        self._free = [usage.free_space(folder) for folder in folders]
        self._free_memory = usage.free_memory()[0]
        self._ticks = 0
        self._out = popen.stdout.fileno()
        os.set_blocking(self._out, False)
        self._loop.add_reader(self._out, self._read)
        self._watch_exit()

    # -- what the rest of the program calls

    async def up(self, let_go: Callable[[Limits], None] | None = None) -> None:
        """Wait until the confinement stands; then `let_go` starts the command, where it waits, and its clock runs.

        Raises RegreenError, with the launcher's own words, when it does not come to that.
        """
        try:
            await asyncio.wait(
                {self._started, self._done}, timeout=_START_TIME, return_when="FIRST_COMPLETED"
            )
            if not self._output.started:
                await self._end("seal_failed")
                why = self._output.before or "no reason given"
                raise RegreenError(f"The test process could not be started: {why}")
            if let_go is not None and not self._done.done():
                let_go(self._limits)
        except BaseException:
            await self._end("cancelled")
            raise
        self._begun = time.monotonic()
        if not self._done.done():
            self._after(self._limits.wall, self._over_time)
            self._after(_TICK, self._tick)

    async def wait(self) -> Finished:
        """See `door.Running.wait`."""
        try:
            return await asyncio.shield(self._done)
        except asyncio.CancelledError:
            await self._end("cancelled")
            raise

    async def kill(self) -> None:
        """See `door.Running.kill`."""
        await self._end("cancelled")

    # -- limits

    def _over_time(self) -> None:
        self._stop("timeout", f"stopped after {self._limits.wall:g} s")

    def _tick(self) -> None:
        """Have memory and what was written looked at; the kernel's own limits hold for one process only. In a thread:
        among very many files it takes a while, and a cancel must not wait for that."""
        if self._done.done():
            return
        if self._looking is None:
            self._ticks += 1
            self._looking = self._loop.run_in_executor(_lookout(), self._too_much, self._ticks)
            self._looking.add_done_callback(self._looked)
        self._after(_TICK, self._tick)

    def _looked(self, looked: asyncio.Future[str]) -> None:
        self._looking = None
        if not looked.cancelled() and looked.exception() is None and (why := looked.result()):
            self._stop("memory_limit", why)

    def _too_much(self, tick: int) -> str:
        """What is wrong, "" when nothing is."""
        return self._too_much_memory(tick % _LOOK_AT_MEMORY == 0) or self._too_much_written(
            tick % _LOOK_AT_DISK == 0
        )

    def _too_much_written(self, closely: bool) -> str:
        limits, root = self._limits, self._hold.root
        shrunk = usage.Written()
        for before, folder in zip(self._free, self._folders, strict=True):
            now = usage.free_space(folder)
            shrunk.size = max(shrunk.size, before.size - now.size)
            shrunk.files = max(shrunk.files, before.files - now.files)
        suspicious = shrunk.size > limits.disk // 2 or shrunk.files > limits.files // 2
        files = usage.files_on(root, self._disks)
        # So many files are gone from the disk that it is enough to see that a good part of them is here.
        most = limits.files // 4 if shrunk.files > limits.files else limits.files
        if files <= limits.files and (suspicious or closely):
            wanted = usage.Written(limits.disk, most)
            found = usage.written(self._folders, root, wanted, self._since, suspicious)
            if found.size > limits.disk:
                return f"wrote more than {limits.disk >> 20} MB to the disk"
            files = max(files, found.files * limits.files // most)
        return f"made more than {limits.files} files" if files > limits.files else ""

    def _too_much_memory(self, closely: bool) -> str:
        """What is wrong, "" when nothing is. Some memory belongs to no process that could be asked (segments shared by key,
        what waits in sockets): it counts only when the whole computer runs out, which a model that loads can look like."""
        limit = self._limits.memory
        used, root = usage.resident(self._hold.root), self._hold.root
        free, whole = usage.free_memory()
        shrunk = self._free_memory - free
        suspicious = shrunk > limit // 2
        if used <= limit and (closely or suspicious):
            used += usage.in_memory(self._folders, root, limit - used, suspicious)
        if used > limit:
            return f"used more than {limit >> 20} MB of memory"
        if shrunk > limit and free < whole // 32:
            return f"this computer has only {free >> 20} MB of memory left"
        return ""

    def _after(self, seconds: float, call: Callable[[], None]) -> None:
        self._timers = [
            timer for timer in self._timers if not timer.cancelled() and timer.when() > self._loop.time()
        ]
        self._timers.append(self._loop.call_later(seconds, call))

    # -- output

    def _read(self) -> None:
        try:
            data = os.read(self._out, 1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._loop.remove_reader(self._out)
            return
        self._take(data)
        if self._output.total > _OUTPUT_FACTOR * self._limits.output:
            self._stop("output_limit", f"printed more than {_OUTPUT_FACTOR * self._limits.output >> 10} kB")

    def _take(self, data: bytes) -> None:
        self._output.feed(data)
        if self._output.started and not self._started.done():
            self._started.set_result(None)

    # -- the end

    def _stop(self, status: Status, detail: str = "") -> None:
        """Decide how it ended, if nothing else did before, and kill the tree."""
        if self._done.done():
            return
        if self._status is None:
            self._status, self._detail = status, detail
            self._after(_END_TIME / 2, self._hold.insist)
        self._hold.kill()

    async def _end(self, status: Status) -> None:
        self._stop(status)
        await asyncio.wait({self._done}, timeout=_END_TIME)

    def _watch_exit(self) -> None:
        """Learn of the launcher's end without reaping it: until then its process id cannot be anyone else's."""
        try:
            self._pidfd = os.pidfd_open(self._popen.pid)
        except (AttributeError, OSError):
            self._poll()
        else:
            self._loop.add_reader(self._pidfd, self._exited)

    def _poll(self) -> None:
        """For macOS and old kernels, which have no pidfd."""
        if self._popen.poll() is not None:
            self._exited()
        else:
            self._loop.call_later(0.02, self._poll)

    def _exited(self) -> None:
        """The launcher ended: whatever is left of the tree goes too. Nobody waits for the end of the output,
        since a process that got away could hold the pipe open for ever."""
        if self._done.done():
            return
        if self._pidfd >= 0:  # First: whatever fails below, this is not called again for ever.
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
        self._hold.kill()
        with contextlib.suppress(OSError):
            self._hold.insist()
        launcher = self._popen.wait()
        self._loop.remove_reader(self._out)
        read = 0
        with contextlib.suppress(OSError):
            while read < _DRAIN and (data := os.read(self._out, 1 << 16)):
                read += len(data)
                self._take(data)
        assert self._popen.stdout is not None
        self._popen.stdout.close()
        for timer in self._timers:
            timer.cancel()
        if self._looking is not None:
            self._looking.cancel()
        self._done.set_result(self._finished(launcher))
        self._hold.release()

    def _finished(self, launcher: int) -> Finished:
        seconds = time.monotonic() - self._begun
        status, code, detail = self._status, None, self._detail
        if status is None:
            code = self._hold.returncode(launcher)
            status = "exited"
            if code is None:
                status, detail = "seal_failed", "the launcher was killed from outside"
        return Finished(status, code, self._output.bytes(), self._output.cut, seconds, detail)


@functools.cache
def _lookout() -> ThreadPoolExecutor:
    """Who looks at limits: threads of their own, so that nothing else of ours holds them up."""
    return ThreadPoolExecutor(2, "regreen-limits")


def rlimits(limits: Limits, shared: bool) -> dict[str, int]:
    """Kernel limits of one process, by the names in the module `resource`.

    The kernel counts processes by user. Where that user has others (`shared`), the limit goes on top of all that
    run now. Address space is not limited: threads and big reservations would fail long before memory is used.
    CORE is 1, since 0 does not stop a core pattern that is a pipe (core(5)).
    """
    return {
        "CORE": 1,
        "NPROC": limits.processes + (_running_tasks() if shared else 0),
        "NOFILE": 4096,
        "FSIZE": limits.file_size,
        "DATA": limits.memory,
    }


def _running_tasks() -> int:
    try:
        with open("/proc/loadavg", "rb") as loadavg:
            return int(loadavg.read().split()[3].split(b"/")[1])
    except (OSError, ValueError, IndexError):
        return 4096
