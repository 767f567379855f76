"""`regreen ask` where no test decides: what a test of the agent's own shows, and how one is asked for."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from runs.process import ACCEPT_ALL, BUG, PROJECT, TASK, Event, Run
from scripted.answers import Answer, Call, Seen
from scripted.dialects import write_calls
from scripted.fixtures import StartScripted
from scripted.policies import Policy

FIX = Call("edit_file", {"path": "bug.py", "find": "sum(values) / 2", "replace": "sum(values) / len(values)"})
DONE = "mean() divided by 2; now it divides by the number of values."


def a_test(expected: str, name: str = "test_mean", path: str = "test_bug.py") -> Call:
    content = f"from bug import mean\n\n\ndef {name}():\n    assert mean([1, 2, 3]) == {expected}\n"
    return Call("write_file", {"path": path, "content": content})


def turns(*listed: Call | str) -> Policy:
    """A model that makes these calls, one a turn, and says these words; then it says that it is done."""

    def decide(seen: Seen) -> Answer:
        step = listed[seen.turns] if seen.turns < len(listed) else DONE
        if isinstance(step, str):
            return Answer(step)
        return write_calls("native", "So.", (step,), bool(seen.tools))

    return Policy(decide)


@pytest.fixture
def bare_python(tmp_path: Path) -> Path:
    """A Python without pytest."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    return tmp_path / "bare" / "bin" / "python"


def ask(folder: Path, url: str, *options: str, task: str = TASK) -> tuple[int, Event, Run]:
    run = Run(folder, task, "--model", "ollama:qwen2.5:3b", "--base-url", url, *options, command="ask")
    run.say(ACCEPT_ALL)
    run.hang_up()
    return *run.end(), run


def evidence(outcome: Event) -> Any:
    return {key: value for key, value in outcome["evidence"].items() if key != "printed"}


def test_a_test_that_the_agent_wrote_is_run_with_the_change_and_without_it(
    folder: Path, scripted: StartScripted
) -> None:
    model = turns(FIX, a_test("2"))
    code, outcome, _ = ask(folder, scripted(model).url, "--unlock-tests")
    assert (code, outcome["outcome"]) == (1, "not_verified")
    assert evidence(outcome) == {
        "tests": ["test_bug.py::test_mean"],
        "passes_now": True,
        "failed_before": True,
    }
    said = outcome["summary"]
    assert "There are no tests" not in said
    assert "The test that the agent wrote, test_bug.py::test_mean, passes now, and failed before" in said
    assert "assert 3.0 == 2" in said
    assert "proves less than one of yours" in said
    assert "write_test" not in outcome
    assert (folder / "bug.py").read_text() == BUG.replace("/ 2", "/ len(values)")
    environ = {**os.environ, "PYTHONPATH": str(PROJECT / "server")}
    again = subprocess.run(
        [sys.executable, "-m", "regreen", "replay", outcome["run"]],
        cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environ,
    )  # fmt: skip
    assert again.returncode == 0, again.stdout + again.stderr


def test_the_order_in_which_it_writes_them_does_not_matter(folder: Path, scripted: StartScripted) -> None:
    model = turns(a_test("2"), FIX)
    _, outcome, _ = ask(folder, scripted(model).url, "--unlock-tests")
    assert outcome["outcome"] == "not_verified"
    assert evidence(outcome)["failed_before"] is True


def test_a_test_that_passed_before_as_well_shows_nothing(folder: Path, scripted: StartScripted) -> None:
    call = Call(
        "write_file",
        {
            "path": "tests/test_two.py",
            "content": "from bug import mean\n\n\ndef test_two():\n    assert mean([1, 3]) == 2\n",
        },
    )
    _, outcome, _ = ask(folder, scripted(turns(FIX, call)).url, "--unlock-tests")
    assert evidence(outcome)["failed_before"] is False
    assert "passed before as well, without the change: it shows nothing of it" in outcome["summary"]


def test_where_only_a_test_was_written_nothing_is_said_of_before(
    folder: Path, scripted: StartScripted
) -> None:
    _, outcome, _ = ask(folder, scripted(turns(a_test("3"))).url, "--unlock-tests", task="Write a test")
    assert evidence(outcome) == {
        "tests": ["test_bug.py::test_mean"],
        "passes_now": True,
        "failed_before": None,
    }
    assert "whether it fails without the change was not seen" in outcome["summary"]


