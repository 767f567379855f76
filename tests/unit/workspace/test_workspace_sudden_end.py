"""The writer is killed with SIGKILL at every step: afterwards each file is whole, and the run can be taken back."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from regreen.workspace import recovery
from regreen.workspace import writer as writing
from regreen.workspace.changes import FileChange
from regreen.workspace.journal import Journal, read_entries
from regreen.workspace.recovery import recover_all, undo
from regreen.workspace.root import Workspace

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kill -9")

STEPS = [
    "intent",
    "folders",
    "temp",
    "filled",
    "dressed",
    "swapped",
    "swapped back",
    "renamed",
    "synced",
    "done",
]


@pytest.fixture
def base() -> Iterator[Path]:
    """A folder in memory where there is one: a kill does not depend on what has reached the disk."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


def dies(act: Callable[[writing.Hook], None], step: str, nth: int) -> bool:
    """Run something in a process of its own that is killed at the nth passing of a step; True when it was."""
    child = os.fork()
    if child == 0:
        count = 0

        def hook(passed: str) -> None:
            nonlocal count
            count += passed == step
            if count == nth:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            act(hook)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL)
    return code != 0


def run(base: Path, step: str, nth: int, meddle: bool = False, no_exchange: bool = False) -> bool:
    """Let the writer write three files and die at the nth passing of a step; True when it came that far."""
    root = base / "ws"
    root.mkdir()
    for name in ("a", "c"):
        (root / f"{name}.py").write_bytes(f"old {name}\n".encode() * 9)

    def unsupported(*_: object) -> None:
        raise writing.Unsupported

    def act(hook: writing.Hook) -> None:
        if no_exchange:
            writing._rename = unsupported  # pyright: ignore[reportPrivateUsage]

        def meddling(passed: str) -> None:
            if passed == "dressed" and meddle:
                (root / "a.py").write_bytes(b"somebody else")
            hook(passed)

        writer = writing.Writer(Workspace.open(root), Journal(base / "runs" / "r" / "journal", "r"), meddling)
        with contextlib.suppress(writing.Conflict):
            writer.write(FileChange("a.py", "old a\n" * 9, "new a\n" * 9, b"old a\n" * 9))
            writer.write(FileChange("deep/er/b.py", None, "new b\n" * 9, None))
            writer.write(FileChange("c.py", "old c\n" * 9, "new c\n" * 9, b"old c\n" * 9))

    return dies(act, step, nth)


def contents(base: Path) -> dict[str, bytes]:
    root = base / "ws"
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


OLD = {"a.py": b"old a\n" * 9, "c.py": b"old c\n" * 9}
NEW = {"a.py": b"new a\n" * 9, "c.py": b"new c\n" * 9, "deep/er/b.py": b"new b\n" * 9}


@pytest.mark.parametrize("no_exchange", [False, True], ids=["exchange", "no exchange"])
@pytest.mark.parametrize("nth", [1, 2, 3])
@pytest.mark.parametrize("step", [step for step in STEPS if step != "swapped back"])
def test_a_kill_at_any_step_loses_nothing(base: Path, step: str, nth: int, no_exchange: bool):
    killed = run(base, step, nth, no_exchange=no_exchange)
    journal = base / "runs" / "r" / "journal"
    for name, content in contents(base).items():
        if not name.endswith((".regreen", ".regreen.old")):  # The journal knows these.
            assert content in (OLD.get(name), NEW[name]), name
    statuses = recover_all(base / "runs")
    assert all(status in ("finished", "as before") for _, status in statuses)
    after = contents(base)
    assert set(after) <= set(NEW), "a temporary file was left behind"
    for name, content in after.items():
        assert content in (OLD.get(name), NEW[name]), name
    assert killed or after == NEW
    assert not (journal / "unfinished").exists()
    assert recover_all(base / "runs") == []
    done = {entry["id"] for entry in read_entries(journal) if entry["op"] == "done"}
    written = {e["path"] for e in read_entries(journal) if e["op"] == "intent" and e["id"] in done}
    assert written == {name for name, content in after.items() if content == NEW[name]}
    results = undo(journal, "r")
    assert contents(base) == OLD
    assert {status for _, status in results} <= {"restored", "removed", "as before"}
    assert [p for p in (base / "ws").rglob("*") if p.is_dir()] == []


