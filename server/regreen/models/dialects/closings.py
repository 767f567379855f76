"""The line at which a fenced block ends, where its text holds fences of its own."""

from __future__ import annotations

import re

from regreen.models.dialects.openings import CODE_LANGUAGES, DIFF_LANGUAGES
from regreen.models.dialects.python_text import fragment_parses

_TRIES = 4
_ODD = 2


class Closings:
    """The closing lines of the fences of one text, asked for from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[str, re.Match[str] | None] = {}

    def of(self, ticks: str, inside: int, language: str) -> re.Match[str] | None:
        """The line that closes the fence whose text begins at `inside`; None when there is none.

        A fence inside a docstring closes nothing, nor does one that is a line of a diff.
        """
        found = self._first(ticks, inside)
        if language in DIFF_LANGUAGES:
            while found and found.group()[0] == " ":
                found = _pattern(ticks).search(self._text, found.end())
        elif found and language in CODE_LANGUAGES | {""} and self._in_docstring(inside, found):
            return self._behind_docstring(ticks, inside, found)
        return found

    def _first(self, ticks: str, inside: int) -> re.Match[str] | None:
        """The next line that looks like it; searched for once, for all fences before it."""
        known = self._known.get(ticks)
        if ticks not in self._known or (known is not None and known.start() < inside):
            self._known[ticks] = known = _pattern(ticks).search(self._text, inside)
        return known

    def _in_docstring(self, inside: int, found: re.Match[str]) -> bool:
        body = self._text[inside : found.start()]
        return body.count('"""') % _ODD == 1 or body.count("'''") % _ODD == 1

    def _behind_docstring(self, ticks: str, inside: int, first: re.Match[str]) -> re.Match[str]:
        """The first later line that leaves Python in between; without one, the first of all."""
        found, tries = _pattern(ticks).search(self._text, first.end()), 0
        while found and tries < _TRIES:
            if not self._in_docstring(inside, found):
                tries += 1
                if fragment_parses(self._text[inside : found.start()]):
                    return found
            found = _pattern(ticks).search(self._text, found.end())
        return first


def _pattern(ticks: str) -> re.Pattern[str]:
    return re.compile(rf"^[ \t]*{re.escape(ticks[0])}{{{len(ticks)},}}[ \t]*$", re.MULTILINE)
