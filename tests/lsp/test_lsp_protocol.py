"""The protocol under bad input, and the life and death of the server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lsp.wire_client import FULL, Client, NoAnswer

Serve = Callable[..., Client]


def stderr_of(client: Client) -> str:
    assert client.stderr_path
    return client.stderr_path.read_text(errors="replace")


# --- bad input -----------------------------------------------------------------------------------------


def test_a_malformed_request_is_answered_with_what_is_wrong(serve: Serve, tmp_path: Path) -> None:
    client = serve()
    client.initialize(tmp_path)
    reply = client.request("textDocument/codeAction", {"textDocument": 5})
    assert reply["error"]["code"] == -32602
    assert "codeAction" in reply["error"]["message"]
    assert (
        client.request("textDocument/codeLens", {"textDocument": {"uri": "file:///x.py"}})["result"] is None
    )


def test_an_unknown_method_and_an_unknown_command_are_refused(serve: Serve, tmp_path: Path) -> None:
    client = serve()
    client.initialize(tmp_path)
    assert client.request("no/such", {"type_name": "not an identifier", "a b": 1})["error"]["code"] == -32601
    assert "no such command" in client.execute("regreen.nonsense")["error"]["message"]


def test_bytes_that_are_no_message_are_refused_and_the_next_one_is_heard(
    serve: Serve, tmp_path: Path
) -> None:
    client = serve()
    client.initialize(tmp_path)
    client.send_bytes(b"Content-Length: 5\r\n\r\n{nope")
    assert client.wait(lambda m: "error" in m and m["id"] is None)["error"]["code"] == -32700
    client.send_bytes(b"Junk: 1\r\n\r\n")
    client.send([1, 2])
    client.send({"jsonrpc": "1.0", "id": 3})
    client.send("[" * 100_000)
    client.send_bytes(b"Content-Length: 200000\r\n\r\n" + b"[" * 200_000)
    body = b'{"jsonrpc":"2.0","id":"odd","method":"textDocument/codeLens","params":{"textDocument":{"uri":"file:///x"}}}'
    client.send_bytes(b"Content-Type: x\r\ncontent-length:%d\r\n\r\n" % len(body) + body)
    assert client.wait(lambda m: m.get("id") == "odd")["result"] is None


def test_data_that_looks_like_a_message_is_data(serve: Serve, tmp_path: Path) -> None:
    client = serve()
    client.initialize(tmp_path)
    nested = {"jsonrpc": "2.0", "id": 77, "method": "shutdown", "uri": "untitled:x"}
    reply = client.execute("regreen.fix", nested)
    assert reply["result"]["run"] is None


def test_a_notification_with_an_id_is_answered_and_a_request_without_one_ignored(
    serve: Serve, tmp_path: Path
) -> None:
    client = serve()
    client.initialize(tmp_path)
    assert client.request("initialized", {})["error"]["code"] == -32600
    client.notify("textDocument/codeLens", {"textDocument": {"uri": "file:///x.py"}})
    client.notify(
        "textDocument/didChange",
        {"textDocument": {"uri": "file:///x.py", "version": 2}, "contentChanges": []},
    )
    client.notify("$/setTrace", {"value": "off"})
    client.notify("$/cancelRequest", {"id": 12345})
    client.notify("regreen/decision", [1])
    client.notify("regreen/decision", {"proposal": "gone", "decision": "accept", "files": {"a b": "x"}})
    assert (
        client.request("textDocument/codeLens", {"textDocument": {"uri": "file:///x.py"}})["result"] is None
    )
    assert not client.all("window/showMessage")


def test_nothing_is_carried_out_before_initialize_or_after_shutdown(serve: Serve, tmp_path: Path) -> None:
    client = serve()
    client.notify("textDocument/didOpen", {"textDocument": {}})
    early = client.request("textDocument/codeLens", {"textDocument": {"uri": "file:///x.py"}})
    assert early["error"]["code"] == -32002
    client.initialize(tmp_path)
    assert client.request("initialize", {"capabilities": {}})["error"]["code"] == -32600
    assert client.request("shutdown")["result"] is None
    assert client.execute("regreen.cancel")["error"]["code"] == -32600
    client.notify("exit")
    assert client.process.wait(10) == 0


@pytest.mark.parametrize(
    "reply",
    [
        {"result": {}},
        {"result": None},
        {"result": {"title": 7}},
        {"result": "Pull"},
        {"result": {"title": "Something else"}},
        {"error": {"code": 32000, "message": "quit"}},
        {"error": {"message": "no code"}},
        {"error": "not an object"},
    ],
)
def test_every_odd_answer_to_a_question_counts_as_its_default(
    serve: Serve, test_cart: Path, toy_shop: Path, reply: dict[str, object]
) -> None:
    client = serve("question")
    client.initialize(toy_shop)

    def answer(message: dict[str, object]) -> type[NoAnswer]:
        client.send({"jsonrpc": "2.0", "id": message["id"], **reply})
        client.send({"jsonrpc": "2.0", "id": message["id"], "result": {"title": "Pull"}})  # late and double
        return NoAnswer

    client.answers["window/showMessageRequest"] = answer
    run = client.fix(client.open(test_cart), "test_x")
    assert client.outcome(run)["explanation"] == "answered Cancel"


def test_a_question_is_answered_with_the_choice(serve: Serve, test_cart: Path, toy_shop: Path) -> None:
    client = serve("question")
    client.initialize(toy_shop)
    client.answers["window/showMessageRequest"] = lambda m: m["params"]["actions"][0]
    run = client.fix(client.open(test_cart), "test_x")
    assert client.outcome(run)["explanation"] == "answered Pull"


def test_replies_that_come_late_or_to_nothing_do_no_harm(
    serve: Serve, test_cart: Path, toy_shop: Path
) -> None:
    client = serve("question")
    client.initialize(toy_shop)
    client.answers["window/showMessageRequest"] = lambda _: NoAnswer
    run = client.fix(client.open(test_cart), "test_x")
    question = client.wait(lambda m: m.get("method") == "window/showMessageRequest")
    client.execute("regreen.cancel", {"run": run})
    assert client.outcome(run)["outcome"] in ("cancelled", "setup_problem")
    client.wait(lambda m: m.get("method") == "$/cancelRequest" and m["params"]["id"] == question["id"])
    client.send({"jsonrpc": "2.0", "id": question["id"], "result": {"title": "Pull"}})
    client.send({"jsonrpc": "2.0", "id": "never asked", "result": 1})
    client.send({"jsonrpc": "2.0", "id": ["odd"], "result": 1})
    assert client.close() == 0
    assert stderr_of(client) == ""
    assert "Error in server" not in json.dumps(client.messages)


def test_typing_for_a_long_time_leaves_nothing_behind(tmp_path: Path) -> None:
    """pygls kept two entries for each change in its table of requests."""
    code = f"""
