"""The loop: ask the model for one turn, carry out what it asks, look at what the runner saw, repeat."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from regreen.agent import prompt
from regreen.agent.budget import Budget
from regreen.agent.compaction import Room, Shortened
from regreen.agent.conversation import Message, Reply, Request, ToolCall, ToolSpec, whole
from regreen.agent.model import Listener, Model, PromptTooLong
from regreen.agent.stops import Fixed, Rejected, Stop, Stuck, TestLooksWrong
from regreen.agent.stuck import State, StuckDetector, calls_key
from regreen.agent.trace import reply_event

REPLIES_WITHOUT_CALL = 3
"""So many replies in a row without a call that could be carried out, and the run is stuck."""
_PROSE = ("", "no_call", "claims_done")
"""Reasons of a corrective (`models.dialects`) behind which there is nothing but words."""


class Result(Protocol):
    """What the loop needs of a tool's result."""

    @property
    def call(self) -> ToolCall: ...
    @property
    def text(self) -> str: ...
    @property
    def ok(self) -> bool: ...


class Tools(Protocol):
    """The tools, as the loop sees them."""

    async def carry_out(self, calls: Sequence[ToolCall], why: str, confidence: str = "") -> Sequence[Result]:
        """Carry out calls in order; raises a Stop when one of them ends the run."""
        ...

    def forget(self) -> None:
        """Old results were cut from the conversation: what they showed may be asked for again."""
        ...


class Scene(Protocol):
    """What the loop may know of the project while it runs."""

    def files_in_play(self) -> Mapping[str, str]:
        """The current text of the files shown to the model, by path."""
        ...

    def fingerprint(self) -> str:
        """Equal when the draft holds the same files."""
        ...

    def failure(self) -> str:
        """The target's last known failure, as text for the model."""
        ...

    def failure_key(self) -> str:
        """Equal for failures that are the same as far as progress is concerned."""
        ...

    def unseen(self) -> str:
        """Code that the failure leads to and the model was not shown yet, or ""; the next time other code."""
        ...

    async def confirmed(self) -> bool:
        """Let the runner judge the draft as it is now. True when the target passes and nothing broke."""
        ...

    def conflict_in_test(self) -> str:
        """The lines in which the test contradicts itself, or ""."""
        ...

    @property
    def rejected(self) -> bool:
        """True when the last proposal was turned down by the person."""
        ...


