"""How sure one may be of a fix: pure, calibrated on judged fixes of a repair search.

Of such fixes, one in four was wrong where one or two tests pin the behaviour, one in fourteen with nine or
more; one in three when a single failing test turned green, one in sixteen with five or more. Comparisons,
operators, constants and strings overfit most; names, attributes, arguments and base cases hardly. Other edits
that pass the same tests show that the tests do not tell right from wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from regreen.testing.verdict import Verdict
from regreen.workspace.changes import FileChange, split_lines

Confidence = Literal["high", "medium", "low"]

SURE = frozenset(
    ("name", "attribute", "module name", "function", "self added", "swapped arguments", "off by one", "assignment",
     "comparison", "and/or", "negated", "operator", "mutable default", "import", "await added", "twin added", "keyword",
     "return added", "moved out", "sign", "slice", "order")
)  # fmt: skip
"""Kinds that may be called high; the others fit the tests in more ways than one."""
RISKY = frozenset(
    ("comparison", "operator", "constant", "string", "format", "constant condition", "narrower condition",
     "wider condition", "condition", "guarded", "skipped", "return value", "term added", "factor added",
     "expression copied", "condition dropped", "term dropped", "index", "range", "guard", "check", "part of it")
)  # fmt: skip
"""Kinds of edits that made a wrong fix in one case of five, or more often."""

LOOSE = frozenset(
    (
        "deleted",
        "guarded",
        "skipped",
        "return value",
        "constant condition",
        "condition dropped",
        "statement copied",
    )
)
"""Kinds that can make any tests pass: what they leave out or decide once and for all may be needed elsewhere."""
ENOUGH = 16
"""Inputs on which all edits that pass gave the same, so that they count as one answer."""


def confidence(
    verdict: Verdict | None,
    *,
    tests: int,
    turned_green: int = 1,
    kind: str = "",
    edits: int = 1,
    others: int = 0,
    still_failing: int = 0,
    unlikely: int = 0,
    compared: int = 0,
    same: int = 0,
    doubtful: bool = False,
) -> Confidence:
    """How sure one may be that a passing edit is the right one.

    `verdict` is the runner's (None: not asked yet), `tests` the passing tests that can reach the change, the
    target included, `turned_green` the tests that failed before and pass now, `kind` the operator ("" for an
    edit that no operator made), `edits` how many places change, `others` the other edits found that pass too,
    `still_failing` the failing tests beside the target that it does not mend: most likely they fail by the same bug, `unlikely`
    how many further edits pass that nobody would make: they say that the tests let much through, `compared` on how many
    inputs like those of the tests the edits that pass were compared, `same` how many of them give the same everywhere (one
    answer in other words: they count neither as `others` nor as `unlikely`, but ask for more tests), `doubtful` that what it gives there speaks against it.
    """
    if verdict is not None and (not verdict.fixed or verdict.doubt):
        return "low"
    points = 0
    points += 2 if tests >= 9 else 1 if tests >= 4 else 0
    points += 2 if turned_green >= 3 else 1 if turned_green == 2 else 0
    points -= 1 if kind in RISKY else 0
    points -= 2 if others > 3 else 1 if others else 0
    points -= edits - 1
    points -= 2 if still_failing > 1 else 1 if still_failing else 0
    if tests <= 2:
        points -= 1
    if others or unlikely or points < 1:
        return "medium" if points >= 0 else "low"
    if points >= 2 and not doubtful and not same and (not kind or (kind in SURE and turned_green >= 2)):
        return "high"
    one_answer = compared >= ENOUGH and not doubtful and turned_green >= (5 if kind in RISKY or same else 3)
    if one_answer and edits == 1 and tests >= 4 and not still_failing and kind not in LOOSE:
        return "high"
    return "medium"


def confidence_of(verdict: Verdict, changes: Mapping[str, FileChange]) -> Confidence:
    """The same for an edit that a model or a person made: judged by the verdict and the size of the change."""
    size = sum(_changed_lines(change) for change in changes.values())
    places = len(changes) + (size > 12) + (size > 40)
    return confidence(verdict, tests=verdict.passed, edits=max(1, places))


def _changed_lines(change: FileChange) -> int:
    old, new = split_lines(change.before or ""), split_lines(change.after)
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return max(len(old), len(new))
