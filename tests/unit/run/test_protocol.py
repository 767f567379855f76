"""The run protocol on real pipes: decisions in any order, the end of input, lines that make no sense."""

from __future__ import annotations

import asyncio
import io
import json
import os
from collections.abc import Mapping
from typing import Any

import pytest

from regreen.run.protocol import Decision, JsonChannel


class Heard:
    def __init__(self) -> None:
        self.cancelled = 0
        self.extended: list[tuple[int, int, float]] = []
        self.changed: list[Mapping[str, str | None]] = []

    def cancel(self) -> None:
        self.cancelled += 1

    def extend(self, steps: int, tokens: int, seconds: float) -> None:
        self.extended.append((steps, tokens, seconds))

    def buffers(self, buffers: Mapping[str, str | None]) -> None:
        self.changed.append(buffers)


class Wire:
    """A channel and the two ends its peer holds."""

    def __init__(self) -> None:
        source, self._into = os.pipe()
        self.sink = io.StringIO()
        self.channel = JsonChannel(source, self.sink)
        self.heard = Heard()
        self.channel.listen(self.heard)
        self.begin()

    def begin(self) -> None:
        """As every run does, sooner or later."""
        self.channel.emit({"event": "started", "run": "r"})

    def say(self, *messages: object) -> None:
        for message in messages:
            line = message if isinstance(message, str) else json.dumps(message)
            os.write(self._into, line.encode() + b"\n")

    def hang_up(self) -> None:
        os.close(self._into)
        self._into = -1

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.sink.getvalue().splitlines()]

    def close(self) -> None:
        if self._into >= 0:
            self.hang_up()


@pytest.fixture
async def wire() -> Any:
    made = Wire()
    yield made
    made.close()


async def decided(wire: Wire, ident: str) -> Decision:
    return await asyncio.wait_for(wire.channel.decide({"id": ident}), 5)


async def test_decisions_find_their_proposal_even_when_they_come_first(wire: Wire) -> None:
    wire.say(
        {"decision": "reject", "proposal": "p2", "reason": "wrong file"},
        {"decision": "accept", "proposal": "p1"},
    )
    assert await decided(wire, "p1") == Decision("accept")
    assert await decided(wire, "p2") == Decision("reject", "wrong file")


async def test_a_star_decides_this_one_and_all_to_come(wire: Wire) -> None:
    wire.say({"decision": "accept", "proposal": "*"})
    for ident in ("p1", "p2", "p3"):
        assert (await decided(wire, ident)).kind == "accept"


async def test_the_end_of_input_is_a_rejection_by_nobody(wire: Wire) -> None:
    waiting = asyncio.create_task(decided(wire, "p1"))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    wire.hang_up()
    decision = await waiting
    assert decision.kind == "reject"
    assert decision.final


async def test_what_was_kept_comes_with_its_text(wire: Wire) -> None:
    wire.say({"decision": "partly", "proposal": "p1", "files": {"a.py": "x = 1\n"}})
    assert (await decided(wire, "p1")).files == {"a.py": "x = 1\n"}


async def test_cancel_extend_and_buffers_are_passed_on(wire: Wire) -> None:
    wire.say({"extend": {"steps": 6}}, {"buffers": {"a.py": "x", "b.py": None}}, {"cancel": True})
    for _ in range(200):
        if wire.heard.cancelled:
            break
        await asyncio.sleep(0.01)
    assert wire.heard.extended == [(6, 0, 0.0)]
    assert wire.heard.changed == [{"a.py": "x", "b.py": None}]
    assert wire.heard.cancelled == 1


async def test_lines_that_make_no_sense_are_answered_and_lose_nothing(wire: Wire) -> None:
    wire.say(
        "not json",
        "[1, 2]",
        {"decision": "perhaps", "proposal": "p1"},
        {"huh": 1},
        {"decision": "accept", "proposal": "p1"},
    )
    assert (await decided(wire, "p1")).kind == "accept"
    notes = [event["text"] for event in wire.events() if event["event"] == "note"]
    assert len(notes) == 4
    assert "perhaps" in notes[2]


async def test_a_question_nobody_answers_takes_its_default(wire: Wire) -> None:
    question = {
        "event": "question",
        "id": "pull",
        "text": "?",
        "choices": ["Pull", "Cancel"],
        "default": "Cancel",
    }
    wire.say({"answer": "Pull", "question": "pull"})
    assert await asyncio.wait_for(wire.channel.ask(question), 5) == "Pull"
    wire.hang_up()
    assert await asyncio.wait_for(wire.channel.ask(question), 5) == "Cancel"


def test_a_reader_that_went_away_ends_the_run() -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    async def scene() -> int:
        source, into = os.pipe()
        heard = Heard()
        channel = JsonChannel(source, Closed())
        channel.listen(heard)
        channel.emit({"event": "step", "n": 1})
        os.close(into)
        await asyncio.sleep(0.05)
        return heard.cancelled

    assert asyncio.run(scene()) == 1


