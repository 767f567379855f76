"""One search at a time over the files as they are, or as a model would have them; it can be ended early with what it has."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from regreen.repair.choice import in_order
from regreen.repair.ground import SearchGround
from regreen.repair.patch import Findings
from regreen.repair.search import Search, default_jobs
from regreen.repair.warm import Opened, WarmRunner, WorkerGone
from regreen.testing.seal.allowed import Allowed, allowed_in
from regreen.workspace.text import decode
from regreen.workspace.trial import Trial

EXTRA = 25.0
"""Seconds a worker may live beyond the search's budget: starting, collecting, the first run."""
FINISH = 4.0
"""Seconds a search that is to stop may still take, when it has found edits that pass, to look at other tests."""

State = frozenset[tuple[str, bytes | None]]
Overlay = Mapping[str, bytes | None]


@dataclass
class _Known:
    """A finished search: over which overlay, and what the files it speaks of held."""

    state: State
    texts: dict[str, bytes | None]
    findings: Findings


class QuickSearch:
    """Searches over one ground. Findings are kept: the same files are not searched twice, unless time ran out."""

    def __init__(self, ground: SearchGround) -> None:
        self._trial = Trial(
            ground.workspace, ground.scratch / "search", readable=allowed_in(ground.seal).readable
        )
        self._tree: Path | None = None
        self.ground = replace(ground, files=ground.files if ground.files() else self._files)
        self._jobs = default_jobs()
        self._known: list[_Known] = []
        self._waiting: tuple[State, Allowed, asyncio.Task[tuple[WarmRunner, Opened]]] | None = None
        self._search: Search | None = None
        self._running: asyncio.Task[Findings] | None = None
        self._stopping = False

    @property
    def latest(self) -> Findings | None:
        """What the latest search learned."""
        return self._known[-1].findings if self._known else None

    def start_early(self) -> None:
        """Start the test runner and let it collect, beside whatever else goes on."""
        overlay = dict(self.ground.overlay())
        task = asyncio.create_task(self._start(overlay))
        self._waiting = frozenset(overlay.items()), allowed_in(self.ground.seal), task

    def text(self, path: str) -> str | None:
        """A file's text as it is now; None when there is none, or it cannot be read."""
        raw = self.ground.read(path) if path else None
        try:
            return None if raw is None else decode(raw).text
        except ValueError:
            return None

    async def findings(
        self,
        seconds: float | None = None,
        overlay: Overlay | None = None,
        near: Mapping[str, frozenset[int]] | None = None,
    ) -> Findings:
        """Search the files as they are, or under another `overlay`, near some lines first. Raises WorkerGone.

        `seconds` are the search's own (None: those of the ground). What is known of the same files is given again, if
        that search came to its end or had as much time.
        """
        over = dict(self.ground.overlay()) if overlay is None else dict(overlay)
        ground = self._laid_over(over, near or {}, seconds or self.ground.seconds)
        known = self._known_of(over, ground)
        if known is not None:
            return known
        self._stopping = False
        self._running = asyncio.create_task(self._run(ground, over))
        try:
            found = await self._running
        except asyncio.CancelledError:
            await _ended(self._running)
            if not self._stopping:
                raise
            found = self._stopped()
        finally:
            self._running = self._search = None
        self._remember(over, ground, found)
        return found

    async def stop(self) -> None:
        """End the search that goes on, if one does; `findings` then gives what was found by now.

        One that has found something gets a moment to see whether other tests like it too.
        """
        running, search = self._running, self._search
        if running is None or running.done():
            return
        self._stopping = True
        if search is not None and search.found.survivors:
            await asyncio.wait({running}, timeout=FINISH)
        running.cancel()
        await asyncio.wait({running})

    async def aclose(self) -> None:
        """Kill the worker, remove the copy."""
        if self._running is not None:
            self._running.cancel()
            await _ended(self._running)
        await self._drop_waiting()
        await asyncio.to_thread(self._trial.close)

    # -- what is known -----------------------------------------------------------------------------------

    def _laid_over(self, over: Overlay, near: Mapping[str, frozenset[int]], seconds: float) -> SearchGround:
        below = self.ground.read

        def read(path: str) -> bytes | None:
            return over[path] if path in over else below(path)

        return replace(self.ground, overlay=lambda: over, read=read, near=near, seconds=seconds)

    def _known_of(self, over: Overlay, ground: SearchGround) -> Findings | None:
        state = frozenset(over.items())
        for known in self._known:
            same = known.state == state and all(ground.read(p) == raw for p, raw in known.texts.items())
            through = known.findings.finished or known.findings.seconds >= 0.9 * ground.seconds
            if same and (through or known.findings.survivors):
                return known.findings
        return None

    def _remember(self, over: Overlay, ground: SearchGround, found: Findings) -> None:
        patches = [*found.survivors, *found.forward]
        paths = {edit.path for patch in patches for edit in patch.edits} | {
            place.path for place in found.places
        }
        texts = {path: ground.read(path) for path in paths}
        self._known.append(_Known(frozenset(over.items()), texts, found))

    def _stopped(self) -> Findings:
        found = self._search.found if self._search else Findings(reason="there was no time")
        found.survivors = in_order(found.survivors, found.asked)
        found.finished = False
        return found

    # -- the worker --------------------------------------------------------------------------------------

    async def _run(self, ground: SearchGround, over: Overlay) -> Findings:
        runner, opened = await self._worker(over)
        try:
            search = self._search = Search(
                ground, runner, opened, self._jobs, lambda: self._trial.prepare(dict(over))
            )
            try:
                return await search.run(ground.seconds)
            except WorkerGone as gone:
                search.found.reason = search.found.reason or str(gone)
                return search.found
        finally:
            await asyncio.shield(runner.aclose())

    def _files(self) -> list[str]:
        found: list[str] = []
        if self._tree is not None:
            for folder, names, files in os.walk(self._tree):
                names[:] = [n for n in names if not n.startswith(".") and n != "__pycache__"]
                inside = Path(folder).relative_to(self._tree).as_posix()
                found += [name if inside == "." else f"{inside}/{name}" for name in files]
        return sorted(found)

    async def _start(self, over: Overlay) -> tuple[WarmRunner, Opened]:
        for path in allowed_in(self.ground.seal).readable:
            self._trial.allow(path)
        self._tree = self._trial.prepare(dict(over))
        wall = self.ground.seconds + EXTRA
        return await WarmRunner.start(self.ground, self._tree, [self.ground.target.path], self._jobs, wall)

    async def _worker(self, over: Overlay) -> tuple[WarmRunner, Opened]:
        if self._waiting is not None:
            state, allowed, task = self._waiting
            as_now = state == frozenset(over.items()) and allowed == allowed_in(self.ground.seal)
            if as_now and not (task.done() and (task.cancelled() or task.exception())):
                self._waiting = None
                try:
                    return await task
                except asyncio.CancelledError:
                    self._waiting = state, allowed, task
                    raise
            await self._drop_waiting()
        return await self._start(over)

    async def _drop_waiting(self) -> None:
        if self._waiting is None:
            return
        *_, task = self._waiting
        self._waiting = None
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            runner, _opened = await task
            await runner.aclose()


async def _ended(task: asyncio.Task[Findings]) -> None:
    """Let a task end, whatever it comes to."""
    task.cancel()
    await asyncio.wait({task})
