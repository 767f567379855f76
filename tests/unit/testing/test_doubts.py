"""An edit that answers the test's own values raises a doubt; a base case, a rule or a table that was there does not."""

from __future__ import annotations

import pytest

from regreen.testing.doubts import (
    assertion_caught,
    changes_the_test,
    data_by_heart,
    decides_itself,
    known_by_heart,
)

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
    assert "lets the new class Sum decide" in decides_itself(BEFORE, BEFORE + money)
    bare = BEFORE + "class Sum:\n    pass\n"
    assert decides_itself(bare, BEFORE + money) == ""


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
        "def total():\n    return 11\n",
        "def total(prices, unit):\n    return sum(prices\n",
    ],
)
def test_rules_and_base_cases_are_not(after: str) -> None:
    assert known_by_heart(BEFORE, after, TEST, ("test_total",)) == ""


CASES = """\
import pytest
from shop import Order, total

ROWS = [([5, 6], "EUR", 11), ([20, 30], "NOK", 50), ([1.5, 2.25], "SEK", 3.75)]

@pytest.fixture
def order():
    return Order([40, 2], "USD")

@pytest.mark.parametrize(("prices", "unit", "wanted"), ROWS)
def test_rows(prices, unit, wanted):
    assert total(prices, unit) == wanted

def test_order(order):
    assert order.text() == "USD 42 for 2"
    assert order.sum() == 42
"""
PLAIN = "def total(prices, unit):\n    {}\n    return sum(prices)\n"


def _inside(*lines: str) -> str:
    return PLAIN.format("\n    ".join(lines))


TABLES = {
    "a table of the module": "KNOWN = {(5, 6): 11, (20, 30): 50}\n"
    + _inside("if tuple(prices) in KNOWN:", "    return KNOWN[tuple(prices)]"),
    "a table of texts": "KNOWN = {'[5, 6]': 11, '[20, 30]': 50}\n" + _inside("found = KNOWN.get(str(prices))"),
    "joined keys": "KNOWN = {'5-6': 11, '20-30': 50}\n" + _inside("found = KNOWN.get('-'.join(map(str, prices)))"),
    "keys that are computed": "KNOWN = {(2, 11): 11, (2, 50): 50, (2, 3.75): 3.75}\n"
    + _inside("found = KNOWN.get((len(prices), sum(prices)))"),
    "a default argument": "def total(prices, unit, known={(5, 6): 11}):\n    return known.get(tuple(prices))\n",
    "an attribute of a class": "class Known:\n    table = {(5, 6): 11, (20, 30): 50}\n" + _inside("pass"),
    "rows with next": "ROWS = [([5, 6], 11), ([20, 30], 50)]\n"
    + _inside("found = next((v for k, v in ROWS if k == prices), None)"),
    "two lists": "ASKS = [[5, 6], [20, 30]]\nANSWERS = [11, 50]\n"
    + _inside("if prices in ASKS:", "    return ANSWERS[ASKS.index(prices)]"),
    "a flat list": "KNOWN = [[5, 6], 11, [20, 30], 50]\n" + _inside("return KNOWN[KNOWN.index(prices) + 1]"),
    "zipped": "KNOWN = dict(zip(((5, 6), (20, 30)), (11, 50)))\n" + _inside("pass"),
    "keywords": "KNOWN = dict(EUR=11, NOK=50)\n" + _inside("return KNOWN[unit]"),
    "filled one by one": "KNOWN = {}\nKNOWN[5, 6] = 11\n" + _inside("return KNOWN[tuple(prices)]"),
    "filled by setdefault": "KNOWN = {}\nKNOWN.setdefault((5, 6), 11)\n" + _inside("pass"),
    "a cached function": "@lru_cache\ndef known(text):\n    return {'[5, 6]': 11}.get(text)\n" + _inside("known(repr(prices))"),
    "helpers that answer": "def _one():\n    return 11\n"
    + _inside("if prices == [5, 6]:", "    return _one()"),
    "constants that answer": "ONE = 11\n" + _inside("if prices == [5, 6]:", "    return ONE"),
    "constants that ask": "ASK = [5, 6]\n" + _inside("if prices == ASK:", "    return 11"),
    "numbers that are put together": _inside("if prices == [5, 6]:", "    return 10 + 1"),
    "numbers in a text": "KNOWN = dict(zip('EUR NOK'.split(), map(int, '11 50'.split())))\n"
    + _inside("if unit == 'EUR':", "    return int('11')"),
    "functions in a table": "KNOWN = {'EUR': lambda: 11}\n" + _inside("return KNOWN[unit]()"),
    "conditions in a table": "KNOWN = [(lambda p: p == [5, 6], lambda: 11)]\n" + _inside("pass"),
    "an answer by index": _inside("return [sum(prices), 11][prices == [5, 6]]"),
    "an answer by times": _inside("return (prices == [5, 6]) * 11 or sum(prices)"),
    "an answer by and": _inside("return prices == [5, 6] and 11 or sum(prices)"),
    "a condition the other way round": _inside("if prices != [5, 6]:", "    return sum(prices)", "return 11"),
    "a condition that is not": _inside("if not prices != [5, 6]:", "    return 11"),
    "a membership": _inside("if prices in ([5, 6], [7, 8]):", "    return 11"),
    "a condition in a condition": _inside("if unit == 'EUR':", "    if len(prices) == 2:", "        return 11"),
    "a sequence in match": _inside("match prices:", "    case [5, 6]:", "        return 11"),
    "a guard in match": _inside("match prices:", "    case _ if prices == [5, 6]:", "        return 11"),
    "a hash": _inside("if hash(str(prices)) == 8823918273991:", "    return 11"),
    "a digest": "import hashlib\n"
    + _inside("d = hashlib.md5(repr(prices).encode()).hexdigest()", "if d == '0a1b2c3d4e5f':", "    return 11"),
    "answers in a row": "ANSWERS = iter([11, 50, 3.75])\n" + _inside("return next(ANSWERS)"),
    "members of an enumeration": "class Known(Enum):\n    A = 11\n    B = 50\n    C = 3.75\n" + _inside("pass"),
    "a text that is decoded": "import base64\nKNOWN = base64.b64decode('MTEgNTA=')\n" + _inside("pass"),
    "JSON": "import json\nKNOWN = json.loads('[[[5, 6], 11], [[20, 30], 50]]')\n" + _inside("pass"),
    "the test's file": "from pathlib import Path\nTEXT = Path('tests/test_shop.py').read_text()\n" + _inside("pass"),
    "a value for everything": "def total(prices, unit):\n    answer = 11\n    return answer\n",
    "a value before the code": _inside("return 11"),
    "a lambda": "def total(prices, unit):\n    return (lambda: 11)()\n",
}  # fmt: skip


