"""The text of a file without the fence and the talk around it."""

from __future__ import annotations

import bisect
import re

FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n`]*\n(.*?)^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
_FENCE_LINE = re.compile(r"[ \t]*(`{3,}|~{3,})[^`]*$")


def inside(text: str) -> str | None:
    """The one code block inside, with or without talk around it; a fence that only opens or only closes."""
    if "```" not in text and "~~~" not in text:
        return None
    blocks = _fenced(text)
    if len(blocks) == 1:
        return blocks[0]
    lines = text.strip("\n").split("\n")
    if not blocks and lines[0].lstrip().startswith(("```", "~~~")):
        return "\n".join(lines[1:])
    fences = [at for at, line in enumerate(lines) if line.strip() in ("```", "~~~")]
    # The code's end, and maybe talk after it.
    if not blocks and len(fences) == 1 and text.count("```") + text.count("~~~") == 1:
        return "\n".join(lines[: fences[0]])
    return None


def _fenced(text: str) -> list[str]:
    """What the closed fences of a text hold, as `FENCE` finds them one after the other."""
    lines = text.split("\n")
    closers: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        if (ticks := line.strip(" \t")) and (ticks.strip("`") == "" or ticks.strip("~") == ""):
            closers.setdefault(ticks, []).append(number)
    found: list[str] = []
    at = 0
    while at < len(lines) - 1:
        end = 0
        if opening := _FENCE_LINE.match(lines[at]):
            ticks = opening.group(1)
            shortest = 3 if ticks[0] == "~" else len(ticks)
            for size in range(len(ticks), shortest - 1, -1):
                closing = closers.get(ticks[:size], [])
                after = bisect.bisect_right(closing, at)
                if after < len(closing):
                    end = closing[after]
                    break
        if end:
            found.append("".join(line + "\n" for line in lines[at + 1 : end]))
        at = max(at, end) + 1
    return found
