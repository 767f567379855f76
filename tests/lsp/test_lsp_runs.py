"""Runs as a client sees them: events, proposals, decisions, queue, buffers, and bad ends."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lsp.wire_client import FULL, Client, Message, received

Serve = Callable[..., Client]
TEST = "test_adding_more_of_a_product_reaches_the_offer"
PREVIEW = {"review": "preview"}


def applied(client: Client) -> None:
    """A person who says yes to everything, in an editor that does as it is told."""
    client.answers["window/showMessageRequest"] = lambda m: m["params"]["actions"][0]
    client.answers["workspace/applyEdit"] = client.apply


def decisions(log: Path) -> list[Any]:
    return [message for message in received(log) if "decision" in message]


def command_line(log: Path) -> list[str]:
    return next(line["argv"] for line in map(json.loads, log.read_text().splitlines()) if "argv" in line)


# --- starting ------------------------------------------------------------------------------------------


def test_fix_is_answered_at_once_and_the_run_gets_the_whole_target(
    serve: Serve, toy_shop: Path, test_cart: Path, log: Path
) -> None:
    client = serve("crash")
    client.initialize(
        toy_shop, options={"model": "builtin", "maxSteps": 7, "interpreter": "/usr/bin/python3"}
    )
    uri = client.open(test_cart)
    (action,) = client.actions(uri, 24) or []
    reply = client.execute(action["command"]["command"], *action["command"]["arguments"])["result"]
    assert reply == {"run": reply["run"], "queued": False}
    client.outcome(reply["run"])
    arguments = command_line(log)
    assert arguments[:2] == ["fix", f"tests/test_cart.py::{TEST}"]
    options = dict(itertools.pairwise(arguments))
    assert options["--workspace"] == str(toy_shop)
    assert (options["--model"], options["--max-steps"], options["--writes"]) == ("builtin", "7", "editor")
    assert (options["--python"], options["--approval"], options["--seal"]) == (
        "/usr/bin/python3",
        "everyEdit",
        "require",
    )


@pytest.mark.parametrize(
    ("argument", "target"),
    [
        ({"names": ["TestA", "test_b[x::y-1]"]}, "tests/test_cart.py::TestA::test_b[x::y-1]"),
        (
            {"target": "tests/test_cart.py::TestA::test_b[x::y-1]"},
            "tests/test_cart.py::TestA::test_b[x::y-1]",
        ),
        ({"target": "test_cart.py:25"}, f"tests/test_cart.py::{TEST}"),
        ({"target": "tests/test_cart.py"}, "tests/test_cart.py"),
        ({}, "tests/test_cart.py"),
    ],
)
def test_every_way_to_name_a_target(
    serve: Serve, toy_shop: Path, test_cart: Path, log: Path, argument: Message, target: str
) -> None:
    client = serve("crash")
    client.initialize(toy_shop)
    uri = client.open(test_cart)
    run = client.execute("regreen.fix", {"uri": uri, **argument})["result"]["run"]
    client.outcome(run)
    assert command_line(log)[1] == target


def test_settings_can_change_and_a_bad_one_is_said_and_ignored(
    serve: Serve, toy_shop: Path, test_cart: Path, log: Path
) -> None:
    client = serve("crash")
    client.initialize(toy_shop, options={"maxSteps": "many", "approval": "sometimes", "model": None})
    new = {"model": "ollama:x", "maxTokens": 5000, "seal": 3, "unknown": 1}
    client.notify("workspace/didChangeConfiguration", {"settings": {"regreen": new}})
    client.notify("workspace/didChangeConfiguration", {"settings": None})
    client.outcome(client.fix(client.open(test_cart), TEST))
    arguments = command_line(log)
    options = dict(itertools.pairwise(arguments))
    assert (options["--model"], options["--max-tokens"], options["--max-steps"]) == ("ollama:x", "5000", "12")
    ignored = [m["message"] for m in client.all("window/logMessage") if "ignored" in m["message"]]
    assert len(ignored) == 3


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("untitled:Untitled-1", "Save the file first"),
        ("vscode-notebook-cell:/x/a.ipynb#W0", "notebooks"),
        ("file:///nowhere/test_x.py", "Save test_x.py first"),
        ("git:/x/test_x.py", "Only files on this machine"),
        (None, "Put the cursor into a test"),
    ],
)
def test_what_cannot_be_run_is_said_in_one_line(
    serve: Serve, tmp_path: Path, uri: str | None, said: str
) -> None:
    client = serve()
    client.initialize(tmp_path)
    reply = client.execute("regreen.fix", {"uri": uri, "names": ["test_x"]})["result"]
    assert reply["run"] is None
    shown = client.notified("window/showMessage")
    assert said in shown["message"] and shown["type"] == 1 and "\n" not in shown["message"]
    client.execute("regreen.fix")
    client.execute("regreen.fix", 5, [1])
    assert client.close() == 0


def test_the_home_folder_is_refused_as_a_workspace(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    test = tmp_path / "test_x.py"
    test.write_text("def test_x():\n    assert 0\n")
    client = serve()
    client.initialize(tmp_path)
    assert client.execute("regreen.fix", {"uri": test.as_uri(), "names": ["test_x"]})["result"]["run"] is None
    assert client.notified("window/showMessage", type=1)["message"].startswith("Regreen: ")


def test_the_innermost_folder_of_the_window_is_the_workspace(
    serve: Serve, toy_shop: Path, test_cart: Path, log: Path
) -> None:
    client = serve("crash")
    client.initialize(toy_shop.parent, test_cart.parent, toy_shop)
    client.outcome(client.fix(client.open(test_cart), TEST))
    options = command_line(log)
    assert options[1] == f"test_cart.py::{TEST}"
    assert options[options.index("--workspace") + 1] == str(test_cart.parent)


def test_a_file_outside_every_folder_gets_its_own_project_as_workspace(
    serve: Serve, toy_shop: Path, test_cart: Path, log: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    client = serve("crash")
    client.initialize(elsewhere)
    client.outcome(client.fix(client.open(test_cart), TEST))
    options = command_line(log)
    assert options[options.index("--workspace") + 1] == str(toy_shop)


# --- events --------------------------------------------------------------------------------------------


def test_each_event_arrives_with_the_run_and_the_progress_shows_the_budget(
    serve: Serve, toy_shop: Path, test_cart: Path
) -> None:
    client = serve("wait")
    client.initialize(toy_shop)
    run = client.fix(client.open(test_cart), TEST)
    assert client.notified("regreen/step", event="started", run=run)["record"] == "rec-1"
    assert client.notified("regreen/step", event="evidence", run=run)["failure"]["message"] == "assert 1 == 2"
    assert client.notified("regreen/budget", run=run)["max_steps"] == 12
    assert client.notified("regreen/step", event="step", run=run)["n"] == 1
    begin = client.wait(lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "begin")
    assert begin["params"]["value"]["cancellable"] is True
    report = client.wait(
        lambda m: (
            m.get("method") == "$/progress" and "step 1 of 12" in m["params"]["value"].get("message", "")
        )
    )["params"]
    assert report["value"]["message"] == f"{TEST}: step 1 of 12 · 4k tokens · 3 s"
    assert "percentage" not in report["value"]
    assert client.execute("regreen.extend", {"run": run, "steps": 6})["result"] == {"extended": True}
    assert client.outcome(run)["outcome"] == "budget"
    client.wait(lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "end")
    assert any("the test fails: AssertionError" in m["message"] for m in client.all("window/logMessage"))
    assert client.execute("regreen.extend", {"run": run, "steps": 6})["result"] == {"extended": False}


def test_a_client_without_progress_is_not_bothered_with_it(
    serve: Serve, toy_shop: Path, test_cart: Path
) -> None:
    client = serve("crash")
    client.initialize(toy_shop, capabilities={})
    client.outcome(client.fix(client.open(test_cart), TEST))
    assert not client.all("window/workDoneProgress/create") and not client.all("$/progress")
    shown = client.notified("window/showMessage")
    assert "ZeroDivisionError: division by zero" in shown["message"] and "\n" not in shown["message"]


def test_endless_text_is_bundled_and_the_server_stays_quick(
    serve: Serve, toy_shop: Path, test_cart: Path
) -> None:
    client = serve("endless")
    client.initialize(toy_shop)
    uri = client.open(test_cart)
    run = client.fix(uri, TEST)
    client.notified("regreen/step", event="text")
    for _ in range(5):
        assert client.actions(uri, 24)
    client.execute("regreen.cancel", {"run": run})
    client.outcome(run)
    pieces = [m for m in client.all("regreen/step") if m["event"] == "text"]
    assert max(len(piece["delta"]) for piece in pieces) > 1000


@pytest.mark.parametrize(
    ("scenario", "outcome", "said"),
    [
        ("crash", "error", "ZeroDivisionError: division by zero"),
        ("usage", "error", "no such test: test_gone"),
        ("junk", "stuck", ""),
        ("outside", "rejected", "outside the folder"),
        ("several", "stuck", ""),
    ],
)
def test_every_end_of_a_run_is_an_outcome(
    serve: Serve, toy_shop: Path, test_cart: Path, scenario: str, outcome: str, said: str
) -> None:
    client = serve(scenario)
    client.initialize(toy_shop, options=PREVIEW)
    run = client.fix(client.open(test_cart), TEST)
    end = client.outcome(run, timeout=30)
    assert end["outcome"] == outcome and said in end["explanation"]
    assert client.close() == 0
    assert len(client.all("regreen/outcome")) == 1
    assert not client.all("window/showMessage")  # our own client shows outcomes itself


def test_a_run_program_that_does_not_exist_is_an_error_in_one_line(
    toy_shop: Path, test_cart: Path, tmp_path: Path
) -> None:
    client = Client(env={"REGREEN_RUN_COMMAND": '["/no/such/program"]'})
    client.initialize(toy_shop)
    end = client.outcome(client.fix(client.open(test_cart), TEST))
    assert end["outcome"] == "error" and "could not be started" in end["explanation"]
    assert client.close() == 0


# --- the queue -----------------------------------------------------------------------------------------


def test_a_second_run_in_the_folder_waits_and_says_so(serve: Serve, toy_shop: Path, test_cart: Path) -> None:
    client = serve("wait")
    client.initialize(toy_shop)
    uri = client.open(test_cart)
    first = client.fix(uri, TEST)
    client.notified("regreen/step", event="step", run=first)
    reply = client.execute("regreen.fix", {"uri": uri, "names": ["test_lines_keep_their_order"]})["result"]
    assert reply["queued"] is True
    second = reply["run"]
    assert client.notified("regreen/queue", run=second)["position"] == 1
    assert "waits until" in client.notified("window/showMessage")["message"]
    third = client.fix(uri, "test_an_empty_cart_costs_nothing")
    assert client.notified("regreen/queue", run=third)["position"] == 2
    client.execute("regreen.cancel", {"run": second})
    assert client.outcome(second)["outcome"] == "cancelled"
    client.notified("regreen/queue", run=third, position=1)
    client.execute("regreen.extend", {"run": first, "steps": 1})
    assert client.outcome(first)["outcome"] == "budget"
    client.notified("regreen/step", event="started", run=third)
    client.execute("regreen.cancel")
    assert client.outcome(third)["outcome"] == "cancelled"
    assert not [m for m in client.all("regreen/step") if m["run"] == second]


def test_runs_of_two_folders_go_side_by_side(
    serve: Serve, toy_shop: Path, test_cart: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    test = other / "test_o.py"
    test.write_text("def test_o():\n    assert 0\n")
    client = serve("wait")
    client.initialize(toy_shop, other)
    one = client.fix(client.open(test_cart), TEST)
    two = client.fix(client.open(test), "test_o")
    client.notified("regreen/step", event="step", run=one)
    client.notified("regreen/step", event="step", run=two)
    assert not client.all("regreen/queue")


# --- proposals: every client but ours ------------------------------------------------------------------


def test_accepting_edits_of_an_open_file_changes_the_buffer_and_not_the_disk(
    serve: Serve, toy_shop: Path, test_cart: Path, cart: Path, log: Path
) -> None:
    client = serve("one_edit")
    client.initialize(toy_shop)
    applied(client)
    before = cart.read_text()
    uri = client.open(cart)
    run = client.fix(client.open(test_cart), TEST)
    end = client.outcome(run)
    assert end["outcome"] == "fixed"
    question = client.notified("window/showMessageRequest")
    assert "Add to the quantity. (target passes, 41 of 41 tests pass, confidence high)" in question["message"]
    assert "+= quantity" in question["message"]
    assert [action["title"] for action in question["actions"]] == ["Apply", "Reject"]
    edit = client.notified("workspace/applyEdit")
    assert "changeAnnotations" not in edit["edit"]
    assert [c["textDocument"]["version"] for c in edit["edit"]["documentChanges"]] == [1]
    (change,) = edit["edit"]["documentChanges"][0]["edits"]
    assert "annotationId" not in change and change["newText"].count("\n") == 1
    (decision,) = decisions(log)
    assert decision["decision"] == "accept" and decision["files"] == {"shop/cart.py": client.texts[uri]}
    assert cart.read_text() == before != client.texts[uri]
    assert "Save shop/cart.py to keep the edit." in client.notified("window/showMessage")["message"]


def test_a_file_that_is_not_open_is_written_by_the_run(
    serve: Serve, toy_shop: Path, test_cart: Path, cart: Path, log: Path
) -> None:
    client = serve("one_edit")
    client.initialize(toy_shop)
    applied(client)
    assert client.outcome(client.fix(client.open(test_cart), TEST))["outcome"] == "fixed"
    (decision,) = decisions(log)
    assert (decision["decision"], decision["files"], decision["write"]) == ("accept", {}, ["shop/cart.py"])
    assert "+= quantity" in cart.read_text()
    assert not client.all("workspace/applyEdit")
    assert "Save" not in client.notified("window/showMessage")["message"]


def test_a_proposal_of_two_files_is_applied_where_it_is_open_and_written_where_not(
    serve: Serve, toy_shop: Path, test_cart: Path, cart: Path, log: Path
) -> None:
    client = serve("two_files")
    client.initialize(toy_shop)
    applied(client)
    uri = client.open(cart)
    assert client.outcome(client.fix(client.open(test_cart), TEST))["outcome"] == "fixed"
    (decision,) = decisions(log)
    assert decision["files"] == {"shop/cart.py": client.texts[uri]} and decision["write"] == [
        "shop/discounts.py"
    ]
    assert ">= threshold" in (toy_shop / "shop" / "discounts.py").read_text()


def test_a_fix_in_two_proposals(serve: Serve, toy_shop: Path, test_cart: Path, cart: Path, log: Path) -> None:
    client = serve("fix_in_two")
    client.initialize(toy_shop)
    applied(client)
    client.open(cart)
    client.open(toy_shop / "shop" / "discounts.py")
    assert client.outcome(client.fix(client.open(test_cart), TEST))["outcome"] == "fixed"
    assert [d["decision"] for d in decisions(log)] == ["accept", "accept"]
    assert len(client.all("workspace/applyEdit")) == 2


@pytest.mark.parametrize(
    "answer", [None, {}, {"title": "Reject"}, {"error": {"code": 32000, "message": "quit"}}]
)
def test_everything_but_apply_rejects_and_the_run_goes_on(
    serve: Serve, toy_shop: Path, test_cart: Path, cart: Path, log: Path, answer: Any
) -> None:
    client = serve("rejected_then_other")
    client.initialize(toy_shop)
    applied(client)
    answers = iter([answer])
    client.answers["window/showMessageRequest"] = lambda m: next(answers, m["params"]["actions"][0])
    uri = client.open(cart)
    assert client.outcome(client.fix(client.open(test_cart), TEST))["outcome"] == "fixed"
    assert [d["decision"] for d in decisions(log)] == ["reject", "accept"]
    assert "+= quantity" in client.texts[uri] and "99" not in client.texts[uri]


def test_an_editor_that_drops_the_edit_and_says_it_applied_it_is_not_believed(
    serve: Serve, toy_shop: Path, test_cart: Path, cart: Path, log: Path
) -> None:
    client = serve("one_edit")
    client.initialize(toy_shop)
    applied(client)
    client.answers["workspace/applyEdit"] = lambda _: {"applied": True}
    client.open(cart)
    assert client.outcome(client.fix(client.open(test_cart), TEST))["outcome"] == "rejected"
    (decision,) = decisions(log)
    assert decision["decision"] == "reject" and "did not change the file" in decision["reason"]


def test_an_editor_that_answers_before_it_reports_the_change_is_waited_for(
    serve: Serve, toy_shop: Path, test_cart: Path, cart: Path, log: Path
) -> None:
    import threading

    client = serve("one_edit")
    client.initialize(toy_shop)
    applied(client)
    uri = client.open(cart)

    def late(message: Message) -> Message:
        threading.Timer(0.3, client.apply, [message]).start()
        return {"applied": True}

    client.answers["workspace/applyEdit"] = late
    assert client.outcome(client.fix(client.open(test_cart), TEST))["outcome"] == "fixed"
    assert decisions(log)[0]["files"] == {"shop/cart.py": client.texts[uri]}


def test_what_the_person_typed_into_the_edit_makes_it_partly(
    serve: Serve, toy_shop: Path, test_cart: Path, cart: Path, log: Path
) -> None:
    client = serve("one_edit")
    client.initialize(toy_shop)
    applied(client)
    uri = client.open(cart)

    def own(message: Message) -> Message:
        client.apply(message)
        client.change(uri, client.texts[uri] + "# mine\n")
        return {"applied": True}

    client.answers["workspace/applyEdit"] = own
    client.outcome(client.fix(client.open(test_cart), TEST))
    (decision,) = decisions(log)
    assert decision["decision"] == "partly" and decision["files"]["shop/cart.py"].endswith("# mine\n")


def test_a_file_that_was_typed_in_while_the_question_stood_is_left_alone(
    serve: Serve, toy_shop: Path, test_cart: Path, cart: Path, log: Path
) -> None:
    client = serve("one_edit")
    client.initialize(toy_shop)
    applied(client)
    uri = client.open(cart)

    def type_then_apply(message: Message) -> Message:
        client.change(uri, "# typed\n" + client.texts[uri])
        return message["params"]["actions"][0]

    client.answers["window/showMessageRequest"] = type_then_apply
    assert client.outcome(client.fix(client.open(test_cart), TEST))["outcome"] == "rejected"
    (decision,) = decisions(log)
    assert "was changed while" in decision["reason"]
    assert not client.all("workspace/applyEdit")


def test_a_long_diff_is_cut_and_says_how_much_is_missing(
    serve: Serve, toy_shop: Path, test_cart: Path, cart: Path
) -> None:
    cart.write_text("\n".join(f"a{n} = quantity" for n in range(30)) + "\n")
    client = serve("one_edit")
    client.initialize(toy_shop)
    applied(client)
    client.outcome(client.fix(client.open(test_cart), TEST))
    message = client.notified("window/showMessageRequest")["message"]
    assert "… 39 more lines; the whole diff is in the log" in message
    assert any("+a29 += quantity" in m["message"] for m in client.all("window/logMessage"))


def test_line_ends_that_the_editor_hides_come_back(
    serve: Serve, toy_shop: Path, test_cart: Path, cart: Path, log: Path
) -> None:
    """Emacs and old Neovim show a CR LF file with LF: the edit fits the buffer, the run hears CR LF."""
    crlf = cart.read_text().replace("\n", "\r\n")
    cart.write_bytes(crlf.encode())
    client = serve("one_edit")
    client.initialize(toy_shop)
    applied(client)
    uri = client.open(cart, crlf.replace("\r\n", "\n"))
    assert client.outcome(client.fix(client.open(test_cart), TEST))["outcome"] == "fixed"
    assert "\r" not in client.texts[uri]
    assert len(client.all("workspace/applyEdit")[0]["edit"]["documentChanges"][0]["edits"]) == 1
    (decision,) = decisions(log)
    assert decision["decision"] == "accept"
    assert decision["files"]["shop/cart.py"] == crlf.replace("= quantity", "+= quantity")
    assert received(log)[0] == {"buffers": {}}


# --- proposals: our own client -------------------------------------------------------------------------


def decide(client: Client, kind: str, tell: bool = True, text: str | None = None) -> None:
    """Play our extension: decide, apply if accepted, notify, then answer."""

    def answer(message: Message) -> Message:
        (proposal,) = message["params"]["edit"]["changeAnnotations"]
        change = message["params"]["edit"]["documentChanges"][-1]
        uri = change["textDocument"]["uri"]
        if kind != "reject":
            client.apply(message)
            if text is not None:
                client.change(uri, text)
        files = {uri: client.texts[uri]} if kind != "reject" else {}
        if tell:
            params = {"proposal": proposal, "decision": kind, "reason": "because", "files": files}
            client.notify("regreen/decision", params)
        return {"applied": kind != "reject"}

    client.answers["workspace/applyEdit"] = answer


def test_our_client_gets_the_proposal_annotated_and_before_the_edit(
    serve: Serve, toy_shop: Path, test_cart: Path, cart: Path, log: Path
) -> None:
    client = serve("one_edit")
    client.initialize(toy_shop, options=PREVIEW)
    decide(client, "accept")
    run = client.fix(client.open(test_cart), TEST)
    assert client.outcome(run)["outcome"] == "fixed"
    order = [
        m["method"] for m in client.messages if m.get("method") in ("regreen/proposal", "workspace/applyEdit")
    ]
    assert order == ["regreen/proposal", "workspace/applyEdit"]
    proposal = client.notified("regreen/proposal", run=run)["proposal"]
    (file,) = proposal["files"]
    assert (file["path"], file["uri"]) == ("shop/cart.py", cart.as_uri())
    assert (
        proposal["why"] and proposal["confidence"] == "high" and file["base_sha256"] and "@@" in file["diff"]
    )
    edit = client.notified("workspace/applyEdit")["edit"]
    assert edit["changeAnnotations"][proposal["id"]]["needsConfirmation"] is True
    assert edit["documentChanges"][0]["textDocument"] == {"uri": cart.as_uri(), "version": None}
    assert all(e["annotationId"] == proposal["id"] for e in edit["documentChanges"][0]["edits"])
    (decision,) = decisions(log)
    assert decision["decision"] == "accept" and decision["files"] == {
        "shop/cart.py": client.texts[cart.as_uri()]
    }
    assert "write" not in decision
    assert not client.all("window/showMessageRequest")


def test_our_client_rejects_with_a_reason(serve: Serve, toy_shop: Path, test_cart: Path, log: Path) -> None:
    client = serve("one_edit")
    client.initialize(toy_shop, options=PREVIEW)
    decide(client, "reject")
    assert client.outcome(client.fix(client.open(test_cart), TEST))["outcome"] == "rejected"
    assert decisions(log) == [{"decision": "reject", "proposal": "p1", "reason": "because"}]


def test_our_client_keeps_a_part(
    serve: Serve, toy_shop: Path, test_cart: Path, cart: Path, log: Path
) -> None:
    client = serve("one_edit")
    client.initialize(toy_shop, options=PREVIEW)
    client.open(cart)
    decide(client, "partly", text="only = this\n")
    client.outcome(client.fix(client.open(test_cart), TEST))
    (decision,) = decisions(log)
    assert (decision["decision"], decision["files"]) == ("partly", {"shop/cart.py": "only = this\n"})


@pytest.mark.parametrize(("kind", "decision"), [("accept", "accept"), ("reject", "reject")])
def test_a_preview_that_says_nothing_is_judged_by_content(
    serve: Serve, toy_shop: Path, test_cart: Path, cart: Path, log: Path, kind: str, decision: str
) -> None:
    client = serve("one_edit")
    client.initialize(toy_shop, options=PREVIEW)
    client.open(cart)
    decide(client, kind, tell=False)
    client.outcome(client.fix(client.open(test_cart), TEST))
    assert [d["decision"] for d in decisions(log)] == [decision]


def test_a_new_file_is_created_and_filled(serve: Serve, toy_shop: Path, test_cart: Path, log: Path) -> None:
    client = serve("new_file")
    client.initialize(toy_shop, options=PREVIEW)
    decide(client, "accept")
    client.outcome(client.fix(client.open(test_cart), TEST))
    changes = client.notified("workspace/applyEdit")["edit"]["documentChanges"]
    assert [change.get("kind", "edit") for change in changes] == ["create", "edit"]
    assert decisions(log)[0]["files"] == {"shop/extra.py": "ANSWER = 42\n"}


def test_a_new_file_for_another_client_is_written_by_the_run(
    serve: Serve, toy_shop: Path, test_cart: Path
) -> None:
    client = serve("new_file")
    client.initialize(toy_shop)
    applied(client)
    assert client.outcome(client.fix(client.open(test_cart), TEST))["outcome"] == "fixed"
    assert (toy_shop / "shop" / "extra.py").read_text() == "ANSWER = 42\n"


def test_without_approval_the_run_writes_and_nobody_is_asked(
    serve: Serve, toy_shop: Path, test_cart: Path, log: Path
) -> None:
    client = serve("crash")
    client.initialize(toy_shop, options={"approval": "never"})
    client.outcome(client.fix(client.open(test_cart), TEST))
    arguments = command_line(log)
    assert arguments[arguments.index("--writes") + 1] == "self"
    assert not client.all("window/showMessageRequest")


# --- unsaved text --------------------------------------------------------------------------------------


def test_unsaved_text_reaches_the_run_when_it_starts_when_it_changes_and_when_it_is_saved(
    serve: Serve, toy_shop: Path, test_cart: Path, cart: Path, log: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("x = 1\n")
    client = serve("until_buffer")
    client.initialize(toy_shop)
    cart_uri, test_uri = client.open(cart), client.open(test_cart)
    client.change(client.open(outside), "x = 2\n")
    client.change(test_uri, client.texts[test_uri] + "# unsaved\n")
    run = client.fix(test_uri, TEST)
    client.notified("regreen/step", event="step")
    client.save(test_uri, test_cart)
    client.change(cart_uri, "# DONE\n")
    client.outcome(run)
    buffers = [m["buffers"] for m in received(log)]
    assert buffers[0] == {"tests/test_cart.py": client.texts[test_uri]}
    assert {k: v for b in buffers[1:] for k, v in b.items()} == {
        "tests/test_cart.py": None,
        "shop/cart.py": "# DONE\n",
    }


def test_a_proposal_is_made_from_unsaved_text_and_leaves_it_unsaved(
    serve: Serve, toy_shop: Path, test_cart: Path, cart: Path, log: Path
) -> None:
    client = serve("one_edit")
    client.initialize(toy_shop)
    applied(client)
    uri = client.open(cart)
    client.change(uri, "# mine, not saved\n" + client.texts[uri])
    assert client.outcome(client.fix(client.open(test_cart), TEST))["outcome"] == "fixed"
    assert client.texts[uri].startswith("# mine, not saved\n") and "+= quantity" in client.texts[uri]
    assert "# mine" not in cart.read_text()
    assert "Save" not in client.notified("window/showMessage")["message"]  # it was unsaved before


def test_undo_goes_to_the_run_program_with_the_record_of_the_run(
    serve: Serve, toy_shop: Path, test_cart: Path, log: Path
) -> None:
    client = serve("junk")
    client.initialize(toy_shop, capabilities=FULL)
    run = client.fix(client.open(test_cart), TEST)
    client.outcome(run, timeout=30)
    client.wait(lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "end")
    assert client.execute("regreen.undo", {"run": run})["result"] == {"run": "rec-1"}
    client.notified("window/showMessage", message="Regreen: took back rec-1")

    assert client.execute("regreen.undo", {"run": run, "paths": ["shop/cart.py"]})["result"] == {
        "run": "rec-1"
    }
    client.notified("window/showMessage", message="Regreen: took back rec-1 ./shop/cart.py")
    for none in ([], None, "shop/cart.py"):
        refused = client.execute("regreen.undo", {"run": run, "paths": none})["result"]
        assert refused["error"] == "No file was chosen, so nothing is taken back."
