"""Where in a file the tests stand that pytest collected from it; also those that a syntax tree alone cannot know. Pure.

An inherited test stands at the class that inherits it, a doctest at what its docstring belongs to, a test made while the
module is imported at the statement that makes it.
"""

from __future__ import annotations

import ast
import fnmatch
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regreen.testing.doctests import is_doctest, part_of
from regreen.testing.target import MADE, Target, configs_around, split_nodeid
from regreen.workspace.changes import split_lines

MOST_SINGLES = 10
"""Tests that are kept of those that have no place of their own, at one place."""

_PATTERNS = re.compile(r"\bpython_files[ \t]*=[ \t]*(\[[^\]]*\]|[^\n]*(?:\n[ \t]+[^\n=]*$)*)", re.MULTILINE)
_PATTERN = re.compile(r"[^\s,\"'\[\]]+")
TEST_FILES = ("test_*.py", "*_test.py")
"""What pytest takes for files of tests where nothing else is configured."""


@dataclass(frozen=True, slots=True)
class Place:
    """A test, a test class or a doctest in its file.

    Lines are 1-based, both ends included, decorators too. `head` is the line that names it and `text` what stands
    there, by which the place is known again in a changed file. `singles` are the names of tests that have no place of
    their own: the cases of a parametrized test, and what a class inherits; the first ones of many.
    """

    names: tuple[str, ...]
    first: int
    last: int
    head: int
    text: str
    kind: str
    singles: tuple[tuple[str, ...], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As it goes over a pipe."""
        return {
            "names": list(self.names),
            "first": self.first,
            "last": self.last,
            "head": self.head,
            "text": self.text,
            "kind": self.kind,
            "singles": [list(names) for names in self.singles],
        }


def places_of(source: str, path: str, nodeids: Iterable[str]) -> list[Place]:
    """The places of the tests of one file, from top to bottom. Raises SyntaxError when the file does not parse.

    `path` is relative to the workspace, as doctests are named after it. Of each test its classes have a place too.
    """
    tree, lines = ast.parse(source), split_lines(source)
    top = _bindings(tree.body)
    tests: dict[tuple[str, ...], list[str]] = {}
    for nodeid in nodeids:
        _, names, param = split_nodeid(nodeid)
        if names:
            cases = tests.setdefault(names, [])
            if param:
                cases.append(param)
    found: dict[tuple[str, ...], Place] = {}
    singles: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for names, cases in tests.items():
        doctest = names[0] not in top and is_doctest(Target(path, names))
        chain = [_doctest(tree, Target(path, names))] if doctest else list(_chain(tree, top, names, lines))
        chain = [(known, node) for known, node in chain if node is not None]
        for known, node in chain:
            if known not in found:
                kind = "doctest" if doctest else "test" if known == names else "class"
                found[known] = _place(known, node, lines, kind)
        if chain and chain[-1][0] == names:
            singles[names] = [(*names[:-1], f"{names[-1]}[{case}]") for case in cases]
        elif chain:
            singles.setdefault(chain[-1][0], []).append(names)
    places = (
        replace(place, singles=tuple(singles.get(place.names, ())[:MOST_SINGLES])) for place in found.values()
    )
    return sorted(places, key=lambda place: (place.first, len(place.names)))


def is_test_file(file: Path) -> bool:
    """Whether pytest takes a file for one of tests by its name, with the patterns of the configuration around it."""
    patterns: list[str] = []
    for texts in configs_around(file):
        for match in (match for text in texts for match in _PATTERNS.finditer(text)):
            patterns += _PATTERN.findall(match.group(1))
        if patterns:
            break
    return any(fnmatch.fnmatch(file.name, one.rpartition("/")[2]) for one in patterns or TEST_FILES)


_Found = tuple[tuple[str, ...], "ast.AST | None"]


def _chain(
    tree: ast.Module, top: dict[str, ast.stmt], names: tuple[str, ...], lines: Sequence[str]
) -> Iterator[_Found]:
    """The classes around a test and itself, as far as they stand in the file."""
    scope = top
    for depth, name in enumerate(names, 1):
        node = scope.get(name)
        if node is None:
            break
        yield names[:depth], node
        if not isinstance(node, ast.ClassDef):
            return
        scope = _bindings(node.body)
    else:
        return
    if names[0] not in top:
        yield names[:1], _maker(tree, names[0], lines)


def _maker(tree: ast.Module, name: str, lines: Sequence[str]) -> ast.AST | None:
    """The statement of the module that makes a name which stands nowhere, or brings it from elsewhere."""
    source = ["".join(lines[node.lineno - 1 : node.end_lineno]) for node in tree.body]
    makers = [(node, text) for node, text in zip(tree.body, source, strict=True) if MADE.search(text)]
    for node, _ in makers:
        if any(_may_spell(part, name) for part in ast.walk(node)):
            return node
    stars = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.names[0].name == "*"]
    word = re.compile(rf"\b{re.escape(name)}\b")
    named = [node for node, text in zip(tree.body, source, strict=True) if word.search(text)]
    return next(iter([*named, *stars, *(node for node, _ in makers), *tree.body]), None)


def _may_spell(node: ast.AST, name: str) -> bool:
    """Whether a text, or one with gaps, may be this name."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value == name or (
            len(node.value) > 3 and name.startswith(re.split(r"[%{]", node.value)[0] or "\0")
        )
    if isinstance(node, ast.JoinedStr):
        parts = [
            re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".*" for part in node.values
        ]
        return parts != [".*"] and re.fullmatch("".join(parts), name) is not None
    return False


def _doctest(tree: ast.Module, target: Target) -> _Found:
    """What a doctest belongs to: a function, a method, a class, or the module's own docstring."""
    node: ast.AST | None = None
    scope = _bindings(tree.body)
    for part in filter(None, part_of(target).split(".")):
        node = scope.get(part)
        if not isinstance(node, ast.ClassDef):
            break
        scope = _bindings(node.body)
    if not part_of(target):
        node = next(iter(tree.body), None)
    return target.names, node


def _place(names: tuple[str, ...], node: ast.AST | None, lines: Sequence[str], kind: str) -> Place:
    head = getattr(node, "lineno", 1)
    first = min([head, *(part.lineno for part in getattr(node, "decorator_list", ()))])
    text = lines[head - 1].rstrip() if head <= len(lines) else ""
    return Place(names, first, getattr(node, "end_lineno", None) or head, head, text, kind)


def _bindings(body: Sequence[ast.stmt]) -> dict[str, ast.stmt]:
    """What the names of a module or class are bound to; the last one counts, as it does for pytest."""
    bound: dict[str, ast.stmt] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound[node.name] = node
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound.update((alias.asname or alias.name, node) for alias in node.names if alias.name != "*")
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (part for target in targets for part in ast.walk(target))
            bound.update((part.id, node) for part in names if isinstance(part, ast.Name))
        else:
            for block in _blocks(node):
                bound.update(_bindings(block))
    return bound


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Bodies whose names belong to the module or class around them."""
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body
    for field in ("body", "orelse", "finalbody"):
        yield getattr(node, field, None) or []
