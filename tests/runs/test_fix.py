"""`regreen fix` as a process, with the scripted model on the wire and with the built-in search."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from environments import person_python
from runs.process import ACCEPT_ALL, HARD, PROJECT, TWO_PART, Run, contents, fix, passes
from scripted.fixtures import StartScripted


def model(server: Any) -> tuple[str, ...]:
    """The scripted model alone: these tests show the loop. What the quick search adds is in test_together.py."""
    return ("--model", "ollama:qwen2.5:3b", "--base-url", server.url, "--search", "off")


def test_the_built_in_search_fixes_the_two_part_bug(toy_shop: Path) -> None:
    code, outcome = fix(toy_shop, TWO_PART, "--model", "builtin").end()
    assert (code, outcome["outcome"]) == (0, "fixed")
    assert passes(toy_shop, "tests/test_cart.py")
    assert {edit["path"] for edit in outcome["edits"]} == {"shop/cart.py", "shop/discounts.py"}


def test_a_model_is_wrong_first_reads_the_failure_and_is_right_then(
    toy_shop: Path, scripted: StartScripted
) -> None:
    run = fix(toy_shop, TWO_PART, *model(scripted("twopart")))
    code, outcome = run.end()
    assert (code, outcome["outcome"], outcome["steps"]) == (0, "fixed", 3)
    assert [trial["verdict"]["progress"] for trial in run.of("trial")] == [
        "changed",
        "forward",
        "fixed",
        "fixed",
    ]
    assert [event["event"] for event in run.events][:2] == ["started", "evidence"] or run.of("progress")
    assert outcome["verdict"]["target"] == "passed"
    assert outcome["verdict"]["collected_before"] == outcome["verdict"]["collected_after"]
    assert "must add to the quantity" in outcome["explanation"]
    assert passes(toy_shop, "tests/test_cart.py")


@pytest.mark.parametrize("wire", ["ollama", "openai"])
def test_both_wires_serve(toy_shop: Path, scripted: StartScripted, wire: str) -> None:
    server = scripted("direct")
    url = server.url if wire == "ollama" else f"{server.url}/v1"
    alone = ("--search", "off", "--approval", "never")
    run = fix(toy_shop, TWO_PART, "--model", f"{wire}:qwen2.5:3b", "--base-url", url, *alone, said=())
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (0, "fixed")
    assert outcome["model"] == f"{wire}:qwen2.5:3b"


def test_two_edits_of_one_reply_are_one_proposal(toy_shop: Path, scripted: StartScripted) -> None:
    run = fix(toy_shop, TWO_PART, *model(scripted("several")))
    code, outcome = run.end()
    assert (code, outcome["steps"]) == (0, 1)
    assert len(run.of("proposal")) == 1
    assert [file["path"] for file in run.of("proposal")[0]["files"]] == ["shop/cart.py", "shop/discounts.py"]
    assert len(run.of("call")) == len(run.of("result")) == 2


# -- approval ----------------------------------------------------------------------------------------


def test_without_a_decision_nothing_is_written(toy_shop: Path) -> None:
    before = contents(toy_shop)
    code, outcome = fix(toy_shop, TWO_PART, "--model", "builtin", said=()).end()
    assert (code, outcome["outcome"]) == (4, "rejected")
    assert contents(toy_shop) == before


def test_the_model_hears_why_an_edit_was_rejected(toy_shop: Path, scripted: StartScripted) -> None:
    server = scripted("twopart")
    run = Run(toy_shop, TWO_PART, *model(server))
    first = run.wait_for("proposal")
    assert "max(" in first["files"][0]["diff"]
    before = contents(toy_shop)
    run.say({"decision": "reject", "proposal": first["id"], "reason": "it loses one of the two"})
    run.wait_for("proposal", 2)
    assert contents(toy_shop) == before
    run.say(ACCEPT_ALL)
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (0, "fixed")
    assert "max(" not in (toy_shop / "shop/cart.py").read_text()
    told = json.dumps(server.turns[1].body["messages"])
    assert "it loses one of the two" in told


def test_only_a_verified_fix_is_shown_when_green(toy_shop: Path, scripted: StartScripted) -> None:
    run = fix(toy_shop, TWO_PART, "--approval", "whenGreen", *model(scripted("twopart")))
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (0, "fixed")
    assert len(run.of("proposal")) == 1
    assert run.of("proposal")[0]["verdict"]["fixed"] is True


def test_nothing_is_written_when_a_run_with_approval_never_ends_without_a_fix(
    toy_shop: Path, scripted: StartScripted
) -> None:
    before = contents(toy_shop)
    run = fix(toy_shop, HARD, "--approval", "never", "--max-steps", "3", *model(scripted("fumbles")), said=())
    code, outcome = run.end()
    assert (code, outcome["outcome"], outcome["steps"]) == (1, "budget", 3)
    assert contents(toy_shop) == before
    assert "What to try next" in outcome["summary"]


def test_what_the_person_changed_in_a_proposal_is_what_is_written(
    toy_shop: Path, scripted: StartScripted
) -> None:
    run = Run(toy_shop, TWO_PART, *model(scripted("direct")))
    first = run.wait_for("proposal")
    mine = first["files"][0]["text"].replace("+= quantity", "+= quantity  # mine")
    run.say({"decision": "partly", "proposal": first["id"], "files": {"shop/cart.py": mine}}, ACCEPT_ALL)
    code, _ = run.end()
    assert code == 0
    assert "# mine" in (toy_shop / "shop/cart.py").read_text()


def test_of_a_partly_kept_proposal_only_the_named_files_are_written(
    toy_shop: Path, scripted: StartScripted
) -> None:
    before = contents(toy_shop)
    run = Run(toy_shop, TWO_PART, *model(scripted("several")))
    first = run.wait_for("proposal")
    cart = first["files"][0]
    run.say({"decision": "partly", "proposal": first["id"], "files": {"../evil.py": "x"}})
    run.wait_for("note")
    run.say({"decision": "partly", "proposal": first["id"], "files": {cart["path"]: cart["text"]}})
    run.wait_for("result", 2)
    run.say({"cancel": True})
    run.end()
    after = contents(toy_shop)
    assert {path for path in after if after[path] != before.get(path)} == {"shop/cart.py"}


def test_the_editor_may_do_the_writing(toy_shop: Path, scripted: StartScripted) -> None:
    run = Run(toy_shop, TWO_PART, "--writes", "editor", *model(scripted("direct")))
    for number in (1, 2):
        proposal = run.wait_for("proposal", number)
        files = {file["path"]: file["text"] for file in proposal["files"]}
        assert (toy_shop / next(iter(files))).read_text() != next(iter(files.values()))
        for path, text in files.items():
            (toy_shop / path).write_text(text)
        run.say({"decision": "accept", "proposal": proposal["id"], "files": files})
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (0, "fixed")


def test_unsaved_text_of_the_editor_is_what_is_tried_and_stays_unsaved(
    toy_shop: Path, scripted: StartScripted
) -> None:
    """The person has mended the second part in the editor and not saved it."""
    before = contents(toy_shop)
    buffer = (
        (toy_shop / "shop/discounts.py").read_text().replace("subtotal > threshold", "subtotal >= threshold")
    )
    run = Run(toy_shop, TWO_PART, "--writes", "editor", *model(scripted("direct")))
    run.say({"buffers": {"shop/discounts.py": buffer}})
    proposal = run.wait_for("proposal")
    assert [file["path"] for file in proposal["files"]] == ["shop/cart.py"]
    assert proposal["verdict"]["fixed"] is True
    run.say(
        {
            "decision": "accept",
            "proposal": proposal["id"],
            "files": {"shop/cart.py": proposal["files"][0]["text"]},
        }
    )
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (0, "fixed")
    assert contents(toy_shop) == before


def test_a_change_by_somebody_else_is_never_overwritten(toy_shop: Path, scripted: StartScripted) -> None:
    run = Run(toy_shop, TWO_PART, *model(scripted("direct")))
    first = run.wait_for("proposal")
    cart = toy_shop / "shop/cart.py"
    cart.write_text(cart.read_text() + "\n\n# written meanwhile\n")
    run.say({"decision": "accept", "proposal": first["id"]}, ACCEPT_ALL)
    run.hang_up()
    run.end()
    assert "# written meanwhile" in cart.read_text()


# -- ends ---------------------------------------------------------------------------------------------


def test_a_target_that_passes_is_left_alone(toy_shop: Path) -> None:
    code, outcome = fix(
        toy_shop, "tests/test_prices.py::test_an_unknown_product_is_refused", "--model", "builtin"
    ).end()
    assert (code, outcome["outcome"]) == (0, "already_passing")


def test_a_file_gets_a_run_for_each_failing_test_and_a_last_line_with_the_worst(toy_shop: Path) -> None:
    (toy_shop / "tests/test_receipts.py").unlink()
    run = fix(toy_shop, "tests/test_cart.py", "--model", "builtin")
    code, outcome = run.end()
    assert (code, outcome["outcome"], outcome["target"]) == (0, "fixed", "tests/test_cart.py")
    assert outcome["tests"] == {TWO_PART: "fixed"}


@pytest.mark.parametrize(
    ("policy", "says"),
    [("weak", "circles"), ("cycle", "circles"), ("done", "still fails"), ("prose", "no tool call")],
)
def test_a_weak_model_is_stopped(toy_shop: Path, scripted: StartScripted, policy: str, says: str) -> None:
    code, outcome = fix(toy_shop, TWO_PART, "--approval", "never", *model(scripted(policy)), said=()).end()
    assert (code, outcome["outcome"]) == (1, "stuck")
    assert says in outcome["summary"]
    assert outcome["steps"] <= 8


def test_leaving_the_folder_and_changing_the_test_are_refused(
    toy_shop: Path, scripted: StartScripted
) -> None:
    before = contents(toy_shop.parent)
    code, outcome = fix(toy_shop, TWO_PART, "--approval", "never", *model(scripted("escape")), said=()).end()
    assert code == 1
    assert contents(toy_shop.parent) == before
    assert not Path("/tmp/regreen-scripted-escape.txt").exists()
    assert outcome["edits"] == []


@pytest.mark.parametrize("kind", ["cancel", "terminate"])
def test_a_reply_that_never_ends_can_be_cancelled_and_leaves_nothing(
    toy_shop: Path, scripted: StartScripted, tmp_path: Path, kind: str
) -> None:
    cache = tmp_path / "cache"
    run = Run(toy_shop, TWO_PART, *model(scripted("stall")), environ={"REGREEN_CACHE_DIR": str(cache)})
    run.wait_for("step")
    if kind == "cancel":
        run.say({"cancel": True})
    else:
        run.terminate()
    code, outcome = run.end(timeout=20)
    assert (code, outcome["outcome"]) == (4, "cancelled")
    assert list((cache / "working").iterdir()) == []


@pytest.mark.parametrize(
    ("policy", "says"), [("error500", "could not load"), ("not_pulled", "ollama pull"), ("html", "proxy")]
)
def test_each_fault_of_the_server_has_its_own_words(
    toy_shop: Path, scripted: StartScripted, policy: str, says: str
) -> None:
    code, outcome = fix(toy_shop, TWO_PART, *model(scripted(policy)), said=()).end()
    assert (code, outcome["outcome"]) == (3, "setup_problem")
    assert says in outcome["explanation"]
    assert "\n" not in outcome["explanation"]


def test_no_server_is_said_in_one_line_with_the_command(toy_shop: Path) -> None:
    run = fix(toy_shop, TWO_PART, "--model", "ollama:qwen2.5:3b", "--base-url", "http://127.0.0.1:9", said=())
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (3, "setup_problem")
    assert "`ollama serve`" in outcome["explanation"]


def test_a_read_only_file_keeps_its_content_and_the_fix_is_not_lost(
    toy_shop: Path, scripted: StartScripted
) -> None:
    cart = toy_shop / "shop/cart.py"
    cart.chmod(0o444)
    before = contents(toy_shop)
    run = fix(toy_shop, TWO_PART, "--approval", "never", *model(scripted("direct")), said=())
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (3, "setup_problem")
    assert "read-only" in outcome["explanation"]
    failed = [result for result in run.of("result") if result["summary"].startswith("not written")]
    assert [result["ok"] for result in failed] == [False]
    assert contents(toy_shop) == before
    assert {partial["path"] for partial in outcome["partial"]} == {"shop/cart.py", "shop/discounts.py"}


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("tests/test_cart.py::test_adding_mor", "did you mean"),
        ("tests/nope.py", "no such file"),
        ("tests/test_discounts.py::test_offers_between_the_thresholds[nope]", "no test"),
    ],
)
def test_a_target_that_does_not_exist_is_wrong_usage(toy_shop: Path, target: str, says: str) -> None:
    run = fix(toy_shop, target, "--model", "builtin")
    code, outcome = run.end()
    assert code == 2
    assert says in outcome["explanation"].lower()


def test_a_test_file_that_does_not_parse_is_a_setup_problem(toy_shop: Path) -> None:
    (toy_shop / "tests/test_broken.py").write_text("def test_a(:\n    pass\n")
    code, outcome = fix(toy_shop, "tests/test_broken.py::test_a", "--model", "builtin").end()
    assert (code, outcome["outcome"]) == (3, "setup_problem")
    assert "tests/test_broken.py" in outcome["explanation"]
    assert "line 1" in outcome["explanation"]


def test_a_second_run_on_the_same_folder_waits_and_says_so(toy_shop: Path, scripted: StartScripted) -> None:
    first = Run(toy_shop, TWO_PART, *model(scripted("direct")))
    proposal = first.wait_for("proposal")
    second = Run(toy_shop, HARD, "--model", "builtin")
    assert "waits for its turn" in second.wait_for("note")["text"]
    assert not second.of("started")
    first.say({"decision": "reject", "proposal": proposal["id"]}, {"cancel": True})
    assert first.end()[1]["outcome"] == "cancelled"
    second.wait_for("started")
    second.say({"cancel": True})
    assert second.end()[1]["outcome"] == "cancelled"


def test_a_model_that_is_not_pulled_is_pulled_when_the_person_says_so(
    toy_shop: Path, scripted: StartScripted
) -> None:
    run = Run(toy_shop, TWO_PART, "--interactive", *model(scripted("pull")))
    question = run.wait_for("question")
    assert question["kind"] == "pull"
    assert "qwen2.5:3b" in question["text"]
    run.say({"answer": "Pull", "question": question["id"]}, ACCEPT_ALL)
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (0, "fixed")
    assert any(event.get("percent") for event in run.of("progress"))


# -- afterwards ---------------------------------------------------------------------------------------


def regreen(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "regreen", *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT / "server")},
    )


def test_undo_takes_back_exactly_what_the_run_wrote(toy_shop: Path) -> None:
    before = contents(toy_shop)
    fix(toy_shop, TWO_PART, "--model", "builtin").end()
    assert contents(toy_shop) != before
    elsewhere = regreen(toy_shop.parent, "undo")
    assert elsewhere.returncode == 2
    assert str(toy_shop) in elsewhere.stderr
    undone = regreen(toy_shop, "undo")
    assert undone.returncode == 0, undone.stderr
    assert contents(toy_shop) == before


def test_a_trace_replays_the_same_run_without_a_model_and_without_touching_the_workspace(
    toy_shop: Path, scripted: StartScripted
) -> None:
    _, outcome = fix(toy_shop, TWO_PART, *model(scripted("twopart"))).end()
    after = contents(toy_shop)
    replayed = regreen(toy_shop, "replay", outcome["trace"], "--json")
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr
    assert json.loads(replayed.stdout)["same"] is True
    assert contents(toy_shop) == after


def test_a_run_goes_on_from_the_best_state_of_an_earlier_one(toy_shop: Path, scripted: StartScripted) -> None:
    options = ("--approval", "never", *model(scripted("direct")))
    code, first = fix(toy_shop, TWO_PART, "--max-steps", "1", *options, said=()).end()
    assert (code, first["outcome"]) == (1, "budget")
    assert [partial["path"] for partial in first["partial"]] == ["shop/cart.py"]
    assert f"--resume {first['run']}" in first["summary"]
    code, second = fix(toy_shop, TWO_PART, "--resume", first["run"], *options, said=()).end()
    assert (code, second["outcome"]) == (0, "fixed")
    assert passes(toy_shop, "tests/test_cart.py")


def test_show_renders_a_run(toy_shop: Path) -> None:
    _, outcome = fix(toy_shop, TWO_PART, "--model", "builtin").end()
    shown = regreen(toy_shop, "show", outcome["run"])
    assert shown.returncode == 0
    assert "Step 1" in shown.stdout
    assert "+= quantity" in shown.stdout


def test_the_tests_of_a_folder_are_listed(toy_shop: Path) -> None:
    listed = regreen(toy_shop, "tests", ".", "--json", "--python", person_python())
    assert listed.returncode == 0
    found = json.loads(listed.stdout)
    assert TWO_PART in found["tests"]
    assert len(found["tests"]) == 15


def test_a_folder_without_tests_is_said(tmp_path: Path) -> None:
    listed = regreen(tmp_path, "tests", ".", "--python", person_python())
    assert listed.returncode == 0
    assert "There are no tests" in listed.stderr
