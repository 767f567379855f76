"""Inputs like those of the tests, examples in docstrings, and the worker that asks edits for both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from regreen_worker.examples import examples_of, holds
from regreen_worker.inputs import Call, alike, whole

from regreen.repair.examine import examine
from regreen.repair.patch import Patch
from regreen.repair.source import Edit, Part

LEAST = (
    'def least(xs):\n    """The smallest.\n\n    >>> least([4, 2, 9])\n    2\n    """\n    return max(xs)\n'
)
TESTS = (
    "import pytest\nfrom least import least\n\n\n"
    "@pytest.mark.parametrize('xs', [[1, 5, 7], [2, 3]])\ndef test_least(xs):\n    assert least(xs) == xs[0]\n\n\n"
    "def test_one():\n    assert least([3]) == 3\n"
)


def function(a: Any, b: Any) -> Any:
    return a, b


def calls(*values: list[Any]) -> list[Call]:
    return [Call(function.__code__, value, False) for value in values]


def test_changed_inputs_stay_like_those_of_the_tests() -> None:
    made = alike(calls([[1, 4, 9], 2], [[2, 3], 5]), 30, 5.0)
    assert len(made) >= 10
    for call in made:
        numbers, count = call.values
        assert numbers == sorted(set(numbers)) and numbers
        assert 1 <= count <= 7 and all(0 <= n <= 11 for n in numbers)


def test_the_same_calls_give_the_same_inputs() -> None:
    first, second = (alike(calls(["ab ba", {"x": 1}], ["b", {"y": 2}]), 20, 5.0) for _ in range(2))
    assert [call.shown for call in first] == [call.shown for call in second]
    assert {letter for call in first for letter in call.values[0]} <= set("ab ")


def test_nothing_is_made_up_for_what_is_not_plain() -> None:
    assert all(call.values[0] is not None for call in alike(calls([object(), 1]), 10, 5.0))
    assert alike([Call(function.__code__, [], False)], 10, 5.0) == []


def test_equal_objects_are_shown_alike() -> None:
    class Node:
        def __init__(self, value: int, after: Node | None = None) -> None:
            self.value, self.after = value, after

    assert whole(Node(1, Node(2))) == whole(Node(1, Node(2))) != whole(Node(1, Node(3)))
    loop = Node(1)
    loop.after = loop
    assert "..." in whole(loop)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (">>> twice(2)\n4\n>>> twice('a')\n'aa'\n", (2, 2)),
        ("twice(2) == 4\n    twice([1]) -> [1, 1]\n", (2, 2)),
        ("For example, twice(3) returns 6, as it should.\n twice(0) ➞ 1", (1, 2)),
        ("Call twice(n) to get more. twice(2), twice(3)", (0, 0)),
        (
            ">>> n = 3\n>>> twice(n)\n6\n>>> twice(None)\nTraceback (most recent call last):\n    ...\nTypeError: no\n",
            (2, 2),
        ),
        (">>> unknown(twice(2))\n4\n", (0, 0)),
    ],
)
def test_examples_of_a_docstring_are_judged(text: str, right: tuple[int, int]) -> None:
    scope = {"twice": lambda value: value + value}
    results = [holds(group, scope) for group in examples_of(text, "twice")]
    assert (sum(good for good, _ in results), sum(asked for _, asked in results)) == right


def patch(new: str) -> Patch:
    at = LEAST.index("max(xs)")
    return Patch((Edit("least.py", (Part(at, at + 7, new),), 7, "function", 0.5, "least"),), 0.5)


@pytest.mark.parametrize("forks", [True, False])
async def test_edits_that_pass_are_told_apart_by_other_inputs_and_by_the_docstring(
    start: Callable[..., Any], forks: bool
) -> None:
    runner, _ = await start({"least.py": LEAST, "tests/test_least.py": TESTS}, forks)
    await runner.ask_plain("files", texts={"least.py": LEAST})
    failing = ["tests/test_least.py::test_least[xs0]", "tests/test_least.py::test_least[xs1]"]
    made, asked, _ = await examine(
        runner,
        [patch("min(xs)"), patch("xs[0]"), patch("sorted(xs)[0]")],
        failing,
        ["tests/test_least.py::test_one"],
        1.0,
        (),
    )
    least, first, again = (one.behaviour for one in made)
    assert least is not None and first is not None and again is not None
    assert asked is not None and asked.calls == 3
    assert asked.failing[:3] == (True, True, False)
    assert least.gives == again.gives
    assert len(least.gives) == len(asked.failing) == len(asked.was)
    assert asked.was[0] != least.gives[0]
    assert asked.was[2] == least.gives[2]
    assert (least.right, least.judged) == (1, 1)
    assert (first.right, first.judged) == (0, 1)
