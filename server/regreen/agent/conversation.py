"""What is said between the loop and a model, free of any wire format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

Role = Literal["system", "user", "assistant", "tool"]

_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told about it; `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One thing the model asks for, already mapped to a real tool and checked against its schema."""

    name: str
    arguments: Mapping[str, Any]
    id: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of the append-only conversation. `calls` belongs to the assistant, the last two to `tool`.

    Halves of surrogate pairs in `content` (file names have them, and compared texts) are shown as Python writes them:
    no wire can carry them as they are.
    """

    role: Role
    content: str = ""
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    tool_name: str = ""

    def __post_init__(self) -> None:
        if _HALF.search(self.content):
            shown = self.content.encode("utf-8", "backslashreplace").decode()
            object.__setattr__(self, "content", shown)


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one reply. `prompt` counts everything sent, `cached` the part the server had already.
    `cost` is in US dollars; None when nobody tells what it costs."""

    prompt: int = 0
    cached: int = 0
    generated: int = 0
    cost: float | None = None

    @property
    def charged(self) -> int:
        """What the token budget pays for: new prompt tokens and generated ones."""
        return max(0, self.prompt - self.cached) + self.generated


@dataclass(frozen=True, slots=True)
class Speed:
    """What the server itself measured of one reply; 0 where it does not tell. `cached` and `read` are prompt tokens:
    those it had already, and those it read at `read_per_second`; it wrote at `written_per_second`."""

    cached: int = 0
    read: int = 0
    read_per_second: float = 0.0
    written_per_second: float = 0.0
    load_seconds: float = 0.0

    def to_json(self) -> dict[str, float]:
        """What was told, rounded."""
        values = {
            "cached": self.cached,
            "read": self.read,
            "read_per_second": round(self.read_per_second, 1),
            "written_per_second": round(self.written_per_second, 1),
            "load_seconds": round(self.load_seconds, 3),
        }
        return values if any(values.values()) else {}


@dataclass(frozen=True, slots=True)
class Request:
    """One turn asked of a model.

    `files` holds the text of the workspace files in play, by relative path: a reply that is only a code
    fence is read as an edit of the one file in play, and damaged text is repaired against it.
    `attempt` counts the times the same question was put before; a model may change seed and temperature.
    `cost_left` is what the reply may cost, in US dollars, where anything costs (None: as much as it will).
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    files: Mapping[str, str] = field(default_factory=lambda: dict[str, str]())
    attempt: int = 0
    cost_left: float | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """One turn of a model.

    `text` is the prose without the calls. `corrective` is set instead of `calls` when the reply meant a
    call that cannot be carried out: it is the text to send back. `why` is one sentence for the proposal.
    `seconds` is the time the model worked, without loading it. `reason` names the kind of the corrective (see
    `models.dialects`), and `note` is for the model, beside the results of the calls. `raw` is what a reply with a
    corrective held as it came, for a question that needs no tool. `alternatives` counts the other edits that this model
    has ready and that pass the same tests: it proposes them one by one when this one is turned down.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    corrective: str = ""
    usage: Usage = Usage()
    finish: str = "stop"
    seconds: float = 0.0
    thinking: str = ""
    confidence: str = ""
    alternatives: int = 0
    reason: str = ""
    note: str = ""
    raw: str = ""
    speed: Speed = Speed()


def whole(reply: Reply) -> Reply:
    """The reply without halves of surrogate pairs, which cannot be sent, stored or written."""
    calls = tuple(replace(call, arguments=_mended(call.arguments)) for call in reply.calls)
    return replace(reply, text=_mended(reply.text), calls=calls, corrective=_mended(reply.corrective))


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {key: _mended(item) for key, item in cast("Mapping[str, Any]", value).items()}
    return [_mended(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value