def test_a_test_of_its_own_that_fails_is_told_to_the_agent_once(
    folder: Path, scripted: StartScripted
) -> None:
    wrong = {"path": "bug.py", "find": "sum(values) / 2", "replace": "sum(values) / 3 + 1"}
    mend = {"path": "bug.py", "find": "sum(values) / 3 + 1", "replace": "sum(values) / len(values)"}
    model = turns(a_test("2"), Call("edit_file", wrong), DONE, Call("edit_file", mend))
    server = scripted(model)
    _, outcome, _ = ask(folder, server.url, "--unlock-tests")
    assert evidence(outcome) == {
        "tests": ["test_bug.py::test_mean"],
        "passes_now": True,
        "failed_before": True,
    }
    assert "len(values)" in (folder / "bug.py").read_text()


def test_a_test_of_its_own_that_goes_on_to_fail_is_said(folder: Path, scripted: StartScripted) -> None:
    _, outcome, _ = ask(folder, scripted(turns(FIX, a_test("7"))).url, "--unlock-tests")
    assert outcome["outcome"] == "not_verified"
    assert evidence(outcome)["passes_now"] is False
    assert "test_bug.py::test_mean, fails now (AssertionError: assert 2.0 == 7)" in outcome["summary"]


def test_several_tests_are_told_apart(folder: Path, scripted: StartScripted) -> None:
    text = "from bug import mean\n\n\ndef test_two():\n    assert mean([1, 3]) == 2\n\n\n"
    text += "def test_three():\n    assert mean([1, 2, 3]) == 2\n"
    call = Call("write_file", {"path": "test_bug.py", "content": text})
    _, outcome, _ = ask(folder, scripted(turns(FIX, call)).url, "--unlock-tests")
    assert "pass now, and 1 of 2 failed before, without the change" in outcome["summary"]


def test_a_test_for_a_new_module_failed_before_since_there_was_none(
    folder: Path, scripted: StartScripted
) -> None:
    module = Call("write_file", {"path": "slug.py", "content": "def slug(text):\n    return text.lower()\n"})
    text = "from slug import slug\n\n\ndef test_slug():\n    assert slug('A') == 'a'\n"
    call = Call("write_file", {"path": "test_slug.py", "content": text})
    _, outcome, _ = ask(folder, scripted(turns(module, call)).url, "--unlock-tests", task="Write slug.py")
    assert evidence(outcome) == {
        "tests": ["test_slug.py::test_slug"],
        "passes_now": True,
        "failed_before": True,
    }


def test_a_test_added_to_a_file_of_tests_that_pass_is_told_from_yours(
    folder: Path, scripted: StartScripted
) -> None:
    (folder / "test_bug.py").write_text(
        "from bug import mean\n\n\ndef test_two():\n    assert mean([1, 3]) == 2\n"
    )
    more = {
        "path": "test_bug.py",
        "find": "    assert mean([1, 3]) == 2\n",
        "replace": "    assert mean([1, 3]) == 2\n\n\ndef test_three():\n    assert mean([1, 2, 3]) == 2\n",
    }
    _, outcome, _ = ask(folder, scripted(turns(FIX, Call("edit_file", more))).url, "--unlock-tests")
    assert evidence(outcome) == {
        "tests": ["test_bug.py::test_three"],
        "passes_now": True,
        "failed_before": True,
    }
    assert "No test of yours failed before" in outcome["summary"]


def test_locked_tests_are_not_written_and_one_is_offered(folder: Path, scripted: StartScripted) -> None:
    _, outcome, run = ask(folder, scripted(turns(FIX, a_test("2"))).url)
    assert not (folder / "test_bug.py").exists()
    assert any("locked" in result["summary"] for result in run.of("result"))
    assert "There are no tests" in outcome["summary"]
    assert outcome["write_test"]["resume"] == outcome["run"]


