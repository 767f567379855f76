"""The quick search beside a model: before it is asked, around an edit of it that failed, and when it goes in circles.

Its time is charged as time of the tests, since tests are what it runs; while the model loads, loading costs nothing
and the search is paid for. Everything that it answers stands in the trace, so that a run can be gone through again.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import difflib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from regreen.agent.budget import Budget
from regreen.agent.model import Model
from regreen.agent.search import Found, Phase, found_from, search_event
from regreen.models.fixes import found_by
from regreen.models.quick import QuickSearch
from regreen.models.replay import ReplayModel
from regreen.repair.ground import SearchGround
from regreen.repair.patch import Findings
from regreen.repair.warm import WorkerGone
from regreen.run.protocol import Emit
from regreen.settings import SEARCH_GRACE
from regreen.workspace.changes import FileChange
from regreen.workspace.draft import Draft
from regreen.workspace.text import decode

NEAR_SECONDS = 3.0
"""A search around a model's edit. Half of those it can mend fall within a second, and a model's turn takes longer."""

Progress = Callable[[str, float | None], None]


class Finder(Protocol):
    """Who searches: live, or from a trace."""

    async def find(self, phase: Phase, changes: Sequence[FileChange], seconds: float | None) -> Found:
        """Search the draft, with `changes` on top of it."""
        ...

    async def stop(self) -> None:
        """End a search that goes on; `find` then answers with what there is."""
        ...


class LiveFinder:
    """Searches for real."""

    def __init__(self, ground: SearchGround, draft: Draft) -> None:
        self.quick = QuickSearch(ground)
        self._draft = draft
        self._told: list[Findings] = []

    async def find(self, phase: Phase, changes: Sequence[FileChange], seconds: float | None) -> Found:
        """Search the draft, with `changes` on top of it, near the lines that these change.

        "again": first the files without the model's edits that wait, which did not help; then around these.
        """
        waiting = self._draft.pending() if phase == "again" else []
        if not waiting:
            return await self._search(self._draft.overlay(changes), changes, seconds)
        without = {**self._draft.overlay(), **{c.path: self._draft.person(c.path) for c in waiting}}
        found = await self._search(without, (), seconds)
        if found.options or found.problem:
            return found
        around = await self._search(self._draft.overlay(), waiting, NEAR_SECONDS)
        return around if around.options or not found.told else found

    async def stop(self) -> None:
        """End the search that goes on."""
        await self.quick.stop()

    async def _search(
        self, overlay: Mapping[str, bytes | None], changes: Sequence[FileChange], seconds: float | None
    ) -> Found:
        try:
            findings = await self.quick.findings(seconds, overlay, changed_lines(changes))
        except WorkerGone as gone:
            return Found(stopped=True, problem=str(gone))
        if not findings.survivors and any(findings is one for one in self._told):
            return Found()  # nothing that was not said before
        self._told.append(findings)

        def text(path: str) -> str | None:
            raw = overlay[path] if path in overlay else self._draft.current(path)
            try:
                return None if raw is None else decode(raw).text
            except ValueError:
                return None

        return found_by(findings, text, around_model=bool(changes))


class RecordedFinder:
    """Answers as a trace says; nothing where it says nothing."""

    def __init__(self, found: Mapping[Phase, Sequence[Found]]) -> None:
        self._left = {phase: list(each) for phase, each in found.items()}

    async def find(self, phase: Phase, changes: Sequence[FileChange], seconds: float | None) -> Found:
        """The next answer of that phase."""
        left = self._left.get(phase)
        return left.pop(0) if left else Found()

    async def stop(self) -> None:
        """Nothing goes on."""


class SearchBeside:
    """The door of the loop and of the desk to the search. `model_needed` is set once the search alone did not do."""

    def __init__(
        self,
        finder: Finder,
        budget: Budget,
        emit: Emit,
        progress: Progress,
        warming: asyncio.Task[None],
        model_needed: asyncio.Event,
        grace: float = SEARCH_GRACE,
    ) -> None:
        self._finder = finder
        self._budget = budget
        self._emit = emit
        self._progress = progress
        self._warming = warming
        self._grace = grace
        self._model_needed = model_needed

    async def first(self) -> Found:
        """Search while the model gets ready, and a short time beyond. Raises what kept the model from it."""
        self._progress("quick search for small mistakes …", None)
        search = asyncio.create_task(self._paid(self._finder.find("first", (), None)))
        ended = False
        try:
            await asyncio.wait({search, self._warming}, return_when=asyncio.FIRST_COMPLETED)
            if self._warming.done() and not search.done():
                self._warming.result()
                await asyncio.wait({search}, timeout=self._grace)
                if not search.done():
                    ended = True
                    await self._finder.stop()
            found = await search
        finally:
            search.cancel()
            await asyncio.wait({search})
        self._tell("first", found, ended)
        return found

    async def ready(self) -> None:
        """Wait until the model may be asked. Raises what kept it from getting ready."""
        self._model_needed.set()
        await self._warming

    async def again(self) -> Found:
        """A search with its full time from the files as they are."""
        self._progress("quick search for small mistakes, since the model goes in circles …", None)
        found = await self._paid(self._finder.find("again", (), None))
        self._tell("again", found)
        return found

    async def around(self, changes: Sequence[FileChange]) -> Found:
        """A short search around an edit of the model that failed."""
        self._progress("quick search around the model's edit …", None)
        found = await self._paid(self._finder.find("near", changes, NEAR_SECONDS))
        self._tell("near", found)
        return found

    async def _paid(self, work: Awaitable[Found]) -> Found:
        with self._budget.clock.spend("tests"):
            return await self._budget.within(work)

    def _tell(self, phase: Phase, found: Found, ended: bool = False) -> None:
        self._emit(search_event(phase, found))
        self._emit({"event": "note", "level": "info", "text": _note(phase, found, ended)})


def _note(phase: Phase, found: Found, ended: bool) -> str:
    if found.problem:
        return f"Quick search: it could not run ({found.problem}); the model goes on alone."
    tried = f"{found.tried} small edit{'' if found.tried == 1 else 's'} tried in {found.seconds:.1f} s"
    if phase != "first":
        where = "around the model's edit" if phase == "near" else "from here"
        what = "one passes" if found.options else "none passes"
        return f"Quick search {where}: {tried}, {what}."
    if found.sure:
        return f"Quick search: {tried}, one passes and is likely right; the model is not asked."
    if found.options:
        many = len(found.options)
        what = (
            f"{many} pass, so the model chooses"
            if many > 1
            else "one passes, and the model is asked about it"
        )
        return f"Quick search: {tried}; {what}."
    why = "ended since the model is ready" if ended else "none passes"
    return f"Quick search: {tried}, {why}; the model goes on."


def changed_lines(changes: Sequence[FileChange]) -> dict[str, frozenset[int]]:
    """The lines that changes put into each file, with the functions they stand in."""
    near: dict[str, frozenset[int]] = {}
    for change in changes:
        old, new = (change.before or "").splitlines(), change.after.splitlines()
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        lines = {
            line
            for tag, _, _, low, high in matcher.get_opcodes()
            if tag != "equal"
            for line in range(low + 1, max(high, low + 1) + 1)
        }
        near[change.path] = frozenset(lines | _functions_around(change, lines))
    return near


def _functions_around(change: FileChange, lines: set[int]) -> set[int]:
    found: set[int] = set()
    with contextlib.suppress(SyntaxError, ValueError, RecursionError):
        for node in ast.walk(ast.parse(change.after)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                inside = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                if lines.intersection(inside):
                    found.update(inside)
    return found


def finder_for(model: Model, ground: SearchGround, draft: Draft) -> Finder:
    """Who searches beside a model: beside one that plays a trace, the trace."""
    return recorded(model.events) if isinstance(model, ReplayModel) else LiveFinder(ground, draft)


def recorded(events: Sequence[Mapping[str, Any]]) -> RecordedFinder:
    """What the searches of a trace answered."""
    found: dict[Phase, list[Found]] = {}
    for event in events:
        if event.get("event") == "search":
            found.setdefault(event["phase"], []).append(found_from(event))
    return RecordedFinder(found)