import asyncio, json, sys
from regreen.lsp.server import RegreenServer, _wire_commands, _wire_features
class Sink:
    def write(self, data): pass
    def close(self): pass
async def main():
    server = RegreenServer(asyncio.get_running_loop(), False)
    _wire_features(server); _wire_commands(server)
    protocol = server.protocol
    protocol.set_writer(Sink())
    def call(method, params, **more):
        protocol.receive(json.dumps({{"jsonrpc": "2.0", "method": method, "params": params, **more}}).encode())
    call("initialize", {{"capabilities": {{}}}}, id=1)
    uri = "file://{tmp_path}/test_a.py"
    call("textDocument/didOpen", {{"textDocument": {{"uri": uri, "languageId": "python", "version": 0, "text": "def test_a():\\n    pass\\n"}}}})
    for n in range(1, 500):
        span = {{"start": {{"line": 1, "character": 4}}, "end": {{"line": 1, "character": 8}}}}
        call("textDocument/didChange", {{"textDocument": {{"uri": uri, "version": n}}, "contentChanges": [{{"range": span, "text": "pass"}}]}})
        call("textDocument/codeLens", {{"textDocument": {{"uri": uri}}}}, id=n + 1)
        call("$/cancelRequest", {{"id": n + 1}})
        await asyncio.sleep(0)
    for _ in range(20): await asyncio.sleep(0)
    index = server.index(uri)
    print(len(protocol._request_futures), len(protocol._result_types), len(protocol.tasks), len(index._cache))
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.stdout.split() == ["0", "0", "0", "1"], done.stdout + done.stderr
    assert done.stderr == ""


# --- life and death ------------------------------------------------------------------------------------


def test_exit_after_shutdown_is_0_and_without_it_1(serve: Serve, tmp_path: Path) -> None:
    polite, rude = serve(), serve()
    polite.initialize(tmp_path)
    rude.initialize(tmp_path)
    assert polite.close() == 0
    rude.notify("exit")
    assert rude.process.wait(10) == 1
    assert stderr_of(polite) == stderr_of(rude) == ""


def test_the_end_of_input_ends_the_server(serve: Serve, tmp_path: Path) -> None:
    client = serve()
    client.initialize(tmp_path)
    assert client.process.stdin
    client.process.stdin.close()
    assert client.process.wait(10) == 1
    assert stderr_of(client) == ""


def gone(pid: int) -> bool:
    """Whether the process is no more, or only waits for its parent to notice."""
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True


def hanging_run(client: Client, log: Path, folder: Path, test: Path) -> tuple[str, list[int]]:
    """Start the run that is deaf to everything: its id, its process and its child's."""
    client.initialize(folder)
    run = client.fix(client.open(test), "test_x")
    client.notified("regreen/step", event="step")
    return run, next(line["pids"] for line in map(json.loads, log.read_text().splitlines()) if "pids" in line)


def wait_until(condition: Callable[[], bool], seconds: float) -> float:
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < seconds, "took too long"
        time.sleep(0.02)
    return time.monotonic() - start


