"""What a model is told after a trial: the verdict in few words, and the real data."""

from __future__ import annotations

import re

from regreen.testing.evidence import cut, failure_lines
from regreen.testing.report import Failure
from regreen.testing.verdict import Verdict

FAILURE_CHARS = 1_400
"""A failure's text in a tool result, in characters: head and tail, saying what was cut."""
PRINTED_CHARS = 400
_LONG = re.compile(r"E\s+\+\s+(?:where|and) |\S+:\d+: AssertionError$")
"""Where a value came from, and the place of an assertion that stands there anyway: the first message has them."""


def failure_text(failure: Failure | None, limit: int = FAILURE_CHARS) -> str:
    """The failure as a model reads it: pytest's marked lines, the place, and what was printed at the end."""
    if failure is None:
        return ""
    text = "\n".join(line for line in failure_lines(failure, limit).split("\n") if not _LONG.match(line))
    printed = failure.output.strip()
    return f"{text}\nprinted:\n{cut(printed, PRINTED_CHARS)}" if printed else text


def after_trial(verdict: Verdict) -> str:
    """What the runner saw of an edit that does not fix the target (or does)."""
    if verdict.fixed:
        return "The target passes and nothing else broke."
    openings = {
        "forward": "Right, and kept. Now it fails further on:",
        "changed": "The edit is in. The test still fails:",
        "same": "The edit is in. The test fails as before:",
        "worse": "That edit made things worse and was taken back; the file is as before.",
    }
    opening = openings.get(verdict.progress, "The target still fails:")
    if not verdict.decides and verdict.progress == "changed":
        opening = "The edit is in." if verdict.failure is None else "The edit is in. A test fails:"
    parts = [opening]
    if verdict.reason and (verdict.progress == "worse" or verdict.failure is None):
        parts.append(verdict.reason)
    if verdict.newly_failing:
        parts.append("Now failing: " + ", ".join(verdict.newly_failing[:5]))
    if text := failure_text(verdict.failure):
        parts.append(text)
    return "\n".join(parts)