@pytest.mark.parametrize("step", ["dressed", "swapped", "swapped back", "done"])
def test_a_kill_while_somebody_else_writes_loses_neither(base: Path, step: str):
    run(base, step, 1, meddle=True)
    recover_all(base / "runs")
    after = contents(base)
    assert after["a.py"] == b"somebody else"
    assert set(after) <= set(NEW)
    undo(base / "runs" / "r" / "journal", "r")
    assert contents(base)["a.py"] == b"somebody else"


def test_a_person_who_goes_on_working_before_the_next_start_loses_nothing(base: Path):
    run(base, "swapped", 1)
    (base / "ws" / "a.py").write_bytes(b"worked on\n")
    assert recover_all(base / "runs") == [("a.py", "finished")]
    journal = base / "runs" / "r" / "journal"
    assert contents(base) == {**OLD, "a.py": b"worked on\n"}
    assert b"old a\n" * 9 in [kept.read_bytes() for kept in (journal / "kept").iterdir()]
    assert undo(journal, "r") == [("a.py", "left alone: it was changed since")]
    assert contents(base)["a.py"] == b"worked on\n"


def test_an_interrupted_run_in_a_folder_that_is_gone_does_not_hold_up_other_runs(base: Path):
    run(base, "swapped", 1)
    (base / "ws").rename(base / "away")
    assert recover_all(base / "runs") == []
    (base / "away").rename(base / "ws")
    assert recover_all(base / "runs") == [("a.py", "finished")]


def test_a_damaged_journal_is_told_once_and_does_not_hold_up_other_runs(base: Path):
    run(base, "swapped", 1)
    journal = base / "runs" / "r" / "journal"
    lines = (journal / "log.jsonl").read_bytes().splitlines()
    (journal / "log.jsonl").write_bytes(b"\n".join(lines[1:]))
    [(place, told)] = recover_all(base / "runs")
    assert place == str(journal)
    assert "is damaged" in told
    assert recover_all(base / "runs") == []


@pytest.mark.parametrize(
    "line",
    [b"null", b"5", b"[]", b'{"op": "intent"}', b'{"op": "done"}', b'{"op": "intent", "id": 1, "path": "../x"}', b"[" * 9000,
     b'{"op": "intent", "id": 9, "path": "a.py", "before": null, "after": null, "temp": "../a.py"}',
     b'{"op": "noted", "id": 9, "path": "a.py", "before": "x", "after": null}', b"\0\xff"],
)  # fmt: skip
def test_lines_that_no_run_has_written_are_passed_over(base: Path, line: bytes):
    run(base, "done", 3)
    journal = base / "runs" / "r" / "journal"
    with (journal / "log.jsonl").open("ab") as log:
        log.write(line + b"\n")
    (journal / "unfinished").touch()
    recover_all(base / "runs")
    assert contents(base) == NEW
    undo(journal, "r")
    assert contents(base) == OLD


def test_a_torn_last_line_of_the_journal_does_no_harm(base: Path):
    run(base, "done", 3)
    journal = base / "runs" / "r" / "journal"
    log = journal / "log.jsonl"
    log.write_bytes(log.read_bytes()[:-7])
    (journal / "unfinished").touch()
    recover_all(base / "runs")
    assert contents(base) == NEW
    undo(journal, "r")
    assert contents(base) == OLD


@pytest.mark.parametrize("step", ["swapped", "renamed", "dressed", "temp"])
def test_an_undo_that_is_killed_can_be_started_again(base: Path, step: str):
    run(base, "never", 1)
    assert contents(base) == NEW
    journal = base / "runs" / "r" / "journal"

    def act(hook: writing.Hook) -> None:
        put = recovery.put
        recovery.put = lambda root, journal, path, before, after, _, undoes: put(  # type: ignore[assignment]
            root, journal, path, before, after, hook, undoes
        )
        undo(journal, "r")

    assert dies(act, step, 2)
    undo(journal, "r")
    assert contents(base) == OLD
