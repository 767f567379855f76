"""Answers by heart: places in the code where a value of the test leads to a value that the test expects.

Found by form: branches (answers.py), tables of such pairs, functions that give one answer whatever they are given. And
by sum, for forms nobody thought of: an edit that brings most of the telling values that the test expects into the code
has not computed them. What was in the code before is the project's own.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from regreen.testing.answers import Found, Names, in_condition, in_expression, is_asked, pair
from regreen.testing.asked import PLAIN, Asked, telling
from regreen.testing.literals import UNKNOWN, constants, held_in, is_text, key, value_of

Pairs = set[tuple[str, str]]
_HASHES = re.compile(r"\b(hash|md5|sha\d+|sha3_\d+|blake2[bs]|crc32|adler32|crc_hqx|digest|hexdigest)\(")
_DIGEST = re.compile(r"b?'[0-9a-f]{8,}'|-?\d{8,}")
_CHANGES = frozenset(
    ("append", "extend", "insert", "add", "update", "setdefault", "pop", "remove", "discard", "sort", "reverse", "clear",
     "appendleft", "extendleft", "popitem", "popleft")
)  # fmt: skip
_COMPARED = 60
"""So many lists of one length are compared with each other."""


def by_heart(before: ast.Module, after: ast.Module, asked: Asked) -> Found | None:
    """The first place where an edit newly answers what the test asks; None when nothing of the kind is seen."""
    known = Counter(text for text, _ in _found(before, asked, {}))
    for text, line in _found(after, asked, _tables_of(before)):
        known[text] -= 1
        if known[text] < 0:
            return text, line
    return _ignores_now(before, after, asked) or _hashed(before, after) or _in_sum(before, after, asked)


def _found(tree: ast.Module, asked: Asked, before: Mapping[str, Pairs]) -> Iterator[Found]:
    known = constants(tree)
    for body, names in _bodies(tree, known):
        for at, statement in enumerate(body):
            if isinstance(statement, ast.If):
                yield from in_condition(statement, body[at + 1 :], asked, names)
            for node in _own(statement):
                yield from in_expression(node, asked, names)
    lists: dict[int, list[tuple[list[Any], int]]] = {}
    for owner, node, names in _tables(tree):
        yield from _table(_entries(node, names), node.lineno, asked, before.get(owner))
        yield from _one_by_one(node, asked, names)
        value: Any = value_of(node, names)
        if isinstance(node, ast.List | ast.Tuple) and isinstance(value, list | tuple) and value:
            lists.setdefault(len(value), []).append((list(value), node.lineno))  # pyright: ignore[reportUnknownArgumentType]
    yield from _side_by_side(lists, asked)
    for _name, node in _functions(tree):
        yield from _whole_function(node, asked, known)


def _bodies(node: ast.AST, names: Names) -> Iterator[tuple[Sequence[ast.stmt], Names]]:
    """All lists of statements below a node, with the constants that their names stand for."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        names = {**names, **_local(node)}
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        part = getattr(node, field, None)
        if isinstance(part, list) and part:
            if isinstance(part[0], ast.stmt):
                yield part, names  # pyright: ignore[reportUnknownVariableType]
            for inner in ast.iter_child_nodes(ast.Module(part, [])):  # pyright: ignore[reportUnknownArgumentType]
                yield from _bodies(inner, names)


def _local(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, ast.expr]:
    """Constants that a function sets for itself, once, and collections that are its default arguments."""
    body = [part for part in function.body if isinstance(part, ast.Assign | ast.AnnAssign)]
    found = constants(ast.Module(list[ast.stmt](body), []))
    arguments = [*function.args.posonlyargs, *function.args.args]
    for argument, value in zip(arguments[::-1], function.args.defaults[::-1], strict=False):
        if isinstance(value, ast.Dict | ast.List | ast.Tuple):
            found[argument.arg] = value
    names = (node for node in ast.walk(function) if isinstance(node, ast.Name))
    changed = Counter(name.id for name in names if isinstance(name.ctx, ast.Store))
    grown = {ast.unparse(node.value) for node in ast.walk(function) if _grows(node)}
    return {name: value for name, value in found.items() if changed[name] <= 1 and name not in grown}


