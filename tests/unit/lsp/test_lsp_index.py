"""The index of tests says the same as a full parse, whatever is typed."""

from __future__ import annotations

import random

from lsprotocol import types as lsp

from regreen.lsp.documents import Document, unit_counter
from regreen.lsp.targets import TestIndex
from regreen.testing import locate

PIECES = [
    "import unittest\n",
    "def helper():\n    return 1\n",
    "def test_a():\n    assert helper()\n",
    "@mark\n@other(\n    1,\n)\nasync def test_b(x):\n    '''doc'''\n",
    "class TestC:\n    def test_c(self):\n        pass\n\n    class TestD:\n        def test_d(self): pass\n",
    "class Base(unittest.TestCase):\n    def test_e(self):\n        pass\n",
    "class Sub(Base):\n    def test_f(self):\n        pass\n",
    "SAMPLE = '''\ndef test_in_string():\n    pass\n\ndef again(): pass\n'''\n",
    "if True:\n    def test_g():\n        pass\nelse:\n    def test_h():\n        pass\n",
    "\n\n# comment\n",
    "X = 1\n",
]


def test_it_says_the_same_as_a_full_parse() -> None:
    chance = random.Random(7)
    for _ in range(300):
        # Base comes first, as it must: a class cannot derive from one that is defined further down.
        parts = [PIECES[0], PIECES[5], *chance.choices(PIECES, k=8)]
        source = "".join(parts)
        assert TestIndex(Document("file:///a.py", source, 1)).now() == locate.tests_in(source), source


def large_class(name: str) -> str:
    """A class of many members, of every kind, longer than what is parsed in one go."""
    body = [f"@mark\nclass {name}:  # many\n\n    VALUE = 1\n"]
    for n in range(120):
        body.append(
            f"    @mark(\n        {n},\n    )\n    @other\n    def test_{n}(self):\n        def test_inner():\n            pass\n\n"
        )
        body.append(
            f"    class TestDeep{n}:\n        async def test_deep(self):\n            pass\n\n    def helper_{n}(self):\n        return 1\n"
        )
    return "".join(body) + "\nif VALUE:\n    def test_behind():\n        pass\n"


def test_a_long_class_is_parsed_member_by_member_with_the_same_result() -> None:
    for name in ("TestLong", "Long(unittest.TestCase)", "Long", "TestLong(Other)"):
        source = "import unittest\n\n" + large_class(name)
        document = Document("file:///a.py", source, 1)
        index = TestIndex(document)
        assert index.now() == locate.tests_in(source)
        line = source[: source.index("def test_60")].count("\n") + 1
        span = lsp.Range(lsp.Position(line, 0), lsp.Position(line, 0))
        document.apply(
            lsp.TextDocumentContentChangePartial(range=span, text="        x = 1\n"), unit_counter(None)
        )
        assert index.now() == locate.tests_in(document.text)
    source = source.replace("    VALUE = 1", "    VALUE = '''\n    def test_in_string(self):\n    '''")
    assert TestIndex(Document("file:///a.py", source, 1)).now() == locate.tests_in(source)


def test_it_follows_edits_and_keeps_what_it_knew_of_a_broken_part() -> None:
    source = "".join(PIECES[2:5])
    document = Document("file:///a.py", source, 1)
    index = TestIndex(document)
    before = {test.names: test.first_line for test in index.now()}
    line = source[: source.index("async def")].count("\n")

    def change(first: int, last: int, text: str) -> None:
        span = lsp.Range(lsp.Position(first, 0), lsp.Position(last, 0))
        document.apply(lsp.TextDocumentContentChangePartial(range=span, text=text), unit_counter(None))

    change(0, 0, "\n\n")
    change(line + 2, line + 2, "    oops = (\n")  # inside the decorators: broken
    assert {test.names: test.first_line - 2 for test in index.now() if test.names == ("test_a",)} == {
        ("test_a",): 1
    }
    known = {test.names: test.first_line for test in index.now()}
    assert known.keys() == before.keys()
    assert known["TestC", "test_c"] == before["TestC", "test_c"] + 3
    change(line + 2, line + 3, "")
    assert index.now() == locate.tests_in(document.text)


def test_a_file_that_never_parsed_has_the_tests_of_its_sound_parts() -> None:
    source = "def test_a():\n    pass\n\ndef test_b(:\n    pass\n\ndef test_c():\n    pass\n"
    names = [test.names for test in TestIndex(Document("file:///a.py", source, 1)).now()]
    assert names == [("test_a",), ("test_c",)]


def test_odd_texts_are_no_error() -> None:
    for source in (
        "",
        "\x00",
        "\n",
        "'''",
        "def test_a(" * 3000,
        "class TestX:",
        "\ufeffdef test_b(): pass\n",
    ):
        index = TestIndex(Document("file:///a.py", source, 1))
        assert isinstance(index.now(), list)


def test_no_test_is_told_twice_while_the_one_above_it_does_not_parse() -> None:
    text = "def test_a():\n    assert 1\ndef test_b():\n    assert 2\nclass TestC:\n    def test_c(self):\n        pass\n"
    document = Document("file:///test_a.py", text, 1)
    index = TestIndex(document)
    index.now()
    for broken in ("assert (", "assert ((", "assert (((", "assert 1"):
        document.apply(lsp.TextDocumentContentChangeWholeDocument(text.replace("assert 1", broken)), len)
        assert [test.names for test in index.now()] == [
            ("test_a",),
            ("test_b",),
            ("TestC",),
            ("TestC", "test_c"),
        ]
