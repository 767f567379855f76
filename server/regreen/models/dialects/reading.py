"""What the dialects pass to each other, and the one thing they hand out: a `Reading`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from regreen.agent.conversation import ToolCall

Reason = Literal[
    "",
    "asks",  # the model asks the person something instead of acting
    "bad_arguments",
    "bad_json",
    "bad_path",
    "bad_text",  # the text for a file is damaged, a placeholder, or no Python
    "blank",
    "claims_done",  # says a file was changed, without a call
    "cut_off",  # the reply ended in the middle
    "internal",
    "invented_result",
    "locked",
    "lost_code",  # the file would lose functions or most of its lines
    "no_call",  # plain prose; `ask` may take it as the answer
    "no_op",
    "not_found",
    "refusal",
    "repeats",
    "server",  # an error of the server, not of the model
    "several_places",
    "swallowed",  # tokens were generated, nothing arrived
    "test_looks_wrong",
    "thinking_only",
    "unknown_tool",
]
"""Why there is a corrective, for the loop, which may answer otherwise than with the text."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one reply means: `calls`, or a `corrective` to send back, never both.

    `text` is the prose without calls, thoughts and markers; `thinking` the thoughts. `note` is for the model beside
    the results of the calls: something in the same reply that could not be carried out. `reason` names the corrective.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    corrective: str = ""
    reason: Reason = ""
    note: str = ""
    thinking: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A call as the model wrote it: nothing mapped or checked yet. `guessed`: its strings had to be guessed at."""

    name: str
    arguments: object
    id: str = ""
    guessed: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """Something meant as a call that cannot be carried out; `text` is the corrective."""

    reason: Reason
    text: str


@dataclass(slots=True)
class Spoken:
    """One reply taken off the wire, whichever wire it was."""

    text: str = ""
    thinking: str = ""
    native: list[Asked] = field(default_factory=lambda: list[Asked]())
    finish: str = ""  # "stop", "length", "tool_calls", … or "" when the message alone is known
    generated: int = -1  # tokens, -1 = not told
    fault: Fault | None = None


def as_mapping(value: object) -> dict[str, Any]:
    """The value when it is a mapping, else an empty one; keys become strings."""
    if isinstance(value, Mapping):
        return {str(key): item for key, item in cast(Mapping[object, Any], value).items()}
    return {}


def is_mapping(value: object) -> bool:
    """Whether the value is a mapping."""
    return isinstance(value, Mapping)


def as_list(value: object) -> list[Any]:
    """The value when it is a list or tuple, else an empty list."""
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray)):
        return list(cast(Sequence[Any], value))
    return []


def as_text(value: object) -> str:
    """The value when it is a string, else an empty one."""
    return value if isinstance(value, str) else ""
