"""Where tests stand that pytest collected, also those that a syntax tree alone cannot know."""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen.testing.places import MOST_SINGLES, is_test_file, places_of

SOURCE = '''\
"""Words.

>>> 1 + 1
3
"""
import pytest
from base import Shared, Other as Renamed
from stars import *

class Derived(Shared):
    """>>> 1
    2
    """
    def test_own(self):
        pass

@pytest.mark.parametrize("a", [1, 2])
@pytest.mark.slow
async def check_price(a):
    """
    >>> 2
    2
    """

if True:
    class Inside:
        class Deep:
            def check_deep(self): pass

for number in (1, 2):
    globals()[f"test_made_{number}"] = lambda: None

Made = type("Made", (Shared,), {})
test_alias = check_price

setattr(Derived, "test_late", lambda self: None)
'''


def found(*names: str, path: str = "shop/test_a.py") -> dict[str, tuple[int, int, str]]:
    places = places_of(SOURCE, path, [f"{path}::{name}" for name in names])
    return {"::".join(place.names): (place.first, place.last, place.kind) for place in places}


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("Derived::test_inherited", ("Derived", 10, 15, "class")),
        ("Derived::test_late", ("Derived", 10, 15, "class")),
        ("Shared::test_inherited", ("Shared", 7, 7, "class")),
        ("Renamed::test_inherited", ("Renamed", 7, 7, "class")),
        ("FromStars::test_inherited", ("FromStars", 8, 8, "class")),
        ("Made::test_inherited", ("Made", 33, 33, "class")),
        ("check_price[1]", ("check_price", 17, 23, "test")),
        ("test_alias[x::y]", ("test_alias", 34, 34, "test")),
        ("test_made_1", ("test_made_1", 30, 31, "test")),
        ("shop.test_a", ("shop.test_a", 1, 5, "doctest")),
        ("test_a", ("test_a", 1, 5, "doctest")),
        ("shop.test_a.Derived", ("shop.test_a.Derived", 10, 15, "doctest")),
        ("shop.test_a.check_price", ("shop.test_a.check_price", 17, 23, "doctest")),
    ],
)
def test_a_test_stands_where_a_person_would_look_for_it(name: str, place: tuple[str, int, int, str]) -> None:
    last = list(found(name).items())
    assert [(names, *where) for names, where in last] == [place]


def test_a_test_in_classes_has_a_place_for_each_of_them() -> None:
    assert found("Inside::Deep::check_deep") == {
        "Inside": (26, 28, "class"),
        "Inside::Deep": (27, 28, "class"),
        "Inside::Deep::check_deep": (28, 28, "test"),
    }


def test_cases_and_inherited_tests_are_told_one_by_one_and_not_without_end() -> None:
    ids = [f"t.py::check_price[{number}::ü [x]]" for number in range(40)]
    more = ["t.py::Derived::test_inherited[a]", "t.py::Derived::test_inherited[b]", "t.py::Derived::test_b"]
    places = {place.names: place for place in places_of(SOURCE, "t.py", [*ids, *more])}
    cases = places[("check_price",)].singles
    assert len(cases) == MOST_SINGLES and cases[3] == ("check_price[3::ü [x]]",)
    assert places[("Derived",)].singles == (("Derived", "test_inherited"), ("Derived", "test_b"))


def test_a_decorated_test_is_known_again_by_the_line_with_its_name() -> None:
    (place,) = places_of(SOURCE, "t.py", ["t.py::check_price[1]"])
    assert (place.first, place.head, place.text) == (17, 19, "async def check_price(a):")


def test_a_name_that_a_project_gives_an_item_itself_stands_at_the_top() -> None:
    (place,) = places_of("x = 1\n", "t.py", ["t.py::usage"])
    assert (place.names, place.first) == (("usage",), 1)
    assert places_of("", "t.py", ["t.py::usage"]) == []


def test_a_file_that_does_not_parse_is_said_to() -> None:
    with pytest.raises(SyntaxError):
        places_of("def (", "t.py", ["t.py::test_a"])


@pytest.mark.parametrize(
    ("config", "text", "file", "taken"),
    [
        ("", "", "test_a.py", True),
        ("", "", "a_test.py", True),
        ("", "", "prices.py", False),
        ("pytest.ini", "[pytest]\npython_files = check_*.py\n  *_spec.py\naddopts = -q\n", "b_spec.py", True),
        ("pytest.ini", "[pytest]\npython_files = check_*.py\naddopts = a.py\n", "a.py", False),
        ("pytest.ini", "[pytest]\npython_files = check_*.py\n", "check_a.py", True),
        ("setup.cfg", "[tool:pytest]\npython_files = tests/check_*.py\n", "check_a.py", True),
        (
            "pyproject.toml",
            '[tool.pytest.ini_options]\npython_files = [\n  "test_*.py",\n  "*_spec.py",\n]\nx = ["p.py"]\n',
            "a_spec.py",
            True,
        ),
        ("pyproject.toml", '[tool.pytest.ini_options]\npython_files = "*_spec.py"\n', "prices.py", False),
    ],
)
def test_which_files_pytest_takes_for_tests(
    tmp_path: Path, config: str, text: str, file: str, taken: bool
) -> None:
    (tmp_path / ".git").mkdir()
    if config:
        (tmp_path / config).write_text(text)
    assert is_test_file(tmp_path / "tests" / file) is taken
