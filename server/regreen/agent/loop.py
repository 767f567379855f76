"""The loop: ask the model for one turn, carry out what it asks, look at what the runner saw, repeat."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from regreen.agent import choice, prompt
from regreen.agent.budget import Budget
from regreen.agent.compaction import Room, Shortened
from regreen.agent.conversation import Message, Reply, Request, ToolCall, ToolSpec, whole
from regreen.agent.model import Listener, Model, PromptTooLong, TooDear
from regreen.agent.search import MOST_OPTIONS, Option, Search
from regreen.agent.stops import Fixed, Rejected, Stop, Stuck, TestLooksWrong
from regreen.agent.stuck import State, StuckDetector, calls_key
from regreen.agent.trace import reply_event

REPLIES_WITHOUT_CALL = 3
"""So many replies in a row without a call that could be carried out, and the run is stuck."""
SAID_CHARS = 80
"""So much of an answer that was no call at all stands in the conversation, where it chose by one."""
_EDITS = ("edit_file", "write_file")
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

    async def carry_out(
        self, calls: Sequence[ToolCall], why: str, confidence: str = "", alternatives: int = 0
    ) -> Sequence[Result]:
        """Carry out calls in order; raises a Stop when one of them ends the run."""
        ...

    async def offer(self, option: Option, why: str) -> Result:
        """Propose what the quick search found, if a trial bears it out; else the result is not `ok`.

        Raises the Stop that the proposal leads to.
        """
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
        search: Search | None = None,
    ) -> None:
        self._model = model
        self._tools = tools
        self._menu = menu
        self._scene = scene
        self._budget = budget
        self._listener = listener
        self._emit = emit
        self._verified = verified
        self._search = search
        self._options: tuple[Option, ...] = ()
        self._left: tuple[Option, ...] = ()
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
            if self._search is not None:
                await self._begin_with(self._search)
            while True:
                await self._step()
        except Stop as stop:
            return stop

    # -- the quick search beside the model -----------------------------------------------------------------

    async def _begin_with(self, search: Search) -> None:
        """What is sure is proposed without a model; the rest goes behind the evidence: a question, or where to look."""
        found = await search.first()
        options, told = found.options[:MOST_OPTIONS], ""
        if found.sure is not None:
            told = await self._offer(found.sure, prompt.QUICK_ALONE)
            options = options[1:]
        await search.ready()
        self._options = options
        last = self.messages[-1]
        parts = (told, choice.question(options, last.content) if options else found.told)
        self.messages[-1] = replace(
            last, content="\n\n".join(part for part in (last.content, *parts) if part)
        )

    async def _offer(self, option: Option, origin: str) -> str:
        """Propose an option; what came of it, for the model, or "" when it was not even shown."""
        result = await self._tools.offer(option, f"{origin} {option.why}")
        return result.text if result.ok else ""

    async def _choose(self, reply: Reply, options: tuple[Option, ...]) -> None:
        """Hear which of the options a model takes; anything else that it says goes its usual way."""
        picked = choice.chosen(reply, options)
        if picked is None:
            self._left = () if choice.refuses(reply) else options
            if reply.calls:
                if not _edits(reply):  # it looks before it chooses
                    self._options, self._left = options, ()
                return await self._act(reply)
            if reply.reason not in _PROSE or prompt.looks_wrong(reply.text) is not None:
                return await self._answer(reply)
            self.messages.append(Message("user", choice.own_edit()))
            return
        origin = prompt.quick_chosen(len(options))
        if not reply.calls:
            came_of_it = await self._offer(options[picked], origin)
            self.messages.append(Message("user", choice.own_edit(came_of_it or prompt.QUICK_NOT_BORNE_OUT)))
            return
        option = options[picked]
        await self._act(replace(reply, confidence=option.confidence), f"{origin} {option.why}")

    async def _offer_instead(self, reply: Reply) -> None:
        """The model took none of the options, nor refused them, and its own edit failed: the best of them is worth the
        person's look now, if it is more than a guess."""
        best = next((option for option in self._left if option.confidence != "low"), None)
        if best is None or self._scene.rejected or not _edits(reply):
            return
        self._left = tuple(option for option in self._left if option is not best)
        if came_of_it := await self._offer(best, prompt.QUICK_INSTEAD):
            self.messages.append(Message("user", choice.own_edit(came_of_it)))

    async def _search_again(self) -> str:
        """The search's part in a change of strategy: a fix that is proposed, or what it learned."""
        if self._search is None:
            return ""
        left, self._left = self._left, ()
        for option in left:
            if came_of_it := await self._offer(option, prompt.QUICK_STUCK):
                return came_of_it
        found = await self._search.again()
        for option in found.options[:MOST_OPTIONS]:
            if came_of_it := await self._offer(option, prompt.QUICK_STUCK):
                return came_of_it
        return found.told

    # -- one turn ------------------------------------------------------------------------------------------

    async def _step(self) -> None:
        n = self._budget.begin_step()
        self._emit({"event": "step", "n": n})
        before = self._scene.fingerprint()
        reply = await self._ask(n)
        if reply.text.strip():
            self.last_text = reply.text.strip()
        options, self._options = self._options, ()
        said = reply.text or (reply.raw[:SAID_CHARS] if options else "")
        self.messages.append(Message("assistant", said, reply.calls))
        if options:
            await self._choose(reply, options)
        elif reply.calls:
            self._without_call = 0
            await self._act(reply)
        else:
            await self._answer(reply)
        await self._offer_instead(reply)
        await self._look(reply, before)

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
        if reply.finish == "cut":  # perhaps since its money was used up
            self._budget.check()
        if reply.finish == "nothing":
            raise (Rejected if self._scene.rejected else Stuck)(reply.text)
        return reply

    async def _turn(self) -> Reply:
        files, left = self._scene.files_in_play(), self._budget.cost_left
        request = Request(tuple(self.messages), self._menu, files, self._attempt, left)
        with self._budget.clock.spend("model"):
            try:
                return whole(await self._budget.within(self._model.reply(request, self._listener)))
            except TooDear as refused:
                raise self._budget.too_dear(refused.cost) from refused

    def _shorten(self, shortened: Shortened | None) -> bool:
        """Go on with a shorter conversation: the only time that it does not just grow."""
        if shortened is None:
            return False
        self.messages = list(shortened.messages)
        self._tools.forget()
        self._emit({"event": "note", "level": "info", "text": shortened.note})
        return True

    async def _act(self, reply: Reply, why: str = "") -> None:
        why = why or prompt.first_sentence(reply.text)
        results = await self._tools.carry_out(reply.calls, why, reply.confidence, reply.alternatives)
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

    async def _look(self, reply: Reply, before: str) -> None:
        """Ask for another strategy, once, when the run goes in circles."""
        after = self._scene.fingerprint()
        state = State(
            calls_key(reply.calls),
            after,
            self._scene.failure_key(),
            "" if reply.calls else _plain(reply.text),
        )
        edited = before != after or _edits(reply)
        if self._stuck.observe(state, edited):
            self._attempt += 1
            learned = await self._search_again()
            text = prompt.other_way(self._scene.failure(), self._scene.unseen(), learned)
            self.messages.append(Message("user", text))

    def _example(self) -> str:
        path = next(iter(self._scene.files_in_play()), "module.py")
        call = {"path": path, "find": "the exact lines", "replace": "the new lines"}
        return "edit_file " + json.dumps(call)


def _edits(reply: Reply) -> bool:
    return any(call.name in _EDITS for call in reply.calls)


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
