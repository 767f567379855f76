"""A conversation with a model under test, kept as the loop keeps it, and a listener that remembers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from regreen.agent.conversation import Message, Reply, Request
from regreen.tools import menu

SYSTEM = Message("system", "You fix Python code so that a failing test passes.")
EVIDENCE = (
    "The test fails.\n\n" + "shop/cart.py holds the cart of one customer.\n" * 20 + "E   assert 300 == 400"
)
OPENING = (SYSTEM, Message("user", EVIDENCE))


@dataclass
class Ear:
    """A listener that remembers."""

    heard: list[str] = field(default_factory=list)
    waits: list[str] = field(default_factory=list)
    waiting_now: bool = False

    def text(self, delta: str) -> None:
        self.heard.append(delta)

    def waiting(self, reason: str) -> None:
        self.waits.append(reason)
        self.waiting_now = True

    def working(self) -> None:
        self.waiting_now = False


class Chat:
    """A conversation with a model, kept as the loop keeps it."""

    def __init__(self, model: Any, messages: tuple[Message, ...] = OPENING) -> None:
        self.model = model
        self.messages = list(messages)
        self.ear = Ear()
        self.tools = menu.FIX

    async def ask(self, **more: Any) -> Reply:
        reply = await self.model.reply(Request(tuple(self.messages), self.tools, **more), self.ear)
        assert not self.ear.waiting_now
        return reply

    def answer(self, reply: Reply, text: str) -> None:
        """Append the reply and what the harness says to it."""
        self.messages.append(Message("assistant", reply.text, reply.calls))
        for call in reply.calls:
            self.messages.append(Message("tool", text, call_id=call.id, tool_name=call.name))
        if not reply.calls:
            self.messages.append(Message("user", text))
