"""Our end of the warm test runner: one sealed process, spoken to in JSON lines over a socket pair."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regreen.repair.ground import SearchGround
from regreen.testing.runner import PROBE
from regreen.testing.seal.door import Access, Limits, Running

WORKER = Path(__file__).with_name("worker")
START = WORKER / "start.py"
LINE_LIMIT = 64 << 20
"""Bytes of one answer; traces of long tests are the largest."""

WORKERS = "REGREEN_REPAIR_WORKERS"
"""Environment: "spawn" does without fork, as systems that have none (slower; for forks that hang)."""

Facts = list[dict[str, Any]]


class WorkerGone(Exception):
    """The worker ended or cannot be spoken to; `str(error)` says what it printed last."""


def can_fork() -> bool:
    """True where candidates may run in forks; elsewhere, and where a person says so, processes are started ahead."""
    return hasattr(os, "fork") and os.environ.get(WORKERS) != "spawn"


@dataclass
class Opened:
    """What the worker found: the collected tests, what could not be collected, and its Python."""

    collected: tuple[str, ...]
    errors: tuple[str, ...]
    problem: str
    version: tuple[int, int]
    forks: bool = True


@dataclass
class Answer:
    """A child's facts and the seconds it took."""

    facts: Facts = field(default_factory=lambda: Facts())
    seconds: float = 0.0

    def first(self, key: str) -> Any:
        """The first fact that holds `key`, by its value; None without one."""
        return next((fact[key] for fact in self.facts if key in fact), None)


class WarmRunner:
    """One worker. Cancelling any await leaves it usable; `aclose` kills it with all its children."""

    def __init__(self, running: Running, ours: socket.socket) -> None:
        self._running = running
        self._ours = ours
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._next = 0
        self._listen: asyncio.Task[None] | None = None
        self._gone = ""

    @classmethod
    async def start(
        cls,
        ground: SearchGround,
        tree: Path,
        paths: Sequence[str],
        jobs: int,
        wall: float,
        forks: bool | None = None,
    ) -> tuple[WarmRunner, Opened]:
        """Start a worker that has collected `paths` (relative to the workspace). `wall` is its life in seconds.

        `forks` says whether candidates run in forks (None: as `can_fork` says, and as the worker finds safe).

        Raises WorkerGone when it cannot start or ends while collecting, RegreenError from the seal.
        """
        ours, theirs = socket.socketpair()
        try:
            access = Access(ground.workspace, tree, ground.scratch, ground.python, readable=(WORKER, PROBE))
            argv = [str(ground.python), "-B", str(START), str(theirs.fileno())]
            running = await ground.seal.start(
                argv, access, Limits(wall=wall, output=1 << 16), inherit=[theirs.fileno()]
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        runner = cls(running, ours)
        try:
            spawn = not (can_fork() if forks is None else forks)
            opening = {"paths": list(paths), "jobs": jobs, "spawn": spawn, "target": ground.target.nodeid}
            opened = await runner._open(opening)
        except BaseException:
            await runner.aclose()
            raise
        return runner, opened

    async def _open(self, opening: Mapping[str, Any]) -> Opened:
        self._ours.setblocking(False)
        self._reader, self._writer = await asyncio.open_connection(sock=self._ours, limit=LINE_LIMIT)
        self._listen = asyncio.create_task(self._read_answers())
        hello = await self._ask(opening, identity=0)
        errors = tuple(str(error["text"]) for error in hello["errors"])
        version = (int(hello["version"][0]), int(hello["version"][1]))
        return Opened(tuple(hello["collected"]), errors, str(hello["problem"]), version, bool(hello["forks"]))

    async def _read_answers(self) -> None:
        assert self._reader is not None
        try:
            while line := await self._reader.readline():
                answer: dict[str, Any] = json.loads(line)
                if "died" in answer:
                    self._gone = f"the test runner ended: {answer['died']}"
                    continue
                future = self._waiting.pop(int(answer.get("id", 0)), None)
                if future is not None and not future.done():
                    future.set_result(answer)
        except (OSError, ValueError) as error:
            self._gone = str(error)
        finished = None
        with contextlib.suppress(asyncio.TimeoutError):
            finished = await asyncio.wait_for(self._running.wait(), 2.0)
        if finished is not None and not self._gone:
            tail = finished.output.decode("utf-8", "replace").strip().split("\n")[-1]
            self._gone = f"the test runner ended ({finished.status}): {tail or finished.detail}"
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(WorkerGone(self._gone or "the test runner ended"))
        self._waiting.clear()

    async def _ask(self, request: Mapping[str, Any], identity: int | None = None) -> dict[str, Any]:
        if self._writer is None or self._listen is None or self._listen.done():
            raise WorkerGone(self._gone or "the test runner is closed")
        if identity is None:
            self._next += 1
            identity = self._next
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[identity] = future
        try:
            self._writer.write((json.dumps({**request, "id": identity}) + "\n").encode())
            await self._writer.drain()
        except OSError as error:
            self._waiting.pop(identity, None)
            raise WorkerGone(self._gone or str(error)) from error
        try:
            return await future
        finally:
            self._waiting.pop(identity, None)

    async def ask(self, do: str, **request: Any) -> Answer:
        """Put one request and wait for its answer. Raises WorkerGone."""
        answer = await self._ask({"do": do, **request})
        return Answer(list(answer.get("facts", ())), float(answer.get("seconds", 0.0)))

    async def ask_plain(self, do: str, **request: Any) -> None:
        """Put a request that has no facts for an answer."""
        await self._ask({"do": do, **request})

    async def aclose(self) -> None:
        """Kill the worker and everything it started."""
        if self._listen is not None:
            self._listen.cancel()
        if self._writer is not None:
            self._writer.close()
        else:
            self._ours.close()
        await self._running.kill()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(WorkerGone("the test runner was closed"))
        if self._listen is not None:
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await self._listen
