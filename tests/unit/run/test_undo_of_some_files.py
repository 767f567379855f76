"""`regreen undo RUN PATH`: some files of a run are taken back, the others stay."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from regreen.errors import UsageError
from regreen.run.resume import keep_batch
from regreen.run.undo import undo_runs
from regreen.settings import run_folder
from regreen.workspace.changes import FileChange
from regreen.workspace.journal import Journal
from regreen.workspace.root import Workspace
from regreen.workspace.writer import CannotWrite, Writer

FIRST, SECOND = "20260102-030405-aaaa", "20260102-030406-bbbb"
FILES = ("shop/cart.py", "shop/tax.py", "main.py", "tax.py")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose files a run has written; the current folder."""
    monkeypatch.setenv("REGREEN_STATE_DIR", str(tmp_path / "state"))
    folder = tmp_path / "project"
    (folder / "shop").mkdir(parents=True)
    for path in FILES:
        (folder / path).write_text("old\n")
    wrote(folder, FIRST, "old\n", "new\n")
    monkeypatch.chdir(folder)
    return folder


def wrote(folder: Path, run: str, before: str, after: str) -> None:
    """Let a run write all files."""
    workspace = Workspace.open(folder)
    journal = Journal(run_folder(run) / "journal", run)
    writer = Writer(workspace, journal)
    for path in FILES:
        writer.write(FileChange(path, before, after, before.encode()))
    journal.close()
    workspace.close()
    started = {"event": "started", "run": run, "workspace": str(folder)}
    (run_folder(run) / "trace.jsonl").write_text(json.dumps(started) + "\n")


def old_ones(folder: Path) -> set[str]:
    return {path for path in FILES if (folder / path).read_text() == "old\n"}


def test_one_file_is_taken_back_and_the_others_are_named(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert undo_runs([FIRST, "shop/cart.py"], as_json=False) == 0
    assert old_ones(shop) == {"shop/cart.py"}
    told = capsys.readouterr().out
    assert "shop/cart.py: restored" in told
    assert "main.py: not asked for, stays" in told


def test_without_a_run_the_latest_one_is_meant(shop: Path) -> None:
    wrote(shop, SECOND, "new\n", "newer\n")
    assert undo_runs(["main.py"], as_json=False) == 0
    assert (shop / "main.py").read_text() == "new\n"
    assert (shop / "tax.py").read_text() == "newer\n"


def test_a_folder_stands_for_what_lies_in_it(shop: Path) -> None:
    assert undo_runs([FIRST, "shop/"], as_json=False) == 0
    assert old_ones(shop) == {"shop/cart.py", "shop/tax.py"}
    assert undo_runs([FIRST, "."], as_json=False) == 0
    assert old_ones(shop) == set(FILES)


def test_a_path_counts_from_the_current_folder_and_else_as_the_outcome_shows_it(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop / "shop")
    assert undo_runs([FIRST, "tax.py"], as_json=False) == 0
    assert old_ones(shop) == {"shop/tax.py"}
    assert undo_runs([FIRST, "main.py"], as_json=False) == 0
    assert undo_runs([FIRST, "../tax.py"], as_json=False) == 0
    assert old_ones(shop) == {"shop/tax.py", "main.py", "tax.py"}
    monkeypatch.chdir(shop.parent / "state")
    with pytest.raises(UsageError, match=r"^\. is no run"):
        undo_runs([FIRST, "."], as_json=False)
    assert undo_runs([FIRST, "shop/cart.py"], as_json=False) == 0
    assert old_ones(shop) == set(FILES)


def test_a_whole_path_is_fine_also_through_a_link(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (shop.parent / "link").symlink_to(shop)
    monkeypatch.chdir(os.sep)
    assert undo_runs([FIRST, str(shop / "main.py"), str(shop.parent / "link/tax.py")], as_json=False) == 0
    assert old_ones(shop) == {"main.py", "tax.py"}


@pytest.mark.parametrize(
    "place", ["other.py", "shop/none.py", "../secret", "/etc/passwd", "sho", "shop/cart.pyc", ""]
)
def test_a_file_that_the_run_did_not_write_is_named_before_anything_is_touched(
    shop: Path, place: str
) -> None:
    with pytest.raises(
        UsageError, match=r"no file that 20260102-030405-aaaa wrote. Name one of: shop/cart.py"
    ):
        undo_runs([FIRST, "main.py", place], as_json=False)
    assert old_ones(shop) == set()


def test_of_several_runs_each_takes_back_what_it_wrote_there(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrote(shop, SECOND, "new\n", "newer\n")
    batch = "20260102-030407-cccc"
    keep_batch(batch, [FIRST, SECOND])
    assert undo_runs([batch, "tax.py"], as_json=True) == 0
    assert old_ones(shop) == {"tax.py"}
    assert {told["run"]: told["files"] for told in json.loads(capsys.readouterr().out)["runs"]} == {
        run: [{"path": "tax.py", "status": "restored"}] for run in (FIRST, SECOND)
    }


def test_a_run_that_is_not_there_is_not_taken_for_a_file(shop: Path) -> None:
    with pytest.raises(UsageError, match="There is no run 20200101-000000-0000"):
        undo_runs(["20200101-000000-0000", "main.py"], as_json=False)


def test_what_was_changed_since_is_left_alone_and_the_rest_still_can_be_taken_back(shop: Path) -> None:
    (shop / "main.py").write_text("mine\n")
    assert undo_runs([FIRST, "main.py"], as_json=False) == 1
    assert (shop / "main.py").read_text() == "mine\n"
    assert undo_runs([FIRST, "tax.py"], as_json=False) == 0
    assert undo_runs([FIRST], as_json=False) == 1
    assert old_ones(shop) == set(FILES) - {"main.py"}


def test_a_run_whose_write_failed_is_not_the_latest_that_wrote(shop: Path) -> None:
    journal = Journal(run_folder(SECOND) / "journal", SECOND)
    workspace = Workspace.open(shop)

    def fail(step: str) -> None:
        if step == "filled":
            raise OSError(1, "not now")

    with pytest.raises(CannotWrite):
        Writer(workspace, journal, fail).write(FileChange("main.py", "new\n", "newer\n", b"new\n"))
    journal.close()
    workspace.close()
    started = {"event": "started", "run": SECOND, "workspace": str(shop)}
    (run_folder(SECOND) / "trace.jsonl").write_text(json.dumps(started) + "\n")
    with pytest.raises(UsageError, match="wrote nothing"):
        undo_runs([SECOND], as_json=False)
    assert undo_runs([], as_json=False) == 0
    assert old_ones(shop) == set(FILES)
