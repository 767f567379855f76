"""A task in words, and what else a person is told before they decide, as a client sees it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from environments import person_python
from lsp.wire_client import Client, Message
from scripted.fixtures import scripted

__all__ = ["scripted"]

Serve = Callable[..., Client]
TEST = "test_adding_more_of_a_product_reaches_the_offer"
TASK = "There is a bug in shop/cart.py, find and fix it"


def command_line(log: Path) -> list[str]:
    return next(line["argv"] for line in map(json.loads, log.read_text().splitlines()) if "argv" in line)


def ask(client: Client, **arguments: Any) -> Message:
    return client.execute("regreen.ask", arguments)["result"]


@pytest.mark.parametrize("text", [TASK, f"  {TASK}\n", "-1 is not handled: mend it", "zwei\nZeilen “ü”"])
def test_a_task_reaches_the_run_as_it_was_typed(serve: Serve, toy_shop: Path, log: Path, text: str) -> None:
    client = serve("fake_task")
    client.initialize(toy_shop, options={"model": "ollama:x", "maxSteps": 7})
    reply = ask(client, text=text)
    assert reply == {"run": reply["run"], "queued": False}
    outcome = client.outcome(reply["run"])
    assert outcome["target"] == text.strip()
    arguments = command_line(log)
    assert (arguments[0], arguments[1].strip()) == ("ask", text.strip())
    assert not arguments[1].startswith("-"), "no option"
    options = dict(itertools.pairwise(arguments))
    assert options["--workspace"] == str(toy_shop)
    assert (options["--model"], options["--max-steps"], options["--writes"]) == ("ollama:x", "7", "editor")
    assert "--unlock-tests" not in arguments


def test_a_bare_text_is_a_task_too(serve: Serve, toy_shop: Path, log: Path) -> None:
    client = serve("fake_task")
    client.initialize(toy_shop)
    run = client.execute("regreen.ask", TASK)["result"]["run"]
    assert client.outcome(run)["target"] == TASK


def test_tests_are_unlocked_for_one_run_and_by_a_plain_true_alone(
    serve: Serve, toy_shop: Path, test_cart: Path, log: Path
) -> None:
    client = serve("fake_task")
    client.initialize(toy_shop)
    uri = client.open(test_cart)
    for number, (command, arguments, unlocked) in enumerate(
        [
            ("regreen.ask", {"text": TASK, "unlockTests": True}, True),
            ("regreen.ask", {"text": TASK}, False),
            ("regreen.ask", {"text": TASK, "unlockTests": "yes"}, False),
            ("regreen.fix", {"uri": uri, "names": [TEST], "unlockTests": True}, True),
            ("regreen.fix", {"uri": uri, "names": [TEST], "unlockTests": 1}, False),
        ]
    ):
        log.unlink(missing_ok=True)
        client.outcome(client.execute(command, arguments)["result"]["run"])
        assert ("--unlock-tests" in command_line(log)) is unlocked, number


def test_a_run_goes_on_from_the_record_of_an_earlier_one(
    serve: Serve, toy_shop: Path, test_cart: Path, log: Path
) -> None:
    client = serve("fake_task")
    client.initialize(toy_shop)
    target = {"uri": client.open(test_cart), "names": [TEST]}
    client.outcome(client.execute("regreen.fix", {**target, "resume": "20261129-abc"})["result"]["run"])
    assert dict(itertools.pairwise(command_line(log)))["--resume"] == "20261129-abc"
    for resume in ("../../etc", "-x", "/tmp/trace.jsonl", 5, ["a"]):
        reply = client.execute("regreen.fix", {**target, "resume": resume})["result"]
        assert reply["run"] is None and "not the name of an earlier run" in reply["error"]


def test_the_folder_of_a_task_is_the_one_that_is_meant(
    serve: Serve, toy_shop: Path, tmp_path: Path, log: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    client = serve("fake_task")
    client.initialize(toy_shop, other)
    said = ask(client, text=TASK)
    assert said["run"] is None and "Say which folder is meant" in said["error"]
    for uri, folder in (
        (other.as_uri(), other),
        ((toy_shop / "shop" / "cart.py").as_uri(), toy_shop),
        ((toy_shop / "shop").as_uri(), toy_shop),
    ):
        log.unlink(missing_ok=True)
        client.outcome(ask(client, text=TASK, uri=uri)["run"])
        assert dict(itertools.pairwise(command_line(log)))["--workspace"] == str(folder)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "Say in words what to do"),
        ({"text": "  \n"}, "Say in words what to do"),
        ({"text": 7}, "Say in words what to do"),
        ({"text": "a\0b"}, "NUL"),
        ({"text": TASK, "uri": "untitled:Untitled-1"}, "Only folders on this machine"),
        ({"text": TASK, "uri": "file:///nowhere/at/all"}, "There is no /nowhere/at/all"),
    ],
)
def test_a_task_that_cannot_be_run_is_said_in_one_line(
    serve: Serve, toy_shop: Path, arguments: dict[str, Any], said: str
) -> None:
    client = serve()
    client.initialize(toy_shop)
    assert ask(client, **arguments)["run"] is None
    shown = client.notified("window/showMessage")
    assert said in shown["message"] and shown["type"] == 1 and "\n" not in shown["message"]


def test_a_task_without_a_folder_says_to_open_one(serve: Serve) -> None:
    client = serve()
    client.initialize()
    assert "Open the folder" in ask(client, text=TASK)["error"]
    assert client.execute("regreen.ask")["result"]["run"] is None
    assert client.execute("regreen.ask", 5, [1])["result"]["run"] is None


def test_a_model_on_the_wire_does_a_task_and_shows_what_it_checked(
    tmp_path: Path, scripted: Callable[..., Any]
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    bug = folder / "bug.py"
    bug.write_text("def mean(values):\n    return sum(values) / 2\n")
    client = Client(env={"REGREEN_STATE_DIR": str(tmp_path / "state")})
    try:
        settings = {"model": "ollama:qwen2.5:3b", "baseUrl": scripted("explorer").url, "seal": "prefer"}
        client.initialize(folder, options={**settings, "interpreter": person_python()})
        uri = client.open(bug)
        client.answers["window/showMessageRequest"] = lambda m: m["params"]["actions"][0]
        client.answers["workspace/applyEdit"] = client.apply
        outcome = client.outcome(ask(client, text="Find the bug in bug.py and fix it", uri=uri)["run"], 100)
        assert outcome["outcome"] == "not_verified"
        assert "divided by 2 instead of" in outcome["explanation"]
        assert "3.0" in outcome["summary"], "what run_python printed"
        assert [edit["path"] for edit in outcome["edits"]] == ["bug.py"]
        assert "len(values)" in client.texts[uri] and "/ 2" in bug.read_text(), (
            "the buffer is for the person to save"
        )
        (began,) = [m["value"] for m in client.all("$/progress") if m["value"]["kind"] == "begin"]
        assert began["title"] == "Work on a task"
    finally:
        client.kill()


# --- a test for what no test decides ----------------------------------------------------------------------


def test_a_test_is_written_by_a_code_action_in_a_file_that_was_changed(
    serve: Serve, toy_shop: Path, cart: Path, test_cart: Path, log: Path
) -> None:
    client = serve("untested")
    client.initialize(toy_shop)
    uri, other = client.open(cart), client.open(test_cart)
    assert client.actions(uri, 3) is None
    run = ask(client, text=TASK)["run"]
    assert client.outcome(run)["write_test"]["task"] == f"Write a test for {TASK}"
    said = client.notified("window/showMessage")["message"]
    assert "To have a test written, choose the code action" in said
    assert not any("Write" in a["title"] for a in client.actions(other, 0) or ())
    (action,) = client.actions(uri, 3) or []
    assert action["title"] == "Write a test for what Regreen changed"
    command = action["command"] if isinstance(action["command"], dict) else action
    assert command["command"] == "regreen.ask"
    log.unlink()
    reply = client.execute(command["command"], *command["arguments"])["result"]
    assert client.outcome(reply["run"])["record"] == "rec-1"
    arguments = command_line(log)
    assert arguments[:2] == ["ask", f"Write a test for {TASK}"]
    assert "--unlock-tests" in arguments
    options = dict(itertools.pairwise(arguments))
    assert (options["--resume"], options["--workspace"]) == ("rec-1", str(toy_shop))
    assert client.actions(uri, 3) is None, "once is enough"


def test_our_own_extension_has_a_button_and_needs_no_code_action(
    serve: Serve, toy_shop: Path, cart: Path
) -> None:
    client = serve("untested")
    client.initialize(toy_shop, options={"review": "preview"})
    uri = client.open(cart)
    run = ask(client, text=TASK)["run"]
    assert client.outcome(run)["write_test"]["resume"] == "rec-1"
    assert client.actions(uri, 3) is None


def test_a_task_goes_on_from_the_record_of_an_earlier_one(serve: Serve, toy_shop: Path, log: Path) -> None:
    client = serve("fake_task")
    client.initialize(toy_shop)
    client.outcome(ask(client, text=TASK, resume="20261129-abc")["run"])
    assert dict(itertools.pairwise(command_line(log)))["--resume"] == "20261129-abc"
    assert "not the name of an earlier run" in ask(client, text=TASK, resume="../x")["error"]


# --- before the decision -------------------------------------------------------------------------------


def test_low_confidence_and_more_possibilities_are_said_where_the_decision_is_asked_for(
    serve: Serve, toy_shop: Path, test_cart: Path
) -> None:
    client = serve("unsure")
    client.initialize(toy_shop)
    client.answers["window/showMessageRequest"] = lambda m: m["params"]["actions"][0]
    client.answers["workspace/applyEdit"] = client.apply
    client.outcome(client.fix(client.open(test_cart), TEST))
    asked = client.notified("window/showMessageRequest")["message"]
    assert "Confidence is low" in asked
    assert "There are 2 more possibilities: reject this one to see the next." in asked
    assert "how the project is built, checked or tested: shop/cart.py." in asked
    shown = client.notified("regreen/proposal")["proposal"]
    assert (shown["confidence"], shown["alternatives"]) == ("low", 2)
    assert shown["asks"] == ["shop/cart.py"]
    ended = client.notified("window/showMessage")["message"]
    assert "Confidence is low" in ended


def test_high_confidence_is_no_warning(serve: Serve, toy_shop: Path, test_cart: Path) -> None:
    client = serve("one_edit")
    client.initialize(toy_shop)
    client.outcome(client.fix(client.open(test_cart), TEST))
    asked = client.notified("window/showMessageRequest")["message"]
    assert "confidence high" in asked and "low" not in asked and "possibilit" not in asked
