"""A run whose test needs what sealed runs do not get: asked for where somebody is, told where nobody is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from regreen.run.permission import ALLOW, NO, WITHOUT
from runs.process import ACCEPT_ALL, Run, fix
from unit.testing.small_projects import NEEDS_A_VARIABLE, write_files

TEST = "test_shop.py::test_total"
FILES = {
    **NEEDS_A_VARIABLE,
    "test_shop.py": "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 9\n",
}
MINE = {"SHOP_RATE": "3"}
BUILTIN = ("--model", "builtin")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_files(tmp_path / "shop", FILES)


def answered(shop: Path, answer: str) -> Run:
    run = Run(shop, TEST, *BUILTIN, "--interactive", environ=MINE)
    question = run.wait_for("question")
    assert question["kind"] == "allow"
    assert "the environment variable SHOP_RATE, which sealed runs do not get" in question["text"]
    assert (question["choices"], question["default"]) == ([ALLOW, WITHOUT, NO], NO)
    run.say({"answer": answer, "question": question["id"]}, ACCEPT_ALL)
    return run


def test_yes_lets_the_run_go_on_and_the_search_has_the_permission_too(shop: Path) -> None:
    run = answered(shop, ALLOW)
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (0, "fixed"), outcome["summary"]
    assert "result += price" in (shop / "shop.py").read_text(encoding="utf-8")
    told = [event for event in run.of("note") if event.get("allowed")]
    assert [event["allowed"] for event in told] == ["see the environment variable SHOP_RATE"]
    assert [event["seal"] for event in told] == [outcome["seal"]]
    assert len(run.of("question")) == 1
    trace = [json.loads(line) for line in Path(outcome["trace"]).read_text(encoding="utf-8").splitlines()]
    assert any("you allowed it for this run" in event.get("text", "") for event in trace)


def test_no_and_an_answer_that_is_none_of_the_choices_end_it_with_the_option(shop: Path) -> None:
    before = (shop / "shop.py").read_bytes()
    for answer in (NO, "sure, whatever"):
        code, outcome = answered(shop, answer).end()
        assert (code, outcome["outcome"]) == (3, "setup_problem")
        assert "--env SHOP_RATE (in VS Code regreen.environment)" in outcome["explanation"]
    assert (shop / "shop.py").read_bytes() == before


def test_without_anyone_there_nothing_is_asked(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_RATE", "3")
    run = fix(shop, TEST, *BUILTIN, said=({"answer": ALLOW, "question": "allow-1"}, ACCEPT_ALL))
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (3, "setup_problem")
    assert run.of("question") == []
    assert "--env SHOP_RATE" in outcome["explanation"]


def test_runs_of_a_whole_file_say_what_they_have_in_common_once(shop: Path) -> None:
    write_files(
        shop, {"test_shop.py": FILES["test_shop.py"] + "\n\ndef test_more():\n    assert total([2]) == 6\n"}
    )
    run = Run(shop, "test_shop.py", "--base-url", "http://127.0.0.1:9", environ=MINE)
    run.hang_up()
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (3, "setup_problem")
    assert len(run.of("started")) == 2
    silent = [event["text"] for event in run.of("note") if "does not answer" in event["text"]]
    assert len(silent) == 1


def test_the_answer_for_a_whole_file_is_asked_for_once(shop: Path) -> None:
    write_files(
        shop, {"test_shop.py": FILES["test_shop.py"] + "\n\ndef test_more():\n    assert total([2]) == 6\n"}
    )
    run = Run(shop, "test_shop.py", *BUILTIN, "--interactive", environ=MINE)
    question = run.wait_for("question")
    run.say({"answer": ALLOW, "question": question["id"]}, ACCEPT_ALL)
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (0, "fixed"), outcome["summary"]
    assert len(run.of("question")) == 1
    assert set(outcome["tests"].values()) <= {"fixed", "already_passing"}
