"""Which of the edits that pass is shown first, and how sure one may be: no process needed."""

from __future__ import annotations

import pytest

from regreen.models.fixes import sure
from regreen.repair.choice import alike, doubtful, in_order
from regreen.repair.patch import Asked, Behaviour, Findings, Patch
from regreen.repair.source import Edit, Part
from regreen.testing.confidence import confidence

INPUTS = 20
ASKED = Asked(2, (True,) * 22, (("int", "was"),) * 22)


def patch(
    new: str,
    score: float,
    gives: str = "a",
    kind: str = "comparison",
    examples: tuple[int, int] = (0, 0),
    green: int = 2,
) -> Patch:
    edit = Edit("a.py", (Part(0, 1, new),), 1, kind, score, "f")
    kinds = [("int", "t1"), ("int", "t2")]
    kinds += [
        ("!ValueError", "x") if gives == "raises" else ("str" if gives == "text" else "int", gives)
    ] * INPUTS
    behaviour = Behaviour(tuple(kinds), *examples)
    return Patch((edit,), score, tuple(f"t{i}" for i in range(green)), 5, behaviour=behaviour)


def first(*patches: Patch, asked: Asked | None = ASKED) -> str:
    return in_order(patches, asked)[0].edits[0].parts[0].new


def test_the_likeliest_spelling_comes_first() -> None:
    assert first(patch("<", 0.5), patch("<=", 0.8)) == "<="


def test_what_mends_more_failing_tests_comes_first() -> None:
    assert first(patch("<", 0.2, green=3), patch("<=", 0.8, green=2)) == "<"


def test_an_edit_that_contradicts_the_docstring_comes_last() -> None:
    assert first(patch("<", 0.8, examples=(0, 2)), patch("<=", 0.3, "b", examples=(2, 2))) == "<="


def test_an_edit_that_raises_for_inputs_like_those_of_the_tests_falls_back() -> None:
    assert first(patch("<", 0.8, "raises"), patch("<=", 0.5)) == "<="


def test_an_edit_that_gives_another_kind_of_value_falls_back() -> None:
    assert first(patch("<", 0.8, "text"), patch("<=", 0.7)) == "<="


def test_without_a_comparison_the_score_decides() -> None:
    assert first(patch("<", 0.8, "raises"), patch("<=", 0.5), asked=None) == "<"


def test_few_inputs_do_not_make_two_edits_one_answer() -> None:
    few = Asked(20, (True,) * 22, (("int", "was"),) * 22)
    assert alike(patch("<", 0.5), patch("<=", 0.8), ASKED)
    assert not alike(patch("<", 0.5), patch("<=", 0.8), few)
    assert not alike(patch("<", 0.5), patch("<=", 0.8, "b"), ASKED)


@pytest.mark.parametrize(("gives", "level"), [("a", "high"), ("b", "medium")])
def test_other_words_for_the_same_answer_do_not_make_it_less_sure(gives: str, level: str) -> None:
    best = patch("<", 0.8, green=4)
    found = Findings(survivors=[best, patch("<=", 0.7, gives, green=4)], also=4, asked=ASKED)
    assert sure(best, found) == level


def test_one_failing_test_makes_nobody_sure_of_an_edit_of_the_search() -> None:
    assert confidence(None, tests=30, turned_green=1, kind="name", compared=48) == "medium"
    assert confidence(None, tests=30, turned_green=5, kind="constant", compared=48) == "high"
    assert confidence(None, tests=30, turned_green=5, kind="constant", compared=48, doubtful=True) == "medium"
    assert confidence(None, tests=30, turned_green=4, kind="constant", compared=48) == "medium"
    assert confidence(None, tests=30, turned_green=3, kind="return value", compared=3) == "medium"
    assert confidence(None, tests=30, turned_green=4, kind="name", compared=48, same=2) == "medium"
    assert confidence(None, tests=30, turned_green=5, kind="name", compared=48, same=2) == "high"
    assert confidence(None, tests=30, turned_green=4, kind="deleted", compared=48) == "medium"


@pytest.mark.parametrize(
    ("was", "passing", "is_doubtful"),
    [
        ("int", "int", True),
        ("!RecursionError", "int", False),
        ("!ValueError", "!ValueError", True),
    ],
    ids=["it gave a value", "it crashed", "a passing test wants this error"],
)
def test_an_edit_disturbs_what_was_given_and_not_what_crashed(
    was: str, passing: str, is_doubtful: bool
) -> None:
    calls = ((passing, "t1"), ("!RecursionError", "t2"))
    inputs = ((was, "was"),) * (INPUTS // 2) + (("!RecursionError", "x"),) * (INPUTS // 2)
    failing = (False, True) + (False,) * (INPUTS // 2) + (True,) * (INPUTS // 2)
    assert doubtful(patch("<", 0.5), Asked(2, failing, calls + inputs)) is is_doubtful
