"""The built-in repair search behind the same door as any model: small mistakes, no model, no network."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from regreen.agent.conversation import Message, Reply, Request, ToolCall, ToolSpec
from regreen.agent.model import Listener
from regreen.repair.explain import call_arguments, nothing, sentence
from regreen.repair.ground import SearchGround
from regreen.repair.patch import Findings, Patch
from regreen.repair.search import Search, default_jobs
from regreen.repair.source import Edit
from regreen.repair.warm import Opened, WarmRunner, WorkerGone, can_fork
from regreen.testing.confidence import confidence
from regreen.workspace.text import decode
from regreen.workspace.trial import Trial

EXTRA = 25.0
"""Seconds a worker may live beyond the search's budget: starting, collecting, the first run."""
NEARBY = 12
"""Lines between two edits of one file that are still shown as one."""

State = frozenset[tuple[str, bytes | None]]
Mark = tuple[str, str, str]


class BuiltinModel:
    """Proposes one edit at a time; what was proposed once and is not there now was turned down."""

    def __init__(self, ground: SearchGround) -> None:
        self._trial = Trial(ground.workspace, ground.scratch / "search")
        self._tree: Path | None = None
        self._ground = replace(ground, files=ground.files if ground.files() else self._files)
        self._jobs = default_jobs()
        self._proposed: set[Mark] = set()
        self._findings: dict[State, Findings] = {}
        self._planned: list[tuple[Mark, Reply]] = []
        self._waiting: tuple[State, asyncio.Task[tuple[WarmRunner, Opened]]] | None = None

    @property
    def name(self) -> str:
        """ "builtin"."""
        return "builtin"

    @property
    def learned(self) -> Findings | None:
        """What the latest search learned: survivors, edits that moved the failure, ranked lines."""
        return list(self._findings.values())[-1] if self._findings else None

    async def warm(
        self, messages: tuple[Message, ...], tools: tuple[ToolSpec, ...], listener: Listener
    ) -> None:
        """Start the test runner and let it collect, so that the first reply need not wait for it."""
        if can_fork():
            state = self._state()
            self._waiting = state, asyncio.create_task(self._start())

    async def reply(self, request: Request, listener: Listener) -> Reply:
        """Search from the files as they are now; one edit, or finish "nothing" with what was learned."""
        begun = time.monotonic()
        reply = self._go_on() or await self._search_and_answer()
        listener.text(reply.text)
        return replace(reply, seconds=time.monotonic() - begun)

    async def aclose(self) -> None:
        """Kill the worker, remove the copy."""
        await self._drop_waiting()
        await asyncio.to_thread(self._trial.close)

    # the worker

    def _state(self) -> State:
        return frozenset(self._ground.overlay().items())

    def _files(self) -> list[str]:
        found: list[str] = []
        if self._tree is not None:
            for folder, names, files in os.walk(self._tree):
                names[:] = [n for n in names if not n.startswith(".") and n != "__pycache__"]
                inside = Path(folder).relative_to(self._tree).as_posix()
                found += [name if inside == "." else f"{inside}/{name}" for name in files]
        return sorted(found)

    async def _start(self) -> tuple[WarmRunner, Opened]:
        self._tree = self._trial.prepare(dict(self._ground.overlay()))
        wall = self._ground.seconds + EXTRA
        return await WarmRunner.start(self._ground, self._tree, [self._ground.target.path], self._jobs, wall)

    def _restore(self) -> None:
        self._trial.prepare(dict(self._ground.overlay()))

    async def _worker(self) -> tuple[WarmRunner, Opened]:
        if self._waiting is not None:
            state, task = self._waiting
            if state == self._state() and not (task.done() and (task.cancelled() or task.exception())):
                self._waiting = None
                try:
                    return await task
                except asyncio.CancelledError:
                    self._waiting = state, task
                    raise
            await self._drop_waiting()
        return await self._start()

    async def _drop_waiting(self) -> None:
        if self._waiting is None:
            return
        _, task = self._waiting
        self._waiting = None
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            runner, _opened = await task
            await runner.aclose()

    # searching

    async def _search_and_answer(self) -> Reply:
        state = self._state()
        if state not in self._findings:
            if not can_fork():
                return Reply(
                    text="Nothing found: the search needs fork, which this system has not.", finish="nothing"
                )
            try:
                self._findings[state] = await self._search()
            except WorkerGone as gone:
                return Reply(text=f"Nothing found: {gone}.", finish="nothing")
        found = self._findings[state]
        for patch in found.survivors:
            reply = self._propose(patch, found)
            if reply is not None:
                return reply
        if not found.survivors:
            for patch in found.forward:
                reply = self._propose(patch, found)
                if reply is not None:
                    return reply
        return Reply(text=nothing(found), finish="nothing")

    async def _search(self) -> Findings:
        runner, opened = await self._worker()
        try:
            search = Search(self._ground, runner, opened, self._jobs, self._restore)
            try:
                return await search.run(self._ground.seconds)
            except WorkerGone as gone:
                search.found.reason = search.found.reason or str(gone)
                return search.found
        finally:
            await asyncio.shield(runner.aclose())

    # proposing

    def _go_on(self) -> Reply | None:
        """The second of two edits that were found together, once the first is there."""
        planned, self._planned = self._planned, []
        for _, reply in planned:
            arguments = reply.calls[0].arguments
            text = self._text(str(arguments["path"]))
            first = str(arguments.get("after", ""))
            if (
                text is not None
                and text.count(str(arguments["find"])) == 1
                and self._is_there(first, arguments)
            ):
                clean = {key: arguments[key] for key in ("path", "find", "replace")}
                mark = _mark(clean)
                if mark not in self._proposed:
                    self._proposed.add(mark)
                    return replace(reply, calls=(ToolCall("edit_file", clean),))
        return None

    def _is_there(self, first: str, arguments: Mapping[str, object]) -> bool:
        text = self._text(str(arguments.get("after_path", "")))
        return text is not None and first in text

    def _text(self, path: str) -> str | None:
        raw = self._ground.read(path) if path else None
        try:
            return None if raw is None else decode(raw).text
        except ValueError:
            return None

    def _propose(self, patch: Patch, found: Findings) -> Reply | None:
        """A patch as a reply; None when it, or a part of it, was proposed before."""
        texts = {edit.path: self._text(edit.path) or "" for edit in patch.edits}
        groups = _groups(patch.edits)
        calls = [call_arguments(texts[group[0].path], group) for group in groups]
        marks = [_mark(call) for call in calls]
        if any(mark in self._proposed for mark in marks):
            return None
        words = [sentence(texts[group[0].path], group) for group in groups]
        sure = "low" if patch.failure is not None else self._sure(patch, found)
        stepwise = len(groups) > 1 and any(p.edits == tuple(groups[0]) for p in found.forward)
        if len(groups) > 1 and not stepwise:
            self._proposed.update(marks)
            text = "; ".join(words) + "."
            return Reply(text, tuple(ToolCall("edit_file", call) for call in calls), confidence=sure)
        self._proposed.add(marks[0])
        text = words[0]
        if patch.failure is not None:
            text += "; the failure moves on with this, but the test does not pass yet."
        elif len(groups) > 1:
            text += f", the first of {len(groups)} edits that make the test pass together."
        else:
            text += "."
        if len(groups) == 2:
            self._plan(texts, groups, calls[0], words[1], sure)
        return Reply(text, (ToolCall("edit_file", calls[0]),), confidence=sure)

    def _plan(
        self,
        texts: Mapping[str, str],
        groups: Sequence[Sequence[Edit]],
        first: Mapping[str, object],
        words: str,
        sure: str,
    ) -> None:
        second = groups[1]
        text = texts[second[0].path]
        arguments = call_arguments(text, second)
        if first["path"] == arguments["path"]:
            after = text.replace(str(first["find"]), str(first["replace"]), 1)
            if after.count(str(arguments["find"])) != 1:
                return
        arguments |= {"after": first["replace"], "after_path": first["path"]}
        self._planned.append(
            (_mark(arguments), Reply(words + ".", (ToolCall("edit_file", arguments),), confidence=sure))
        )

    @staticmethod
    def _sure(patch: Patch, found: Findings) -> str:
        others = len(
            [
                other
                for other in found.survivors
                if other is not patch
                and other.score >= 0.4 * patch.score
                and len(other.green) >= len(patch.green)
            ]
        )
        tests = 1 + patch.kept + len(patch.green) + patch.wider
        kinds = [edit.kind for edit in patch.edits]
        return confidence(
            None,
            tests=tests,
            turned_green=1 + len(patch.green),
            kind=kinds[-1],
            edits=len(kinds),
            others=others,
        )


def _groups(edits: Sequence[Edit]) -> list[list[Edit]]:
    """Edits that are shown as one: those of one file that lie near each other."""
    groups: list[list[Edit]] = []
    for edit in edits:
        for group in groups:
            if group[0].path == edit.path and abs(group[0].line - edit.line) <= NEARBY:
                group.append(edit)
                break
        else:
            groups.append([edit])
    return groups


def _mark(call: Mapping[str, object]) -> Mark:
    """The same for the same change, wherever it is in a file that changed elsewhere."""
    old, new = str(call["find"]).splitlines(), str(call["replace"]).splitlines()
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return str(call["path"]), "\n".join(old), "\n".join(new)
