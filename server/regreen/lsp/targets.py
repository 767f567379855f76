"""Which tests a document holds, and the code action and the code lenses on them.

Parsing a file of 5,000 lines takes far longer than an answer may (20 ms). So a document is cut at the
statements of its left margin, each piece is parsed once and kept by its text, and an edit costs the parse
of one piece. A piece that does not parse keeps the tests it had, moved along with the edits above it.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lsprotocol import types as lsp

from regreen.lsp.collected import Collected
from regreen.lsp.documents import Document
from regreen.testing.locate import Located, tests_in

FIX_COMMAND = "regreen.fix"
TITLE = "Fix failing test"
ASK_COMMAND = "regreen.ask"
TEST_TITLE = "Write a test for what Regreen changed"

_START = re.compile(r"^(?:@|def |async def |class )", re.MULTILINE)
_CLASS = re.compile(r"^class\s+(\w+)\s*\(([^)]*)\)", re.MULTILINE)
_PLAIN_CLASS = re.compile(r"((?:@[^\n]*\n)*)(class\s+\w+\s*(?:\([^()\n]*\))?:[^\S\n]*(?:#[^\n]*)?\n)")
_MEMBER = re.compile(r"^([ \t]+)(?:@|def |async def |class )", re.MULTILINE)
_SLICE = 0.005
_LARGE = 8_000
_MOST_JOINS = 8


@dataclass(frozen=True, slots=True)
class TestTarget:
    """The complete target of a run, as it stands in a command's arguments."""

    __test__ = False

    uri: str
    names: tuple[str, ...]
    version: int | None

    def arguments(self, name: str) -> list[Any]:
        """The command's arguments; `name` is the file's name, for people."""
        target = "::".join((name, *self.names))
        return [{"uri": self.uri, "target": target, "names": list(self.names), "version": self.version}]


