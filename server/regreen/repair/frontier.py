"""The order in which candidates are tried; it learns from what they do."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

from regreen.repair.source import Edit

Edits = tuple[Edit, ...]
FAVOUR = 4.0
"""How much is brought forward what could be the rival of an edit that passes."""


@dataclass
class _Line:
    """What the edits of one line did so far."""

    tried: int = 0
    moved: int = 0
    nearer: int = 0

    @property
    def factor(self) -> float:
        """Lines whose edits never touch the failure sink; lines whose edits bring it nearer rise."""
        if self.nearer:
            return 1.3
        if self.tried >= 5 and not self.moved:
            return max(0.35, 1.0 - 0.06 * self.tried)
        return 1.0


class Frontier:
    """A priority queue of candidates."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, float, Edits]] = []
        self._lines: dict[tuple[str, int, int], _Line] = {}
        self._order = count()

    def push(self, candidates: Iterable[tuple[float, Edits]]) -> None:
        """Add candidates with their scores."""
        for score, edits in candidates:
            heapq.heappush(self._heap, (-score, next(self._order), score, edits))

    def pop(self) -> tuple[float, Edits] | None:
        """The best candidate with its present score, or None when there is none left."""
        while self._heap:
            stored, order, score, edits = heapq.heappop(self._heap)
            now = score * self._line(edits).factor
            if stored >= -score and now < -stored * 0.98 and self._heap and now < -self._heap[0][0]:
                heapq.heappush(self._heap, (-now, order, score, edits))
                continue
            return now, edits
        return None

    def favour(self, edits: Edits) -> None:
        """Bring forward what is left for the line of an edit that passes: are there others that do?"""
        last = edits[-1]
        rest: list[tuple[float, int, float, Edits]] = []
        for stored, order, score, other in self._heap:
            same = len(other) == len(edits) and (other[-1].path, other[-1].line) == (last.path, last.line)
            rest.append((stored * FAVOUR if same else stored, order, score, other))
        heapq.heapify(rest)
        self._heap = rest

    def heard(self, edits: Edits, moved: bool, nearer: bool) -> None:
        """What a candidate did: `moved` when the failure became another, `nearer` when it is closer to passing."""
        line = self._line(edits)
        line.tried += 1
        line.moved += moved
        line.nearer += nearer

    def _line(self, edits: Edits) -> _Line:
        last = edits[-1]
        key = (last.path, last.line, len(edits))
        return self._lines.setdefault(key, _Line())

    def __len__(self) -> int:
        return len(self._heap)
