"""Code actions and code lenses, as a client gets them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lsp.wire_client import FULL, Client

Serve = Callable[..., Client]

SOURCE = """\
import unittest
import pytest

def helper():
    return 1

@pytest.mark.parametrize("a", [1, 2])
def test_plain(a):
    def test_inner():
        pass
    assert a

class TestOuter:
    class TestInner:
        async def test_deep(self):
            assert helper()

class Base(unittest.TestCase):
    pass

class Derived(Base):
    def test_method(self):
        pass

@pytest.fixture
def test_client():
    return 2
"""


@pytest.fixture
def opened(serve: Serve, tmp_path: Path) -> tuple[Client, str]:
    client = serve()
    client.initialize(tmp_path)
    path = tmp_path / "test_sample.py"
    path.write_text(SOURCE)
    return client, client.open(path)


def names_at(client: Client, uri: str, text: str, needle: str) -> list[str] | None:
    line = text[: text.index(needle)].count("\n")
    actions = client.actions(uri, line)
    return actions[0]["command"]["arguments"][0]["names"] if actions else None


@pytest.mark.parametrize(
    ("needle", "names"),
    [
        ("@pytest.mark.parametrize", ["test_plain"]),
        ("def test_inner", ["test_plain"]),
        ("class TestOuter", ["TestOuter"]),
        ("class TestInner", ["TestOuter", "TestInner"]),
        ("assert helper", ["TestOuter", "TestInner", "test_deep"]),
        ("def test_method", ["Derived", "test_method"]),
        ("return 1", None),
        ("return 2", None),
    ],
)
def test_the_action_is_offered_on_tests_methods_and_classes_only(
    opened: tuple[Client, str], needle: str, names: list[str] | None
) -> None:
    assert names_at(*opened, SOURCE, needle) == names


def test_the_action_carries_the_whole_target_and_its_tag(opened: tuple[Client, str]) -> None:
    client, uri = opened
    (action,) = client.actions(uri, 7) or []
    assert (action["title"], action["kind"], action["tags"]) == ("Fix failing test", "quickfix", [1])
    assert action["command"]["command"] == "regreen.fix"
    assert action["command"]["arguments"] == [
        {"uri": uri, "target": "test_sample.py::test_plain", "names": ["test_plain"], "version": 1}
    ]


def test_a_client_that_does_not_know_the_tag_does_not_get_it(serve: Serve, test_cart: Path) -> None:
    client = serve()
    literal = {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}}
    client.initialize(test_cart.parent, capabilities={"textDocument": {"codeAction": literal}})
    (action,) = client.actions(client.open(test_cart), 7) or []
    assert "tags" not in action


def test_a_client_without_action_literals_gets_the_bare_command(serve: Serve, test_cart: Path) -> None:
    client = serve()
    client.initialize(test_cart.parent, capabilities={})
    (action,) = client.actions(client.open(test_cart), 7) or []
    assert action["command"] == "regreen.fix"


@pytest.mark.parametrize(
    ("only", "offered"),
    [
        (["quickfix"], True),
        ([""], True),
        (["refactor"], False),
        (["source.fixAll", "quickfix"], True),
        (["quickfix.x"], False),
    ],
)
def test_only_a_client_that_wants_quick_fixes_gets_one(
    opened: tuple[Client, str], only: list[str], offered: bool
) -> None:
    client, uri = opened
    assert bool(client.actions(uri, 7, only=only)) is offered


def test_a_lens_stands_above_each_test_and_class(opened: tuple[Client, str]) -> None:
    client, uri = opened
    reply = client.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
    found = {
        lens["range"]["start"]["line"]: lens["command"]["arguments"][0]["names"] for lens in reply["result"]
    }
    assert found == {
        6: ["test_plain"],
        12: ["TestOuter"],
        13: ["TestOuter", "TestInner"],
        14: ["TestOuter", "TestInner", "test_deep"],
        17: ["Base"],
        20: ["Derived"],
        21: ["Derived", "test_method"],
    }


def test_while_a_test_does_not_parse_it_and_the_others_keep_their_actions(opened: tuple[Client, str]) -> None:
    client, uri = opened
    assert names_at(client, uri, SOURCE, "def test_plain") == ["test_plain"]
    broken = "# one line more\n" + SOURCE.replace("    assert a\n", "    assert (a ==\n")
    edit_line(client, uri, 0, "# one line more\n")
    line = broken[: broken.index("assert (a")].count("\n")
    edit(client, uri, line, 4, line, 12, "assert (a ==")
    client.texts[uri] = broken
    assert names_at(client, uri, broken, "assert (a ==") == ["test_plain"]
    assert names_at(client, uri, broken, "assert helper") == ["TestOuter", "TestInner", "test_deep"]
    edit(client, uri, line, 4, line, 16, "assert a")
    mended = "# one line more\n" + SOURCE
    assert names_at(client, uri, mended, "def test_plain") == ["test_plain"]


def edit(client: Client, uri: str, line: int, column: int, end: int, end_column: int, text: str) -> None:
    client.versions[uri] += 1
    span = {"start": {"line": line, "character": column}, "end": {"line": end, "character": end_column}}
    document = {"uri": uri, "version": client.versions[uri]}
    client.notify(
        "textDocument/didChange",
        {"textDocument": document, "contentChanges": [{"range": span, "text": text}]},
    )


def edit_line(client: Client, uri: str, line: int, text: str) -> None:
    edit(client, uri, line, 0, line, 0, text)


def test_code_in_a_string_is_no_test(serve: Serve, tmp_path: Path) -> None:
    text = 'SAMPLE = """\ndef test_in_a_string():\n    pass\n\ndef other():\n    pass\n"""\n\ndef test_real():\n    pass\n'
    client = serve()
    client.initialize(tmp_path)
    path = tmp_path / "test_strings.py"
    path.write_text(text)
    uri = client.open(path)
    assert names_at(client, uri, text, "def test_in_a_string") is None
    assert names_at(client, uri, text, "def test_real") == ["test_real"]


def test_lines_are_counted_as_the_protocol_counts_them(serve: Serve, tmp_path: Path) -> None:
    """Form feeds and U+2028 end no line; an emoji is two units wide for a client that counts in UTF-16."""
    text = 'A = "\u2028"\n\x0c\ndef test_a():\n    x = "😋"; y = 1\n'
    client = serve()
    client.initialize(tmp_path)
    path = tmp_path / "test_lines.py"
    path.write_bytes(text.encode())
    uri = client.open(path)
    edit(client, uri, 3, 11, 3, 12, "'")  # the closing quote: broken now, unless columns are counted wrongly
    edit(client, uri, 3, 8, 3, 9, "'")
    edit(client, uri, 4, 0, 4, 0, "\ndef test_b():\n    pass\n")
    assert names_at(client, uri, text, "def test_a") == ["test_a"]
    assert client.actions(uri, 5)[0]["command"]["arguments"][0]["names"] == ["test_b"]  # type: ignore[index]


@pytest.mark.parametrize(
    "uri", ["untitled:Untitled-1", "vscode-notebook-cell:/x/a.ipynb#W0", "git:/x/test_a.py"]
)
def test_a_document_that_is_no_file_has_no_actions(serve: Serve, tmp_path: Path, uri: str) -> None:
    client = serve()
    client.initialize(tmp_path)
    item = {"uri": uri, "languageId": "python", "version": 1, "text": "def test_a():\n    pass\n"}
    client.notify("textDocument/didOpen", {"textDocument": item})
    assert client.actions(uri, 0) is None
    assert client.request("textDocument/codeLens", {"textDocument": {"uri": uri}})["result"] is None


def test_what_the_server_announces(serve: Serve, tmp_path: Path) -> None:
    capabilities = serve().initialize(tmp_path, capabilities=FULL)["capabilities"]
    assert capabilities["codeActionProvider"] == {"codeActionKinds": ["quickfix"]}
    assert capabilities["codeLensProvider"] == {"resolveProvider": False}
    assert set(capabilities["executeCommandProvider"]["commands"]) == {
        "regreen.fix",
        "regreen.ask",
        "regreen.cancel",
        "regreen.extend",
        "regreen.undo",
    }
    assert capabilities["workspace"]["workspaceFolders"] == {"supported": True, "changeNotifications": True}
    sync: dict[str, Any] = capabilities["textDocumentSync"]
    assert (sync["openClose"], sync["change"], sync["save"]) == (True, 2, True)
