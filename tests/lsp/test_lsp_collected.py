"""Tests that only pytest knows of: in the editor they have lenses and actions too, once it has told."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from environments import person_python
from lsp.wire_client import FULL, Client

Connect = Callable[..., Client]
PATIENCE = 60.0
REFRESH = "workspace/codeLens/refresh"

FILES = {
    "pytest.ini": "[pytest]\naddopts = --doctest-modules\npython_functions = test_* check_*\n",
    "shared.py": "import unittest\n\n\nclass ShopChecks(unittest.TestCase):\n    price = 1\n\n"
    "    def test_price(self):\n        self.assertEqual(self.price, 2)\n",
    "test_shop.py": "import pytest\n\nimport shared\n\n\nclass Tea(shared.ShopChecks):\n    price = 2\n\n\n"
    "class Coffee(shared.ShopChecks):\n    price = 3\n\n    def test_own(self):\n        self.fail()\n\n\n"
    '@pytest.mark.parametrize("sku", ["a::b [1]", "c"])\ndef check_sku(sku):\n    assert sku == "c"\n\n\n'
    "def test_plain():\n    assert 1\n",
    "shop/__init__.py": "",
    "shop/prices.py": '"""Prices of the shop.\n\n>>> twice(2)\n5\n"""\n\n\ndef twice(n):\n    """Twice.\n\n'
    '    >>> twice(1)\n    3\n    """\n    return n * 2\n\n\ndef check_nothing():\n    return 1\n',
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A project whose tests a syntax tree knows only in part."""
    folder = tmp_path / "project"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def connect(shop: Path, tmp_path: Path) -> Iterator[Connect]:
    """Servers that ask real pytest; runs are not started."""
    started: list[Client] = []

    def start(refresh: bool = True, **options: object) -> Client:
        client = Client(env={"REGREEN_STATE_DIR": str(tmp_path / "state")})
        started.append(client)
        capabilities: dict[str, Any] = copy.deepcopy(FULL)
        if refresh:
            capabilities["workspace"]["codeLens"] = {"refreshSupport": True}
        client.answers[REFRESH] = lambda _: None
        client.initialize(
            shop, capabilities=capabilities, options={"interpreter": person_python(), **options}
        )
        return client

    yield start
    for client in started:
        client.kill()


def lenses(client: Client, uri: str) -> list[tuple[int, list[str]]]:
    found = client.request("textDocument/codeLens", {"textDocument": {"uri": uri}})["result"]
    return [(lens["range"]["start"]["line"], lens["command"]["arguments"][0]["names"]) for lens in found]


def refreshes(client: Client) -> int:
    return sum(message.get("method") == REFRESH for message in list(client.messages))


def until(condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "never came"
        time.sleep(0.05)


def opened(client: Client, path: Path) -> str:
    """Open a file, and wait until pytest has told something new about it."""
    before = refreshes(client)
    uri = client.open(path)
    until(lambda: refreshes(client) > before)
    return uri


def titles(client: Client, uri: str, line: int) -> dict[str, str]:
    """The actions at a line, by title, with their targets."""
    actions = client.actions(uri, line) or []
    return {action["title"]: action["command"]["arguments"][0]["target"] for action in actions}


SHOP_LENSES = [
    (5, ["Tea"]),
    (9, ["Coffee"]),
    (12, ["Coffee", "test_own"]),
    (16, ["check_sku"]),
    (21, ["test_plain"]),
]


def test_inherited_tests_and_own_names_get_their_lenses_once_and_the_tree_answers_at_once(
    connect: Connect, shop: Path
) -> None:
    client = connect()
    uri = client.open(shop / "test_shop.py")
    assert lenses(client, uri) == [(21, ["test_plain"])]
    until(lambda: refreshes(client) == 1)
    assert lenses(client, uri) == SHOP_LENSES
    client.save(uri, shop / "test_shop.py")
    time.sleep(4)
    assert refreshes(client) == 1, "nothing new is no reason to draw anew"
    assert client.close() == 0


def test_the_action_at_the_cursor_knows_the_inherited_test_and_the_cases(
    connect: Connect, shop: Path
) -> None:
    client = connect()
    uri = opened(client, shop / "test_shop.py")
    assert titles(client, uri, 6) == {
        "Fix failing test": "test_shop.py::Tea",
        "Fix failing test: test_price": "test_shop.py::Tea::test_price",
    }
    assert titles(client, uri, 13) == {"Fix failing test": "test_shop.py::Coffee::test_own"}
    assert titles(client, uri, 18) == {
        "Fix failing test": "test_shop.py::check_sku",
        "Fix failing test: check_sku[a::b [1]]": "test_shop.py::check_sku[a::b [1]]",
        "Fix failing test: check_sku[c]": "test_shop.py::check_sku[c]",
    }
    assert titles(client, uri, 4) == {}


def test_doctests_stand_at_their_docstrings_and_a_function_of_the_code_is_no_test(
    connect: Connect, shop: Path
) -> None:
    client = connect()
    uri = opened(client, shop / "shop" / "prices.py")
    assert lenses(client, uri) == [(0, ["shop.prices"]), (7, ["shop.prices.twice"])]
    assert titles(client, uri, 13) == {"Fix failing test": "prices.py::shop.prices.twice"}
    assert titles(client, uri, 5) == {} == titles(client, uri, 17)


@pytest.mark.parametrize(
    ("file", "line", "title", "fails"),
    [
        ("test_shop.py", 10, "Fix failing test: test_price", "test_shop.py::Coffee::test_price"),
        ("test_shop.py", 10, "Fix failing test", "test_shop.py::Coffee"),
        ("test_shop.py", 17, "Fix failing test: check_sku[a::b [1]]", "test_shop.py::check_sku[a::b [1]]"),
        ("shop/prices.py", 8, "Fix failing test", "shop/prices.py::shop.prices.twice"),
        ("shop/prices.py", 1, "Fix failing test", "shop/prices.py::shop.prices"),
    ],
)
def test_a_run_takes_the_target_that_the_action_names(
    connect: Connect, shop: Path, file: str, line: int, title: str, fails: str
) -> None:
    """The whole way: the command of the action starts a real run, whose evidence is the failure of that test."""
    client = connect(seal="prefer", model="builtin", approval="whenGreen")
    uri = opened(client, shop / file)
    action = next(one for one in client.actions(uri, line) or [] if one["title"] == title)
    reply = client.execute(action["command"]["command"], *action["command"]["arguments"])
    run = reply["result"]["run"]
    started = client.notified("regreen/step", PATIENCE, event="started", run=run)
    assert started["target"] == fails
    evidence = client.notified("regreen/step", PATIENCE, event="evidence", run=run)
    assert evidence["failure"]["type"]
    client.execute("regreen.cancel", {"run": run})
    client.outcome(run, PATIENCE)


def test_the_test_at_the_cursor_is_found_for_a_client_that_sends_a_line(connect: Connect, shop: Path) -> None:
    client = connect(seal="prefer", model="builtin")
    uri = opened(client, shop / "shop" / "prices.py")
    reply = client.execute("regreen.fix", {"uri": uri, "target": "shop/prices.py:9"})
    run = reply["result"]["run"]
    started = client.notified("regreen/step", PATIENCE, event="started", run=run)
    assert started["target"] == "shop/prices.py::shop.prices.twice"
    client.execute("regreen.cancel", {"run": run})
    client.outcome(run, PATIENCE)


def test_what_was_told_moves_with_edits_is_hidden_where_it_no_longer_stands_and_comes_back(
    connect: Connect, shop: Path
) -> None:
    client = connect()
    uri = opened(client, shop / "test_shop.py")
    text = client.texts[uri]
    client.change(uri, "# one\n# two\n" + text)
    assert lenses(client, uri) == [(line + 2, names) for line, names in SHOP_LENSES]
    client.change(uri, text.replace("def check_sku", "def sku_checked"))
    assert [names for _, names in lenses(client, uri)] == [
        ["Tea"],
        ["Coffee"],
        ["Coffee", "test_own"],
        ["test_plain"],
    ]
    client.change(uri, text.replace("class Tea(shared.ShopChecks)", "class Tea"))
    assert ["Tea"] not in [names for _, names in lenses(client, uri)]
    client.change(uri, text + "\ndef broken(:\n")
    assert lenses(client, uri) == SHOP_LENSES
    client.change(uri, text)
    assert lenses(client, uri) == SHOP_LENSES
    span = {"start": {"line": 3, "character": 0}, "end": {"line": 3, "character": 0}}
    document = {"uri": uri, "version": 99}
    client.notify(
        "textDocument/didChange",
        {"textDocument": document, "contentChanges": [{"range": span, "text": "\n\n"}]},
    )
    assert lenses(client, uri) == [(line + 2, names) for line, names in SHOP_LENSES]


def test_the_last_good_answer_stays_while_a_file_cannot_be_imported(connect: Connect, shop: Path) -> None:
    client = connect()
    uri = opened(client, shop / "test_shop.py")
    client.change(uri, client.texts[uri].replace("import shared\n", "import shared, nowhere_to_be_found\n"))
    client.save(uri, shop / "test_shop.py")
    told = client.notified("window/logMessage", PATIENCE)["message"]
    assert "test_shop.py" in told and "nowhere_to_be_found" in told and "\n" not in told
    assert lenses(client, uri) == SHOP_LENSES
    assert not client.all("window/showMessage")


def test_saving_the_base_class_changes_what_another_open_file_inherits(connect: Connect, shop: Path) -> None:
    client = connect()
    uri = opened(client, shop / "test_shop.py")
    base = client.open(shop / "shared.py")
    client.change(base, client.texts[base].replace("unittest.TestCase", "object"))
    before = refreshes(client)
    client.save(base, shop / "shared.py")
    until(lambda: refreshes(client) > before)
    assert lenses(client, uri) == [(16, ["check_sku"]), (21, ["test_plain"])]


def test_a_file_that_is_opened_again_has_its_lenses_at_once(connect: Connect, shop: Path) -> None:
    client = connect()
    uri = opened(client, shop / "test_shop.py")
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert lenses(client, client.open(shop / "test_shop.py")) == SHOP_LENSES


def test_a_client_that_cannot_be_told_to_ask_again_sees_them_when_it_does(
    connect: Connect, shop: Path
) -> None:
    client = connect(refresh=False)
    uri = client.open(shop / "test_shop.py")
    until(lambda: lenses(client, uri) == SHOP_LENSES)
    assert refreshes(client) == 0


HANG = "import time\n\ntime.sleep(600)\n\n\ndef test_a():\n    pass\n"


def collecting(shop: Path) -> str:
    """The processes that have the project's folder on their command lines."""
    command = ["ps", "-A", "-ww", "-o", "pid=,args="]
    listing = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout
    return "\n".join(line for line in listing.splitlines() if str(shop) in line)