@pytest.mark.parametrize("files", [{"a.py": 5}, {"a.py": None}, ["x"], None, {}])
async def test_a_malformed_partly_decides_nothing(wire: Wire, files: object) -> None:
    wire.say(
        {"decision": "partly", "proposal": "p1", "files": files}, {"decision": "reject", "proposal": "p1"}
    )
    assert (await decided(wire, "p1")).kind == "reject"
    assert "Still waiting" in wire.events()[1]["text"]


@pytest.mark.parametrize("more", [{"steps": -6}, {"seconds": -99999}, {"steps": True}, {"tokens": "many"}])
async def test_a_run_is_never_shortened_by_an_extension(wire: Wire, more: object) -> None:
    wire.say({"extend": more}, {"cancel": True})
    for _ in range(200):
        if wire.heard.cancelled:
            break
        await asyncio.sleep(0.01)
    assert wire.heard.extended == [(0, 0, 0.0)]


def notes(wire: Wire) -> list[str]:
    return [event["text"] for event in wire.events() if event["event"] == "note"]


async def heard(wire: Wire) -> None:
    """Wait until everything that was said has arrived."""
    wire.say({"cancel": True})
    for _ in range(500):
        if wire.heard.cancelled:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("nothing arrived")


async def test_what_comes_up_before_the_start_is_told_right_after_it(wire: Wire) -> None:
    wire.channel.emit({"event": "outcome", "outcome": "fixed"})
    before = len(wire.events())
    wire.say("not json")
    wire.channel.emit({"event": "note", "text": "After an interrupted run"})
    wire.channel.emit({"event": "budget", "steps": 0})
    await heard(wire)
    assert len(wire.events()) == before
    wire.begin()
    assert [event["event"] for event in wire.events()[before:]] == ["started", "note", "budget", "note"]


async def test_what_cannot_wait_does_not(wire: Wire) -> None:
    wire.channel.emit({"event": "outcome", "outcome": "fixed"})
    before = len(wire.events())
    wire.channel.emit({"event": "note", "text": "This one waits for its turn.", "urgent": True})
    wire.channel.emit({"event": "question", "id": "unsealed"})
    assert [event["event"] for event in wire.events()[before:]] == ["note", "question"]


async def test_a_run_that_never_started_tells_its_notes_before_its_outcome(wire: Wire) -> None:
    wire.channel.emit({"event": "outcome", "outcome": "fixed"})
    before = len(wire.events())
    wire.channel.emit({"event": "note", "text": "Something was odd."})
    wire.channel.emit({"event": "outcome", "outcome": "setup_problem"})
    assert [event["event"] for event in wire.events()[before:]] == ["note", "outcome"]


async def test_a_decision_on_another_proposal_than_the_one_that_waits_is_said(wire: Wire) -> None:
    waiting = asyncio.create_task(decided(wire, "p1"))
    await asyncio.sleep(0.01)
    wire.say({"decision": "accept", "proposal": "p7"}, {"decision": "accept", "proposal": "p1"})
    assert (await waiting).kind == "accept"
    assert ["'p7'" in note and "'p1' waits" in note for note in notes(wire)] == [True]
    wire.channel.emit({"event": "outcome", "outcome": "fixed"})
    assert "'p7' was not used" in notes(wire)[-1]
    assert wire.events()[-1]["event"] == "outcome"


async def test_a_wrong_name_that_came_first_is_said_once_a_proposal_waits(wire: Wire) -> None:
    wire.say({"decision": "accept", "proposal": "proposal-1"})
    await heard(wire)
    assert notes(wire) == []
    waiting = asyncio.create_task(decided(wire, "p1"))
    await asyncio.sleep(0.01)
    assert "'proposal-1'" in notes(wire)[0]
    wire.say({"decision": "reject", "proposal": "p1"})
    assert (await waiting).kind == "reject"


async def test_a_second_decision_on_the_same_proposal_is_said(wire: Wire) -> None:
    wire.say({"decision": "accept", "proposal": "p1"})
    await decided(wire, "p1")
    wire.say({"decision": "reject", "proposal": "p1"}, {"decision": "reject"})
    await heard(wire)
    assert "decided already" in notes(wire)[0]
    assert "names its proposal" in notes(wire)[1]


async def test_a_proposal_that_is_asked_about_again_can_be_decided_again(wire: Wire) -> None:
    wire.say({"decision": "accept", "proposal": "p1", "files": {"stranger.py": ""}})
    await decided(wire, "p1")
    waiting = asyncio.create_task(decided(wire, "p1"))
    await asyncio.sleep(0.01)
    wire.say({"decision": "reject", "proposal": "p1"})
    assert (await waiting).kind == "reject"
    assert notes(wire) == []
