"""The whole way with real runs: click, evidence, proposals, decisions, verdict, in a copy of the toy shop."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from environments import person_python
from lsp.wire_client import Client, Message
from scripted.server import ScriptedServer

TEST = "test_adding_more_of_a_product_reaches_the_offer"
PATIENCE = 100.0
Connect = Callable[..., Client]


@pytest.fixture
def connect(toy_shop: Path) -> Iterator[Connect]:
    """Servers whose runs are real; the person's interpreter is the one that runs these tests."""
    started: list[Client] = []

    def start(preview: bool = False, model: str = "builtin", **options: object) -> Client:
        client = Client()
        started.append(client)
        shown = {"review": "preview"} if preview else {}
        settings = {
            "model": model,
            "interpreter": person_python(),
            "seal": "prefer",
            "collect": False,
            **options,
        }
        client.initialize(toy_shop, options={**shown, **settings})
        client.answers["window/showMessageRequest"] = lambda m: m["params"]["actions"][0]
        client.answers["workspace/applyEdit"] = client.apply
        return client

    yield start
    for client in started:
        client.kill()


def passes(shop: Path) -> bool:
    """Whether the target passes for somebody who runs pytest by hand."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/test_cart.py::{TEST}"],
        cwd=shop,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    return done.returncode == 0


def processes_of(shop: Path) -> str:
    """Everything that has the shop's folder on its command line."""
    command = ["ps", "-A", "-o", "pid=,args="]
    listing = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout
    return "\n".join(line for line in listing.splitlines() if str(shop) in line)


def click(client: Client, test_cart: Path) -> str:
    """Ask for the action at the test and carry out its command, as an editor does."""
    uri = client.open(test_cart)
    line = client.texts[uri].split("\n").index(f"def {TEST}():")
    (action,) = client.actions(uri, line) or []
    return client.execute(action["command"]["command"], *action["command"]["arguments"])["result"]["run"]


def test_the_two_part_bug_falls_with_the_built_in_search(
    connect: Connect, toy_shop: Path, test_cart: Path
) -> None:
    client = connect()
    uris = {path: client.open(toy_shop / path) for path in ("shop/cart.py", "shop/discounts.py")}
    run = click(client, test_cart)
    end = client.outcome(run, PATIENCE)
    assert (end["outcome"], end["model"]) == ("fixed", "builtin"), end
    assert len(client.all("workspace/applyEdit")) == 2
    assert client.notified("regreen/step", event="evidence", run=run)["failure"]["type"] == "AssertionError"
    assert client.all("regreen/budget")[-1]["max_steps"] == 12
    shown = client.notified("window/showMessage")["message"]
    assert "Save shop/cart.py, shop/discounts.py to keep the edit." in shown
    assert not passes(toy_shop)  # nothing was written behind the buffers
    for path, uri in uris.items():
        client.save(uri, toy_shop / path)
    assert passes(toy_shop)
    assert client.close() == 0


def test_files_that_are_not_open_are_written_by_the_run(
    connect: Connect, toy_shop: Path, test_cart: Path
) -> None:
    before = {path: path.read_bytes() for path in toy_shop.rglob("*.py")}
    client = connect()
    end = client.outcome(click(client, test_cart), PATIENCE)
    assert end["outcome"] == "fixed", end
    assert not client.all("workspace/applyEdit")
    assert passes(toy_shop)
    undone = client.execute("regreen.undo", {"run": end["run"]})["result"]
    assert undone["run"] == end["record"]
    client.wait(
        lambda m: m.get("method") == "window/showMessage" and m["params"]["message"].startswith("Regreen:")
    )
    assert {path: path.read_bytes() for path in before} == before


def test_our_client_accepts_and_saves(connect: Connect, toy_shop: Path, test_cart: Path) -> None:
    client = connect(preview=True)

    def accept(message: Message) -> Message:
        result = client.apply(message)
        (proposal,) = message["params"]["edit"]["changeAnnotations"]
        files: dict[str, str] = {}
        for change in message["params"]["edit"]["documentChanges"]:
            uri = change["textDocument"]["uri"]
            client.save(uri, Path(uri.removeprefix("file://")))
            files[uri] = client.texts[uri]
        client.notify(
            "regreen/decision", {"proposal": proposal, "decision": "accept", "reason": "", "files": files}
        )
        return result

    client.answers["workspace/applyEdit"] = accept
    end = client.outcome(click(client, test_cart), PATIENCE)
    assert end["outcome"] == "fixed", end
    assert {edit["path"] for edit in end["edits"]} == {"shop/cart.py", "shop/discounts.py"}
    assert passes(toy_shop)