@pytest.mark.parametrize("task", [TASK, "zwei\nZeilen “ü”, and $HOME `x`", "-1 is not handled"])
def test_the_command_at_the_end_writes_the_test_when_it_is_typed(
    folder: Path, scripted: StartScripted, task: str
) -> None:
    server = scripted(turns(FIX))
    _, outcome, _ = ask(folder, server.url, task=task)
    command = outcome["write_test"]["command"]
    assert f"\nTo have one written: {command}" in outcome["summary"]
    words = shlex.split(command)
    assert words[:2] == ["regreen", "ask"]
    assert words[2].startswith("Write a test for ") and " ".join(task.split()) in words[2]
    assert words[3:5] == ["--workspace", str(folder)]
    server.close()
    writer = scripted(turns(a_test("2")), port=int(server.url.rsplit(":", 1)[1]))
    options: Sequence[str] = words[5:]
    assert writer.url in options and "ollama:qwen2.5:3b" in options
    run = Run(folder, words[2], *options, command="ask")
    run.say(ACCEPT_ALL)
    run.hang_up()
    code, second = run.end()
    assert (code, second["outcome"]) == (1, "not_verified")
    assert evidence(second) == {
        "tests": ["test_bug.py::test_mean"],
        "passes_now": True,
        "failed_before": True,
    }
    assert [edit["path"] for edit in second["edits"]] == ["test_bug.py"]
    assert "Changed in an earlier run" in str(writer.turns[0].body["messages"])
    assert "len(values)" in str(writer.turns[0].body["messages"])


def test_a_file_that_cannot_be_imported_hides_tests_that_decide(
    folder: Path, scripted: StartScripted
) -> None:
    (folder / "bug.py").write_text("def mean(values)\n    return sum(values) / len(values)\n")
    (folder / "test_bug.py").write_text(
        "from bug import mean\n\n\ndef test_two():\n    assert mean([1, 3]) == 2\n"
    )
    edit = {"path": "bug.py", "find": "def mean(values)\n", "replace": "def mean(values):\n"}
    server = scripted(turns(Call("edit_file", edit)))
    code, outcome, _ = ask(folder, server.url)
    assert "test_bug.py fails" in str(server.turns[0].body["messages"])
    assert (code, outcome["outcome"]) == (0, "fixed")


def test_without_pytest_it_says_so_and_offers_no_test(
    folder: Path, scripted: StartScripted, bare_python: Path
) -> None:
    _, outcome, _ = ask(folder, scripted(turns(FIX)).url, "--python", str(bare_python))
    assert outcome["outcome"] == "not_verified"
    assert "The tests cannot be run: there is no pytest" in outcome["summary"]
    assert "There are no tests" not in outcome["summary"]
    assert "write_test" not in outcome


@pytest.mark.parametrize("approval", ["whenGreen", "never"])
def test_edits_that_no_verdict_lets_through_are_kept_and_can_be_gone_on_from(
    folder: Path, scripted: StartScripted, approval: str
) -> None:
    server = scripted(turns(FIX))
    _, outcome, run = ask(folder, server.url, "--approval", approval)
    assert (folder / "bug.py").read_text() == BUG
    assert run.of("proposal") == []
    assert "No file was changed." in outcome["summary"]
    assert f"With --approval {approval} only a verified fix is written" in outcome["summary"]
    assert [part["path"] for part in outcome["partial"]] == ["bug.py"]
    [line] = [line for line in outcome["summary"].splitlines() if line.startswith("To go on from")]
    words = shlex.split(line.partition(": ")[2])
    assert words[:4] == ["regreen", "ask", "--workspace", str(folder)]
    _, second, _ = ask(folder, scripted(turns()).url, *words[5:], task=words[4])
    assert second["outcome"] == "not_verified"
    assert "len(values)" in (folder / "bug.py").read_text()


@pytest.mark.parametrize("approval", ["whenGreen", "never"])
def test_unlocked_tests_are_shown_in_every_mode(folder: Path, scripted: StartScripted, approval: str) -> None:
    model = turns(a_test("3"))
    _, outcome, run = ask(folder, scripted(model).url, "--unlock-tests", "--approval", approval)
    [proposal] = run.of("proposal")
    assert proposal["asks"] == ["test_bug.py"]
    assert (folder / "test_bug.py").exists()
    assert evidence(outcome)["passes_now"] is True
