"""A doctest in a file of code: the code may change, its examples may not, in whatever way."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from regreen.testing.doctests import as_test, docstring_lines, examples_lost, is_doctest, part_of
from regreen.testing.doubts import known_by_heart
from regreen.testing.evidence import gather
from regreen.testing.judge import Judge, Patience
from regreen.testing.target import Target
from regreen.workspace.changes import FileChange
from regreen.workspace.policy import Policy
from unit.testing.small_projects import Bench

PRICES = '''\
"""Prices.

>>> price_of("tea", 2)
8
"""

RATES = {"tea": 4, "cake": 6}


def price_of(name, count):
    """The price of some things.

    >>> price_of("tea", 3)
    12
    >>> price_of("cake", 2)
    12
    >>> price_of("ink", 1)
    Traceback (most recent call last):
    KeyError: 'ink'
    """
    return RATES[name] + count


def helper(count):
    """Words without examples."""
    return count


class Basket:
    """A basket.

    >>> Basket(["tea"]).total()
    4
    """

    def __init__(self, names):
        self.names = names

    def total(self):
        """
        >>> Basket([]).total()
        0
        """
        return sum(price_of(name, 1) for name in self.names)


if RATES:

    def later():
        """
        >>> later()
        1
        """
        return 1
'''
TARGET = Target("shop/prices.py", ("shop.prices.price_of",))
DEF = "def price_of(name, count):"


def _without_docstring() -> str:
    start = PRICES.index('    """The price'), PRICES.index("    return RATES[name]")
    return PRICES[: start[0]] + PRICES[start[1] :]


FAKES = {
    "another result": PRICES.replace('("tea", 3)\n    12', '("tea", 3)\n    7'),
    "another call": PRICES.replace('price_of("tea", 3)', 'price_of("tea", 3) + 5'),
    "one example less": PRICES.replace('    >>> price_of("cake", 2)\n    12\n', ""),
    "one example more in front": PRICES.replace('    >>> price_of("tea", 3)', '    >>> RATES["tea"] = 9\n    >>> price_of("tea", 3)'),
    "no result": PRICES.replace('("tea", 3)\n    12', '("tea", 3)'),
    "no prompt": PRICES.replace('>>> price_of("tea", 3)', 'price_of("tea", 3)'),
    "skipped": PRICES.replace('price_of("tea", 3)', 'price_of("tea", 3)  # doctest: +SKIP'),
    "loosened": PRICES.replace('price_of("tea", 3)', 'price_of("tea", 3)  # doctest: +ELLIPSIS'),
    "another exception": PRICES.replace("KeyError: 'ink'", "ValueError: ink"),
    "the module's example": PRICES.replace('("tea", 2)\n8', '("tea", 2)\n6'),
    "a method's example": PRICES.replace("Basket([]).total()\n        0", "Basket([]).total()\n        1"),
    "a class's example": PRICES.replace('Basket(["tea"]).total()\n    4', 'Basket(["tea"]).total()\n    5'),
    "no docstring": _without_docstring(),
    "a text that is put together": PRICES.replace('    """The price', '    ""\n    """The price'),
    "another name": PRICES.replace(DEF, "def price(name, count):"),
    "moved into a class": PRICES.replace("class Basket:", "class Shop:", 1),
    "moved under a condition": PRICES.replace("if RATES:", "if not RATES:\n    pass\nelse:"),
    "moved into a loop": PRICES.replace("if RATES:", "for _ in RATES:"),
    "set to something else": PRICES + "\n\nprice_of = helper\n",
    "defined once more": PRICES + "\n\ndef price_of(name, count):\n    return 12\n",
    "taken out": PRICES + "\n\ndel price_of\n",
    "imported over": PRICES + "\n\nfrom shop.other import price_of\n",
    "imported over with others": PRICES + "\n\nfrom shop.other import *\n",
    "set in a function": PRICES + "\n\ndef hide():\n    global price_of\n    price_of = helper\n",
    "wrapped": PRICES.replace(DEF, f"@hidden\n{DEF}"),
    "a class that is wrapped": PRICES.replace("class Basket:", "@hidden(1)\nclass Basket:"),
    "__doc__ is set": PRICES + "\n\nprice_of.__doc__ = ''\n",
    "__doc__ is taken out": PRICES + "\n\ndel price_of.__doc__\n",
    "the module's __doc__": PRICES + "\n\n__doc__ = ''\n",
    "__doc__ by its name": PRICES + "\n\nsetattr(price_of, '__doc__', '')\n",
    "__doc__ in pieces": PRICES + "\n\nsetattr(price_of, '__do' + 'c__', '')\n",
    "__doc__ is read": PRICES.replace("return RATES[name]", "return int(price_of.__doc__.split()[8])"),
    "__module__ is set": PRICES + "\n\nprice_of.__module__ = 'x'\n",
    "__test__": PRICES + "\n\n__test__ = {}\n",
    "an attribute": PRICES + "\n\nBasket.total = helper\n",
    "the namespace": PRICES + "\n\nglobals()['price_of'] = helper\n",
    "doctest": "import doctest\n" + PRICES,
    "code in front of the module's docstring": "import os\n" + PRICES,
    "all of it": "X = 1\n",
}  # fmt: skip


@pytest.mark.parametrize("name", FAKES)
def test_whatever_changes_or_hides_an_example_is_said(name: str) -> None:
    assert FAKES[name] != PRICES
    said = examples_lost(PRICES, FAKES[name])
    assert said.startswith("The edit ")
    assert said.endswith(".")


