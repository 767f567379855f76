"""Search/replace blocks, also those whose text holds lines that look like the marks of a block themselves.

A heading underlined with equal signs, a merge conflict, a page about such blocks: then several lines may be the divider.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from regreen.models.dialects.python_text import fragment_parses, is_python

SEARCH = re.compile(
    r"^[ \t]*(?:<{4,9}[ ]?(?:SEARCH|ORIGINAL|FIND|OLD|HEAD|BEFORE)\b>?|-{5,9}[ ]?SEARCH\b)[^\n]*$", re.I
)
DIVIDER = re.compile(r"^[ \t]*={5,9}[ \t]*$")
REPLACE = re.compile(r"^[ \t]*(?:>{5,9}|>{4}[ ]?REPLACE|\+{5,9}[ ]?REPLACE)[^\n]*$", re.I)
CONFLICT = re.compile(
    r"^<{7}(?: (?!SEARCH|ORIGINAL|FIND)[^\n]*)?\n(?:.*\n)?={7}\n(?:.*\n)?>{7}(?!>| ?REPLACE)",
    re.DOTALL | re.MULTILINE,
)
"""Two versions of some lines, as a merge leaves them in a file."""
_CONFLICT_LINE = re.compile(r"^<{7}(?: [^\n]*)?$")
_LEADING = re.compile(r"^[ \t]*(?::(?:start|end)_line:\s*\d+|-{5,9})[ \t]*$")
_MOST_MARKS = 60


@dataclass(frozen=True, slots=True)
class Block:
    """What a block says: the lines to find, those that replace them, and the line behind its end."""

    find: list[str]
    replace: list[str]
    end: int


@dataclass(frozen=True, slots=True)
class Doubt:
    """The block's divider cannot be told from its text: so many lines may be it."""

    dividers: int


@dataclass(frozen=True, slots=True)
class _Mark:
    line: int
    kind: str  # "<", "=" or ">"


def read(lines: Sequence[str], at: int, path: str, texts: Sequence[str]) -> Block | Doubt | None:
    """The block whose first mark is line `at`; None when it does not end.

    `texts` are what the file may hold now, `path` is its name where it is known. Of several dividers the one counts
    whose search text stands in the file (the longest such text); else the one that is as long as the first mark;
    else the only one with Python on both of its sides.
    """
    marks = _marks(lines, at + 1)
    for last in (mark.line for mark in marks if mark.kind == ">"):
        inside = [mark for mark in marks if mark.line < last]
        dividers = [
            mark.line
            for mark in inside
            if mark.kind == "="
            and _whole([one for one in inside if one.line < mark.line], True)
            and _whole([one for one in inside if one.line > mark.line])
        ]
        if dividers:
            divider = _own(lines, at, dividers, last, path, texts) if len(dividers) > 1 else dividers[0]
            if divider < 0:
                return Doubt(len(dividers))
            return Block(_search(lines, at, divider), list(lines[divider + 1 : last]), last + 1)
    return None


def _marks(lines: Sequence[str], start: int) -> list[_Mark]:
    found: list[_Mark] = []
    for number in range(start, len(lines)):
        line = lines[number]
        if line.lstrip()[:1] not in ("<", "=", ">", "-", "+"):
            continue
        if DIVIDER.match(line):
            found.append(_Mark(number, "="))
        elif REPLACE.match(line):
            found.append(_Mark(number, ">"))
        elif SEARCH.match(line) or _CONFLICT_LINE.match(line):
            found.append(_Mark(number, "<"))
        if len(found) >= _MOST_MARKS:
            break
    return found


def _whole(marks: Sequence[_Mark], before: bool = False) -> bool:
    """Whether the marks inside one half of a block leave nothing open: each conflict has its divider and its end.

    `before` the divider, nothing can be taken for the block's own end.
    """
    state = ""
    for mark in marks:
        if mark.kind == "<" and not state:
            state = "<"
        elif mark.kind == "=" and state in ("", "<"):
            state = "=" if state else ""
        elif mark.kind == ">" and (state == "=" or (before and not state)):
            state = ""
        else:
            return False
    return not state


def _search(lines: Sequence[str], at: int, divider: int) -> list[str]:
    find = list(lines[at + 1 : divider])
    while find and _LEADING.match(find[0]):
        find.pop(0)
    return find


def _own(
    lines: Sequence[str], at: int, dividers: Sequence[int], last: int, path: str, texts: Sequence[str]
) -> int:
    """The divider of the block among several lines that may be it; -1 when nothing tells."""
    held = [[line.strip() for line in text.splitlines()] for text in texts]
    for divider in reversed(dividers):
        find = [line.strip() for line in _search(lines, at, divider)]
        if any(find) and any(_holds(text, find) for text in held):
            return divider
    if not "".join(_search(lines, at, dividers[0])).strip():
        return dividers[0]  # a new file
    width = _width(lines[at])
    alike = [divider for divider in dividers if _width(lines[divider]) == width]
    if len(alike) == 1:
        return alike[0]
    if not is_python(path):
        return -1
    sides = ((divider, _search(lines, at, divider), lines[divider + 1 : last]) for divider in dividers)
    code = [
        divider
        for divider, find, replace in sides
        if fragment_parses("\n".join(find)) and fragment_parses("\n".join(replace))
    ]
    return code[0] if len(code) == 1 else -1


def _width(mark: str) -> int:
    found = re.match(r"[<=>+-]+", mark.strip())
    return len(found.group()) if found else 0


def _holds(text: Sequence[str], find: Sequence[str]) -> bool:
    """Whether lines stand in a row in a text, whatever their indentation."""
    while find and not find[0]:
        find = find[1:]
    while find and not find[-1]:
        find = find[:-1]
    starts = (number for number, line in enumerate(text) if line == find[0])
    return any(list(text[number : number + len(find)]) == list(find) for number in starts)
