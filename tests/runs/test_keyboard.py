"""Somebody at a terminal: the question, its keys, Ctrl-C at every stage, and terminals of every kind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from runs.keyboard import CTRL_C, CTRL_D, Keyboard
from runs.process import HARD, PROJECT, TWO_PART, contents, passes
from scripted.answers import Answer, Call, Seen
from scripted.dialects import write_calls
from scripted.fixtures import StartScripted
from scripted.policies import Policy

ASK = "Apply this edit?"


def model(scripted: StartScripted, policy: str = "twopart") -> tuple[str, ...]:
    return ("--model", "ollama:qwen2.5:3b", "--base-url", scripted(policy).url, "--search", "off")


@pytest.fixture
def terminals() -> Iterator[list[Keyboard]]:
    """Terminals of a test; whatever still runs at its end is ended."""
    opened: list[Keyboard] = []
    yield opened
    for terminal in opened:
        if terminal.process.poll() is None:
            terminal.process.kill()
            terminal.process.wait(10)


def sit_down(terminals: list[Keyboard], folder: Path, *arguments: str, **options: object) -> Keyboard:
    terminal = Keyboard(folder, *arguments, **options)  # type: ignore[arg-type]
    terminals.append(terminal)
    return terminal


def test_each_edit_is_asked_about_and_every_key_does_what_it_says(
    toy_shop: Path, scripted: StartScripted, terminals: list[Keyboard]
) -> None:
    terminal = sit_down(terminals, toy_shop, "fix", TWO_PART, *model(scripted))
    terminal.see(ASK)
    terminal.type("what\n")
    terminal.see("Please answer: y yes · n no · r no, with a reason · a yes to all · d show the diff again.")
    terminal.see(ASK, 2)
    shown = terminal.screen.count("+++ b/shop/cart.py")
    terminal.type("d\n")
    terminal.see(ASK, 3)
    assert terminal.screen.count("+++ b/shop/cart.py") == shown + 1
    terminal.type("r\n")
    terminal.see("What is wrong with it?")
    terminal.type("keeps only one of the two\n")
    terminal.see("rejected: keeps only one of the two")
    terminal.see(ASK, 4)
    assert "= quantity" in (toy_shop / "shop/cart.py").read_text()
    terminal.type("y\n")
    terminal.see(ASK, 5)
    terminal.type("a\n")
    assert terminal.end() == 0
    assert "Fixed: " + TWO_PART in terminal.screen
    assert re.search(r"Take it back with: regreen undo \d{8}-\d{6}-\w+", terminal.screen)
    assert passes(toy_shop, TWO_PART)


def test_what_was_typed_before_a_question_does_not_answer_it(
    toy_shop: Path, scripted: StartScripted, terminals: list[Keyboard]
) -> None:
    before = contents(toy_shop)
    terminal = sit_down(terminals, toy_shop, "fix", TWO_PART, *model(scripted))
    terminal.see("approval everyEdit")
    terminal.type("y\ny\n")
    terminal.see(ASK)
    terminal.type("n\n")
    terminal.see(ASK, 2)
    assert contents(toy_shop) == before
    terminal.type(CTRL_C)
    assert terminal.end() == 4


def test_the_end_of_the_keyboard_is_a_no(
    toy_shop: Path, scripted: StartScripted, terminals: list[Keyboard]
) -> None:
    before = contents(toy_shop)
    terminal = sit_down(terminals, toy_shop, "fix", TWO_PART, *model(scripted))
    terminal.see(ASK)
    terminal.type(CTRL_D)
    assert terminal.end() == 4
    assert "Rejected" in terminal.screen
    assert contents(toy_shop) == before


@pytest.mark.parametrize(
    ("policy", "seen"),
    [("twopart", "approval everyEdit"), ("silent", "Step 1"), ("twopart", ASK)],
)
def test_ctrl_c_in_a_run_ends_it_with_its_outcome(
    toy_shop: Path, scripted: StartScripted, terminals: list[Keyboard], policy: str, seen: str
) -> None:
    before = contents(toy_shop)
    terminal = sit_down(terminals, toy_shop, "fix", TWO_PART, *model(scripted, policy))
    terminal.see(seen)
    terminal.type(CTRL_C * 3)
    assert terminal.end() == 4
    assert "Cancelled: The run was cancelled; nothing was written after that." in terminal.screen
    assert "Traceback" not in terminal.screen
    assert contents(toy_shop) == before


STRIKES = """
import os, signal, sys

MODULE = sys.argv.pop(1)

class Strike:
    def find_spec(self, name, path=None, target=None):
        if name == MODULE:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Strike())
