"""The quick search for small mistakes, as the loop sees it: it costs no tokens, and what it finds is offered first."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from regreen.agent.conversation import ToolCall

MOST_OPTIONS = 5
"""So many edits that pass are put before a model at most."""

SHORT_CHARS = 30
"""What two versions of a line have in common is left out from this length on."""
KEPT_CHARS = 14
"""So much of it stays next to the difference, rounded up to a whole word."""

Phase = Literal["first", "near", "again"]
"""When it searched: before the model was asked, around an edit of the model that failed, once the run was stuck."""


@dataclass(frozen=True, slots=True)
class Option:
    """Edits that make the target pass: the calls, one sentence why, how sure, and the changed lines for a model."""

    calls: tuple[ToolCall, ...]
    why: str
    confidence: str
    diff: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to. `told` is for a model when there is no option: where to look, and what moved the failure.

    `stopped` is true when the search was ended before it was through; `problem` says why it could not run at all.
    """

    options: tuple[Option, ...] = ()
    told: str = ""
    tried: int = 0
    seconds: float = 0.0
    stopped: bool = False
    problem: str = ""

    @property
    def sure(self) -> Option | None:
        """The edit that is proposed without asking a model."""
        best = self.options[0] if self.options else None
        return best if best and best.confidence == "high" else None


class Search(Protocol):
    """The search beside a model."""

    async def first(self) -> Found:
        """What was found before the model is asked. Waits a short time at most for the search once the model is ready.

        Raises what kept the model from getting ready.
        """
        ...

    async def ready(self) -> None:
        """Wait until the model may be asked. Raises what keeps it from that."""
        ...

    async def again(self) -> Found:
        """Search from the files as they are now, with more time: the run goes in circles."""
        ...


def search_event(phase: Phase, found: Found) -> dict[str, Any]:
    """A search as it stands in the trace; `found_from` reads it back."""
    return {
        "event": "search",
        "phase": phase,
        "tried": found.tried,
        "seconds": round(found.seconds, 3),
        "stopped": found.stopped,
        "problem": found.problem,
        "told": found.told,
        "options": [
            {
                "calls": [{"name": c.name, "arguments": dict(c.arguments)} for c in option.calls],
                "why": option.why,
                "confidence": option.confidence,
                "diff": option.diff,
            }
            for option in found.options
        ],
    }


def found_from(event: Mapping[str, Any]) -> Found:
    """The findings of a `search` event."""
    return Found(
        tuple(
            Option(
                tuple(ToolCall(call["name"], call["arguments"]) for call in option["calls"]),
                str(option["why"]),
                str(option["confidence"]),
                str(option.get("diff", "")),
            )
            for option in event.get("options") or ()
        ),
        str(event.get("told", "")),
        int(event.get("tried", 0)),
        float(event.get("seconds", 0.0)),
        bool(event.get("stopped", False)),
        str(event.get("problem", "")),
    )


def differing(old: str, new: str) -> tuple[str, str]:
    """Two versions of a line, each without what both begin and end with, where that is long: a few words stay on either
    side, and `…` stands for the rest."""
    start = _common(old, new)
    end = min(_common(old[::-1], new[::-1]), min(len(old), len(new)) - start)
    start = _words_kept(old[:start])
    end = _words_kept(old[len(old) - end :][::-1])
    head, tail = "…" * (start > 0), "…" * (end > 0)
    return head + old[start : len(old) - end] + tail, head + new[start : len(new) - end] + tail


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _words_kept(common: str) -> int:
    """How much of a common beginning may be left out: all but the last few words of it; 0 where it is short."""
    if len(common) < SHORT_CHARS:
        return 0
    at = start = len(common) - KEPT_CHARS
    while at and (common[at - 1].isalnum() or common[at - 1] == "_"):
        at -= 1
    return at if start - at <= 2 * KEPT_CHARS else start


def same_edit(calls: Sequence[ToolCall], option: Option) -> bool:
    """Whether a model's calls are that option: the same files, and the same lines taken out and put in."""
    edits = {_lines(call) for call in calls if call.name == "edit_file"}
    return bool(edits) and edits == {_lines(call) for call in option.calls}


def _lines(call: ToolCall) -> tuple[str, str, str]:
    """Path, lines out, lines in, without those that stay and without regard to spaces at their ends."""
    old = [line.strip() for line in str(call.arguments.get("find", "")).splitlines()]
    new = [line.strip() for line in str(call.arguments.get("replace", "")).splitlines()]
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return str(call.arguments.get("path", "")).removeprefix("./"), json.dumps(old), json.dumps(new)
