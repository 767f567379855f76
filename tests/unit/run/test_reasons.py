"""The explanation of a fix: what is still there is explained, and nothing else."""

from __future__ import annotations

from regreen.run.reasons import Reasons
from regreen.workspace.changes import FileChange

FIRST = "def add(a, b):\n    return a\n\n\ndef over(x):\n    return x > 3\n"


def edits(*texts: str, cumulative: bool = False) -> list[FileChange]:
    """One change after the other, each from the text before it, or all from the first (edits that wait)."""
    befores = [texts[0] if cumulative else before for before in texts[:-1]]
    return [FileChange("a.py", before, after, None) for before, after in zip(befores, texts[1:], strict=True)]


def told(*given: tuple[str, FileChange]) -> list[str]:
    reasons = Reasons()
    for why, change in given:
        reasons.give(why, [change])
    return reasons.standing({"a.py": given[-1][1].after})


def test_a_reason_whose_edit_was_replaced_is_not_part_of_the_explanation() -> None:
    wrong = FIRST.replace("return a\n", "return max(a, b)\n")
    right = FIRST.replace("return a\n", "return a + b\n")
    for waits in (False, True):
        first, second = edits(FIRST, wrong, right, cumulative=waits)
        assert told(("The larger one.", first), ("The sum.", second)) == ["The sum."]


def test_edits_at_two_places_are_both_explained() -> None:
    one = FIRST.replace("return a\n", "return a + b\n")
    both = one.replace("x > 3", "x >= 3")
    for waits in (False, True):
        first, second = edits(FIRST, one, both, cumulative=waits)
        assert told(("The sum.", first), ("At least.", second)) == ["The sum.", "At least."]


def test_an_edit_that_a_later_one_builds_on_in_the_same_line_is_explained() -> None:
    one = FIRST.replace("x > 3", "x >= 3")
    both = one.replace("x >= 3", "abs(x) >= 3")
    first, second = edits(FIRST, one, both)
    assert told(("At least.", first), ("Either sign.", second)) == ["At least.", "Either sign."]


def test_an_edit_that_was_undone_is_not_explained() -> None:
    one = FIRST.replace("x > 3", "x >= 3")
    both = FIRST.replace("return a\n", "return a + b\n")
    first, second = edits(FIRST, one, both)
    assert told(("At least.", first), ("The sum.", second)) == ["The sum."]


def test_a_removed_line_is_explained_while_it_is_gone() -> None:
    long = FIRST + "\nover = None\n"
    gone = FIRST
    fixed = gone.replace("return a\n", "return a + b\n")
    first, second = edits(long, gone, fixed)
    assert told(("It hides the function.", first), ("The sum.", second)) == [
        "It hides the function.",
        "The sum.",
    ]
    first, second = edits(long, gone, long.replace("return a\n", "return a + b\n"))
    assert told(("It hides the function.", first), ("The sum.", second)) == ["The sum."]


def test_a_reason_that_holds_an_earlier_one_stands_for_both() -> None:
    one = FIRST.replace("return a\n", "return a + b\n")
    both = one.replace("x > 3", "x >= 3")
    first, second = edits(FIRST, one, both)
    assert told(("The sum.", first), ("The sum. At least.", second)) == ["The sum. At least."]


def test_there_is_always_an_explanation() -> None:
    one = FIRST.replace("x > 3", "x >= 3")
    reasons = Reasons()
    reasons.give("At least.", edits(FIRST, one))
    assert reasons.standing({"a.py": FIRST}) == ["At least."]
