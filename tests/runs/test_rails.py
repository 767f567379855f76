"""Rails of a whole run, on the real command: what it connects to, what it records, what a person may allow."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from environments import person_python
from regreen.redact import LEFT_OUT
from runs.process import ACCEPT_ALL, PROJECT, TWO_PART, Run, fix
from scripted.fixtures import StartScripted

ENV_KEY = "sesame/open+0123456789=="
FORM_KEY = "sk-proj-" + "aB3dE5fG" * 4


def model(server: Any) -> tuple[str, ...]:
    return ("--model", "ollama:qwen2.5:3b", "--base-url", server.url, "--search", "off")


# -- connections ---------------------------------------------------------------------------------------

_WATCH = """
import json, os, sys

log = os.open({log!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

def watch(name, arguments):
    if name in ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname"):
        place = arguments[0] if name.startswith("socket.get") else arguments[1]
        port = arguments[1] if name == "socket.getaddrinfo" else None
        os.write(log, (json.dumps([name, repr(place), str(port)]) + chr(10)).encode())

sys.addaudithook(watch)
sys.path.insert(0, {server!r})
from regreen.cli import main
raise SystemExit(main())
"""


def test_a_run_goes_to_the_configured_model_server_and_nowhere_else(
    toy_shop: Path, tmp_path: Path, scripted: StartScripted
) -> None:
    """Every connection and every look-up of a name in the run's own process, seen by the interpreter itself.

    Code under test has no way out at all: tests/escapes.
    """
    server = scripted("twopart")
    log = tmp_path / "connections"
    script = tmp_path / "watched.py"
    script.write_text(_WATCH.format(log=str(log), server=str(PROJECT / "server")))
    command = [sys.executable, str(script), "fix", TWO_PART, "--json", "--workspace", str(toy_shop)]
    command += ["--python", person_python(), *model(server)]
    done = subprocess.run(
        command,
        cwd=toy_shop,
        input=json.dumps(ACCEPT_ALL) + "\n",
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert json.loads(done.stdout.splitlines()[-1])["outcome"] == "fixed", done.stderr
    address = urlsplit(server.url)
    places = [json.loads(line) for line in log.read_text().splitlines()]
    assert places, "nothing was seen, not even the model server"
    for name, place, port in places:
        here = repr((address.hostname, address.port))
        looked_up = name == "socket.getaddrinfo" and (place, port) == (
            repr(address.hostname),
            str(address.port),
        )
        assert place == here or looked_up, (name, place, port)


def test_a_run_with_the_built_in_search_connects_to_nothing(toy_shop: Path, tmp_path: Path) -> None:
    log = tmp_path / "connections"
    log.touch()
    script = tmp_path / "watched.py"
    script.write_text(_WATCH.format(log=str(log), server=str(PROJECT / "server")))
    command = [sys.executable, str(script), "fix", TWO_PART, "--json", "--workspace", str(toy_shop)]
    command += ["--python", person_python(), "--model", "builtin", "--approval", "never"]
    done = subprocess.run(
        command, cwd=toy_shop, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
    )
    assert json.loads(done.stdout.splitlines()[-1])["outcome"] == "fixed", done.stderr
    assert log.read_text() == ""


# -- secrets -------------------------------------------------------------------------------------------


def test_keys_stand_neither_in_events_nor_in_the_trace_nor_on_stderr(
    toy_shop: Path, scripted: StartScripted
) -> None:
    cart = toy_shop / "shop" / "cart.py"
    cart.write_text(f"{cart.read_text()}\n# {FORM_KEY} {ENV_KEY}\n")
    (toy_shop / "tests" / "conftest.py").write_text(f"print('{ENV_KEY} {FORM_KEY}')\n")
    run = Run(toy_shop, TWO_PART, *model(scripted("twopart")), environ={"SHOP_API_KEY": ENV_KEY})
    run.say(ACCEPT_ALL)
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (0, "fixed")
    trace = Path(outcome["trace"]).read_text()
    shown = "".join(run.errors) + "".join(
        json.dumps(event) for event in run.events if event["event"] != "proposal"
    )
    for key in (ENV_KEY, FORM_KEY):
        assert key not in trace
        assert key not in shown
    assert LEFT_OUT in trace
    # What is written is what was there, to the byte: the proposal's own files are shown as they are.
    assert f"# {FORM_KEY} {ENV_KEY}\n" in cart.read_text()


def test_a_key_given_to_the_run_reaches_neither_the_tests_nor_the_model(
    toy_shop: Path, scripted: StartScripted
) -> None:
    server = scripted("twopart")
    (toy_shop / "tests" / "conftest.py").write_text("import os\nprint(dict(os.environ))\n")
    run = Run(toy_shop, TWO_PART, *model(server), environ={"SHOP_API_KEY": ENV_KEY, "PLAIN": "plain-visible"})
    run.say(ACCEPT_ALL)
    assert run.end()[0] == 0
    told = json.dumps([turn.body for turn in server.turns])
    everything = told + json.dumps(run.events)
    assert ENV_KEY not in everything
    assert "plain-visible" not in everything


# -- what a person allows ------------------------------------------------------------------------------

NEEDS_MORE = """
import socket
from pathlib import Path

def value():
    return 1

def test_more():
    assert Path({data!r}).read_text() == "fixture data"
    assert socket.create_connection(("127.0.0.1", {port}), 5).recv(5) == b"hello"
"""


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(b"hello")

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def test_tests_that_need_the_network_and_a_folder_pass_when_both_are_allowed(
    tmp_path: Path, port: int
) -> None:
    data = Path("/var/tmp") / f"regreen-{tmp_path.name}-{port}"
    data.mkdir(mode=0o755)
    try:
        (data / "data.txt").write_text("fixture data")
        project = tmp_path / "project"
        project.mkdir()
        (project / "test_more.py").write_text(NEEDS_MORE.format(data=str(data / "data.txt"), port=port))
        target = "test_more.py::test_more"
        closed = Run(project, target, "--model", "builtin")
        closed.hang_up()
        assert closed.end()[1]["outcome"] != "already_passing"
        opened = Run(project, target, "--model", "builtin", "--allow-network", "--readable", str(data))
        opened.hang_up()
        assert opened.end()[1]["outcome"] == "already_passing"
        assert opened.of("started")[0]["allowed"] == f"use the network and read {data}"
        assert any("you allowed it" in note["text"] for note in opened.of("note"))
    finally:
        shutil.rmtree(data)


def test_a_path_that_is_not_there_ends_the_run_in_one_line(toy_shop: Path) -> None:
    run = Run(toy_shop, TWO_PART, "--model", "builtin", "--readable", "no/such/place")
    run.hang_up()
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (2, "error")
    assert "There is no" in outcome["explanation"]


# -- tests that stand elsewhere ------------------------------------------------------------------------

_SHARED = """
from calc import add

class Additions:
    start = 1

    def test_adding(self):
        assert add(self.start, 1) == self.start + 1
"""


@pytest.mark.parametrize("target", ["test_five.py::TestFive", "test_five.py::TestFive::test_adding"])
def test_the_file_an_inherited_test_stands_in_is_locked_too(tmp_path: Path, target: str) -> None:
    (tmp_path / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (tmp_path / "shared.py").write_text(_SHARED)
    (tmp_path / "test_five.py").write_text(
        "from shared import Additions\n\nclass TestFive(Additions):\n    start = 5\n"
    )
    code, outcome = fix(tmp_path, target, "--model", "builtin").end()
    assert (code, outcome["outcome"]) == (0, "fixed")
    assert [edit["path"] for edit in outcome["edits"]] == ["calc.py"]
    assert (tmp_path / "shared.py").read_text() == _SHARED
