"""The search that can be stopped, asked around a model's edit, and asked twice; with real processes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from regreen.models.fixes import TOLD_CHARS, found_by
from regreen.models.quick import QuickSearch
from regreen.repair.ground import SearchGround
from regreen.repair.localise import Place
from regreen.repair.patch import Failure, Findings, Patch
from regreen.repair.related import is_test
from regreen.repair.source import Edit, Part
from regreen.run.beside import changed_lines
from regreen.testing.seal.unsealed import Unsealed
from regreen.testing.target import Target
from regreen.workspace.changes import FileChange

AREA = "def area(a, b):\n    return a + b\n"
TESTS = (
    "from area import area\n\n\ndef test_area():\n    assert area(2, 3) == 6\n    assert area(4, 5) == 20\n"
)
Open = Callable[..., QuickSearch]


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Open]:
    """A search over a project of two files; closed at the end."""
    made: list[QuickSearch] = []

    def make(source: str, tests: str = TESTS, target: str = "tests/test_area.py::test_area") -> QuickSearch:
        folder = tmp_path / "project"
        files = {"pytest.ini": "[pytest]\npythonpath = .\n", "area.py": source, "tests/test_area.py": tests}
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        (tmp_path / "scratch").mkdir()

        def read(path: str) -> bytes | None:
            return (folder / path).read_bytes() if (folder / path).is_file() else None

        ground = SearchGround(
            target=Target.from_nodeid(target), python=Path(sys.executable), workspace=folder, seal=Unsealed(),
            scratch=tmp_path / "scratch", overlay=lambda: {}, read=read, writable=lambda path: not is_test(path),
            seconds=60.0,
        )  # fmt: skip
        made.append(QuickSearch(ground))
        return made[-1]

    yield make
    for quick in made:
        await quick.aclose()


async def test_the_same_files_are_searched_once(opened: Open) -> None:
    quick = opened(AREA)
    first = await quick.findings()
    assert first.survivors
    assert await quick.findings() is first
    (quick.ground.workspace / "area.py").write_text(AREA.replace("+", "-"))
    assert await quick.findings() is not first


async def test_around_a_model_s_edit_one_small_change_is_found_and_the_files_stay(opened: Open) -> None:
    quick = opened("def area(a, b):\n    return 0\n")
    edit = FileChange("area.py", "def area(a, b):\n    return 0\n", AREA, b"")
    found = await quick.findings(60.0, {"area.py": AREA.encode()}, changed_lines([edit]))
    options = found_by(found, lambda path: AREA if path == "area.py" else None, around_model=True).options
    assert "return a * b" in str(options[0].calls[0].arguments["replace"])
    assert len(options[0].calls) == 1
    assert (quick.ground.workspace / "area.py").read_text() == "def area(a, b):\n    return 0\n"


async def test_a_stopped_search_answers_with_what_it_has(opened: Open) -> None:
    endless = "def area(a, b):\n    while a:\n        pass\n    return b\n"
    quick = opened(endless)
    searching = asyncio.create_task(quick.findings())
    await asyncio.sleep(0)  # it has begun
    await quick.stop()
    found = await searching
    assert not found.finished
    assert found.survivors == []


async def test_a_cancelled_search_is_cancelled(opened: Open) -> None:
    quick = opened("def area(a, b):\n    while a:\n        pass\n    return b\n")
    searching = asyncio.create_task(quick.findings())
    await asyncio.sleep(0.05)
    searching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await searching


def test_what_a_model_is_told_is_bounded_and_quotes_the_code() -> None:
    source = "\n".join(f"value_{n} = compute({'x' * 200}, {n})" for n in range(40))
    places = [Place("area.py", line, 1.0) for line in range(1, 20)]
    forward = [
        Patch(
            (Edit("area.py", (Part(0, 7, f"w{n}"),), 1, "name", 1.0),), 1.0, failure=Failure("E", "m" * 300)
        )
        for n in range(9)
    ]
    found = Findings(
        forward=forward, places=places, tried=77, failure=Failure(frames=(("area.py", 30, "f"),))
    )
    told = found_by(found, lambda path: source).told
    assert len(told) <= TOLD_CHARS
    assert "tried 77 small edits" in told
    assert "moved the failure:\narea.py: `value_0 = compute(" in told
    assert not told.endswith(":")
    lines = found_by(replace(found, forward=[]), lambda path: source).told
    assert "\narea.py: value_0 = compute(" in lines and "\nvalue_1 = compute(" in lines
    assert len(lines) <= TOLD_CHARS
    around = found_by(found, lambda path: source, around_model=True).told
    assert "value_1" not in around and "one moves the failure: area.py: `value_0 =" in around


def test_two_changes_on_top_of_a_model_s_edit_are_no_mending() -> None:
    def edit(n: int) -> Edit:
        return Edit("area.py", (Part(n, n + 1, "9"),), 1, "constant", 1.0)

    found = Findings(survivors=[Patch((edit(0), edit(2)), 1.0), Patch((edit(4),), 0.5)])
    text = "1 2 3 4\n"
    assert len(found_by(found, lambda path: text).options) == 2
    assert len(found_by(found, lambda path: text, around_model=True).options) == 1


def test_the_changed_lines_are_widened_to_their_functions() -> None:
    before = "def a():\n    x = 1\n    return x\n\n\ndef b():\n    return 2\n"
    change = FileChange("m.py", before, before.replace("x = 1", "x = 2"), b"")
    assert changed_lines([change]) == {"m.py": frozenset({1, 2, 3})}
