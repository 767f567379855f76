"""Tests that no code can pass, and tests that only look odd."""

from __future__ import annotations

import textwrap

import pytest

from regreen.testing.looks_wrong import lines_in_conflict


def conflict(body: str) -> str:
    source = "import pytest\n\n\ndef test_x(self=None):\n" + textwrap.indent(textwrap.dedent(body), "    ")
    return lines_in_conflict(source, ["test_x"])


@pytest.mark.parametrize(
    "body",
    [
        "assert total == 3\nassert total == 4\n",
        "assert total([1, 2]) == 3\nassert total([1, 2]) == 4\n",
        "x = total([1])\nassert x == 3\nassert x != 3\n",
        "assert x == 3 and x == 4\n",
        "assert x\nassert not x\n",
        "assert x is None\nassert x is not None\n",
        "assert x > 5\nassert x < 3\n",
        "assert x >= 5\nassert x < 5\n",
        "assert x == 2\nassert x > 7\n",
        "assert 5 < x\nassert 2 == x\n",
        "assert len(x) == 2\nassert x == [1]\n",
        "assert 2 + 2 == 5\n",
        "self.assertEqual(x, 1)\nself.assertEqual(x, 2)\n",
        "self.assertTrue(x)\nself.assertFalse(x)\n",
        "with pytest.raises(ValueError):\n    rate('FR')\nassert rate('FR') == 3\n",
        "if True:\n    assert x == 1\n    assert x == 2\n",
        "assert cart.total() == 1\nassert cart.total() == 2\n",
    ],
)
def test_a_contradiction_is_found(body: str) -> None:
    assert "line " in conflict(body)


@pytest.mark.parametrize(
    "body",
    [
        "assert total == 3\nassert other == 4\n",
        "assert x == 3\nx = 4\nassert x == 4\n",
        "assert cart.total() == 1\ncart.add('a')\nassert cart.total() == 2\n",
        "assert next(numbers) == 1\nassert next(numbers) == 2\n",
        "assert counter() == 1\nassert counter() == 2\n",
        "assert queue.pop() == 1\nassert queue.pop() == 2\n",
        "assert total([1]) == 1\nassert total([2]) == 2\n",
        "assert items == [1]\nitems.append(2)\nassert items == [1, 2]\n",
        "assert x == 1 or x == 2\nassert x == 2\n",
        "assert x > 3\nassert x < 5\n",
        "assert x == pytest.approx(3)\nassert x == 3.0001\n",
        "assert x != 3\nassert x != 4\n",
        "for x in (1, 2):\n    assert x == 1\nassert x == 2\n",
        "assert x == 1\nwith change():\n    pass\nassert cart.x == 2\n",
        "assert False, 'not reached'\n",
        "assert x == 1.0\nassert x == 1\n",
    ],
)
def test_what_may_hold_together_is_left_alone(body: str) -> None:
    assert conflict(body) == ""


def test_the_lines_are_named() -> None:
    assert conflict("assert total == 3\n\nassert total == 4\n") == (
        "line 5: assert total == 3\nline 7: assert total == 4"
    )


def test_two_cases_that_ask_for_different_results_of_the_same_input() -> None:
    source = textwrap.dedent(
        """\
        @pytest.mark.parametrize("a, b, expected", [
            (1, 2, 3),
            (2, 2, 4),
            (1, 2, 4),
        ])
        def test_add(a, b, expected):
            assert add(a, b) == expected
        """
    )
    assert lines_in_conflict(source, ["test_add"]) == "line 2: (1, 2, 3),\nline 4: (1, 2, 4),"


def test_only_the_named_test_is_looked_at() -> None:
    source = "def test_a():\n    assert x == 1\n    assert x == 2\n\n\ndef test_b():\n    assert x == 1\n"
    assert lines_in_conflict(source, ["test_b"]) == ""
    assert lines_in_conflict("class TestA:\n    " + source.replace("\n", "\n    "), ["TestA", "test_a"])


def test_a_source_that_does_not_parse_says_nothing() -> None:
    assert lines_in_conflict("def test_a(:\n", ["test_a"]) == ""
