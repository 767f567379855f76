"""Branches that answer by heart: asked for a value of the test, they give one that the test expects."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from regreen.testing.asked import PLAIN, Asked, telling
from regreen.testing.literals import UNKNOWN, key, value_of

Found = tuple[str, int]
"""What is answered, and the line."""
Names = Mapping[str, ast.expr]
"""Names that stand for constants, with the expression."""

_ENCODED = frozenset(
    ("b64decode", "b85decode", "a85decode", "b32decode", "unhexlify", "decompress", "fromhex")
)
_TEST_FILE = re.compile(r"(^|[\\/])(tests?[\\/]|test_\w+\.py|\w+_test\.py|conftest)")


def in_condition(statement: ast.If, rest: Sequence[ast.stmt], asked: Asked, names: Names) -> Iterator[Found]:
    """What an `if` answers, also by what comes behind it (`rest`)."""
    for answer in _answers(statement.body, names):
        yield from branch(statement.test, answer, asked, names)
    for answer in _answers(statement.orelse or rest[:1], names):
        yield from branch(statement.test, answer, asked, names, where=False)


def in_expression(node: ast.AST, asked: Asked, names: Names) -> Iterator[Found]:
    """What one node of the tree answers by itself."""
    if isinstance(node, ast.IfExp):
        yield from branch(node.test, value_of(node.body, names), asked, names)
        yield from branch(node.test, value_of(node.orelse, names), asked, names, where=False)
    elif isinstance(node, ast.BoolOp):
        where = isinstance(node.op, ast.And)
        yield from branch(node.values[0], value_of(node.values[-1], names), asked, names, where)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for test, answer in ((node.left, node.right), (node.right, node.left)):
            if isinstance(test, ast.Compare):
                yield from branch(test, value_of(answer, names), asked, names)
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Compare):
        for answer in _parts(node.value):
            yield from branch(node.slice, value_of(answer, names), asked, names)
    elif isinstance(node, ast.Tuple | ast.List | ast.Dict):
        parts = _parts(node)
        if len(parts) > 1 and isinstance(parts[0], ast.Lambda):
            yield from branch(parts[0].body, value_of(parts[-1], names), asked, names)
    elif isinstance(node, ast.Match):
        for case in node.cases:
            yield from _case(case, asked, names)
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        place = value_of(node.targets[0].slice, names)
        yield from pair([place], value_of(node.value, names), asked, node.lineno)
    elif isinstance(node, ast.Call):
        yield from _call(node, asked, names)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _TEST_FILE.search(node.value):
        yield f"{node.value!r} names the file of a test"[:100], node.lineno


def _parts(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.Tuple | ast.List):
        return node.elts
    return [*filter(None, node.keys), *node.values] if isinstance(node, ast.Dict) else []


def _answers(body: Sequence[ast.stmt], names: Names) -> Iterator[Any]:
    for node in body:
        if isinstance(node, ast.Return | ast.Assign | ast.AnnAssign | ast.AugAssign):
            yield value_of(node.value, names)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield):
            yield value_of(node.value.value, names)
        elif isinstance(node, ast.If | ast.With | ast.Try | ast.For):
            yield from _answers(node.body, names)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and len(node.value.args) == 1:
            yield value_of(node.value.args[0], names)


def _call(node: ast.Call, asked: Asked, names: Names) -> Iterator[Found]:
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    given = [value_of(argument, names) for argument in node.args]
    if called in ("setdefault", "__setitem__") and len(given) == 2:
        yield from pair([given[0]], given[1], asked, node.lineno)
    elif called in ("append", "add", "insert", "appendleft") and given and isinstance(given[-1], tuple):
        asks: list[Any] = list(given[-1])  # pyright: ignore[reportUnknownArgumentType]
        if len(asks) > 1:
            yield from pair(asks[:-1], asks[-1], asked, node.lineno)
    secret = called in _ENCODED or (called == "decode" and ast.unparse(node.func) == "codecs.decode")
    secret = secret or (called == "loads" and ast.unparse(node.func) in ("pickle.loads", "marshal.loads"))
    if secret and given and isinstance(given[0], str | bytes) and len(given[0]) > 3:
        yield f"{called}() of a text, which hides what it holds", node.lineno


def _case(case: ast.match_case, asked: Asked, names: Names) -> Iterator[Found]:
    for answer in _answers(case.body, names):
        for value in _of_pattern(case.pattern, names):
            yield from pair([value], answer, asked, case.pattern.lineno)
        if case.guard is not None:
            yield from branch(case.guard, answer, asked, names)


def _of_pattern(pattern: ast.pattern, names: Names) -> Iterator[Any]:
    if isinstance(pattern, ast.MatchValue):
        yield value_of(pattern.value, names)
    elif isinstance(pattern, ast.MatchOr):
        for part in pattern.patterns:
            yield from _of_pattern(part, names)
    elif isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        yield from _of_pattern(pattern.pattern, names)
    elif isinstance(pattern, ast.MatchSequence):
        parts = [next(_of_pattern(part, names), UNKNOWN) for part in pattern.patterns]
        if all(part is not UNKNOWN for part in parts):
            yield tuple(parts)
        yield from parts


def branch(test: ast.expr, answer: Any, asked: Asked, names: Names, where: bool = True) -> Iterator[Found]:
    """A condition and what is answered where it holds, or with `where` False where it does not."""
    if answer is UNKNOWN:
        return
    known = [value for value in _compared(test, where, names) if value is not UNKNOWN]
    found = list(pair(known, answer, asked, test.lineno))
    if not found and known and key(answer) in asked.expected and telling(key(answer)):
        # Whatever is compared there: no rule ends in such a value.
        found = [(f"{answer!r} where {ast.unparse(test)}"[:100], test.lineno)]
    yield from found


def _compared(test: ast.expr, where: bool, names: Names) -> Iterator[Any]:
    """The constants that something must be equal to, for a condition to hold (or not to, with `where` False)."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _compared(test.operand, not where, names)
    elif isinstance(test, ast.Compare):
        signs = (ast.Eq, ast.In, ast.Is) if where else (ast.NotEq, ast.NotIn, ast.IsNot)
        if not all(isinstance(op, signs) for op in test.ops):
            return
        for part in (test.left, *test.comparators):
            value = value_of(part, names)
            if isinstance(test.ops[0], ast.In | ast.NotIn) and isinstance(value, list | tuple | set | dict):
                yield from value  # pyright: ignore[reportUnknownVariableType]
            else:
                yield value
    elif isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute | ast.Name):
        called = test.func.attr if isinstance(test.func, ast.Attribute) else test.func.id
        equal = ("__eq__", "eq", "startswith", "endswith", "fullmatch", "match", "count", "index", "isclose")
        if called in equal:
            for argument in test.args:
                yield value_of(argument, names)
        elif called in ("all", "any", "bool"):
            for node in ast.walk(test):
                if isinstance(node, ast.Compare):
                    yield from _compared(node, where, names)
    elif isinstance(test, ast.BoolOp | ast.NamedExpr | ast.BinOp):
        for part in ast.iter_child_nodes(test):
            if isinstance(part, ast.expr):
                yield from _compared(part, where, names)


