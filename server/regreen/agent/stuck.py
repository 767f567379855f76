"""Seeing that a run makes no progress: cycles of calls, edits under one failure, the same words again."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass

from regreen.agent.conversation import ToolCall
from regreen.agent.stops import Stuck

LONGEST_CYCLE = 4
SAME_FAILURE_EDITS = 5
"""So many edits under one and the same failure, and the run changes its strategy."""

SAME_SHAPE_STEPS = 5
"""So many steps in a row with calls that differ in nothing but a number, while nothing else changes: the same again."""
_NUMBER = re.compile(r"(?<=: )-?\d+")


@dataclass(frozen=True, slots=True)
class State:
    """What one step did and led to. Two equal states in the right places are a cycle."""

    calls: str
    files: str
    failure: str
    said: str = ""


def calls_key(calls: Sequence[ToolCall]) -> str:
    """The calls in one canonical spelling: key order, path spelling and white space do not count."""

    def plain(name: str, value: object) -> object:
        if name == "path" and isinstance(value, str):
            return posixpath.normpath(value.replace("\\", "/").strip().strip("'\"")).lstrip("/")
        return " ".join(value.split()) if isinstance(value, str) else value

    spelled = [[call.name, {k: plain(k, v) for k, v in sorted(call.arguments.items())}] for call in calls]
    return json.dumps(spelled, sort_keys=True, default=str)


class StuckDetector:
    """Fed with a state after each step; asks once for another strategy, then raises Stuck."""

    def __init__(self) -> None:
        self._states: list[State] = []
        self._edits_under: dict[str, int] = {}
        self._warned_at: int | None = None

    def observe(self, state: State, edited: bool) -> bool:
        """Take note of a step. True: change strategy now. Raises Stuck when that was tried already."""
        self._states.append(state)
        if edited:
            self._edits_under[state.failure] = self._edits_under.get(state.failure, 0) + 1
        reason = self._cycle() or self._edits(state, edited) or self._counting()
        if not reason:
            return False
        if self._warned_at is not None:
            raise Stuck(f"The run went in circles: {reason}.")
        self._warned_at = len(self._states)
        if edited:
            self._edits_under[state.failure] = 0
        return True

    def _edits(self, state: State, edited: bool) -> str:
        count = self._edits_under.get(state.failure, 0)
        return f"{count} edits left the same failure" if edited and count >= SAME_FAILURE_EDITS else ""

    def _counting(self) -> str:
        """A call that only counts on, as far as no change of strategy came since."""
        latest = self._states[self._warned_at or 0 :][-SAME_SHAPE_STEPS:]
        shapes = {(_NUMBER.sub("#", s.calls), s.files, s.failure) for s in latest}
        counted = len(latest) == SAME_SHAPE_STEPS and len(shapes) == 1 and _NUMBER.search(latest[-1].calls)
        return f"the same call {SAME_SHAPE_STEPS} times, with another number" if counted else ""

    def _cycle(self) -> str:
        """The shortest cycle at the end of the history, in words; states before a change of strategy count too."""
        keys = [(s.calls, s.files, s.failure, s.said) for s in self._states]
        for length in range(1, LONGEST_CYCLE + 1):
            if len(keys) >= 2 * length and keys[-length:] == keys[-2 * length : -length]:
                return "the same step again" if length == 1 else f"the same {length} steps again"
        return ""
