"""The search beside a model as the loop sees it: who waits for whom, what is said, and what the time is charged to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from regreen.agent.budget import Allowance, Budget
from regreen.agent.conversation import ToolCall
from regreen.agent.search import Found, Option, Phase, search_event
from regreen.agent.stops import SecondsUsedUp
from regreen.errors import RegreenError
from regreen.run.beside import RecordedFinder, SearchBeside, recorded
from regreen.workspace.changes import FileChange

OPTION = Option((ToolCall("edit_file", {"path": "a.py", "find": "1", "replace": "2"}),), "One.", "high", "+2")
SURE = Found((OPTION,), tried=5)


class Slow:
    """A finder that is through when it is told to be, or stopped."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.through = asyncio.Event()
        self.stops = 0
        self.ended = False

    async def find(self, phase: Phase, changes: Sequence[FileChange], seconds: float | None) -> Found:
        try:
            await self.through.wait()
        finally:
            self.ended = True
        return self.found

    async def stop(self) -> None:
        self.stops += 1
        self.through.set()


def beside(
    finder: Any, warming: asyncio.Task[None], grace: float = 60.0, seconds: float = 900.0
) -> tuple[SearchBeside, list[dict[str, Any]], asyncio.Event, Budget]:
    events: list[dict[str, Any]] = []
    needed, budget = asyncio.Event(), Budget(Allowance(seconds=seconds))
    search = SearchBeside(
        finder, budget, lambda e: events.append(dict(e)), lambda text, percent: None, warming, needed, grace
    )
    return search, events, needed, budget


async def loads(gate: asyncio.Event, broken: str = "") -> None:
    await gate.wait()
    if broken:
        raise RegreenError(broken)


async def test_a_search_that_is_through_does_not_wait_for_the_model() -> None:
    gate = asyncio.Event()
    warming = asyncio.create_task(loads(gate))
    search, events, needed, _ = beside(RecordedFinder({"first": [SURE]}), warming)
    assert await search.first() == SURE
    assert not warming.done() and not needed.is_set()
    assert [event["event"] for event in events] == ["search", "note"]
    assert "the model is not asked" in events[1]["text"]
    gate.set()
    await search.ready()
    assert needed.is_set()


async def test_a_ready_model_waits_for_its_grace_and_then_the_search_is_ended() -> None:
    gate = asyncio.Event()
    gate.set()
    slow = Slow(Found(told="Look here.", tried=3, stopped=True))
    search, events, _, _ = beside(slow, asyncio.create_task(loads(gate)), grace=0.05)
    found = await search.first()
    assert (found.told, slow.stops) == ("Look here.", 1)
    assert "ended since the model is ready" in events[1]["text"]


async def test_a_model_that_cannot_be_had_is_said_at_once_and_the_search_ends() -> None:
    gate = asyncio.Event()
    gate.set()
    slow = Slow(SURE)
    search, events, _, _ = beside(slow, asyncio.create_task(loads(gate, "No server.")))
    with pytest.raises(RegreenError, match="No server"):
        await search.first()
    assert slow.ended and events == []


async def test_cancelling_ends_the_search() -> None:
    slow = Slow(SURE)
    search, _, _, _ = beside(slow, asyncio.create_task(loads(asyncio.Event())))
    first = asyncio.create_task(search.first())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert slow.ended


async def test_its_time_is_time_of_the_tests_and_ends_with_the_budget() -> None:
    slow = Slow(SURE)
    search, _, _, budget = beside(slow, asyncio.create_task(loads(asyncio.Event())), seconds=0.1)
    with pytest.raises(SecondsUsedUp):
        await search.first()
    assert slow.ended
    assert budget.clock.spent("tests") >= 0.1
    assert budget.clock.spent("model") == 0


async def test_a_trace_answers_in_order_and_by_kind() -> None:
    near = [Found(told=f"near {n}") for n in (1, 2)]
    events = [search_event("near", near[0]), search_event("first", SURE), search_event("near", near[1])]
    finder = recorded(events)
    assert await finder.find("near", (), 1.0) == near[0]
    assert await finder.find("near", (), 1.0) == near[1]
    assert await finder.find("near", (), 1.0) == Found()
    assert await finder.find("first", (), None) == SURE


async def test_a_search_that_cannot_run_says_why() -> None:
    gate = asyncio.Event()
    gate.set()
    finder = RecordedFinder({"first": [Found(problem="the test runner ended")]})
    search, events, _, _ = beside(finder, asyncio.create_task(loads(gate)))
    await search.first()
    assert "could not run (the test runner ended)" in events[1]["text"]