def test_rejecting_everything_ends_as_rejected_and_changes_nothing(
    connect: Connect, toy_shop: Path, test_cart: Path
) -> None:
    client = connect(preview=True, maxSteps=3)
    client.answers["workspace/applyEdit"] = lambda _: {"applied": False}
    before = {path: path.read_bytes() for path in toy_shop.rglob("*.py")}
    end = client.outcome(click(client, test_cart), PATIENCE)
    assert end["outcome"] in ("rejected", "budget", "stuck") and not end["edits"], end
    assert {path: path.read_bytes() for path in toy_shop.rglob("*.py")} == before


def test_a_fix_that_is_typed_but_not_saved_counts(connect: Connect, toy_shop: Path, test_cart: Path) -> None:
    client = connect()
    for path, old, new in (
        ("shop/cart.py", "self.quantities[sku] = quantity", "self.quantities[sku] += quantity"),
        ("shop/discounts.py", "subtotal > threshold", "subtotal >= threshold"),
    ):
        uri = client.open(toy_shop / path)
        client.change(uri, client.texts[uri].replace(old, new))
    end = client.outcome(click(client, test_cart), PATIENCE)
    assert end["outcome"] == "already_passing", end


def test_without_approval_the_fix_is_written_at_once(
    connect: Connect, toy_shop: Path, test_cart: Path
) -> None:
    client = connect(approval="never")
    end = client.outcome(click(client, test_cart), PATIENCE)
    assert end["outcome"] == "fixed", end
    assert not client.all("window/showMessageRequest") and not client.all("workspace/applyEdit")
    assert passes(toy_shop)


def test_a_model_on_the_wire_fixes_in_two_steps(connect: Connect, toy_shop: Path, test_cart: Path) -> None:
    server = ScriptedServer("twopart")
    try:
        client = connect(model="ollama:qwen2.5:3b", baseUrl=server.url, search="off")
        end = client.outcome(click(client, test_cart), PATIENCE)
        assert end["outcome"] == "fixed" and end["model"] == "ollama:qwen2.5:3b", end
        assert any(step["event"] == "call" for step in client.all("regreen/step"))
    finally:
        server.close()


def test_cancelling_a_real_run_leaves_no_process(connect: Connect, toy_shop: Path, test_cart: Path) -> None:
    (toy_shop / "tests" / "test_cart.py").write_text(f"import time\n\ndef {TEST}():\n    time.sleep(120)\n")
    client = connect()
    run = click(client, test_cart)
    client.notified("regreen/step", PATIENCE, event="started", run=run)
    time.sleep(1.0)
    start = time.monotonic()
    client.execute("regreen.cancel", {"run": run})
    assert client.outcome(run)["outcome"] == "cancelled"
    assert time.monotonic() - start < 8  # 2 s where nothing else runs
    time.sleep(0.5)
    assert not processes_of(toy_shop)


def test_a_server_that_is_killed_takes_its_run_along(
    connect: Connect, toy_shop: Path, test_cart: Path
) -> None:
    (toy_shop / "tests" / "test_cart.py").write_text(f"import time\n\ndef {TEST}():\n    time.sleep(120)\n")
    client = connect()
    run = click(client, test_cart)
    client.notified("regreen/step", PATIENCE, event="started", run=run)
    client.kill()
    deadline = time.monotonic() + 20
    while left := processes_of(toy_shop):
        assert time.monotonic() < deadline, left
        time.sleep(0.1)


def test_a_test_that_does_not_exist_is_an_error_in_one_line(
    connect: Connect, toy_shop: Path, test_cart: Path
) -> None:
    client = connect()
    run = client.fix(client.open(test_cart), "test_that_is_gone")
    end = client.outcome(run, PATIENCE)
    assert end["outcome"] in ("error", "setup_problem")
    assert (
        "test_that_is_gone" in end["explanation"]
        and "\n" not in client.notified("window/showMessage")["message"]
    )
