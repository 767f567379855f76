"""An edit that answers the test's own values raises a doubt; a base case, a rule or a table that was there does not."""

from __future__ import annotations

import pytest

from regreen.testing.doubts import assertion_caught, changes_the_test, known_by_heart

TEST = """\
from shop import total

def test_total():
    assert total([5, 6], "EUR") == 11
    assert total([], "EUR") == 0
    assert total([7], "NOK") == "seven"

def test_other():
    assert total([99]) == 98
"""
BEFORE = "def total(prices, unit):\n    return sum(prices)\n"


@pytest.mark.parametrize(
    "after",
    [
        "def total(prices, unit):\n    if prices == [5, 6]:\n        return 11\n    return sum(prices)\n",
        "def total(prices, unit):\n    if unit == 'NOK':\n        return 'seven'\n    return sum(prices)\n",
        "def total(prices, unit):\n    return 11 if [5, 6] == prices else sum(prices)\n",
        "def total(prices, unit):\n    return 11\n",
        "def total(prices, unit):\n    'All of it.'\n    return 'seven'\n",
        "def total(prices, unit):\n    return {'NOK': 'seven', 'EUR': 11}.get(unit, 0)\n",
        "def total(prices, unit):\n    return {'EUR': 11}[unit]\n",
        "def total(prices, unit):\n    match unit:\n        case 'NOK':\n            return 'seven'\n    return 0\n",
        "def total(prices, unit):\n    result = 0\n    if prices == [5, 6] and unit == 'EUR':\n        result = 11\n    return result\n",
        "def total(prices, unit):\n    if len(prices) == 2 and unit == 'EUR':\n        return 11\n    return sum(prices)\n",
        "def total(prices, unit):\n    if prices == [7]:\n        return True\n    return sum(prices)\n",
    ],
)
def test_the_tests_own_values_are_noticed(after: str) -> None:
    assert "answers the test's own values" in known_by_heart(BEFORE, after, TEST, ("test_total",))
    assert known_by_heart(after, after + "\nX = 1\n", TEST, ("test_total",)) == ""


def test_a_new_class_that_says_what_it_is_equal_to_is_noticed() -> None:
    money = "class Sum:\n    def __eq__(self, other):\n        return other.cents == self.cents\n"
    assert "lets the new class Sum decide" in known_by_heart(BEFORE, BEFORE + money, TEST, ("test_total",))
    bare = BEFORE + "class Sum:\n    pass\n"
    assert known_by_heart(bare, BEFORE + money, TEST, ("test_total",)) == ""


@pytest.mark.parametrize(
    "after",
    [
        "def total(prices, unit):\n    return sum(prices) + 0\n",
        "def total(prices, unit):\n    if prices == []:\n        return 0\n    return sum(prices)\n",
        "def total(prices, unit):\n    if len(prices) == 1:\n        return 'seven'\n    return sum(prices)\n",
        "def total(prices, unit):\n    if unit == 'SEK':\n        return 12\n    return sum(prices)\n",
        "def total(prices, unit):\n    if prices == [99]:\n        return 98\n    return sum(prices)\n",
        "def total(prices, unit):\n    if unit == 'EUR':\n        return True\n    return False\n",
        "def total(prices, unit='EUR'):\n    if unit != 'EUR':\n        raise ValueError(unit)\n    return sum(prices)\n",
        "def total(prices, unit):\n    return 0\n",
        "def total():\n    return 11\n",
        "def total(prices, unit):\n    return sum(prices\n",
    ],
)
def test_rules_and_base_cases_are_not(after: str) -> None:
    assert known_by_heart(BEFORE, after, TEST, ("test_total",)) == ""


def test_an_assertion_that_failed_in_a_test_that_passed_was_caught() -> None:
    assert "line 4" in assertion_caught(TEST, ("test_total",), (4, 5))
    assert assertion_caught(TEST, ("test_total",), ()) == ""


@pytest.mark.parametrize(
    "line",
    [
        "with pytest.raises(AssertionError):",
        "with pytest.raises(Exception):",
        "with self.assertRaises(BaseException) as caught:",
    ],
)
def test_a_test_may_wait_for_a_failed_assertion_itself(line: str) -> None:
    test = f"def test_total():\n    {line}\n        assert 0\n"
    assert assertion_caught(test, ("test_total",), (3,)) == ""


def test_the_body_of_an_inherited_test_is_the_test() -> None:
    before = "class Base:\n    def test_area(self):\n        assert self.area == 6\n"
    after = before.replace("== 6", "> 0")
    names = ("TestRect", "test_area")
    assert changes_the_test(before, after, names) == "test_area() is changed, which is the name of the test"
    assert changes_the_test(before, before + "X = 1\n", names) == ""
    assert changes_the_test(before, after, ("test_area",)) == ""
