"""Every call gets a result, in order; edits become proposals; nothing leaves the folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from regreen.agent.conversation import ToolCall
from regreen.agent.stops import Fixed
from regreen.tools.toolbox import Settled, Toolbox
from regreen.workspace.changes import FileChange
from regreen.workspace.draft import Draft
from regreen.workspace.root import Workspace


class Desk:
    """Keeps every proposal and what it was made of."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.proposals: list[list[FileChange]] = []
        self.fixes_at: int | None = None

    async def submit(
        self, changes: Sequence[FileChange], why: str, confidence: str, alternatives: int = 0
    ) -> Settled:
        self.proposals.append(list(changes))
        self.draft.keep(changes)
        stop = Fixed("done") if len(self.proposals) == self.fixes_at else None
        return Settled("The target still fails: assert 1 == 2", "not fixed", stop=stop)

    async def offer(self, changes: Sequence[FileChange], why: str, confidence: str) -> Settled:
        return await self.submit(changes, why, confidence)


class Runs:
    def __init__(self) -> None:
        self.runs = 0

    async def run(self, path: str | None) -> str:
        self.runs += 1
        return f"1 failed in {path}"

    async def python(self, code: str) -> str:
        return f"ran {code}"


class Bag:
    """A toolbox over a small project, with everything a test wants to look at."""

    def __init__(self, folder: Path) -> None:
        (folder / "shop").mkdir()
        (folder / "tests").mkdir()
        (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
        (folder / "shop" / "cart.py").write_text(
            "def total(a):\n    return a + 1\n\n\ndef count(a):\n    return a\n"
        )
        (folder / "tests" / "test_cart.py").write_text("def test_total():\n    assert False\n")
        self.folder = folder
        self.workspace = Workspace.open(folder)
        self.draft = Draft(self.workspace.read)
        self.desk = Desk(self.draft)
        self.tests = Runs()
        self.events: list[Mapping[str, Any]] = []
        self.tools = Toolbox(self.workspace, self.draft, self.desk, self.tests, self.events.append)

    async def ask(self, *calls: tuple[str, dict[str, Any]]) -> list[str]:
        results = await self.tools.carry_out([ToolCall(name, args) for name, args in calls], "because")
        return [result.text for result in results]


@pytest.fixture
def bag(tmp_path: Path) -> Iterator[Bag]:
    folder = tmp_path / "project"
    folder.mkdir()
    made = Bag(folder)
    yield made
    made.workspace.close()


def edit(find: str, replace: str, path: str = "shop/cart.py") -> tuple[str, dict[str, Any]]:
    return ("edit_file", {"path": path, "find": find, "replace": replace})


async def test_several_edits_of_one_reply_are_one_proposal_and_each_has_its_result(bag: Bag) -> None:
    said = await bag.ask(edit("a + 1", "a + 2"), edit("return a\n", "return a * 2\n"), ("run_tests", {}))
    assert len(said) == 3
    assert len(bag.desk.proposals) == 1
    assert (
        bag.desk.proposals[0][0].after
        == "def total(a):\n    return a + 2\n\n\ndef count(a):\n    return a * 2\n"
    )
    assert "still fails" in said[1]
    assert said[2] == "1 failed in None"
    assert [event["event"] for event in bag.events] == ["call", "call", "result", "result", "call", "result"]


async def test_an_edit_that_cannot_be_made_does_not_hold_up_the_others(bag: Bag) -> None:
    said = await bag.ask(edit("nonsense", "x"), edit("a + 1", "a + 2"))
    assert "is not in shop/cart.py" in said[0]
    assert len(bag.desk.proposals) == 1


async def test_the_run_ends_when_a_proposal_fixes_it(bag: Bag) -> None:
    bag.desk.fixes_at = 1
    with pytest.raises(Fixed):
        await bag.ask(edit("a + 1", "a + 2"), ("run_tests", {}))
    assert bag.tests.runs == 0


async def test_an_edit_may_build_on_the_text_before_an_earlier_edit(bag: Bag) -> None:
    await bag.ask(edit("a + 1", "a + 2"))
    bag.draft.remember(bag.desk.proposals[0])
    await bag.ask(edit("a + 1", "a + 3"))
    assert "a + 3" in bag.desk.proposals[1][0].after


@pytest.mark.parametrize(
    "path",
    [
        "../outside.py",
        "/etc/passwd",
        "~/x.py",
        "tests/test_cart.py",
        "conftest.py",
        "pyproject.toml",
        ".git/config",
    ],
)
async def test_what_is_outside_locked_or_protected_is_refused_and_stays_as_it_is(bag: Bag, path: str) -> None:
    before = {file: file.read_bytes() for file in bag.folder.rglob("*") if file.is_file()}
    said = await bag.ask(("write_file", {"path": path, "content": "X = 1\n"}))
    assert bag.desk.proposals == []
    assert path.rsplit("/", 1)[-1].strip("~/.") in said[0] or "locked" in said[0] or "outside" in said[0]
    assert {file: file.read_bytes() for file in bag.folder.rglob("*") if file.is_file()} == before


async def test_a_file_is_read_with_its_line_numbers_named(bag: Bag) -> None:
    said = await bag.ask(("read_file", {"path": "./shop/cart.py", "start_line": 5}))
    assert said == ["shop/cart.py, lines 5-6 of 6:\ndef count(a):\n    return a"]


@pytest.mark.parametrize(("start", "end", "said_end"), [(90, None, 6), (5, 2, 2)])
async def test_lines_that_a_file_does_not_have_are_said_to_be_none(
    bag: Bag, start: int, end: int | None, said_end: int
) -> None:
    asked = {"path": "shop/cart.py", "start_line": start, **({} if end is None else {"end_line": end})}
    (said,) = await bag.ask(("read_file", asked))
    assert f"has 6 lines: there is nothing from line {start} to line {said_end}." in said


async def test_the_third_identical_read_is_not_carried_out(bag: Bag) -> None:
    read = ("read_file", {"path": "shop/cart.py"})
    said = await bag.ask(read, read, read)
    assert said[0] == said[1]
    assert "unchanged" in said[2]
    assert "edit_file" in said[2]
    await bag.ask(edit("a + 1", "a + 2"))
    assert "a + 2" in (await bag.ask(read))[0]


async def test_tests_are_not_run_again_while_nothing_changed(bag: Bag) -> None:
    first, again = await bag.ask(("run_tests", {}), ("run_tests", {}))
    assert bag.tests.runs == 1
    assert "Nothing changed" in again
    assert first in again


async def test_a_wrong_name_is_answered_with_the_close_ones(bag: Bag) -> None:
    said = await bag.ask(("read_file", {"path": "cart.py"}), ("fly", {}))
    assert "Did you mean shop/cart.py?" in said[0]
    assert "The tools are: read_file, list_files" in said[1]


async def test_searching_shows_places(bag: Bag) -> None:
    said = await bag.ask(
        ("search_files", {"pattern": r"def \w+\(a\)"}), ("search_files", {"pattern": "(unclosed"})
    )
    assert "shop/cart.py:1: def total(a):" in said[0]
    assert said[1] == "Nothing matches '(unclosed'."


async def test_secrets_are_neither_found_nor_read(bag: Bag) -> None:
    for name in (".env", "id_rsa", "shop/server.pem", ".aws/credentials"):
        (bag.folder / name).parent.mkdir(exist_ok=True)
        (bag.folder / name).write_text("hush-hush = 1\n")
    said = await bag.ask(
        ("search_files", {"pattern": "hush"}),
        ("search_files", {"pattern": "hush", "path": ".env"}),
        ("read_file", {"path": ".env"}),
        ("read_file", {"path": "shop/server.pem"}),
    )
    assert all("hush-hush" not in answer for answer in said), said


async def test_listing_shows_files_and_no_secrets(bag: Bag) -> None:
    (bag.folder / ".env").write_text("KEY=1")
    said = await bag.ask(("list_files", {}), ("list_files", {"path": "shop"}))
    assert "shop/cart.py" in said[0]
    assert ".env" not in said[0]
    assert said[1] == "shop/cart.py"
