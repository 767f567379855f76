"""From an assembled body to a `Reply`, the same for every server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from regreen.agent.conversation import Reply, Request, Speed, ToolCall, Usage
from regreen.models.dialects import read_reply
from regreen.models.dialects.reading import as_list, as_mapping, as_text
from regreen.tools import menu

Wire = Literal["ollama", "openai"]
_UNKNOWN = Speed()
RAW_CHARS = 800
"""So much of a reply that could not be read as a call is kept as it came."""


def to_reply(
    body: Mapping[str, Any],
    request: Request,
    wire: Wire,
    usage: Usage,
    *,
    finish: str,
    seconds: float,
    thinking: str = "",
    speed: Speed = _UNKNOWN,
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
        speed=speed,
        raw=_raw(body) if reading.corrective else "",
    )


def _raw(body: Mapping[str, Any]) -> str:
    """What a message held, calls included, as it came: a few hundred characters of it."""
    first = (as_list(body.get("choices")) or [None])[0]
    held = as_mapping(body.get("message")) or as_mapping(as_mapping(first).get("message"))
    calls = [as_mapping(as_mapping(call).get("function")) for call in as_list(held.get("tool_calls"))]
    said = [as_text(held.get("content")), *(json.dumps(call, default=str) for call in calls)]
    return " ".join(said).strip()[:RAW_CHARS]


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
