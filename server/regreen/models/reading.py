"""From an assembled body to a `Reply`, the same for every server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from regreen.agent.conversation import Reply, Request, ToolCall, Usage
from regreen.models.dialects import read_reply
from regreen.tools import menu

Wire = Literal["ollama", "openai"]


def to_reply(
    body: Mapping[str, Any],
    request: Request,
    wire: Wire,
    usage: Usage,
    *,
    finish: str,
    seconds: float,
    thinking: str = "",
) -> Reply:
    """Read the calls out of a body, whatever their dialect; every call gets an id of its own.

    A tool that was not offered is carried out too when the model asks for it; no tool is, when none was offered.
    """
    offered = {tool.name for tool in request.tools}
    others = [tool for tool in menu.ALL if tool.name not in offered] if offered else []
    reading = read_reply(body, [*request.tools, *others], request.files, wire=wire)
    calls = _with_ids(reading.calls, len(request.messages))
    return Reply(
        reading.text,
        calls,
        reading.corrective,
        usage,
        finish or "stop",
        seconds,
        thinking or reading.thinking,
        reason=reading.reason,
        note=reading.note,
    )


def cut_reply(text: str, why: str, usage: Usage, seconds: float) -> Reply:
    """The reply for a stream that was cut since it led nowhere: nothing of it is carried out."""
    kept = text[:300] + (" …" if len(text) > 300 else "")
    corrective = f"Your reply was stopped: {why}. Answer with one sentence and one tool call."
    return Reply(kept, (), corrective, usage, "cut", seconds, reason="repeats")


def _with_ids(calls: tuple[ToolCall, ...], turn: int) -> tuple[ToolCall, ...]:
    taken: set[str] = set()
    out: list[ToolCall] = []
    for n, call in enumerate(calls):
        call_id = call.id if call.id and call.id not in taken else f"call_{turn}_{n}"
        taken.add(call_id)
        out.append(call if call_id == call.id else replace(call, id=call_id))
    return tuple(out)
