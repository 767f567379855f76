"""A model that plays written replies, and a world of tools and scene in which nothing real happens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from regreen.agent.conversation import Message, Reply, Request, ToolCall, ToolSpec
from regreen.agent.model import Listener
from regreen.agent.search import Option
from regreen.agent.stops import Fixed

FAILURE = "E   assert 1 == 2"
EDIT = ToolCall("edit_file", {"path": "a.py", "find": "1", "replace": "2"}, "c1")
READ = ToolCall("read_file", {"path": "a.py"}, "c2")


class Played:
    """A model that plays replies in order; the last one again and again."""

    name = "played"

    def __init__(self, *replies: Reply | str) -> None:
        self.replies = [Reply(reply) if isinstance(reply, str) else reply for reply in replies]
        self.requests: list[Request] = []

    async def warm(
        self, messages: tuple[Message, ...], tools: tuple[ToolSpec, ...], listener: Listener
    ) -> None: ...

    async def reply(self, request: Request, listener: Listener) -> Reply:
        self.requests.append(request)
        return self.replies[min(len(self.requests), len(self.replies)) - 1]

    async def aclose(self) -> None: ...


@dataclass
class Outcome:
    call: ToolCall
    text: str
    ok: bool = True


@dataclass
class World:
    """Tools and scene in one: counts what was carried out; fixed after so many edits."""

    fixed_after: int = 99
    claim_holds: bool = False
    conflict: str = ""
    leads_to: str = ""
    turned_down: bool = False
    edits: int = 0
    forgotten: int = 0
    carried: list[ToolCall] = field(default_factory=list[ToolCall])

    async def carry_out(
        self, calls: Sequence[ToolCall], why: str, confidence: str = "", alternatives: int = 0
    ) -> list[Outcome]:
        self.carried += calls
        self.edits += sum(call.name == "edit_file" for call in calls)
        if self.edits >= self.fixed_after:
            raise Fixed("It passes.")
        return [Outcome(call, f"result of {call.name} {len(self.carried)}") for call in calls]

    async def offer(self, option: Option, why: str) -> Outcome:
        return (await self.carry_out(option.calls, why, option.confidence))[-1]

    def forget(self) -> None:
        self.forgotten += 1

    def files_in_play(self) -> Mapping[str, str]:
        return {"a.py": "x = 1\n"}

    def fingerprint(self) -> str:
        return f"files {self.edits}"

    def failure(self) -> str:
        return FAILURE

    def failure_key(self) -> str:
        return f"failure {self.edits}"

    def unseen(self) -> str:
        return self.leads_to

    async def confirmed(self) -> bool:
        return self.claim_holds

    def conflict_in_test(self) -> str:
        return self.conflict

    @property
    def rejected(self) -> bool:
        return self.turned_down


class Silence:
    def text(self, delta: str) -> None: ...
    def waiting(self, reason: str) -> None: ...
    def working(self) -> None: ...
