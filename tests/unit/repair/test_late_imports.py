"""Code that is imported while the test runs, and options of a project that would hinder the search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from regreen.repair.warm import WORKERS

Open = Callable[..., Any]
LEVEL = "def level(n):\n    if n > 3:\n        return 'high'\n    return 'low'\n"
LATE = (
    "def test_three():\n    from level import level\n    assert level(3) == 'high'\n\n"
    "def test_two():\n    from level import level\n    assert level(2) == 'low'\n"
)
EARLY = (
    "from level import level\n\ndef test_three():\n    assert level(3) == 'high'\n\n"
    "def test_two():\n    assert level(2) == 'low'\n"
)


@pytest.mark.parametrize("workers", ["", "spawn"])
async def test_a_module_that_only_the_test_imports_is_mended(
    open_desk: Open, monkeypatch: pytest.MonkeyPatch, workers: str
) -> None:
    monkeypatch.setenv(WORKERS, workers)
    files = {"level.py": LEVEL, "tests/test_level.py": LATE}
    desk = open_desk(files, "tests/test_level.py::test_three", 40.0)
    desk.accept(await desk.ask())
    assert desk.text("level.py") == LEVEL.replace("n > 3", "n >= 3")


@pytest.mark.parametrize(
    "options", ["--lf --ff --nf", "--sw", "--pdb", "--trace", "--collect-only", "--setup-plan"]
)
async def test_options_for_people_at_a_keyboard_do_not_hinder(open_desk: Open, options: str) -> None:
    config = f"[pytest]\npythonpath = .\naddopts = {options}\n"
    files = {"pytest.ini": config, "level.py": LEVEL, "tests/test_level.py": EARLY}
    desk = open_desk(files, "tests/test_level.py::test_three", 100.0)
    desk.accept(await desk.ask())
    assert desk.text("level.py") == LEVEL.replace("n > 3", "n >= 3")


async def test_a_test_may_use_the_cache_fixture(open_desk: Open) -> None:
    test = EARLY.replace("test_three():", "test_three(cache):\n    cache.set('a/b', 1)")
    desk = open_desk(
        {"level.py": LEVEL, "tests/test_level.py": test}, "tests/test_level.py::test_three", 100.0
    )
    desk.accept(await desk.ask())
    assert desk.text("level.py") == LEVEL.replace("n > 3", "n >= 3")
