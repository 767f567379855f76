"""Looking into real runs: by id and by path, finished ones, and those that were killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from runs.process import PROJECT, TWO_PART, Run, contents, fix
from scripted.fixtures import StartScripted


def model(scripted: StartScripted, policy: str) -> tuple[str, ...]:
    return ("--model", "ollama:qwen2.5:3b", "--base-url", scripted(policy).url, "--search", "off")


def regreen(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "regreen", *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT / "server")},
    )


def test_a_run_is_shown_by_its_id_by_its_trace_and_as_a_page(toy_shop: Path, scripted: StartScripted) -> None:
    _, outcome = fix(toy_shop, TWO_PART, *model(scripted, "twopart")).end()
    by_id = regreen(toy_shop, "show", outcome["run"])
    by_path = regreen(toy_shop, "show", outcome["trace"])
    assert by_id.returncode == by_path.returncode == 0
    assert by_id.stdout == by_path.stdout
    for shown in (
        "Step 3",
        "→ edit_file(path=shop/cart.py",
        "trial: target passes",
        "Budget: step 3 of 12",
        "Time: model",
    ):
        assert shown in by_id.stdout, shown
    cached, prompt = outcome["tokens"]["cached"], outcome["tokens"]["prompt"]
    assert 0 < cached < prompt
    assert f"{cached:,} of {prompt:,} prompt tokens from the prompt cache" in by_id.stdout
    before = contents(toy_shop)
    page = toy_shop.parent / "run.html"
    written = regreen(toy_shop, "show", outcome["run"], "--html", str(page))
    assert written.returncode == 0
    assert written.stdout.strip() == str(page)
    text = page.read_text(encoding="utf-8")
    assert text.count('<a class="bar"') >= 6
    assert 'id="step-3"' in text
    assert contents(toy_shop) == before


def test_the_times_of_a_trace_add_up_to_those_of_the_outcome(toy_shop: Path, scripted: StartScripted) -> None:
    _, outcome = fix(toy_shop, TWO_PART, *model(scripted, "twopart")).end()
    events = [json.loads(line) for line in Path(outcome["trace"]).read_text().splitlines()]
    times = [event["at"] for event in events]
    assert times == sorted(times)
    for activity in ("model", "tests", "person"):
        spans = [e for e in events if e["event"] == "span" and e["activity"] == activity]
        spent = sum(e["end"] - e["begin"] for e in spans)
        assert abs(spent - outcome["seconds"][activity]) < 0.05, activity
    assert sum(outcome["seconds"].values()) <= events[-1]["at"] + 0.01


def test_a_page_that_cannot_be_written_is_one_line(toy_shop: Path, scripted: StartScripted) -> None:
    _, outcome = fix(toy_shop, TWO_PART, *model(scripted, "direct")).end()
    nowhere = regreen(toy_shop, "show", outcome["run"], "--html", str(toy_shop / "no" / "run.html"))
    assert nowhere.returncode == 3
    assert nowhere.stderr.startswith("regreen: Cannot write the page to ")
    folder = regreen(toy_shop, "show", outcome["run"], "--html", ".")
    assert folder.returncode == 2
    assert "name a file" in folder.stderr
    unknown = regreen(toy_shop, "show", "20200101-000000-0000")
    assert unknown.returncode == 2
    assert unknown.stderr.count("\n") == 1


def test_a_killed_run_is_shown_and_replayed_as_incomplete(toy_shop: Path, scripted: StartScripted) -> None:
    run = Run(toy_shop, TWO_PART, *model(scripted, "direct"))
    started = run.wait_for("started")
    run.wait_for("proposal")
    os.kill(run.pid, signal.SIGKILL)
    run.reap()
    shown = regreen(toy_shop, "show", started["run"])
    assert shown.returncode == 0
    assert "Incomplete: the run did not finish." in shown.stdout
    assert "Step 1" in shown.stdout
    page = toy_shop.parent / "run.html"
    written = regreen(toy_shop, "show", started["run"], "--html", str(page))
    assert "incomplete" in written.stdout
    assert "Incomplete: the run did not finish" in page.read_text()
    assert "no decision" in page.read_text()
    again = regreen(toy_shop, "replay", started["run"])
    assert "incomplete: the run did not finish" in again.stdout
    assert again.returncode == 0, again.stdout
    told = json.loads(regreen(toy_shop, "replay", started["run"], "--json").stdout)
    assert (told["complete"], told["same"]) == (False, True)


def test_a_task_in_words_is_shown_and_replayed_too(tmp_path: Path, scripted: StartScripted) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "bug.py").write_text("def mean(values):\n    return sum(values) / 2\n")
    address = ("--model", "ollama:qwen2.5:3b", "--base-url", scripted("explorer").url)
    run = Run(folder, "Find and fix the bug in bug.py", *address, command="ask")
    run.say({"decision": "accept", "proposal": "*"})
    run.hang_up()
    _, outcome = run.end()
    shown = regreen(folder, "show", outcome["run"])
    assert shown.stdout.startswith("Task: Find and fix the bug in bug.py\n")
    assert "→ run_python(" in shown.stdout
    again = regreen(folder, "replay", outcome["run"], "--json")
    assert again.returncode == 0, again.stdout + again.stderr
    assert json.loads(again.stdout)["same"] is True


def test_a_path_is_taken_back_by_one_id_and_several_runs_by_theirs(toy_shop: Path) -> None:
    (toy_shop / "shop/sums.py").write_text(
        "def double(n):\n    return n + 2\n\n\ndef less(n):\n    return n + 1\n"
    )
    test = "from shop.sums import double, less\n\n\ndef test_double():\n    assert double(5) == 10\n\n\n"
    (toy_shop / "tests/test_sums.py").write_text(test + "def test_less():\n    assert less(5) == 4\n")
    before = contents(toy_shop)
    run = fix(toy_shop, "tests/test_sums.py", "--model", "builtin")
    code, last = run.end()
    assert code == 0
    members = [outcome["run"] for outcome in run.of("outcome")[:-1]]
    assert len(members) == 2
    assert f"regreen undo {last['run']}" in last["summary"]
    fixed = contents(toy_shop)
    assert fixed != before
    undone = regreen(toy_shop, "undo", last["run"])
    assert undone.returncode == 0, undone.stderr
    assert contents(toy_shop) == before
    assert "stands for several runs" in regreen(toy_shop, "show", last["run"]).stderr

    run = fix(toy_shop, "tests/test_sums.py", "--model", "builtin")
    run.end()
    members = [outcome["run"] for outcome in run.of("outcome")[:-1]]
    assert contents(toy_shop) == fixed
    undone = regreen(toy_shop, "undo", *members, "--json")
    assert [told["run"] for told in json.loads(undone.stdout)["runs"]] == members[::-1]
    assert contents(toy_shop) == before

    fix(toy_shop, "tests/test_sums.py", "--model", "builtin").end()
    assert regreen(toy_shop, "undo").returncode == 0
    assert contents(toy_shop) == before
    nothing = regreen(toy_shop, "undo", "20200101-000000-0000")
    assert nothing.returncode == 2
    assert "There is no run" in nothing.stderr


def test_started_is_the_first_event_whatever_came_in_before(toy_shop: Path, scripted: StartScripted) -> None:
    run = Run(toy_shop, TWO_PART, *model(scripted, "direct"))
    run.say({"huh": 1}, {"extend": {"steps": 2}}, {"decision": "accept", "proposal": "*"})
    run.hang_up()
    code, _ = run.end()
    assert code == 0
    assert run.events[0]["event"] == "started"
    assert any("Not understood" in note["text"] for note in run.of("note"))


def test_the_explanation_leaves_out_what_a_later_edit_replaced(
    toy_shop: Path, scripted: StartScripted
) -> None:
    _, outcome = fix(toy_shop, TWO_PART, *model(scripted, "twopart")).end()
    assert outcome["outcome"] == "fixed"
    assert "add to the quantity" in outcome["explanation"]
    assert "the larger one has to be kept" not in outcome["explanation"]