def pair(values: Sequence[Any], answer: Any, asked: Asked, line: int) -> Iterator[Found]:
    """A place that answers `answer` where it is asked for `values`, when both are the test's."""
    known = [value for value in values if value is not UNKNOWN and is_asked(value, asked)]
    clear = [value for value in known if key(value) not in PLAIN]
    if answer is UNKNOWN or not known:
        return
    if isinstance(answer, bool) or answer is None:
        if len(known) < len(values):
            return
        # A yes or no to one word or number is a rule more often than not.
        sure = len(clear) > 1 or any(isinstance(_inner(value), list | tuple | set | dict) for value in clear)
    else:
        sure = bool(clear) and key(answer) in asked.expected
    if sure:
        yield f"{answer!r} for {', '.join(repr(value) for value in values)}"[:100], line


def is_asked(value: Any, asked: Asked) -> bool:
    """Whether the test puts a value in, as it is, or as a text or a tuple made of it."""
    if key(value) in asked.used:
        return True
    if isinstance(value, list | tuple) and value:
        items = {key(item) for item in value}  # pyright: ignore[reportUnknownVariableType]
        return key(value) in asked.arguments or (items <= asked.used and not items <= PLAIN)  # pyright: ignore[reportUnknownArgumentType]
    if not isinstance(value, str):
        return False
    inner = _inner(value)
    if inner is not value:
        return is_asked(inner, asked)
    words = re.findall(r"\w+", value)
    known = asked.words | asked.used
    return len(words) > 1 and all(word in known or repr(word) in known for word in words)


def _inner(value: Any) -> Any:
    """What a text is the repr of; any other value itself."""
    try:
        return ast.literal_eval(value) if isinstance(value, str) else value
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return value