from regreen.__main__ import main
sys.exit(main())
"""
"""Ctrl-C at the very moment at which a module is imported."""


@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("regreen.cli", ("fix", "tests")),
        ("regreen.run.fix", ("fix", TWO_PART)),
        ("regreen.run.session", ("ask", "Find the bug")),
        ("regreen.run.listing", ("tests", ".")),
        ("regreen.doctor", ("doctor",)),
        ("regreen.run.show", ("show", "x")),
    ],
)
def test_ctrl_c_before_there_is_a_run_is_one_line(
    toy_shop: Path, module: str, command: Sequence[str]
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STRIKES, module, *command],
        cwd=toy_shop,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT / "server")},
    )
    assert done.stderr.strip() == "regreen: cancelled; nothing was written."
    assert done.returncode == 4


def test_ctrl_c_while_taking_back_says_how_to_go_on(toy_shop: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STRIKES, "regreen.run.undo", "undo"],
        cwd=toy_shop,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT / "server")},
    )
    assert done.stderr.startswith("regreen: interrupted; run the same command again")
    assert done.returncode == 4


def test_ctrl_c_while_a_path_is_looked_at_starts_no_run(toy_shop: Path, terminals: list[Keyboard]) -> None:
    (toy_shop / "tests/test_slow.py").write_text("import time\n\ndef test_slow():\n    time.sleep(60)\n")
    terminal = sit_down(terminals, toy_shop, "fix", "tests", "--model", "builtin")
    terminal.see("Running tests, to see which tests fail")
    terminal.type(CTRL_C)
    assert terminal.end() == 4
    assert "Cancelled before the first run; nothing was written." in terminal.screen
    assert "Traceback" not in terminal.screen


def test_ctrl_c_in_one_run_of_a_path_starts_no_other(
    toy_shop: Path, scripted: StartScripted, terminals: list[Keyboard]
) -> None:
    terminal = sit_down(terminals, toy_shop, "fix", "tests", *model(scripted, "silent"))
    terminal.see("Step 1")
    terminal.type(CTRL_C)
    assert terminal.end() == 4
    assert "0 of 2 failing tests of tests are fixed." in terminal.screen
    assert "Fixing " + HARD not in terminal.screen


def writes_a_test_when_asked(seen: Seen) -> Answer:
    """Mends bug.py; asked for a test, writes one."""
    if seen.turns:
        return Answer("It divides by the number of values now, not by 2.")
    edit = Call(
        "edit_file", {"path": "bug.py", "find": "sum(values) / 2", "replace": "sum(values) / len(values)"}
    )
    test = "from bug import mean\n\n\ndef test_mean():\n    assert mean([1, 2, 3]) == 2\n"
    new = Call("write_file", {"path": "test_bug.py", "content": test})
    return write_calls("native", "So.", (new if "Write a test" in str(seen.messages) else edit,), True)


@pytest.mark.parametrize("wanted", [True, False])
def test_where_no_test_decides_one_is_written_if_the_person_wants_it(
    tmp_path: Path, scripted: StartScripted, terminals: list[Keyboard], wanted: bool
) -> None:
    (tmp_path / "bug.py").write_text("def mean(values):\n    return sum(values) / 2\n")
    options = ("--model", "ollama:qwen2.5:3b", "--base-url", scripted(Policy(writes_a_test_when_asked)).url)
    terminal = sit_down(terminals, tmp_path, "ask", "Find the bug in bug.py", *options)
    terminal.see(ASK)
    terminal.type("a\r")
    terminal.see("Shall a test be written that shows it?")
    terminal.see("y/n [no]:")
    assert (
        "To have one written: regreen ask 'Write a test for the change that was made for the task \"Find"
        in (terminal.screen.replace("\n", " "))
    )
    terminal.type("y\r" if wanted else "\r")
    if wanted:
        terminal.see(ASK, 2)  # the yes to all was not for tests
        terminal.type("y\r")
        terminal.see("and failed before, without the change")
    assert terminal.end() == 1
    assert (tmp_path / "test_bug.py").exists() == wanted
    assert terminal.screen.count("Shall a test be written") == 1


@pytest.mark.parametrize(
    ("environ", "columns"),
    [
        ({"LC_ALL": "C"}, 80),
        ({"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, 80),
        ({"PYTHONIOENCODING": "latin-1"}, 60),
        ({"NO_COLOR": "1"}, 20),
        ({"TERM": "dumb"}, 10),
    ],
)
def test_a_run_is_readable_on_any_terminal(
    toy_shop: Path,
    scripted: StartScripted,
    terminals: list[Keyboard],
    environ: dict[str, str],
    columns: int,
) -> None:
    terminal = sit_down(
        terminals, toy_shop, "fix", TWO_PART, *model(scripted, "direct"), environ=environ, columns=columns
    )
    for number in (1, 2):
        terminal.see(ASK, number)
        terminal.type("y\n")
    assert terminal.end() == 0
    assert "Traceback" not in terminal.screen
    assert "Fixed: " + TWO_PART in terminal.screen
    assert "+        self.quantities[sku] += quantity" in terminal.screen
    if environ.get("PYTHONUTF8") == "0":
        assert "model ollama:qwen2.5:3b - seal" in terminal.screen
        assert "  -> edit_file(" in terminal.screen
        assert terminal.raw.isascii()
    if "NO_COLOR" in environ:
        assert not re.search(rb"\x1b\[[\d;]*(3[0-7]|9[0-7]|38)[;m]", terminal.raw)
    if environ.get("TERM") == "dumb":
        assert b"\x1b" not in terminal.raw
