"""What a model is told after a trial: the verdict in few words, and the real data."""

from __future__ import annotations

from regreen.testing.report import Failure
from regreen.testing.verdict import Verdict

FAILURE_CHARS = 1_400
"""A failure's text in a tool result, in characters: head and tail, saying what was cut."""


def failure_text(failure: Failure | None, limit: int = FAILURE_CHARS) -> str:
    """The failure as a model reads it: place, assertion with values, message."""
    if failure is None:
        return ""
    lines = _essence(failure)
    text = "\n".join(lines)
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - limit} characters left out …]\n{text[-half:]}"


def _essence(failure: Failure) -> list[str]:
    """pytest's own `>` and `E` lines, with the place of the last frame; else type and message."""
    report = [line for line in failure.text.split("\n") if line.startswith((">", "E "))]
    lines = report or [f"E   {failure.type}: {failure.message}".rstrip()]
    if failure.frames:
        frame = failure.frames[-1]
        lines = [f"{frame.path}:{frame.line} in {frame.function}", *lines]
    if failure.output.strip():
        lines += ["printed:", failure.output.strip()[-400:]]
    return lines


def after_trial(verdict: Verdict) -> str:
    """What the runner saw of an edit that does not fix the target (or does)."""
    if verdict.fixed:
        return "The target passes and nothing else broke."
    openings = {
        "forward": "Good: that part is right and stays. The failure moved on; now mend this one:",
        "changed": "The edit is in, but the target still fails, in another way:",
        "same": "The edit is in, but the target still fails as before:",
        "worse": "That edit made things worse and was taken back; the file is as before.",
    }
    opening = openings.get(verdict.progress, "The target still fails:")
    parts = [opening]
    if verdict.reason and (verdict.progress == "worse" or verdict.failure is None):
        parts.append(verdict.reason)
    if verdict.newly_failing:
        parts.append("Now failing: " + ", ".join(verdict.newly_failing[:5]))
    if text := failure_text(verdict.failure):
        parts.append(text)
    return "\n".join(parts)