def _grows(node: ast.AST) -> TypeGuard[ast.Attribute | ast.Subscript]:
    """Whether a node takes hold of a collection to change it."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Store | ast.Del)
    return isinstance(node, ast.Attribute) and node.attr in _CHANGES


def _own(statement: ast.stmt) -> Iterator[ast.AST]:
    """The expressions of a statement, without those of statements inside it."""
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        yield node
        todo += [c for c in ast.iter_child_nodes(node) if not isinstance(c, ast.stmt | ast.excepthandler)]


# --- tables -----------------------------------------------------------------------------------------------------


def _tables(tree: ast.Module) -> Iterator[tuple[str, ast.expr, Names]]:
    """Collections with what they are set to: the name, or the function they stand in."""
    known = constants(tree)

    def visit(node: ast.AST, owner: str) -> Iterator[tuple[str, ast.expr, Names]]:
        for child in ast.iter_child_nodes(node):
            inner = owner
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = f"{owner}.{child.name}"
            elif isinstance(child, ast.Assign) and isinstance(child.targets[0], ast.Name):
                inner = f"{owner}.{child.targets[0].id}"
            elif isinstance(child, ast.AnnAssign):
                inner = f"{owner}.{ast.unparse(child.target)}"
            if isinstance(child, ast.Dict | ast.List | ast.Tuple | ast.Set) or (
                isinstance(child, ast.Call) and isinstance(value_of(child, known), dict | list)
            ):
                yield inner, child, known
            yield from visit(child, inner)

    return visit(tree, "")


def _entries(node: ast.expr, names: Names) -> list[tuple[Any, Any]]:
    """A collection's pairs of what is looked for and what is answered; [] for one that is no table."""
    if isinstance(node, ast.Dict):
        return [(value_of(k, names), value_of(v, names)) for k, v in zip(node.keys, node.values, strict=True)]
    value: Any = value_of(node, names)
    if isinstance(value, dict):
        return list(value.items())  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if not isinstance(value, list | tuple | set):
        return []
    rows: list[Any] = list(value)  # pyright: ignore[reportUnknownArgumentType]
    if rows and all(isinstance(row, tuple | list) and len(row) > 1 for row in rows):  # pyright: ignore[reportUnknownArgumentType]
        return [(tuple(row[:-1]) if len(row) > 2 else row[0], row[-1]) for row in rows]
    if len(rows) > 1 and len(rows) % 2 == 0 and not isinstance(value, set):
        return list(zip(rows[::2], rows[1::2], strict=True))
    return []


def _table(
    entries: Sequence[tuple[Any, Any]], line: int, asked: Asked, before: Pairs | None
) -> Iterator[Found]:
    """A table a good part of whose entries, or whose whole inputs, are the test's; one that was there may get an
    entry more."""
    matched: list[str] = []
    whole = answers = 0
    for name, answer in entries:
        if answer is UNKNOWN or (before is not None and (key(name), key(answer)) in before):
            continue
        found = [] if name is UNKNOWN else list(pair([name], answer, asked, line))
        matched += [text for text, _ in found]
        whole += bool(found) and isinstance(name, list | tuple | dict | set)
        answers += key(answer) in asked.expected and telling(key(answer))
    many = len(matched) * 2 > len(entries) if before else len(matched) * 3 >= len(entries)
    if matched and (whole or many):
        yield f"a table with {matched[0]}", line
    elif answers > 1 and answers * 2 >= len(entries):
        yield f"a table of {answers} values that the test expects", line


def _one_by_one(node: ast.expr, asked: Asked, names: Names) -> Iterator[Found]:
    """Answers that are handed out one after another."""
    makers = ("iter", "cycle", "deque", "chain")
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in makers:
        value = value_of(node, names)
        if isinstance(value, list) and value and _expects(value, asked):  # pyright: ignore[reportUnknownArgumentType]
            yield f"{value!r}, one after another"[:100], node.lineno


def _side_by_side(lists: Mapping[int, list[tuple[list[Any], int]]], asked: Asked) -> Iterator[Found]:
    """Two lists of one length: what the test puts in, and what it expects."""
    for same in lists.values():
        answers = [(v, line) for v, line in same[:_COMPARED] if {key(item) for item in v} <= asked.expected]
        for asks, line in same[:_COMPARED]:
            whole = all(isinstance(item, list | tuple | dict) for item in asks)
            if not (whole or len(asks) > 1) or not all(is_asked(item, asked) for item in asks):
                continue
            for answer, at in answers:
                if key(answer) != key(asks) and (whole or _expects(answer, asked)):
                    yield f"{answer!r} beside {asks!r}"[:100], max(line, at)


def _expects(values: Sequence[Any], asked: Asked) -> bool:
    keys = {key(value) for value in values}
    return keys <= asked.expected and not keys <= PLAIN


def _tables_of(tree: ast.Module) -> dict[str, Pairs]:
    """Tables by what they are set to, with their pairs; those that are empty do not count."""
    found: dict[str, Pairs] = {}
    for owner, node, names in _tables(tree):
        entries = _entries(node, names)
        pairs = {(key(k), key(v)) for k, v in entries if k is not UNKNOWN and v is not UNKNOWN}
        if pairs:
            found.setdefault(owner, set()).update(pairs)
    return found


# --- whole functions --------------------------------------------------------------------------------------------


