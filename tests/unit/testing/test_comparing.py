"""How objects compare is changed: a doubt where more things become equal, none where a comparison demands more."""

from __future__ import annotations

import ast

import pytest

from regreen.testing.comparing import changed_comparison
from regreen.testing.doubts import decides_itself

MONEY = """\
class Money:
    def __init__(self, cents, unit):
        self.cents = cents
        self.unit = unit

    def __eq__(self, other):
        if not isinstance(other, Money):
            return NotImplemented
        return self.cents == other.cents and self.unit == other.unit

    def __hash__(self):
        return hash((self.cents, self.unit))

    def __lt__(self, other):
        return self.cents < other.cents
"""
EQUAL = "self.cents == other.cents and self.unit == other.unit"
BARE = "class Money:\n    def __init__(self, cents):\n        self.cents = cents\n"


def said(before: str, after: str) -> str:
    return decides_itself(before, after)


@pytest.mark.parametrize(
    "looser",
    [
        "self.cents == other.cents",
        "self.cents == other.cents or self.unit == other.unit",
        "abs(self.cents - other.cents) < 10 and self.unit == other.unit",
        "self.cents <= other.cents and self.unit == other.unit",
        "self.unit == other.unit and str(self.cents)[0] == str(other.cents)[0]",
        "self.cents == other.cents and self.unit in (other.unit, 'EUR')",
        "hash(self) == hash(self)",
        "self.cents != other.cents and self.unit == other.unit",
        "self is other",
        "self.cents == 11 or (self.cents == other.cents and self.unit == other.unit)",
        "compare(self, other)",
        "(self.cents,) == (other.cents,)",
        "self.cents == other.unit and self.unit == other.unit",
    ],
)
def test_an_equality_that_holds_more_often_is_a_doubt(looser: str) -> None:
    assert "changes Money.__eq__(), which decides what it is equal to" in said(
        MONEY, MONEY.replace(EQUAL, looser)
    )


@pytest.mark.parametrize(
    "change",
    [
        ("            return NotImplemented", "            return self.cents == other"),
        ("if not isinstance(other, Money)", "if isinstance(other, Money)"),
        (EQUAL, f"{EQUAL} if other else False"),
        ("return hash((self.cents, self.unit))", "return 1"),
        ("return hash((self.cents, self.unit))", "return hash(self.unit)"),
        ("self.cents < other.cents", "self.cents <= other.cents"),
        ("self.cents < other.cents", "True if self.cents < 12 else self.cents < other.cents"),
        (
            "    def __hash__",
            "    def __ne__(self, other):\n        return self.cents != 11\n\n    def __hash__",
        ),
        ("    def __hash__", "    def __bool__(self):\n        return True\n\n    def __hash__"),
        ("    def __hash__", "    def __contains__(self, item):\n        return True\n\n    def __hash__"),
        ("    def __hash__", "    def __getattr__(self, name):\n        return 11\n\n    def __hash__"),
        (
            "    def __hash__",
            "    @property\n    def __class__(self):\n        return int\n\n    def __hash__",
        ),
        ("    def __lt__", "    __gt__ = compare\n\n    def __lt__"),
        ("class Money:", "class Money(metaclass=Anything):"),
        ("        self.unit = unit", "        self.unit = unit\n        self.__class__ = int"),
    ],
)
def test_other_ways_to_decide_are_doubts(change: tuple[str, str]) -> None:
    assert change[0] in MONEY
    found = changed_comparison(ast.parse(MONEY), ast.parse(MONEY.replace(*change)))
    assert found is not None
    assert found[1] > 0


@pytest.mark.parametrize(
    "added",
    [
        "class Any:\n    def __eq__(self, other):\n        return self.of(other)\n",
        "class Any(str):\n    def __ne__(self, other):\n        return self.of(other)\n",
        "class Any:\n    def __lt__(self, other):\n        return self.of(other)\n",
        "class Any:\n    def __getattr__(self, name):\n        return lambda *given: self\n",
        "class Kind(type):\n    def __instancecheck__(cls, one):\n        return one is not None\n",
        "class Kind(type):\n    def __subclasscheck__(cls, one):\n        return one is not None\n",
        "class Any:\n    __class__ = int\n",
        "def __getattr__(name):\n    return 11\n",
        "def mark(one):\n    object.__setattr__(one, '__class__', Money)\n",
    ],
)
def test_new_classes_that_decide_are_doubts(added: str) -> None:
    assert said(MONEY, MONEY + added)


def test_a_field_that_is_left_out_of_comparisons_is_a_doubt() -> None:
    before = "@dataclass\nclass Point:\n    x: int\n    y: int = field(default=0)\n"
    assert "sets compare=False for Point" in said(
        before, before.replace("default=0", "default=0, compare=False")
    )
    assert "sets eq=" in said(before, before.replace("@dataclass", "@dataclass(eq=loosely)"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (MONEY.replace(EQUAL, "self.cents == other.cents"), MONEY),
        (MONEY.replace(" and self.unit == other.unit", " or self.unit == other.unit"), MONEY),
        (MONEY, MONEY.replace(EQUAL, "(self.cents, self.unit) == (other.cents, other.unit)")),
        (MONEY, MONEY.replace(EQUAL, f"{EQUAL} and self.kind == other.kind")),
        (MONEY.replace("self.cents < other.cents", "self.cents > other.cents"), MONEY),
        (MONEY.replace("self.cents < other.cents", "self.unit < other.unit"), MONEY),
        (MONEY.replace("self.cents < other.cents", "self.cents <= other.cents"), MONEY),
        (MONEY, MONEY.replace("self.cents < other.cents", "(self.cents, self.unit) < (other.cents, other.unit)")),
        (MONEY.replace("hash((self.cents, self.unit))", "hash(self.unit)"), MONEY),
        (BARE, BARE + "    def __eq__(self, other):\n        return isinstance(other, Money) and self.cents == other.cents\n"),
        (BARE, BARE + "    def __eq__(self, other):\n        return self.__dict__ == other.__dict__\n"),
        (BARE, BARE + "    def __lt__(self, other):\n        return self.cents < other.cents\n"),
        (BARE, BARE + "    def __hash__(self):\n        return hash(self.cents)\n"),
        (BARE, BARE + "    def __bool__(self):\n        return self.cents > 0\n"),
        (BARE, BARE + "    def __contains__(self, item):\n        return item in self.items\n"),
        (BARE, BARE + "    def __getattr__(self, name):\n        return getattr(self._inner, name)\n"),
        (BARE, BARE + "    def __add__(self, other):\n        return Money(self.cents + other.cents)\n"),
        (BARE, "@dataclass(order=True)\n" + BARE),
        (BARE, BARE + "\n\nclass Coin:\n    def __repr__(self):\n        return 'coin'\n"),
        (MONEY, MONEY.replace("    def __eq__(self, other):", '    def __eq__(self, other):\n        """All parts."""')),
        (MONEY, MONEY.replace("self.cents = cents", "self.cents = int(cents)")),
    ],
)  # fmt: skip
def test_a_comparison_that_demands_more_or_was_missing_is_not(before: str, after: str) -> None:
    assert said(before, after) == ""
