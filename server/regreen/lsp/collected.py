"""What pytest collected from one document, held in its place while the document is typed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from regreen.lsp.documents import Document
from regreen.lsp.progress import part
from regreen.testing.locate import Located

MOST_AT_ONE_LINE = 5
"""Tests that a statement makes, as many as are shown at it."""


@dataclass(slots=True)
class _Found:
    names: tuple[str, ...]
    first: int
    last: int
    head: int
    text: str
    doctest: bool
    singles: tuple[tuple[str, ...], ...]

    def shift(self, lines: int) -> None:
        self.first, self.last, self.head = self.first + lines, self.last + lines, self.head + lines


class Collected:
    """The tests of one file as `regreen tests --for-editor` tells them.

    Each one holds as long as the line that names it stands where it was, moved along with edits above it, or in one
    other place of the document; it is hidden, and not forgotten, while that line is another.
    """

    def __init__(self, places: Sequence[Any]) -> None:
        """`places` come from another process: what is no place is left out."""
        self._found = [found for place in places if (found := _read(part(place))) is not None]
        self._seen: tuple[int, int] | None = None
        self._shown: list[Located] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    def singles(self, names: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        """The names of tests that have no place of their own, at a test or class: cases, and what a class inherits."""
        return next((found.singles for found in self._found if found.names == names), ())

    def moved(self, first: int, last: int, added: int) -> None:
        """The editor replaced lines `first` to `last` (0-based) by text with `added` line ends."""
        delta = added - (last - first)
        for found in self._found if delta else ():
            if found.head > last + 1:
                found.shift(delta)
            elif found.last > last + 1:
                found.last = max(found.last + delta, found.head)

    def beside(self, known: Sequence[Located], document: Document) -> list[Located]:
        """The tests to show with those that the syntax tree knows, without these."""
        version = (document.edits, len(document.text))
        if self._seen != version:
            self._seen, self._shown = version, self._in(document, known)
        return self._shown

    def _in(self, document: Document, known: Sequence[Located]) -> list[Located]:
        names = {test.names for test in known}
        taken = {test.first_line for test in known}
        new = [found for found in self._found if found.names not in names]
        if not new:
            return []
        lines = _Lines(document)
        made: dict[int, int] = {}
        shown: list[Located] = []
        for found in sorted(new, key=lambda one: one.doctest):
            if not lines.hold(found) or (found.doctest and found.first in taken):
                continue
            made[found.first] = made.get(found.first, 0) + 1
            if made[found.first] <= MOST_AT_ONE_LINE:
                kind = "function" if found.doctest or len(found.names) == 1 else "method"
                shown.append(Located(found.names, found.first, found.last, kind))
                taken.add(found.first)
        return shown


class _Lines:
    """The lines of a document, to find a place again."""

    def __init__(self, document: Document) -> None:
        self._text = document.text
        self._starts = [*document.starts(), len(document.text)] if document.text else [0, 0]
        self._where: dict[str, list[int]] | None = None

    def hold(self, found: _Found) -> bool:
        """Whether the line of a place is there; the place is moved to where it is."""
        if self._line(found.head) == found.text:
            return True
        if self._where is None:
            self._where = {}
            for number in range(1, len(self._starts)):
                self._where.setdefault(self._line(number), []).append(number)
        where = self._where.get(found.text, [])
        if len(where) == 1:
            found.shift(where[0] - found.head)
        return len(where) == 1

    def _line(self, number: int) -> str:
        if not 1 <= number < len(self._starts):
            return ""
        return self._text[self._starts[number - 1] : self._starts[number]].rstrip()


def _read(place: Mapping[str, Any]) -> _Found | None:
    names, more = _texts(place.get("names")), place.get("singles")
    listed = [_texts(item) for item in cast("list[Any]", more)] if isinstance(more, list) else []
    singles = tuple(single for single in listed if single)
    numbers = [place.get(key) for key in ("first", "last", "head")]
    text = place.get("text")
    if not names or not isinstance(text, str) or not all(isinstance(n, int) and n > 0 for n in numbers):
        return None
    first, last, head = cast("list[int]", numbers)
    return _Found(names, first, last, head, text.rstrip(), place.get("kind") == "doctest", singles)


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(item for item in cast("list[Any]", value) if isinstance(item, str))
