"""Which lines are likely wrong: those the failing tests execute and the passing ones do not."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from regreen.repair.source import FunctionNode, Source

Lines = Mapping[str, Sequence[int]]
"""Executed lines of one test, by path."""

CRASH = 1.35
"""How much likelier the deepest project line of the traceback is than others with the same spectrum."""
FAR = 0.6
"""What a line keeps of its suspicion when the search is asked to look near others."""


@dataclass(frozen=True)
class Place:
    """One line and how suspicious it is, 0 to about 1.3."""

    path: str
    line: int
    score: float


def ochiai(failing: Sequence[Lines], passing: Sequence[Lines]) -> dict[tuple[str, int], float]:
    """Ochiai's coefficient for each line that a failing test executes (Abreu et al., 2006)."""
    hit_by_failing: dict[tuple[str, int], int] = {}
    hit_by_passing: dict[tuple[str, int], int] = {}
    for count, tests in ((hit_by_failing, failing), (hit_by_passing, passing)):
        for lines in tests:
            for path, numbers in lines.items():
                for number in numbers:
                    count[path, number] = count.get((path, number), 0) + 1
    total = max(1, len(failing))
    return {
        place: hits / (total * (hits + hit_by_passing.get(place, 0))) ** 0.5
        for place, hits in hit_by_failing.items()
    }


def with_frames(
    scores: Mapping[tuple[str, int], float], frames: Sequence[tuple[str, int]]
) -> dict[tuple[str, int], float]:
    """The same scores, raised for lines on the traceback (given from the test inwards)."""
    raised = dict(scores)
    for depth, place in enumerate(reversed(frames)):
        if place in raised:
            raised[place] = raised[place] * (CRASH if depth == 0 else 1.12)
    return raised


def near(
    scores: Mapping[tuple[str, int], float], lines: Mapping[str, frozenset[int]]
) -> dict[tuple[str, int], float]:
    """The same scores, lowered for all lines but those given by file; the same scores when none are given."""
    if not lines:
        return dict(scores)
    return {
        place: score * (1.0 if place[1] in lines.get(place[0], ()) else FAR)
        for place, score in scores.items()
    }


def spread(source: Source, scores: Mapping[int, float]) -> dict[int, float]:
    """Scores of one file's lines, carried over to where an edit could be that no test "executes".

    A statement over several lines gets its first line's score on each; a function's head what its body has
    (less sure); a module or class level statement a share of the lines that use the names it sets.
    """
    found = dict(scores)
    readers: dict[str, float] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.stmt) and not hasattr(node, "body") and node.lineno in scores:
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                found[line] = max(found.get(line, 0.0), scores[node.lineno])
        if isinstance(node, (ast.If, ast.While)) and node.lineno in scores:
            for line in range(node.lineno, (node.test.end_lineno or node.lineno) + 1):
                found[line] = max(found.get(line, 0.0), scores[node.lineno])
        if isinstance(node, FunctionNode):
            body = [scores[n] for n in range(node.body[0].lineno, (node.end_lineno or 0) + 1) if n in scores]
            if body:
                found[node.lineno] = max(found.get(node.lineno, 0.0), 0.6 * max(body))
            elif node.lineno in scores:  # nothing but a text inside: Python names the line of the `def`
                found[node.body[0].lineno] = scores[node.lineno]
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if name and node.lineno in scores:  # type: ignore[attr-defined]
            readers[name] = max(readers.get(name, 0.0), scores[node.lineno])  # type: ignore[attr-defined]
    _names_set(source, readers, found)
    return found


def names_read(source: Source, lines: Mapping[int, float]) -> dict[str, float]:
    """Names and attributes that the given lines read, with the best score of a line that does."""
    found: dict[str, float] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, (ast.Name, ast.Attribute)) and node.lineno in lines:
            name = node.id if isinstance(node, ast.Name) else node.attr
            found[name] = max(found.get(name, 0.0), lines[node.lineno])
    return found


def _names_set(source: Source, readers: Mapping[str, float], found: dict[int, float]) -> None:
    outside: list[ast.stmt] = list(source.tree.body)
    outside += [n for node in source.tree.body if isinstance(node, ast.ClassDef) for n in node.body]
    for node in outside:
        if not isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
        score = max((readers.get(name, 0.0) for name in names), default=0.0)
        if score:
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                found[line] = max(found.get(line, 0.0), 0.55 * score)


def constants_read(source: Source, readers: Mapping[str, float]) -> dict[int, float]:
    """Scores for the module and class level statements of a file that set names read elsewhere."""
    found: dict[int, float] = {}
    _names_set(source, readers, found)
    return found


def ranked(scores: Mapping[tuple[str, int], float], most: int = 10) -> list[Place]:
    """The likeliest lines, best first."""
    places = [Place(path, line, round(score, 3)) for (path, line), score in scores.items()]
    places.sort(key=lambda p: (-p.score, p.path, p.line))
    return places[:most]