@pytest.mark.parametrize(
    "after",
    [
        PRICES.replace("+ count", "* count"),
        PRICES.replace("The price of some things.", "What some things cost, in all."),
        PRICES.replace(DEF, f"@functools.lru_cache\n{DEF}"),
        PRICES.replace("    return RATES[name]", "    rate = RATES[name]\n    return rate"),
        PRICES.replace("Words without examples.", "With one.\n\n    >>> helper(2)\n    2\n    "),
        PRICES.replace(
            "    def __init__", "    @property\n    def size(self):\n        return 1\n\n    def __init__"
        ),
        PRICES.replace("RATES = ", "import os\n\nRATES = "),
        PRICES.replace('"""Prices.', 'r"""Prices.'),
        PRICES.replace("class Basket:", "class Box:\n    pass\n\n\nclass Basket:"),
        PRICES.replace("    return RATES[name]", "    price_of = RATES[name]\n    return RATES[name]"),
    ],
)
def test_code_and_words_around_examples_may_change(after: str) -> None:
    assert after != PRICES
    assert examples_lost(PRICES, after) == ""


def test_a_file_that_does_not_parse_is_compared_line_by_line() -> None:
    broken = PRICES.replace("def helper(count):", "def helper(count:")
    assert examples_lost(broken, PRICES) == ""
    assert "drops" in examples_lost(broken, FAKES["one example less"])


@pytest.mark.parametrize(
    ("target", "part"),
    [
        (TARGET, "price_of"),
        (Target("shop/prices.py", ("shop.prices.Basket.total",)), "Basket.total"),
        (Target("shop/prices.py", ("shop.prices",)), ""),
        (Target("src/shop/prices.py", ("shop.prices.price_of",)), "price_of"),
        (Target("src/shop/prices.py", ("src.shop.prices.price_of",)), "price_of"),
        (Target("prices.py", ("prices",)), ""),
        (Target("shop/__init__.py", ("shop.price_of",)), "price_of"),
        (Target("shop/__init__.py", ("shop",)), ""),
    ],
)
def test_a_doctest_is_known_by_its_name(target: Target, part: str) -> None:
    assert is_doctest(target)
    assert part_of(target) == part


@pytest.mark.parametrize(
    "target",
    [
        Target("tests/test_prices.py", ("test_price",)),
        Target("tests/test_prices.py", ("TestPrices", "test_price")),
        Target("shop/prices.py"),
        Target("docs/guide.rst", ("guide.rst",)),
    ],
)
def test_other_targets_are_none(target: Target) -> None:
    assert not is_doctest(target)


def test_the_file_is_open_and_asked_about_when_tests_are_unlocked() -> None:
    policy = Policy()
    policy.lock_examples("shop/prices.py")
    policy.lock("shop/prices.py")
    assert policy.for_writing("shop/prices.py").permission == "allow"
    assert policy.examples_locked("shop/prices.py")
    assert not policy.examples_locked("shop/other.py")
    policy.unlock_tests()
    assert policy.for_writing("shop/prices.py").permission == "ask"
    assert not policy.examples_locked("shop/prices.py")
    text = Policy()
    text.lock("docs/guide.rst")
    assert text.for_writing("docs/guide.rst").permission == "locked"


def test_a_doctest_reads_as_a_test_whose_answers_are_noticed() -> None:
    source, names = as_test(PRICES, TARGET)
    assert 'assert (price_of("tea", 3)) == 12' in source
    ast.parse(source)
    table = PRICES.replace(
        "    return RATES[name]",
        '    if (name, count) == ("tea", 3):\n        return 12\n    return RATES[name]',
    )
    assert "12 for" in known_by_heart(PRICES, table, source, names)
    assert known_by_heart(PRICES, PRICES.replace("+ count", "* count"), source, names) == ""


def test_the_lines_of_the_test_end_with_its_docstring() -> None:
    lines = docstring_lines(PRICES, "price_of")
    assert lines is not None
    assert PRICES.splitlines()[lines[0] - 1] == DEF
    assert PRICES.splitlines()[lines[1] - 1].strip() == '"""'
    assert docstring_lines(PRICES, "nothing") is None


FILES = {
    "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "--doctest-modules"\n',
    "shop/__init__.py": "",
    "shop/prices.py": PRICES,
}


async def judged(folder: Path, after: str) -> tuple[bool, str, str]:
    """Whether an edit fixes the doctest, why not, and the evidence before it."""
    bench = Bench(folder, FILES)
    judge = Judge(bench.runner, bench.trial, TARGET, patience=Patience(target=20, wider=30))
    judge.examples_locked = lambda path: path == TARGET.path
    report = await judge.baseline({})
    evidence = gather(TARGET, report, lambda path: (bench.workspace / path).read_text())
    base = PRICES.encode()
    change = FileChange(TARGET.path, PRICES, after, base)
    verdict = await judge.judge({TARGET.path: after.encode()}, {TARGET.path: change})
    return verdict.fixed, verdict.reason, evidence.render()


async def test_a_doctest_in_a_file_of_code_is_fixed_in_that_file(tmp_path: Path) -> None:
    fixed, reason, evidence = await judged(tmp_path, PRICES.replace("+ count", "* count"))
    assert fixed, reason
    assert "gave 7, expected was 12" in evidence
    assert "its examples are locked, the code of shop/prices.py is not" in evidence
    assert "return RATES[name] + count" in evidence
    assert "Used by the test (locked)" not in evidence


@pytest.mark.parametrize("name", ["another result", "skipped", "wrapped"])
async def test_an_edit_of_the_examples_is_refused_with_that_reason(tmp_path: Path, name: str) -> None:
    fixed, reason, _ = await judged(tmp_path, FAKES[name])
    assert not fixed
    assert reason.startswith("refused: The edit ")
