"""The run's process: `regreen fix … --json`, spoken to in JSON Lines, and ended with everything it started."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

log = logging.getLogger(__name__)

Event = dict[str, Any]

LONGEST_LINE = 1 << 25
STDERR_KEPT = 1 << 16
POLITE_SECONDS = 1.0
TERM_SECONDS = 0.4
KILL_SECONDS = 0.3
DRAIN_SECONDS = 0.5


def run_command(run_python: str | None) -> list[str]:
    """The start of every run's command line.

    REGREEN_RUN_COMMAND, a JSON list, replaces it (for tests). Raises ValueError when that is no such list.
    """
    replaced = os.environ.get("REGREEN_RUN_COMMAND")
    if replaced:
        command = json.loads(replaced)
        if not isinstance(command, list) or not command:
            raise ValueError("REGREEN_RUN_COMMAND must be a JSON list")
        return [str(part) for part in cast("list[Any]", command)]
    return [run_python or sys.executable, "-I", str(Path(__file__).parent.parent / "__main__.py")]


class RunProcess:
    """One child process. `on_event` is called for each event, in order, until it ended."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._stderr = bytearray()
        self._stopping: asyncio.Task[None] | None = None
        self.unreadable = 0

    @classmethod
    async def start(cls, command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> RunProcess:
        """Start it in a session of its own. Raises OSError when the program cannot be started."""
        group: dict[str, Any] = {"start_new_session": True}
        if sys.platform == "win32":
            group = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=cwd,
            env=dict(env),
            limit=LONGEST_LINE,
            **group,
        )
        return cls(process)

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, or None while it runs."""
        return self._process.returncode

    def send(self, message: Mapping[str, Any]) -> None:
        """Queue one line of input; nothing happens when the process is gone."""
        stdin = self._process.stdin
        if stdin is not None and not stdin.is_closing():
            with contextlib.suppress(OSError, RuntimeError):
                stdin.write(json.dumps(message).encode() + b"\n")

    def last_words(self) -> str:
        """The last line it wrote to stderr, or ""."""
        lines = self._stderr.decode("utf-8", "replace").strip().splitlines()
        return lines[-1].strip() if lines else ""

    async def follow(self, on_event: Callable[[Event], None]) -> int:
        """Pass on the events until the process ended; its exit code.

        A descendant that kept the pipe open does not hold this up.
        """
        reading = asyncio.create_task(self._read_events(on_event))
        errors = asyncio.create_task(self._read_errors())
        try:
            while self._process.returncode is None:
                await asyncio.wait({reading} if not reading.done() else {errors}, timeout=0.05)
                if reading.done() and errors.done():
                    await asyncio.sleep(0.01)
            await asyncio.wait({reading, errors}, timeout=DRAIN_SECONDS)
        finally:
            reading.cancel()
            errors.cancel()
            self._kill_group(signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
        return self._process.returncode

    async def _read_events(self, on_event: Callable[[Event], None]) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        while True:
            try:
                line = await stdout.readline()
            except ValueError:  # longer than LONGEST_LINE: the line is dropped, the stream goes on
                self.unreadable += 1
                continue
            if not line:
                return
            try:
                event = json.loads(line)
            except (ValueError, RecursionError):
                event = None
            if isinstance(event, dict) and isinstance(cast(Event, event).get("event"), str):
                try:
                    on_event(cast(Event, event))
                except Exception:  # one odd event must not stop the others: the run would wait for ever
                    log.exception("event %s", cast(Event, event)["event"])
            elif line.strip():
                self.unreadable += 1
            await asyncio.sleep(0)  # a flood must not keep the editor waiting

    async def _read_errors(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None
        while chunk := await stderr.read(1 << 14):
            self._stderr += chunk
            del self._stderr[:-STDERR_KEPT]

    async def stop(self) -> None:
        """End it and all its descendants within two seconds: ask, then SIGTERM, then SIGKILL."""
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._stop())
        await asyncio.shield(self._stopping)

    async def _stop(self) -> None:
        self.send({"cancel": True})
        family = descendants(self.pid)
        await self._ended(POLITE_SECONDS)
        if self.returncode is None:
            family |= descendants(self.pid)
            self._kill_group(signal.SIGTERM)
            await self._ended(TERM_SECONDS)
        if self.returncode is None:
            family |= descendants(self.pid)
            self._kill_group(signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
        kill(family)
        await self._ended(KILL_SECONDS)

    async def _ended(self, seconds: float) -> None:
        # `Process.wait` also waits for the pipes, which a descendant may hold open.
        for _ in range(round(seconds / 0.02)):
            if self.returncode is not None:
                return
            await asyncio.sleep(0.02)

    def kill_now(self) -> None:
        """End it and its descendants at once, without an event loop."""
        family = descendants(self.pid) if self.returncode is None else set[tuple[int, str]]()
        self._kill_group(signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
        kill(family)

    def _kill_group(self, number: int) -> None:
        with contextlib.suppress(OSError):
            if sys.platform != "win32":
                os.killpg(self.pid, number)
            elif self.returncode is None:
                subprocess.run(
                    ["taskkill", "/T", "/F", "/PID", str(self.pid)],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    check=False,
                )


Member = tuple[int, str]
"""A process id and its start time, so that an id that was given out again is not hit."""


def descendants(pid: int) -> set[Member]:
    """Everything the process started, directly or not, that has not left its tree."""
    table = _process_table()
    children: dict[int, list[int]] = {}
    for child, (parent, _) in table.items():
        children.setdefault(parent, []).append(child)
    found: set[Member] = set()
    waiting = list(children.get(pid, ()))
    while waiting:
        child = waiting.pop()
        found.add((child, table[child][1]))
        waiting += children.get(child, ())
    return found


def kill(members: set[Member]) -> None:
    """SIGKILL those that still are what they were."""
    if not members or sys.platform == "win32":
        return
    table = _process_table()
    for pid, started in members:
        if table.get(pid, (0, ""))[1] == started:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


def _process_table() -> dict[int, tuple[int, str]]:
    """Parent and start time by process id; empty where the system tells neither way."""
    if sys.platform == "win32":
        return {}  # taskkill /T knows the tree
    if Path("/proc/self/stat").exists():
        return dict(
            entry for path in Path("/proc").iterdir() if path.name.isdigit() and (entry := _stat(path))
        )
    listing = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,lstart="], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    rows = [line.split(None, 2) for line in listing.stdout.decode("ascii", "replace").splitlines()]
    return {int(row[0]): (int(row[1]), row[2]) for row in rows if len(row) == 3}


def _stat(folder: Path) -> tuple[int, tuple[int, str]] | None:
    """proc(5): the fields behind the command's closing bracket are state, parent, …, 20th the start time."""
    try:
        fields = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return None
    return int(folder.name), (int(fields[1]), fields[19])