def test_a_file_that_hangs_when_it_is_imported_keeps_nobody_waiting(connect: Connect, shop: Path) -> None:
    (shop / "test_hangs.py").write_text(HANG)
    client = connect()
    uri = client.open(shop / "test_hangs.py")
    until(lambda: "--for-editor" in collecting(shop))
    assert lenses(client, uri) == [(5, ["test_a"])]
    assert titles(client, uri, 6) == {"Fix failing test": "test_hangs.py::test_a"}
    client.change(uri, HANG.replace("600", "0"))
    client.save(uri, shop / "test_hangs.py")
    other = client.open(shop / "test_shop.py")
    until(lambda: lenses(client, other) == SHOP_LENSES)  # the one that hung was ended when it was saved
    assert client.close() == 0
    until(lambda: not collecting(shop), 20)


def test_a_server_that_leaves_or_is_killed_takes_the_collecting_along(connect: Connect, shop: Path) -> None:
    (shop / "test_hangs.py").write_text(HANG)
    for end in (Client.close, Client.kill):
        client = connect()
        client.open(shop / "test_hangs.py")
        until(lambda: "--for-editor" in collecting(shop))
        time.sleep(0.5)
        end(client)
        until(lambda: not collecting(shop), 20)


def test_a_run_has_the_machine_for_itself(connect: Connect, shop: Path) -> None:
    (shop / "test_hangs.py").write_text(HANG)
    client = connect(seal="prefer", model="builtin")
    uri = client.open(shop / "test_hangs.py")
    until(lambda: "--for-editor" in collecting(shop))
    run = client.fix(uri, "test_a")
    until(lambda: "--for-editor" not in collecting(shop), 20)
    client.notified("regreen/step", PATIENCE, event="started", run=run)
    time.sleep(2)
    assert "--for-editor" not in collecting(shop)
    client.execute("regreen.cancel", {"run": run})
    client.outcome(run, PATIENCE)
    until(lambda: "--for-editor" in collecting(shop))