class Agent:
    """One model at work on one target."""

    def __init__(
        self,
        model: Model,
        tools: Tools,
        menu: tuple[ToolSpec, ...],
        scene: Scene,
        budget: Budget,
        listener: Listener,
        emit: Callable[[Mapping[str, Any]], None],
        verified: bool = True,
    ) -> None:
        self._model = model
        self._tools = tools
        self._menu = menu
        self._scene = scene
        self._budget = budget
        self._listener = listener
        self._emit = emit
        self._verified = verified
        self._stuck = StuckDetector()
        self._room = Room(model)
        self._without_call = 0
        self._attempt = 0
        self._doubted = False
        self._claimed_on: str | None = None
        self.messages: list[Message] = []
        self.last_text = ""

    async def run(self, opening: tuple[Message, ...]) -> Stop:
        """Go on until something ends the run; returns why. Only cancelling and our own errors get through."""
        self.messages = list(opening)
        try:
            while True:
                await self._step()
        except Stop as stop:
            return stop

    async def _step(self) -> None:
        n = self._budget.begin_step()
        self._emit({"event": "step", "n": n})
        before = self._scene.fingerprint()
        reply = await self._ask(n)
        if reply.text.strip():
            self.last_text = reply.text.strip()
        self.messages.append(Message("assistant", reply.text, reply.calls))
        if reply.calls:
            self._without_call = 0
            await self._act(reply)
        else:
            await self._answer(reply)
        self._look(reply, before)

    async def _ask(self, n: int) -> Reply:
        self._shorten(self._room.shorten(self.messages))
        try:
            reply = await self._turn()
        except PromptTooLong as refused:
            if not self._shorten(self._room.refused(self.messages, refused.limit)):
                raise
            reply = await self._turn()
        self._room.counted(self.messages, reply.usage.prompt)
        self._budget.charge(reply.usage)
        self._emit(reply_event(n, reply))
        self._emit({"event": "budget", **self._budget.to_json()})
        if reply.finish == "nothing":
            raise (Rejected if self._scene.rejected else Stuck)(reply.text)
        return reply

    async def _turn(self) -> Reply:
        request = Request(tuple(self.messages), self._menu, self._scene.files_in_play(), self._attempt)
        with self._budget.clock.spend("model"):
            return whole(await self._budget.within(self._model.reply(request, self._listener)))

    def _shorten(self, shortened: Shortened | None) -> bool:
        """Go on with a shorter conversation: the only time that it does not just grow."""
        if shortened is None:
            return False
        self.messages = list(shortened.messages)
        self._tools.forget()
        self._emit({"event": "note", "level": "info", "text": shortened.note})
        return True

    async def _act(self, reply: Reply) -> None:
        why = prompt.first_sentence(reply.text)
        results = await self._tools.carry_out(reply.calls, why, reply.confidence)
        for result in results:
            text = f"{result.text}\n{reply.note}" if reply.note and result is results[-1] else result.text
            self.messages.append(Message("tool", text, call_id=result.call.id, tool_name=result.call.name))
        self._budget.check()

    async def _answer(self, reply: Reply) -> None:
        """A reply without calls: a claim, a doubt about the test, or something to correct."""
        doubt = prompt.looks_wrong(reply.text)
        if doubt is not None and self._verified:
            return self._hear_doubt(doubt)
        if self._is_claim(reply):
            return await self._hear_claim()
        self._without_call += 1
        if self._without_call >= REPLIES_WITHOUT_CALL:
            raise Stuck(f"{self._without_call} replies in a row held no tool call that could be carried out.")
        text = reply.corrective or prompt.no_call(self._scene.failure(), self._example())
        if reply.corrective:
            first = reply.corrective.strip().split("\n", 1)[0]
            self._emit({"event": "note", "level": "info", "text": f"Not carried out: {first}"})
        if reply.corrective and self._scene.failure() and "\nE " not in text:
            text = f"{text}\nThe target still fails:\n{self._scene.failure()}"
        self.messages.append(Message("user", text))

    def _is_claim(self, reply: Reply) -> bool:
        """Plain prose that says the work is done; without a target to judge by, any plain prose."""
        if prompt.holds_code(reply.text) or reply.reason not in _PROSE:
            return False
        return not self._verified or prompt.claims_done(reply.text)

    async def _hear_claim(self) -> None:
        if await self._scene.confirmed():
            raise Fixed("The runner confirms it: the target passes.")
        fingerprint = self._scene.fingerprint()
        if self._claimed_on == fingerprint:
            raise Stuck("The model says it is done, but the target still fails.")
        self._claimed_on = fingerprint
        self.messages.append(Message("user", prompt.not_done(self._scene.failure())))

    def _hear_doubt(self, doubt: str) -> None:
        lines = self._scene.conflict_in_test()
        if lines or self._doubted:
            raise TestLooksWrong(lines or doubt or "The model says that the test is at fault.")
        self._doubted = True
        self.messages.append(Message("user", prompt.no_conflict_seen()))

    def _look(self, reply: Reply, before: str) -> None:
        """Ask for another strategy, once, when the run goes in circles."""
        after = self._scene.fingerprint()
        state = State(
            calls_key(reply.calls),
            after,
            self._scene.failure_key(),
            "" if reply.calls else _plain(reply.text),
        )
        edited = before != after or any(call.name in ("edit_file", "write_file") for call in reply.calls)
        if self._stuck.observe(state, edited):
            self._attempt += 1
            self.messages.append(
                Message("user", prompt.other_way(self._scene.failure(), self._scene.unseen()))
            )

    def _example(self) -> str:
        path = next(iter(self._scene.files_in_play()), "module.py")
        call = {"path": path, "find": "the exact lines", "replace": "the new lines"}
        return "edit_file " + json.dumps(call)


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
