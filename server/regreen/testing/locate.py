"""Tests of a file by its syntax tree: the instant answer at the cursor. pytest's own collection has the last word."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from regreen.workspace.changes import split_lines

Kind = Literal["function", "method", "class"]

_STARTER = re.compile(r"^(?:@|def\b|async\b|class\b|if\b|try\b|with\b|match\b)")
"""A line at the left margin that begins a statement which can hold a test."""

_TRIPLE = ('"""', "'''")


@dataclass(frozen=True, slots=True)
class Located:
    """A test or a test class. Lines are 1-based, both ends included; decorators count to it."""

    names: tuple[str, ...]
    first_line: int
    last_line: int
    kind: Kind


def tests_in(source: str) -> list[Located]:
    """Every test and test class of a module, outermost first, in the order of the file.

    Follows pytest's default naming (`test*` functions, `Test*` classes without `__init__`) and `unittest`:
    any class with a base whose name ends in `TestCase`, through bases in the same file too.
    Raises SyntaxError when the text does not parse.
    """
    pieces = _outlines(source)
    bases = {part.name: part.bases for _, outline in pieces for part in _classes(outline)}
    return [test for before, outline in pieces for test in _visit(outline, (), before, bases)]


def at(source: str, line: int) -> Located | None:
    """The innermost test or test class that holds `line` (1-based); a nested `def` belongs to its test.

    Parses only the statement at the left margin around the line when that is safe, so it answers in about a
    millisecond in files of thousands of lines. Raises SyntaxError when the part that matters does not parse.
    """
    piece = _statement_around(source, line)
    if piece is None:
        return _innermost(tests_in(source), line)
    first, text = piece
    try:
        outline = _outline(text)
    except SyntaxError:
        return _innermost(tests_in(source), line)
    if any(isinstance(part, _Class) and not _stands_alone(part) for part in outline):
        return _innermost(tests_in(source), line)
    return _innermost(list(_visit(outline, (), first - 1, {})), line)


def function_at(source: str, line: int) -> tuple[str, ...]:
    """The names that lead to the function or method that holds `line`, whatever it is called; () without one. Raises
    SyntaxError when the text does not parse."""
    return _function_at(ast.parse(source).body, line)


def _function_at(body: Sequence[ast.stmt], line: int) -> tuple[str, ...]:
    for node in body:
        if not _begin(node) <= line <= (node.end_lineno or node.lineno):
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return () if _is_fixture(node) else (node.name,)
        if isinstance(node, ast.ClassDef):
            inner = _function_at(node.body, line)
            return (node.name, *inner) if inner else ()
        return next(filter(None, (_function_at(block, line) for block in _blocks(node))), ())
    return ()


def _begin(node: ast.stmt) -> int:
    """Decorators count to what they decorate."""
    return min([node.lineno, *(part.lineno for part in getattr(node, "decorator_list", ()))])


def forget() -> None:
    """Drop what is known of texts seen before; for measurements."""
    _outline.cache_clear()


@dataclass(frozen=True, slots=True)
class _Function:
    name: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class _Class:
    name: str
    first: int
    last: int
    bases: tuple[str, ...]
    collectable: bool
    off: bool
    body: tuple[_Function | _Class, ...]


_Part = _Function | _Class


def _outlines(source: str) -> list[tuple[int, tuple[_Part, ...]]]:
    """Outlines of the statements at the left margin, each with the number of lines before it.

    Texts that parse one by one also parse as one, to the same statements; so a keystroke costs the parse of the
    statement it is in. Where a cut was wrong (inside a string), a part does not parse, and the whole is parsed.
    """
    pieces: list[tuple[int, int]] = []
    lines = split_lines(source)
    start = 0
    for number, line in enumerate(lines):
        starts = number > start and _STARTER.match(line)
        if starts and not (lines[start].startswith("@") and _only_decorators(lines, start, number)):
            pieces.append((start, number))
            start = number
    pieces.append((start, len(lines)))
    try:
        return [(first, _outline("".join(lines[first:end]))) for first, end in pieces]
    except SyntaxError:
        return [(0, _outline(source))]


def _only_decorators(lines: Sequence[str], start: int, end: int) -> bool:
    """Whether every statement that starts between these lines is a decorator."""
    return all(line.startswith("@") or not _STARTER.match(line) for line in lines[start:end])


@lru_cache(maxsize=8192)
def _outline(text: str) -> tuple[_Part, ...]:
    return tuple(_parts(ast.parse(text).body))


