"""What a test asks: the values that it puts in, those that it expects, and which belong together."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from regreen.testing.code_index import names_used, part_named
from regreen.testing.literals import UNKNOWN, constants, held_in, key, value_of

PLAIN = frozenset(("0", "1", "-1", "''", "None", "True", "False", "()", "{}", "b''"))
"""Values of base cases, which good code asks for too."""
_COMMON = frozenset(
    ("10", "12", "24", "31", "60", "100", "128", "255", "256", "360", "365", "366", "1000", "1024", "3600", "86400",
     "10000", "100000", "1000000", "0.5", "0.1", "0.01", "0.25", "0.001", "1e-09", "1e-06")
)  # fmt: skip
"""Numbers that stand in any code."""
_WORD = re.compile(r"[A-Za-z0-9_.]+")


@dataclass(frozen=True, slots=True)
class Asked:
    """Keys of values (see `literals.key`). `used` are all, `expected` those that an assertion may compare with,
    `arguments` what calls are given together, as one tuple, `words` what values that go in are made of."""

    used: frozenset[str]
    expected: frozenset[str]
    arguments: frozenset[str]
    words: frozenset[str]

    @property
    def telling(self) -> frozenset[str]:
        """Expected values that no code holds by accident: larger numbers, texts of several words, collections."""
        return frozenset(text for text in self.expected if telling(text))


def telling(text: str) -> bool:
    """Whether the value of a key stands in a program for one reason only."""
    if text in PLAIN or text in _COMMON:
        return False
    if re.fullmatch(r"-?\d+", text):
        return abs(int(text)) >= 10 if len(text) < 400 else True
    if re.fullmatch(r"-?\d+\.\d+(e[+-]?\d+)?|-?\d+e[+-]?\d+", text):
        return True
    if text.startswith(("'", '"')):
        return len(text) >= 6 and bool(re.search(r"\d| \w", text))
    if text.startswith(("(", "{")):
        leaves = re.findall(r"'[^']*'|[\w.+-]+", text)
        return len(leaves) > 1 and any(leaf not in PLAIN and leaf not in ("2", "3") for leaf in leaves)
    return text.endswith(")")


def asked(test: str, names: Sequence[str], more: Sequence[str] = ()) -> Asked:
    """What the test `names` of the source `test` asks. `more` are sources of conftest.py files, for fixtures.

    Raises SyntaxError, ValueError or RecursionError as `ast.parse` does.
    """
    tree = ast.parse(test)
    known = constants(tree)
    scope = [part_named(tree, names), *_helpers(tree, names, [ast.parse(source) for source in more])]
    used: set[str] = set()
    expected: set[str] = set()
    arguments: set[str] = set()
    words: set[str] = set()
    columns = [column for part in scope for column in _columns(part, known)]
    rows = {id(inner) for given, _expected in columns for inner in ast.walk(given)}
    for _given_rows, answers in columns:
        expected |= {key(item) for answer in answers for item in held_in(answer)}
    for part in scope:
        inside = {id(inner) for call in _calls(part) for inner in _given(call)}
        inside = rows | (inside - {id(inner) for call in _made_to_compare(part) for inner in _given(call)})
        for node in ast.walk(part):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                inside.add(id(node.value))  # a docstring
        for call in _calls(part):
            values = [value_of(argument, known) for argument in call.args]
            values += [value_of(keyword.value, known) for keyword in call.keywords]
            if values and all(value is not UNKNOWN for value in values):
                arguments.add(key(tuple(values)))
        for node in ast.walk(part):
            if not isinstance(node, ast.expr) or isinstance(node, ast.Name | ast.Attribute):
                continue  # what a name stands for is looked at where it is set
            if (value := value_of(node, known)) is UNKNOWN:
                continue
            keys = {key(item) for item in held_in(value)}
            used |= keys
            if id(node) in inside:
                words |= {
                    word for item in held_in(value) if isinstance(item, str | int) for word in _words(item)
                }
            else:
                expected |= keys
        arguments.update(_rows(part, known))
    return Asked(frozenset(used), frozenset(expected), frozenset(arguments), frozenset(words))


def _words(value: Any) -> Iterator[str]:
    for word in _WORD.findall(str(value)):
        if len(word) >= 3 and not isinstance(value, bool):
            yield word


def _calls(part: ast.AST) -> Iterator[ast.Call]:
    """Calls of the code under test, as far as that can be seen: neither assertions nor makers of values."""
    for node in ast.walk(part):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called.startswith(("assert", "parametrize", "param", "fixture")) or called in (
            "approx",
            "subTest",
            "zip",
            "enumerate",
        ):
            continue
        if value_of(node) is UNKNOWN:
            yield node


def _made_to_compare(part: ast.AST) -> Iterator[ast.Call]:
    """Objects that an assertion makes to compare with: their parts are expected."""
    for node in ast.walk(part):
        sides: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            sides = list(node.args) if node.func.attr.startswith("assert") else []
        while sides:
            side = sides.pop()
            if isinstance(side, ast.List | ast.Tuple | ast.Set):
                sides += side.elts
            elif isinstance(side, ast.Call) and ast.unparse(side.func).rpartition(".")[2][:1].isupper():
                yield side


def _given(call: ast.Call) -> Iterator[ast.AST]:
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
        yield from ast.walk(argument)


def _columns(part: ast.AST, known: dict[str, ast.expr]) -> Iterator[tuple[ast.expr, list[Any]]]:
    """Rows of cases, with the values of the columns that are not only given to the code under test."""
    outside = {id(inner) for call in _calls(part) for inner in _given(call)}
    free = {
        node.id
        for node in ast.walk(part)
        if isinstance(node, ast.Name) and id(node) not in outside and isinstance(node.ctx, ast.Load)
    }
    for node in ast.walk(part):
        names: list[str] = []
        rows: ast.expr | None = None
        if isinstance(node, ast.For) and isinstance(node.target, ast.Tuple):
            names, rows = [ast.unparse(name) for name in node.target.elts], node.iter
        elif (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).endswith("parametrize")
            and len(node.args) > 1
        ):
            said: Any = value_of(node.args[0], known)
            names = (
                [name.strip() for name in said.split(",")]
                if isinstance(said, str)
                else list(said or ())
                if said is not UNKNOWN
                else []
            )
            rows = node.args[1]
        if rows is None or len(names) < 2:
            continue
        given = known.get(rows.id, rows) if isinstance(rows, ast.Name) else rows
        values: Any = value_of(given, known)
        wanted = [at for at, name in enumerate(names) if name in free]
        table: list[Any] = list(values) if isinstance(values, list | tuple) else []  # pyright: ignore[reportUnknownArgumentType]
        whole = all(isinstance(row, list | tuple) and len(row) == len(names) for row in table)  # pyright: ignore[reportUnknownArgumentType]
        if whole and 0 < len(wanted) < len(names):
            yield given, [row[at] for row in table for at in wanted]


def _rows(part: ast.AST, known: dict[str, ast.expr]) -> Iterator[str]:
    """Rows of cases, without the last or the first value, which may be the one expected."""
    for node in ast.walk(part):
        if isinstance(node, ast.List | ast.Tuple) and len(node.elts) > 1:
            values = [value_of(element, known) for element in node.elts]
            if all(value is not UNKNOWN for value in values):
                yield key(tuple(values[:-1]))
                yield key(tuple(values[1:]))


def _helpers(tree: ast.Module, names: Sequence[str], more: Sequence[ast.Module]) -> list[ast.AST]:
    """What the test mentions of its own file and of conftest.py: constants, fixtures, functions; and what its class
    prepares for it."""
    target = part_named(tree, names)
    if target is tree:
        return []
    holder = part_named(tree, names[:-1]) if len(names) > 1 else tree
    wanted = names_used(target)
    found: list[ast.AST] = []
    if isinstance(holder, ast.ClassDef):
        for node in holder.body:
            ready = isinstance(node, ast.FunctionDef) and node.name in (
                "setUp",
                "setup_method",
                "setup",
                "setUpClass",
            )
            if ready or _names_of(node) & wanted:
                found.append(node)
    for _turn in range(3):
        for node in (*tree.body, *(node for other in more for node in other.body)):
            if node is not target and node is not holder and node not in found and _names_of(node) & wanted:
                found.append(node)
                wanted |= names_used(node)
    return [node for node in found if node is not target]


def _names_of(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return set() if node.name.startswith("test") else {node.name}
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AnnAssign)
        else []
    )
    return {target.id for target in targets if isinstance(target, ast.Name)}
