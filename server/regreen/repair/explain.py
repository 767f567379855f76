"""Patches in words, and as edit_file calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regreen.repair.patch import Findings
from regreen.repair.source import Edit

SHOWN = 70
"""Characters of code quoted in a sentence."""
WHAT = {
    "comparison": "another comparison", "and/or": "the other of `and` and `or`", "negated": "the condition the other way round",
    "operator": "another operator", "constant": "another constant", "off by one": "one more or one less", "name": "another name",
    "attribute": "another attribute", "function": "another function", "swapped arguments": "arguments the other way round",
    "guard": "a base case", "check": "a missing check", "import": "a missing import", "syntax": "the syntax mended",
    "string": "the text as the test wants it", "mutable default": "a new default for each call", "deleted": "a line taken out",
    "both sides": "both sides made alike", "case added": "the case that was left out", "uncommented": "code taken out of a comment",
    "answers swapped": "yes and no the other way round", "constant everywhere": "another constant in every place",
}  # fmt: skip


def lines_around(text: str, edits: Sequence[Edit]) -> tuple[str, str]:
    """The whole lines that the edits of one file touch, before and after; the least that occurs only once."""
    low = min(edit.span[0] for edit in edits)
    high = max(edit.span[1] for edit in edits)
    after = _together(edits).apply(text)
    grown = len(after) - len(text)
    start, end = _line_start(text, low), _line_end(text, high, low)
    while text.count(text[start:end]) != 1 or not text[start:end].strip():
        if start > 0:
            start = _line_start(text, start - 1)
        if end < len(text):
            end = _line_end(text, end + 1, end)
        if start == 0 and end == len(text):
            break
    find, new = text[start:end], after[start : end + grown]
    for newline in ("\r\n", "\n"):
        shorter = find.removesuffix(newline)
        if find != shorter and new.endswith(newline) and text.count(shorter) == 1 and shorter.strip():
            return shorter, new.removesuffix(newline)
    return find, new


def _together(edits: Sequence[Edit]) -> Edit:
    parts = tuple(part for edit in edits for part in edit.parts)
    return Edit(edits[0].path, parts, edits[0].line, edits[0].kind, edits[0].weight, edits[0].scope)


def _line_start(text: str, offset: int) -> int:
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1


def _line_end(text: str, offset: int, low: int) -> int:
    """Behind the line that holds `offset`; a span that ends at a line's start ends there already."""
    if offset > low and text[offset - 1 : offset] in ("\n", "\r"):
        return offset
    at = text.find("\n", offset)
    return len(text) if at < 0 else at + 1


def call_arguments(text: str, edits: Sequence[Edit]) -> dict[str, Any]:
    """Arguments of one edit_file call that makes the edits of one file."""
    find, new = lines_around(text, edits)
    return {"path": edits[0].path, "find": find, "replace": new}


def sentence(text: str, edits: Sequence[Edit]) -> str:
    """One sentence: where, and what changes."""
    edit = edits[0]
    where = (
        f"{edit.scope} ({edit.path}, line {edit.line})" if edit.scope else f"{edit.path}, line {edit.line}"
    )
    parts = [(text[p.start : p.end], p.new) for e in edits for p in e.parts]
    if len(parts) == 1:
        old, new = parts[0]
        if not old.strip():
            if "\n" in new:
                return f"In {where}, add {_quoted(new)}"
        elif not new.strip() or new.strip() == "pass":
            return f"In {where}, take out {_quoted(old)}"
    find, new = lines_around(text, edits)
    before, after = _differing(find, new)
    what = WHAT.get(edit.kind, "")
    before, after = _focused(before, after)
    return f"In {where}, {_quoted(before)} becomes {_quoted(after)}" + (f": {what}" if what else "")


def _differing(find: str, new: str) -> tuple[str, str]:
    """The lines that differ, without equal ones at both ends."""
    old_lines, new_lines = find.splitlines(), new.splitlines()
    while len(old_lines) > 1 and len(new_lines) > 1 and old_lines[0] == new_lines[0]:
        old_lines, new_lines = old_lines[1:], new_lines[1:]
    while len(old_lines) > 1 and len(new_lines) > 1 and old_lines[-1] == new_lines[-1]:
        old_lines, new_lines = old_lines[:-1], new_lines[:-1]
    return "\n".join(old_lines), "\n".join(new_lines)


def _focused(before: str, after: str) -> tuple[str, str]:
    """Two texts cut to where they differ, when they are too long to be quoted whole."""
    before, after = _flat(before), _flat(after)
    if max(len(before), len(after)) <= SHOWN:
        return before, after
    low = 0
    while low < min(len(before), len(after)) and before[low] == after[low]:
        low += 1
    start = before.rfind(" ", 0, max(0, low - 20)) + 1
    lead = "…" if start else ""
    return lead + before[start:], lead + after[start:]


def _flat(code: str) -> str:
    return " ".join(part.strip() for part in code.strip().splitlines())


def _quoted(code: str) -> str:
    flat = _flat(code)
    return "`" + (flat if len(flat) <= SHOWN else flat[: SHOWN - 1] + "…") + "`"


def nothing(found: Findings) -> str:
    """What is said when the search has nothing (more) to propose, with what it learned."""
    if found.survivors:
        head = "Nothing else was found"
    else:
        head = "Nothing found"
    lines = [f"{head}: {found.reason or _why_nothing(found)}."]
    if found.places:
        lines.append("Lines that the failure points to, the likeliest first:")
        lines += [f"  {place.path}:{place.line}" for place in found.places[:10]]
    nearer = [patch for patch in found.forward[:3] if patch.edits]
    if nearer:
        lines.append("Edits that moved the failure:")
        for patch in nearer:
            edit = patch.edits[0]
            lines.append(f"  {edit.path}:{edit.line} ({edit.kind})")
    return "\n".join(lines)


def _why_nothing(found: Findings) -> str:
    if not found.tried and not found.left:
        return "the test runs no line that may be changed and that a small edit fits"
    if not found.tried:
        return f"the tests took all the time, and none of {found.left} small edits could be tried"
    other = "other " if found.survivors else ""
    if found.left:
        return (
            f"no {other}edit of the {found.tried} that were tried makes the test pass; "
            f"{found.left} less likely ones were not tried"
        )
    return f"none of {found.tried} {other}small edits makes the test pass"