def _parts(body: Sequence[ast.stmt]) -> Iterator[_Part]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            bases = tuple(ast.unparse(base) for base in node.bases)
            inner = tuple(_parts(node.body))
            yield _Class(node.name, *_span(node), bases, _collectable(node), _switched_off(node), inner)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            # Never descends: a function inside a test is part of that test.
            if node.name.startswith("test") and not _is_fixture(node):
                yield _Function(node.name, *_span(node))
        else:
            for block in _blocks(node):
                yield from _parts(block)


def _innermost(found: Sequence[Located], line: int) -> Located | None:
    hits = [test for test in found if test.first_line <= line <= test.last_line]
    return max(hits, key=lambda test: (test.first_line, len(test.names)), default=None)


def _statement_around(source: str, line: int) -> tuple[int, str] | None:
    """The statement at the left margin that holds `line`, with its first line; None when it takes a full parse.

    A line inside a triple-quoted string may look like a statement. An even number of both kinds of quotes
    before the place rules that out, for all but contrived text.
    """
    lines = split_lines(source)
    if not 1 <= line <= len(lines):
        return None
    start = _starter(lines, line - 1, -1)
    end = _starter(lines, line, 1)
    while start >= 0 and (above := _starter(lines, start - 1, -1)) >= 0 and lines[above].startswith("@"):
        start = above
    last = _starter(lines, line - 1, -1)
    while last < len(lines) and lines[last].startswith("@"):
        last, end = end, _starter(lines, end + 1, 1)
    if start < 0 or not lines[start].startswith(("@", "def", "async def", "class")):
        return None
    before = "".join(lines[:start])
    if any(before.count(quotes) % 2 for quotes in _TRIPLE):
        return None
    return start + 1, "".join(lines[start:end])


def _starter(lines: Sequence[str], index: int, step: int) -> int:
    """The next index from `index` on, upwards or downwards, whose line starts a statement; -1 or the end."""
    while 0 <= index < len(lines) and not _STARTER.match(lines[index]):
        index += step
    return max(-1, min(index, len(lines)))


def _stands_alone(part: _Class) -> bool:
    """Whether the class alone tells if it holds tests: no base of the same file can change the answer."""
    return not part.bases or part.name.startswith("Test") or any(map(_is_testcase, part.bases))


def _classes(outline: Sequence[_Part]) -> Iterator[_Class]:
    for part in outline:
        if isinstance(part, _Class):
            yield part
            yield from _classes(part.body)


def _visit(
    outline: Sequence[_Part], names: tuple[str, ...], before: int, bases: Mapping[str, tuple[str, ...]]
) -> Iterator[Located]:
    for part in outline:
        here = (*names, part.name)
        if isinstance(part, _Function):
            kind: Kind = "method" if names else "function"
            yield Located(here, part.first + before, part.last + before, kind)
        elif not part.off and (
            (part.name.startswith("Test") and part.collectable) or _derives_from_testcase(part.bases, bases)
        ):
            yield Located(here, part.first + before, part.last + before, "class")
            yield from _visit(part.body, here, before, bases)


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Bodies in which a definition is still a definition of the module or class around it."""
    if isinstance(node, ast.If | ast.Try | ast.With) or type(node).__name__ == "TryStar":
        yield getattr(node, "body", [])
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body
    if isinstance(node, ast.If | ast.Try) or type(node).__name__ == "TryStar":
        yield getattr(node, "orelse", [])
        yield getattr(node, "finalbody", [])


def _span(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> tuple[int, int]:
    return _begin(node), node.end_lineno or node.lineno


def _is_testcase(base: str) -> bool:
    return base.endswith("TestCase")


def _derives_from_testcase(
    parents: tuple[str, ...], bases: Mapping[str, tuple[str, ...]], seen: frozenset[str] = frozenset()
) -> bool:
    return any(
        _is_testcase(parent)
        or (parent not in seen and _derives_from_testcase(bases.get(parent, ()), bases, seen | {parent}))
        for parent in parents
    )


def _collectable(node: ast.ClassDef) -> bool:
    """pytest does not collect a class that has a constructor of its own."""
    return not any(isinstance(part, ast.FunctionDef) and part.name == "__init__" for part in node.body)


def _switched_off(node: ast.ClassDef) -> bool:
    return any(
        isinstance(part, ast.Assign)
        and isinstance(part.value, ast.Constant)
        and part.value.value is False
        and any(isinstance(name, ast.Name) and name.id == "__test__" for name in part.targets)
        for part in node.body
    )


def _is_fixture(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """`@pytest.fixture def test_client()` is a fixture, whatever its name says."""
    return any("fixture" in ast.unparse(decorator).split("(")[0] for decorator in node.decorator_list)