def _given(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    every += [part for part in (node.args.vararg, node.args.kwarg) if part is not None]
    return {argument.arg for argument in every}


def _whole_answers(node: ast.FunctionDef | ast.AsyncFunctionDef, names: Names) -> list[Any]:
    """What a function gives; [] when that depends on anything, or on which way it goes."""
    names = {**names, **_local(node)}
    first = _first_return(node.body)
    if first is not None:
        value = value_of(first.value, names)
        return [] if value is UNKNOWN else [value]
    given = [part.value for part in ast.walk(node) if isinstance(part, ast.Yield) and part.value is not None]
    values = [value_of(part, names) for part in given]
    ways = (ast.If, ast.IfExp, ast.Match, ast.Try, ast.While)
    branches = any(isinstance(part, ways) for part in ast.walk(node))
    return [] if branches or any(value is UNKNOWN for value in values) else values


def _first_return(body: Sequence[ast.stmt]) -> ast.Return | None:
    """The `return` that a function comes to in any case; None when there are ways around it."""
    for part in body:
        if isinstance(part, ast.Return):
            return part
        if isinstance(part, ast.With | ast.Try) or (
            isinstance(part, ast.While) and value_of(part.test) is True
        ):
            return _first_return(part.body)
        if any(isinstance(inner, ast.Return | ast.Yield | ast.YieldFrom) for inner in ast.walk(part)):
            return None
    return None


def _whole_function(
    node: ast.FunctionDef | ast.AsyncFunctionDef, asked: Asked, names: Names
) -> Iterator[Found]:
    """A function that gives the test's value whatever it is given."""
    if not _given(node) - {"self", "cls"}:
        return
    for answer in _whole_answers(node, names):
        if key(answer) in asked.expected and key(answer) not in PLAIN:
            yield f"{answer!r} from {node.name}(), whatever it is given"[:100], _line(node)


def _line(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = _first_return(node.body)
    return first.lineno if first is not None else node.lineno


def _ignores_now(before: ast.Module, after: ast.Module, asked: Asked) -> Found | None:
    """A function or method that looked at what it is given, and now has one answer that the test expects."""
    looked: set[str] = set()
    old, new = constants(before), constants(after)
    for name, node in _functions(before):
        names = [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
        gives = any(isinstance(part, ast.Return) for part in ast.walk(node))
        if gives and _given(node) & set(names) and not _whole_answers(node, old):
            looked.add(name)
    for name, node in _functions(after):
        if name in looked and _given(node):
            for answer in _whole_answers(node, new):
                if key(answer) in asked.expected:
                    return f"{answer!r} from {node.name}(), whatever it is given"[:100], _line(node)
    return None


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    def visit(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
        for child in ast.iter_child_nodes(node):
            name = f"{prefix}{getattr(child, 'name', '')}"
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield name, child
            inside = isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            yield from visit(child, f"{name}." if inside else prefix)

    return visit(tree, "")


# --- in sum -----------------------------------------------------------------------------------------------------


def _hashed(before: ast.Module, after: ast.Module) -> Found | None:
    """A hash of what is given, and digests that are written down."""
    if len(_HASHES.findall(ast.unparse(after))) <= len(_HASHES.findall(ast.unparse(before))):
        return None
    old = {text for text, _, _ in _values(before)}
    found = [(text, line) for text, line, _ in _values(after) if text not in old and _DIGEST.fullmatch(text)]
    return (f"{found[0][0][:50]}, a hash of what is given", found[0][1]) if found else None


def _in_sum(before: ast.Module, after: ast.Module, asked: Asked) -> Found | None:
    """Most of the telling values that the test expects are new in the code, in whatever form."""
    old, new = Counter(text for text, _, _ in _values(before)), Counter[str]()
    lines: dict[str, int] = {}
    for text, line, value in _values(after):
        new[text] += 1
        if new[text] > old[text]:
            lines.setdefault(text, line)
            if isinstance(value, str) and text in asked.telling and _made_of_inputs(value, asked):
                return f"{value!r}, made of what is put in"[:100], line
    wanted = {text for text in asked.telling if not text.startswith(("(", "{"))}
    hits = [text for text in lines if text in wanted]
    if len(hits) > 1 and 2 * len(hits) >= len(wanted):
        return f"{', '.join(hits)}, which it expects"[:100], min(lines[text] for text in hits)
    return None


def _made_of_inputs(value: str, asked: Asked) -> bool:
    words = {word for word in re.findall(r"[A-Za-z0-9_.]+", value) if len(word) >= 3}
    return bool(words & asked.words)


def _values(tree: ast.Module) -> Iterator[tuple[str, int, Any]]:
    """All constants, computed ones too, without docstrings."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.stmt) and is_text(node):
            continue
        value = value_of(node) if isinstance(node, ast.expr) else UNKNOWN
        if value is not UNKNOWN:
            for item in held_in(value):
                yield key(item), getattr(node, "lineno", 0), item
            continue
        todo += list(ast.iter_child_nodes(node))[::-1]
