"""Why the fix works: the reasons of the edits that are still there, without those a later edit replaced."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from regreen.workspace.changes import FileChange, split_lines

_TOKEN = re.compile(r"\w+|[^\w\s]+")


class Reasons:
    """The reasons given so far, each with what its edit did."""

    def __init__(self) -> None:
        self._given: list[tuple[str, list[tuple[str, str, str]]]] = []
        self._first: dict[str, str] = {}
        self._last: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self._given)

    def give(self, why: str, changes: Sequence[FileChange]) -> None:
        """Remember why an edit was made; a reason that holds earlier ones word for word replaces them."""
        steps: list[tuple[str, str, str]] = []
        for change in changes:
            before = self._last.get(change.path, change.before or "")
            self._first.setdefault(change.path, change.before or "")
            self._last[change.path] = change.after
            steps.append((change.path, before, change.after))
        held = [given for reason, given in self._given if reason in why]
        self._given = [(reason, given) for reason, given in self._given if reason not in why]
        if why:
            self._given.append((why, [step for given in held for step in given] + steps))

    def standing(self, now: Mapping[str, str]) -> list[str]:
        """The reasons whose edits are still part of the texts in `now`, by path; all of them when none is."""
        still = [why for why, steps in self._given if not steps or any(self._stands(*s, now) for s in steps)]
        return still or [why for why, _ in self._given]

    def _stands(self, path: str, before: str, after: str, now: Mapping[str, str]) -> bool:
        """Whether what one edit did is part of the whole change: one of its lines, or all of its new words."""
        whole_added, whole_removed = _difference(self._first[path], now.get(path, after))
        added, removed = _difference(before, after)
        if any(line in whole_added for line in added):
            return True
        if not added:
            return any(line in whole_removed for line in removed)
        new = _tokens(added) - _tokens(removed)
        return bool(new) and not new - (_tokens(whole_added) - _tokens(whole_removed))


def _difference(before: str, after: str) -> tuple[Counter[str], Counter[str]]:
    """The lines that came and those that went, without their indentation; empty ones do not count."""
    old, new = ([line.strip() for line in split_lines(text)] for text in (before, after))
    added: Counter[str] = Counter()
    removed: Counter[str] = Counter()
    for kind, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            removed.update(line for line in old[a:b] if line)
            added.update(line for line in new[c:d] if line)
    return added, removed


def _tokens(lines: Counter[str]) -> Counter[str]:
    return Counter(token for line in lines.elements() for token in _TOKEN.findall(line))
