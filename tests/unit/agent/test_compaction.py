"""Long conversations: old tool results make room in one step, and the person hears of it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from regreen.agent.budget import Allowance, Budget
from regreen.agent.compaction import Room
from regreen.agent.conversation import Message, Reply, Request, ToolCall
from regreen.agent.loop import Agent
from regreen.agent.model import Listener, PromptTooLong
from regreen.agent.prompt import opening
from regreen.agent.stops import Fixed, Stop
from unit.agent.played import EDIT, Outcome, Played, Silence, World

LONG = "a line of code that nobody needs twice\n" * 100
TOKENS = len(LONG) * 10 // 33


def reading(n: int) -> Reply:
    return Reply(f"Look {n}.", (ToolCall("read_file", {"path": f"m{n}.py"}, f"r{n}"),))


class Bounded(Played):
    """A played model with room for so many tokens; `full` is what its server refuses, in characters."""

    def __init__(self, *replies: Reply | str, room: int | None = None, full: int = 10**9) -> None:
        super().__init__(*replies)
        self.room = room
        self.full = full
        self.refused: list[Request] = []

    async def reply(self, request: Request, listener: Listener) -> Reply:
        if sum(len(message.content) for message in request.messages) > self.full:
            self.refused.append(request)
            raise PromptTooLong("The prompt is too long.")
        return await super().reply(request, listener)


class Library(World):
    """What it reads is long."""

    async def carry_out(
        self, calls: Any, why: str, confidence: str = "", alternatives: int = 0
    ) -> list[Outcome]:
        done = await super().carry_out(calls, why, confidence)
        return [Outcome(o.call, o.text + LONG if o.call.name == "read_file" else o.text) for o in done]


async def play(model: Bounded, world: Library) -> tuple[Stop, Agent, list[str]]:
    events: list[dict[str, Any]] = []
    budget = Budget(Allowance(steps=30))
    agent = Agent(model, world, (), world, budget, Silence(), lambda event: events.append(dict(event)))
    stop = await agent.run(opening("The evidence."))
    return stop, agent, [event["text"] for event in events if event["event"] == "note"]


async def test_a_full_room_is_emptied_to_half_in_one_step_and_the_person_hears_of_it() -> None:
    model = Bounded(*(reading(n) for n in range(10)), Reply("", (EDIT,)), room=TOKENS * 8)
    world = Library(fixed_after=1)
    stop, _, notes = await play(model, world)
    assert isinstance(stop, Fixed)
    assert len(notes) == 1 == world.forgotten
    assert "old tool results" in notes[0] and "were cut" in notes[0]
    sizes = [sum(len(m.content) for m in request.messages) for request in model.requests]
    drops = [(a, b) for a, b in pairwise(sizes) if b < a]
    assert len(drops) == 1
    assert drops[0][1] / 3.3 < TOKENS * 5


async def test_only_old_tool_results_are_cut_each_to_one_line_that_says_what_it_was() -> None:
    model = Bounded(*(reading(n) for n in range(6)), Reply("", (EDIT,)), room=TOKENS * 5)
    _, agent, _ = await play(model, Library(fixed_after=1))
    before, after = model.requests[0].messages, model.requests[-1].messages
    assert after[:2] == before[:2]
    assert [m.content for m in after if m.role == "assistant"] == [f"Look {n}." for n in range(6)]
    results = [m for m in after if m.role == "tool"]
    cut = [m for m in results if "\n" not in m.content]
    assert cut and cut == results[: len(cut)]
    assert cut[0].content.startswith("[cut to make room: what read_file m0.py gave, ")
    assert (cut[0].call_id, cut[0].tool_name) == ("r0", "read_file")
    assert all(LONG in m.content for m in results[-2:])
    assert agent.messages[: len(after)] == list(after)


async def test_a_refused_prompt_is_shortened_and_asked_again_in_the_same_step() -> None:
    model = Bounded(*(reading(n) for n in range(5)), Reply("", (EDIT,)), full=len(LONG) * 4)
    world = Library(fixed_after=1)
    stop, _, notes = await play(model, world)
    assert isinstance(stop, Fixed)
    assert len(model.refused) == len(notes) == world.forgotten == 1
    assert len(model.requests) == 6


async def test_after_a_refusal_the_next_cut_comes_before_the_server_refuses_again() -> None:
    model = Bounded(*(reading(n) for n in range(12)), Reply("", (EDIT,)), full=len(LONG) * 6)
    stop, _, notes = await play(model, Library(fixed_after=1))
    assert isinstance(stop, Fixed)
    assert len(model.refused) == 1 < len(notes) < 5


async def test_a_refusal_that_no_cut_can_mend_reaches_the_person() -> None:
    model = Bounded(reading(0), full=3)
    with pytest.raises(PromptTooLong):
        await play(model, Library())
    assert len(model.refused) == 1


async def test_the_turn_is_asked_again_only_once() -> None:
    class Sour(Bounded):
        async def reply(self, request: Request, listener: Listener) -> Reply:
            self.full = 10 if len(self.requests) == 4 else self.full
            return await super().reply(request, listener)

    model = Sour(*(reading(n) for n in range(9)))
    with pytest.raises(PromptTooLong):
        await play(model, Library())
    assert (len(model.requests), len(model.refused)) == (4, 2)


async def test_a_model_without_a_known_room_is_left_alone() -> None:
    model = Bounded(*(reading(n) for n in range(9)), Reply("", (EDIT,)))
    _, _, notes = await play(model, Library(fixed_after=1))
    assert not notes


def test_the_servers_own_count_is_what_the_room_is_measured_by() -> None:
    model = Bounded(room=1_000)
    room = Room(model)
    messages = [*opening("x"), *(Message("tool", "abc " * 100, tool_name="read_file") for _ in range(4))]
    assert room.shorten(messages) is None
    room.counted(messages, 950)
    shortened = room.shorten(messages)
    assert shortened is not None
    assert (shortened.results, len(shortened.messages)) == (2, len(messages))


def test_a_cut_that_frees_next_to_nothing_is_not_made() -> None:
    room = Room(Bounded(room=10_000))
    messages = [*opening("x" * 40_000), *(Message("tool", "abc " * 50) for _ in range(4))]
    assert room.tokens(messages) > 9_000
    assert room.shorten(messages) is None
    assert room.refused(messages, None) is not None
