"""A doctest as the target of a whole run: the code is mended, the examples stay; and a rigged pass is only shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from runs.process import ACCEPT_ALL, contents, fix, passes
from scripted.answers import Answer, Call, Seen
from scripted.dialects import write_calls
from scripted.fixtures import StartScripted
from scripted.policies import Policy

PRICES = '''\
"""Prices."""

RATES = {"tea": 4, "cake": 6}


def price_of(name, count):
    """The price of some things.

    >>> price_of("tea", 3)
    12
    >>> price_of("cake", 3)
    18
    """
    return RATES[name] + count


def total(basket):
    """
    >>> total({"tea": 2})
    8
    """
    return sum(price_of(name, count) for name, count in basket.items())
'''
GUIDE = """\
Guide
=====

>>> from shop.prices import price_of
>>> price_of("cake", 2)
12
"""
TARGET = "shop/prices.py::shop.prices.price_of"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    for path, text in {
        "pytest.ini": "[pytest]\naddopts = --doctest-modules --doctest-glob=*.rst\npythonpath = .\n",
        "shop/__init__.py": "",
        "shop/prices.py": PRICES,
        "docs/guide.rst": GUIDE,
    }.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text)
    return place


def edits(*pairs: tuple[str, str], path: str = "shop/prices.py") -> Callable[[Seen], Answer]:
    """A model that proposes one edit after the other."""
    left = list(pairs)

    def next_edit(seen: Seen) -> Answer:
        find, replace = left.pop(0) if len(left) > 1 else left[0]
        call = Call("edit_file", {"path": path, "find": find, "replace": replace})
        return write_calls("native", "That is what is wrong.", (call,), bool(seen.tools))

    return next_edit


def of_model(scripted: StartScripted, policy: Callable[[Seen], Answer]) -> tuple[str, ...]:
    server = scripted(Policy(policy))
    return ("--model", "ollama:qwen2.5:3b", "--base-url", server.url, "--search", "off")


@pytest.mark.parametrize("target", [TARGET, "shop/prices.py::shop.prices.total"])
def test_the_search_mends_the_code_behind_a_doctest(folder: Path, target: str) -> None:
    run = fix(folder, target, "--model", "builtin")
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (0, "fixed"), outcome["summary"]
    assert (folder / "shop/prices.py").read_text() == PRICES.replace("+ count", "* count")
    assert passes(folder, ".")


def test_the_search_mends_the_code_behind_a_text_of_doctests(folder: Path) -> None:
    target = "docs/guide.rst::guide.rst"
    run = fix(folder, target, "--model", "builtin")
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (0, "fixed"), outcome["summary"]
    assert (folder / "docs/guide.rst").read_text() == GUIDE
    assert passes(folder, target)


def test_a_model_may_change_the_code_but_not_the_examples(folder: Path, scripted: StartScripted) -> None:
    policy = edits(
        ('>>> price_of("tea", 3)\n    12', '>>> price_of("tea", 3)\n    7'),
        ('>>> price_of("tea", 3)', '>>> price_of("tea", 3)  # doctest: +SKIP'),
        ("def price_of(name, count):", "@hidden\ndef price_of(name, count):"),
        ("return RATES[name] + count", "return RATES[name] * count"),
    )
    run = fix(folder, TARGET, *of_model(scripted, policy))
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (0, "fixed"), outcome["summary"]
    refused = [result["summary"] for result in run.of("result") if "refused" in result["summary"]]
    assert len(refused) == 3
    assert "changes the doctest of price_of" in refused[0]
    assert "skips or loosens the doctest of price_of" in refused[1]
    assert "wraps price_of in hidden" in refused[2]
    assert len(run.of("proposal")) == 1
    assert (folder / "shop/prices.py").read_text() == PRICES.replace("+ count", "* count")


def test_a_text_of_doctests_stays_locked(folder: Path, scripted: StartScripted) -> None:
    policy = edits(("12", "8"), path="docs/guide.rst")
    before = contents(folder)
    run = fix(folder, "docs/guide.rst::guide.rst", *of_model(scripted, policy), "--max-steps", "2")
    code, outcome = run.end()
    assert code == 1, outcome["summary"]
    assert all("locked" in result["summary"] for result in run.of("result"))
    assert run.of("proposal") == []
    assert contents(folder) == before


def test_examples_may_change_when_the_person_unlocks_the_tests(folder: Path, scripted: StartScripted) -> None:
    policy = edits(
        (
            '("tea", 3)\n    12\n    >>> price_of("cake", 3)\n    18',
            '("tea", 3)\n    7\n    >>> price_of("cake", 3)\n    9',
        )
    )
    run = fix(
        folder, TARGET, *of_model(scripted, policy), "--unlock-tests", "--max-steps", "1", said=[ACCEPT_ALL]
    )
    run.end()
    assert [event["asks"] for event in run.of("proposal")] == [["shop/prices.py"]]


BY_HEART = (
    "    return RATES[name] + count",
    '    known = {("tea", 3): 12, ("cake", 3): 18}\n    return known.get((name, count), RATES[name] + count)',
)


@pytest.mark.parametrize(
    ("approval", "outcome", "confidence"), [("everyEdit", "fixed", ["low"]), ("never", "budget", [])]
)
def test_answers_by_heart_are_shown_with_that_doubt_and_not_written_unseen(
    folder: Path, scripted: StartScripted, approval: str, outcome: str, confidence: list[str]
) -> None:
    before = contents(folder)
    options = of_model(scripted, edits(BY_HEART))
    run = fix(folder, TARGET, *options, "--approval", approval, "--max-steps", "1")
    _, ended = run.end()
    assert ended["outcome"] == outcome, ended["summary"]
    assert [event["confidence"] for event in run.of("proposal")] == confidence
    assert "answers the test's own values" in json.dumps(run.of("trial"))
    assert (contents(folder) == before) is (approval == "never")