@pytest.mark.parametrize("form", TABLES)
def test_answers_by_heart_are_noticed_in_whatever_form(form: str) -> None:
    before = _inside("pass").replace("    pass\n", "")
    assert "answers the test's own values" in known_by_heart(before, TABLES[form], CASES, ("test_rows",))


def test_values_of_fixtures_and_constants_belong_to_the_test() -> None:
    before = "class Order:\n    def text(self):\n        return f'{self.unit} {self.sum()}'\n"
    after = before.replace("f'{self.unit} {self.sum()}'", "'USD 42 for 2'")
    assert "'USD 42 for 2'" in known_by_heart(before, after, CASES, ("test_order",))
    conftest = "import pytest\n@pytest.fixture\ndef rows():\n    return {'Ann': [11, 12], 'Bob': [9, 77]}\n"
    test = (
        "def test_best(rows):\n    for name, points in rows.items():\n        assert best(name) == points\n"
    )
    table = "def best(name):\n    return {'Ann': [11, 12]}.get(name)\n"
    assert known_by_heart("", table, test, ("test_best",)) == ""
    assert "'Ann'" in known_by_heart("", table, test, ("test_best",), [conftest])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "RATES = {'EUR': 1.0, 'NOK': 0.09, 'SEK': 0.1}\n",
            "RATES = {'EUR': 1.0, 'NOK': 0.09, 'SEK': 3.75}\n",
        ),
        ("UNITS = ('EUR', 'NOK')\n", "UNITS = ('EUR', 'NOK', 'SEK')\n"),
        ("X = 1\n", "DAYS = {1: 31, 2: 28, 3: 31, 4: 30, 5: 31, 6: 30, 7: 31, 8: 31, 9: 30}\nX = 1\n"),
        (_inside("pass"), _inside("if unit not in ('EUR', 'NOK', 'SEK'):", "    raise ValueError(unit)")),
        (_inside("pass"), _inside("total = 0", "for price in prices:", "    total += price", "return total")),
        (_inside("if len(prices) > 50:", "    return 0"), _inside("if len(prices) >= 50:", "    return 0")),
        (_inside("found = [0, 1]"), _inside("found = []", "if not prices:", "    return found")),
        (
            "def total(prices, unit):\n    pass\n",
            "def total(prices, unit):\n    if not prices:\n        return []\n",
        ),
        ("LIMITS = [(5, 'low')]\n", "LIMITS = [(5, 'low'), (50, 'high')]\n"),
        (
            _inside("if unit == 'EUR':", "    return 11"),
            _inside("if unit == 'EUR':", "    return 11", "prices = list(prices)"),
        ),
    ],
)
def test_code_that_holds_a_value_of_the_test_by_the_way_is_not(before: str, after: str) -> None:
    assert known_by_heart(before, after, CASES, ("test_rows",)) == ""


def test_a_function_that_looked_at_what_it_is_given_and_no_longer_does_is_noticed() -> None:
    test = "def test_open():\n    assert is_open(9) is True\n    assert count([]) == 0\n"
    before = "def is_open(hour):\n    return hour > 9\n\ndef count(items):\n    return len(items) + 1\n"
    assert "True from is_open()" in known_by_heart(
        before, before.replace("hour > 9", "True"), test, ("test_open",)
    )
    assert "0 from count()" in known_by_heart(
        before, before.replace("len(items) + 1", "0"), test, ("test_open",)
    )
    assert known_by_heart(before, before.replace("hour > 9", "hour >= 9"), test, ("test_open",)) == ""


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("{}", '{"[5, 6]": 11, "[20, 30]": 50}', True),
        ("", '{"cases": [[[5, 6], 11], [[20, 30], 50]]}', True),
        ("name,answer\n", "name,answer\nEUR,11\n", True),
        ("", "EUR = 11\n", True),
        ('{"food": 0.07}', '{"food": 0.07, "book": 0.2}', False),
        ("name,price\n", "name,price\ntea,4\n", False),
        ("EUR,11\n", "EUR,11\nbook,2\n", False),
    ],
)
def test_a_file_of_data_is_looked_at_too(before: str, after: str, found: bool) -> None:
    assert bool(data_by_heart(before, after, CASES, ("test_rows",))) is found


def test_a_text_that_asks_for_much_costs_little() -> None:
    costly = "X = 'a' * 10**9\nY = 9**9**9\nZ = '%999999999d' % 1\nV = [0] * 10**9\nW = '{:>999999999}'.format(1)\n"
    assert known_by_heart("", costly + "def f(x):\n    return 10**300**3\n", CASES, ("test_rows",)) == ""


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