def test_it_can_be_switched_off(connect: Connect, shop: Path) -> None:
    client = connect(collect=False)
    uri = client.open(shop / "test_shop.py")
    time.sleep(4)
    assert lenses(client, uri) == [(21, ["test_plain"])]
    assert refreshes(client) == 0 and not client.all("window/logMessage")


@pytest.fixture
def command_lines(tmp_path: Path) -> Iterator[Callable[..., tuple[Client, Callable[[], list[list[str]]]]]]:
    """Servers that start a program which notes its command line; and what it noted."""
    log, program = tmp_path / "started", tmp_path / "note.py"
    program.write_text(
        f"import json, sys\nopen({str(log)!r}, 'a').write(json.dumps(sys.argv[1:]) + chr(10))\n"
    )
    started: list[Client] = []

    def start(*folders: Path, **options: object) -> tuple[Client, Callable[[], list[list[str]]]]:
        client = Client(env={"REGREEN_RUN_COMMAND": json.dumps([sys.executable, str(program)])})
        started.append(client)
        client.initialize(*folders, options=dict(options))
        return (
            client,
            lambda: [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else [],
        )

    yield start
    for client in started:
        client.kill()


def test_it_is_sealed_whatever_runs_are_and_many_files_are_one_process_each(
    command_lines: Any, shop: Path
) -> None:
    client, started = command_lines(shop, seal="off", readablePaths=["/srv/data"])
    for _ in range(3):
        uri = client.open(shop / "test_shop.py")
        client.save(uri, shop / "test_shop.py")
    until(lambda: len(started()) == 1)
    time.sleep(2)
    (line,) = started()
    assert line == [
        "tests",
        str(shop / "test_shop.py"),
        "--for-editor",
        "--workspace",
        str(shop),
        "--seal",
        "require",
        "--readable=/srv/data",
    ]


def test_nothing_is_started_in_a_folder_that_cannot_be_worked_on(command_lines: Any, tmp_path: Path) -> None:
    client, started = command_lines(Path.home())
    file = Path.home() / "test_nowhere_regreen.py"
    client.open(file, "def test_a():\n    pass\n")
    told = client.notified("window/logMessage", PATIENCE)["message"]
    assert "cannot be the workspace" in told
    assert started() == []