@pytest.mark.parametrize("way", ["command", "progress"])
def test_cancel_ends_a_deaf_run_and_its_children_in_two_seconds(
    serve: Serve, toy_shop: Path, test_cart: Path, log: Path, way: str
) -> None:
    client = serve("hang")
    run, pids = hanging_run(client, log, toy_shop, test_cart)
    start = time.monotonic()
    if way == "command":
        assert client.execute("regreen.cancel", {"run": run})["result"] == {"cancelled": [run]}
    else:
        client.notify("window/workDoneProgress/cancel", {"token": f"regreen-{run}"})
    wait_until(lambda: all(map(gone, pids)), 10)
    assert client.outcome(run)["outcome"] == "cancelled"
    assert time.monotonic() - start < 8  # 2 s where nothing else runs
    assert client.close() == 0


def test_shutdown_while_a_run_is_going_answers_null_and_leaves_nothing(
    serve: Serve, toy_shop: Path, test_cart: Path, log: Path
) -> None:
    client = serve("hang")
    _, pids = hanging_run(client, log, toy_shop, test_cart)
    assert client.close() == 0
    wait_until(lambda: all(map(gone, pids)), 5)
    assert stderr_of(client) == ""


@pytest.mark.parametrize("end", ["stdin", "SIGTERM"])
def test_a_client_that_vanishes_leaves_no_run_behind(
    serve: Serve, toy_shop: Path, test_cart: Path, log: Path, end: str
) -> None:
    client = serve("hang")
    _, pids = hanging_run(client, log, toy_shop, test_cart)
    assert client.process.stdin
    if end == "stdin":
        client.process.stdin.close()
    else:
        client.process.send_signal(signal.SIGTERM)
    assert client.process.wait(10) == 1
    wait_until(lambda: all(map(gone, pids)), 5)
    assert stderr_of(client) == ""


def test_the_death_of_the_editor_is_noticed_even_while_the_pipe_stays_open(
    serve: Serve, toy_shop: Path, test_cart: Path, log: Path
) -> None:
    editor = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(100)"], stdin=subprocess.DEVNULL
    )
    client = serve("hang", process_id=editor.pid)
    _, pids = hanging_run(client, log, toy_shop, test_cart)
    editor.kill()
    editor.wait()
    assert client.process.wait(10) == 1
    wait_until(lambda: all(map(gone, pids)), 5)


def test_an_editor_of_another_machine_is_not_watched(serve: Serve, tmp_path: Path) -> None:
    client = serve(process_id=4_000_000)
    client.initialize(tmp_path)
    time.sleep(1.2)
    assert client.close() == 0


def test_stray_prints_and_hungry_children_cannot_break_the_wire() -> None:
    code = """
import os, subprocess, sys
from regreen.lsp import wire
read, write = wire.private_stdio()
print("stray")
os.write(1, b"stray too")
eaten = subprocess.run([sys.executable, "-c", "import sys; print(len(sys.stdin.read(20)), file=sys.stderr)"])
write(b"said:" + read(100))
"""
    done = subprocess.run([sys.executable, "-c", code], input=b"for the server", capture_output=True)
    assert done.stdout == b"said:for the server"
    assert done.stderr.split() == [b"stray", b"too0"] or b"0" in done.stderr


def test_one_client_over_tcp(tmp_path: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "regreen", "serve", "--tcp", str(port), "--log-file", str(tmp_path / "log")],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert server.stderr
    assert b"listening on 127.0.0.1" in server.stderr.readline()
    with socket.create_connection(("127.0.0.1", port)) as connection:
        params = {"processId": None, "rootUri": None, "capabilities": FULL}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
        connection.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        assert b'"codeLensProvider"' in connection.recv(65536)
    assert server.wait(10) == 1
    assert (tmp_path / "log").exists()


def test_a_client_that_does_not_read_cannot_hold_up_a_cancel(
    toy_shop: Path, test_cart: Path, log: Path, tmp_path: Path
) -> None:
    """The run writes without end and nobody reads: the cancel still ends it."""
    fake = Path(__file__).parent / "fake_run.py"
    command = json.dumps([sys.executable, str(fake), "endless", str(log)])
    server = subprocess.Popen(
        [sys.executable, "-m", "regreen", "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "REGREEN_RUN_COMMAND": command},
    )

    def send(**message: object) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert server.stdin
        server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        server.stdin.flush()

    folder = {"uri": toy_shop.as_uri(), "name": "x"}
    send(
        id=1,
        method="initialize",
        params={"processId": None, "rootUri": None, "capabilities": {}, "workspaceFolders": [folder]},
    )
    argument = {"uri": test_cart.as_uri(), "names": ["test_x"]}
    send(id=2, method="workspace/executeCommand", params={"command": "regreen.fix", "arguments": [argument]})
    wait_until(lambda: log.exists() and '"buffers"' in log.read_text(), 20)
    time.sleep(0.5)
    send(id=3, method="workspace/executeCommand", params={"command": "regreen.cancel", "arguments": []})
    wait_until(lambda: '"cancel": true' in log.read_text(), 10)
    server.kill()
    server.wait()
