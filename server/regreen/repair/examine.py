"""Edits that pass the same tests, told apart: by inputs like those of the tests, and by examples in docstrings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from regreen.repair.patch import Asked, Behaviour, Patch, parts_of
from regreen.repair.warm import Answer, WarmRunner

WALL = 2.5
"""Seconds that the comparison may take."""
MOST_ASKED = 40
"""Passing tests, the quickest, that tell what the code is called with."""


async def examine(
    runner: WarmRunner,
    patches: Sequence[Patch],
    failing: Sequence[str],
    passing: Sequence[str],
    limit: float,
    closed: Sequence[str],
) -> tuple[list[Patch], Asked | None, Answer]:
    """The patches with their behaviour, where it could be seen. Raises WorkerGone."""
    answer = await runner.ask(
        "probe",
        candidates=[parts_of(patch.edits) for patch in patches],
        failing=list(failing),
        passing=list(passing[:MOST_ASKED]),
        limit=limit,
        wall=WALL,
        closed=list(closed),
    )
    told = next((fact for fact in answer.facts if "calls" in fact), None)
    if told is None:
        return list(patches), None, answer
    asked = Asked(int(told["calls"]), tuple(bool(f) for f in told["failing"]), _pairs(told["was"]))
    made = list(patches)
    for fact in answer.facts:
        if "gives" in fact:
            right, judged = fact["examples"]
            behaviour = Behaviour(_pairs(fact["gives"]), int(right), int(judged))
            made[int(fact["index"])] = replace(made[int(fact["index"])], behaviour=behaviour)
    return made, asked, answer


def _pairs(given: Any) -> tuple[tuple[str, str], ...]:
    return tuple((str(kind), str(mark)) for kind, mark in given or ())
