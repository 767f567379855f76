"""`regreen ask`: a task in words, with the scripted model on the wire."""

from __future__ import annotations

from pathlib import Path

from runs.process import ACCEPT_ALL, BUG, TASK, Run, contents
from scripted.answers import Answer
from scripted.fixtures import StartScripted
from scripted.policies import Policy


def ask(folder: Path, server_url: str, *options: str) -> Run:
    run = Run(folder, TASK, "--model", "ollama:qwen2.5:3b", "--base-url", server_url, *options, command="ask")
    run.say(ACCEPT_ALL)
    run.hang_up()
    return run


def test_without_tests_the_outcome_is_not_verified_and_shows_what_was_checked(
    folder: Path, scripted: StartScripted
) -> None:
    run = ask(folder, scripted("explorer").url)
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (1, "not_verified")
    assert (folder / "bug.py").read_text() == BUG.replace("/ 2", "/ len(values)")
    assert "divided by 2 instead of" in outcome["explanation"]
    assert "3.0" in outcome["summary"]
    assert "write one" in outcome["summary"]
    assert "Accepted edits stay in bug.py" in outcome["summary"]


def test_a_rejected_change_is_not_told_as_one_that_was_made(folder: Path, scripted: StartScripted) -> None:
    run = Run(
        folder, TASK, "--model", "ollama:qwen2.5:3b", "--base-url", scripted("explorer").url, command="ask"
    )
    run.say({"decision": "reject", "proposal": "*", "reason": "not so"})
    run.hang_up()
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (4, "rejected")
    assert "No file was changed." in outcome["summary"]
    assert "now it divides" not in outcome["explanation"] + outcome["summary"]
    assert (folder / "bug.py").read_text() == BUG


def test_where_nothing_was_changed_it_says_so(folder: Path, scripted: StartScripted) -> None:
    run = ask(folder, scripted(Policy(lambda seen: Answer("There is no bug."))).url)
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (1, "not_verified")
    assert "No file was changed." in outcome["summary"]


def test_every_call_is_logged_with_its_arguments_and_its_result_in_order(
    folder: Path, scripted: StartScripted
) -> None:
    run = ask(folder, scripted("explorer").url)
    run.end()
    assert [call["name"] for call in run.of("call")] == [
        "list_files",
        "read_file",
        "run_python",
        "edit_file",
        "run_python",
    ]
    assert run.of("call")[1]["arguments"] == {"path": "bug.py"}
    assert len(run.of("result")) == 5
    assert all(result["ok"] for result in run.of("result"))


def test_where_a_test_fails_the_tests_decide(folder: Path, scripted: StartScripted) -> None:
    (folder / "test_bug.py").write_text(
        "from bug import mean\n\n\ndef test_mean():\n    assert mean([1, 2, 3]) == 2\n"
    )
    run = ask(folder, scripted("explorer").url, "--approval", "never")
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (0, "fixed")
    assert outcome["verdict"]["passed"] == 1


def test_the_steps_running_out_is_said_kindly_with_the_state_reached(
    folder: Path, scripted: StartScripted
) -> None:
    before = contents(folder)
    run = ask(folder, scripted("explorer").url, "--max-steps", "2")
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (1, "budget")
    assert "What to try next" in outcome["summary"]
    assert contents(folder) == before


def test_without_a_model_it_says_what_is_needed(folder: Path) -> None:
    run = Run(folder, TASK, "--model", "builtin", command="ask")
    run.hang_up()
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (3, "setup_problem")
    assert "needs a model" in outcome["explanation"]