def parse(source: str) -> list[Located] | None:
    """The tests of a text; None when it does not parse."""
    try:
        return tests_in(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class TestIndex:
    """The tests of one document, kept up to date at the cost of what changed.

    `collected` is what pytest found in it besides, once that is known.
    """

    __test__ = False

    def __init__(self, document: Document) -> None:
        self.document = document
        self.collected: Collected | None = None
        self._cache: dict[str, list[Located] | None] = {}
        self._used: dict[str, list[Located] | None] = {}
        self._placed: dict[tuple[str, int], tuple[list[Located], list[Located]]] = {}
        self._known: list[Located] = []
        self._seen = -1
        document.on_edit = self._moved

    def now(self) -> list[Located]:
        """Every test, at once; as slow as a full parse when the document was never looked at."""
        for _ in self._scan():
            pass
        return self._merged()

    async def soon(self) -> list[Located]:
        """Every test, without keeping the event loop busy for more than some milliseconds at a time."""
        done = False
        while not done:
            edits, started, done = self.document.edits, time.perf_counter(), True
            for _ in self._scan():
                if time.perf_counter() - started > _SLICE:
                    await asyncio.sleep(0)
                    started = time.perf_counter()
                    if self.document.edits != edits:  # typed meanwhile: begin again, with what is parsed
                        done = False
                        break
        return self._merged()

    def singles(self, names: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        """Tests at the place of this one that have none of their own, as far as pytest told them."""
        return self.collected.singles(names) if self.collected else ()

    def _merged(self) -> list[Located]:
        more = self.collected.beside(self._known, self.document) if self.collected else []
        if not more:
            return self._known
        return sorted((*self._known, *more), key=lambda test: (test.first_line, len(test.names)))

    def at(self, first: int, last: int) -> Located | None:
        """The innermost test that holds line `first` (0-based), else the first one up to line `last`."""
        tests = self.now()
        inside = [test for test in tests if test.first_line <= first + 1 <= test.last_line]
        if inside:
            return max(inside, key=lambda test: (test.first_line, len(test.names)))
        return next((test for test in tests if first + 1 <= test.first_line <= last + 1), None)

    def _scan(self) -> Iterator[None]:
        """Parse what is new, piece by piece; the result is in place when the iteration is over."""
        edits = self.document.edits
        if self._seen == edits:
            return
        pieces = _pieces(self.document.text)
        found: list[Located] = []
        self._used = {}
        placed: dict[tuple[str, int], tuple[list[Located], list[Located]]] = {}
        testcases: set[str] = set()
        index = 0
        while index < len(pieces):
            line, text = pieces[index]
            tests, text, index = self._parsed(pieces, index, testcases)
            if tests is None:
                end = line + text.count("\n") + 1 - text.endswith("\n")
                found += [test for test in self._known if line < test.first_line <= end]
            elif tests:
                before = self._placed.get((text, line))
                if before is None or before[0] is not tests:
                    before = tests, [_shifted(test, line) for test in tests]
                placed[text, line] = before
                found += before[1]
            yield
        self._cache, self._placed = self._used, placed
        self._known, self._seen = found, edits

    def _parsed(
        self, pieces: Sequence[tuple[int, str]], index: int, testcases: set[str]
    ) -> tuple[list[Located] | None, str, int]:
        """The tests of a piece, its text, and the index of the next. Joins pieces that a string spans."""
        text = pieces[index][1]
        tests = self._tests(text, testcases)
        end = index + 1
        if tests is None and _inside_string(text):
            joined = text
            for stop in range(index + 1, min(index + 1 + _MOST_JOINS, len(pieces))):
                joined += pieces[stop][1]
                if not _inside_string(joined) and (whole := self._tests(joined, testcases)) is not None:
                    tests, text, end = whole, joined, stop + 1
                    break
        return tests, text, end

    def _tests(self, text: str, testcases: set[str]) -> list[Located] | None:
        """The tests of one piece. A class whose base is a test case further up is told about that base."""
        header = _CLASS.search(text) if "class" in text else None
        bases = {base.strip().split(".")[-1] for base in header.group(2).split(",")} if header else set[str]()
        known = bases & testcases
        if header and (known or any(base.endswith("TestCase") for base in bases)):
            testcases.add(header.group(1))
        key = text if not known else "\n".join((*sorted(known), text))
        if key in self._cache:
            self._used[key] = self._cache[key]
            return self._cache[key]
        if "test" not in text and "Test" not in text and not _inside_string(text):
            tests: list[Located] | None = []
        elif known:
            above = "".join(f"class {base}(TestCase): pass\n" for base in sorted(known))
            whole = parse(above + text)
            tests = whole and [_shifted(test, -len(known)) for test in whole if test.first_line > len(known)]
        else:
            tests = self._large_class(text) if len(text) > _LARGE else parse(text)
        self._cache[key] = self._used[key] = tests
        return tests

    def _large_class(self, text: str) -> list[Located] | None:
        """The tests of a long piece: where it is a plain class, each of its members is parsed by itself."""
        head = _PLAIN_CLASS.match(text)
        members = _members(text, head.end()) if head else []
        if head is None or len(members) < 2 or "__init__" in text or "__test__" in text:
            return parse(text)
        found: list[Located] = []
        name, end = ("",), 0
        for line, member in members:
            tests = self._tests(head.group(2) + member, set())
            if not tests:  # broken, or no test class: the whole has to say which
                return parse(text)
            found += [_shifted(test, line - 1) for test in tests[1:]]
            name, end = tests[0].names, line - 1 + tests[0].last_line
        return [Located(name, 1, end, "class"), *found]

    def _moved(self, first: int, last: int, added: int) -> None:
        """The editor replaced lines `first` to `last` (0-based) by text with `added` line ends."""
        if self.collected:
            self.collected.moved(first, last, added)
        delta = added - (last - first)
        if not delta:
            return

        def move(line: int) -> int:
            return line + delta if line > last + 1 else line

        self._known = [
            test
            if test.last_line <= last + 1
            else Located(
                test.names,
                move(test.first_line),
                max(move(test.last_line), move(test.first_line)),
                test.kind,
            )
            for test in self._known
        ]


def _pieces(text: str) -> list[tuple[int, str]]:
    """The text cut before each decorated definition of the left margin: (0-based first line, text)."""
    pieces: list[tuple[int, str]] = []
    start, line, decorated = 0, 0, False
    for match in _START.finditer(text):
        place = match.start()
        if not decorated and place > start:
            pieces.append((line, text[start:place]))
            line += text.count("\n", start, place)
            start = place
        decorated = text[place] == "@"
    pieces.append((line, text[start:]))
    return pieces


def _members(text: str, start: int) -> list[tuple[int, str]]:
    """A class body from `start` on, cut before each decorated definition: (0-based first line, text)."""
    first = _MEMBER.search(text, start)
    if first is None:
        return []
    members: list[tuple[int, str]] = []
    line, decorated = text.count("\n", 0, start), False
    for match in _MEMBER.finditer(text, start):
        place = match.start()
        if match.group(1) != first.group(1):
            continue
        if not decorated and text[start:place].strip():
            members.append((line, text[start:place]))
            line += text.count("\n", start, place)
            start = place
        decorated = text[match.end() - 1] == "@"
    return [*members, (line, text[start:])]


def _inside_string(text: str) -> bool:
    """Whether the text may end inside a triple-quoted string."""
    return text.count('"""') % 2 == 1 or text.count("'''") % 2 == 1


def _shifted(test: Located, lines: int) -> Located:
    if not lines:
        return test
    return Located(test.names, test.first_line + lines, test.last_line + lines, test.kind)


def wants_quickfix(only: Sequence[str] | None) -> bool:
    """Whether the client asked for quick fixes: "quickfix" itself or the empty kind, which is above all."""
    return only is None or any(str(getattr(kind, "value", kind)) in ("", "quickfix") for kind in only)


def test_action(task: str, uri: str, resume: str, literal: bool) -> lsp.CodeAction | lsp.Command:
    """The action on a file that the run `resume` changed and no test decided about. Choosing it allows this one run to
    change tests."""
    arguments = [{"text": task, "uri": uri, "unlockTests": True, "resume": resume}]
    command = lsp.Command(title=TEST_TITLE, command=ASK_COMMAND, arguments=arguments)
    kind = lsp.CodeActionKind.QuickFix
    return lsp.CodeAction(title=TEST_TITLE, kind=kind, command=command) if literal else command


def code_actions(
    index: TestIndex, uri: str, lines: tuple[int, int], literal: bool, tagged: bool
) -> list[lsp.CodeAction | lsp.Command]:
    """The actions on the test at these lines (0-based, first and last): literals with a kind where the client knows
    them, else bare commands. Behind the first one come others that name a test: made by the same statement, or a single
    case of a parametrized one, or inherited."""
    test = index.at(*lines)
    if test is None:
        return []
    same = [one.names for one in index.now() if _span(one) == _span(test) and one.names != test.names]
    names = [test.names, *same] if same else []
    wanted = [(f"{TITLE}: {name[-1]}", name) for name in (*names, *index.singles(test.names))]
    if not same:
        wanted.insert(0, (TITLE, test.names))
    tags = [lsp.CodeActionTag.LlmGenerated] if tagged else None
    kind = lsp.CodeActionKind.QuickFix
    actions: list[lsp.CodeAction | lsp.Command] = []
    for title, name in wanted:
        command = _command(title, TestTarget(uri, name, index.document.version), index.document.name)
        action = lsp.CodeAction(title=title, kind=kind, command=lsp.Command(**command), tags=tags)
        actions.append(action if literal else lsp.Command(**command))
    return actions


def code_lenses(tests: Sequence[Located], uri: str, document: Document) -> list[dict[str, Any]]:
    """A lens above each test, as plain data because files hold many. Several at one line tell which they are."""
    at_line = Counter(test.first_line for test in tests)
    name, version = document.name, document.version
    found: list[dict[str, Any]] = []
    for test in tests:
        title = f"{TITLE}: {test.names[-1]}" if at_line[test.first_line] > 1 else TITLE
        place = {"line": test.first_line - 1, "character": 0}
        command = _command(title, TestTarget(uri, test.names, version), name)
        found.append({"range": {"start": place, "end": place}, "command": command})
    return found


def _command(title: str, target: TestTarget, name: str) -> dict[str, Any]:
    return {"title": title, "command": FIX_COMMAND, "arguments": target.arguments(name)}


def _span(test: Located) -> tuple[int, int]:
    return test.first_line, test.last_line
