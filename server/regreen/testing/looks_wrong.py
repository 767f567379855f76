"""Assertions of a test that no code can satisfy together. Pure, and careful: silence where state may change."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

_ONE_BY_ONE = (
    "next", "pop", "get", "read", "recv", "take", "fetch", "inc", "dec", "roll", "rand", "uuid", "now", "time",
    "draw", "choice", "shuffle", "generate", "create", "make", "new", "send", "tick", "step", "advance", "count",
    "toggle", "flip", "insert", "add", "append", "remove", "update", "push", "receive", "poll", "sample",
)  # fmt: skip
"""A call whose name begins like this may answer differently the second time."""

_EXPECTED = ("expected", "result", "want", "wanted", "output", "answer", "outcome")


@dataclass
class _Facts:
    """What the assertions so far demand of one expression; each with the line that demands it."""

    equal: list[tuple[Any, int]] = field(default_factory=lambda: list[tuple[Any, int]]())
    unequal: list[tuple[Any, int]] = field(default_factory=lambda: list[tuple[Any, int]]())
    above: list[tuple[float, bool, int]] = field(default_factory=lambda: list[tuple[float, bool, int]]())
    below: list[tuple[float, bool, int]] = field(default_factory=lambda: list[tuple[float, bool, int]]())
    truth: list[tuple[bool, int]] = field(default_factory=lambda: list[tuple[bool, int]]())
    length: list[tuple[int, int]] = field(default_factory=lambda: list[tuple[int, int]]())
    raises: int = 0
    names: frozenset[str] = frozenset()
    fragile: bool = False


def lines_in_conflict(source: str, names: Sequence[str]) -> str:
    """The lines of the test `names` that contradict each other, as "line 12: assert …", one a line; "" for none.

    Contradictory are two assertions about the same expression with nothing between them that could change it,
    an assertion about constants that is false, and two parametrized cases with equal inputs and different
    results. `names` may be a class: its first conflict. "" as well when the source does not parse.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return ""
    lines = source.splitlines()
    for function in _functions(tree, tuple(names)):
        numbers = _in_block(function.body) or _in_cases(function)
        if numbers:
            return "\n".join(f"line {n}: {lines[n - 1].strip()}" for n in sorted(set(numbers)))
    return ""


def _functions(tree: ast.Module, names: tuple[str, ...]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    def visit(node: ast.AST, path: tuple[str, ...]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                yield from visit(child, (*path, child.name))
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                here = (*path, child.name)
                if here == names or (here[: len(names)] == names and child.name.startswith("test")):
                    yield child
            elif not isinstance(child, ast.expr):
                yield from visit(child, path)

    return visit(tree, ())


def _in_block(body: Sequence[ast.stmt]) -> list[int]:
    facts: dict[str, _Facts] = {}
    for statement in body:
        demands = list(_demands(statement))
        if demands:
            for demand in demands:
                found = _demand(facts, *demand)
                if found:
                    return found
            continue
        if isinstance(statement, ast.With) and _is_raises(statement) and len(statement.body) == 1:
            found = _raising(facts, statement)
            if found:
                return found
            continue
        if isinstance(statement, ast.Pass) or _is_text(statement):
            continue
        for inner in _inner_blocks(statement):
            found = _in_block(inner)
            if found:
                return found
        _forget(facts, statement)
    return []


def _demands(statement: ast.stmt) -> Iterator[tuple[ast.expr, str, ast.expr | None, int]]:
    """An assertion as (expression, operator, other side, line); nothing for any other statement."""
    line = statement.lineno
    if isinstance(statement, ast.Assert):
        yield from _of_test(statement.test, True, line)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        two = {"assertEqual": "==", "assertEquals": "==", "assertNotEqual": "!=", "assertIs": "is"}
        two |= {"assertGreater": ">", "assertGreaterEqual": ">=", "assertLess": "<", "assertLessEqual": "<="}
        if name in two and len(call.args) >= 2:
            yield call.args[0], two[name], call.args[1], line
        elif name in ("assertTrue", "assertFalse") and call.args:
            yield from _of_test(call.args[0], name == "assertTrue", line)
        elif name in ("assertIsNone", "assertIsNotNone") and call.args:
            yield call.args[0], "==" if name == "assertIsNone" else "!=", ast.Constant(None), line


def _of_test(test: ast.expr, holds: bool, line: int) -> Iterator[tuple[ast.expr, str, ast.expr | None, int]]:
    signs: dict[type[ast.cmpop], str] = {ast.Eq: "==", ast.NotEq: "!=", ast.Gt: ">", ast.GtE: ">=", ast.Lt: "<", ast.LtE: "<=", ast.Is: "is", ast.IsNot: "!="}  # fmt: skip
    opposite = {"==": "!=", "!=": "==", ">": "<=", ">=": "<", "<": ">=", "<=": ">", "is": "!="}
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _of_test(test.operand, not holds, line)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) and holds:
        for part in test.values:
            yield from _of_test(part, True, line)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        sign = signs.get(type(test.ops[0]))
        if sign:
            yield test.left, sign if holds else opposite[sign], test.comparators[0], line
    elif not isinstance(test, ast.BoolOp | ast.Compare):
        yield test, "true" if holds else "false", None, line


def _demand(
    facts: dict[str, _Facts], left: ast.expr, sign: str, right: ast.expr | None, line: int
) -> list[int]:
    """Take note of one demand; the lines in conflict when it cannot hold together with an earlier one."""
    if right is not None and _value(left) is not _UNKNOWN and _value(right) is _UNKNOWN:
        left, right = right, left
        sign = {">": "<", ">=": "<=", "<": ">", "<=": ">="}.get(sign, sign)
    if _value(left) is not _UNKNOWN:
        return [line] if _impossible(left, sign, right) else []
    if not _steady(left) or (right is not None and _value(right) is _UNKNOWN):
        return []
    value = _value(right) if right is not None else None
    if (
        isinstance(left, ast.Call)
        and isinstance(left.func, ast.Name)
        and left.func.id == "len"
        and sign == "=="
    ):
        measured = _facts_of(facts, left.args[0]) if left.args else None
        if measured is not None and isinstance(value, int):
            measured.length.append((value, line))
            clash = _clash(measured)
            if clash:
                return clash
    known = _facts_of(facts, left)
    if known.raises:
        return [known.raises, line]
    if sign in ("==", "is"):
        known.equal.append((value, line))
    elif sign == "!=":
        known.unequal.append((value, line))
    elif sign in ("true", "false"):
        known.truth.append((sign == "true", line))
    elif isinstance(value, int | float):
        side = known.above if sign[0] == ">" else known.below
        side.append((value, sign.endswith("="), line))
    return _clash(known)


def _clash(facts: _Facts) -> list[int]:
    for value, line in facts.equal:
        for other, there in facts.equal:
            if _differ(value, other):
                return [line, there]
        for other, there in facts.unequal:
            if type(value) is type(other) and value == other:
                return [line, there]
        for truth, there in facts.truth:
            if bool(value) != truth:
                return [line, there]
        for size, there in facts.length:
            if hasattr(value, "__len__") and len(value) != size:
                return [line, there]
        if isinstance(value, int | float):
            for bound, included, there in facts.above:
                if value < bound or (value == bound and not included):
                    return [line, there]
            for bound, included, there in facts.below:
                if value > bound or (value == bound and not included):
                    return [line, there]
    for bound, included, line in facts.above:
        for other, also, there in facts.below:
            if bound > other or (bound == other and not (included and also)):
                return [line, there]
    truths = dict(facts.truth)
    return [truths[True], truths[False]] if len(truths) == 2 else []


def _differ(one: Any, other: Any) -> bool:
    try:
        return bool(one != other)
    except Exception:
        return False


def _impossible(left: ast.expr, sign: str, right: ast.expr | None) -> bool:
    """Whether an assertion about constants alone is false. `assert False` marks a place, it does not contradict."""
    if right is None or _value(right) is _UNKNOWN:
        return False
    one, other = _value(left), _value(right)
    try:
        holds = {
            "==": one == other, "is": one == other, "!=": one != other,
            ">": sign == ">" and one > other, ">=": sign == ">=" and one >= other,
            "<": sign == "<" and one < other, "<=": sign == "<=" and one <= other,
        }[sign]  # fmt: skip
    except TypeError:
        return False
    return not holds


def _raising(facts: dict[str, _Facts], statement: ast.With) -> list[int]:
    """`with pytest.raises(…): f(1)` and `assert f(1) == 2` cannot both hold."""
    inner = statement.body[0]
    if not isinstance(inner, ast.Expr) or not isinstance(inner.value, ast.Call) or not _steady(inner.value):
        _forget(facts, statement)
        return []
    known = _facts_of(facts, inner.value)
    demanded = [line for _, line in (*known.equal, *known.unequal)] + [line for _, line in known.truth]
    known.raises = statement.lineno
    return [demanded[0], inner.lineno] if demanded else []


def _in_cases(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[int]:
    """Two rows of `parametrize` that ask for different results of the same input."""
    for decorator in function.decorator_list:
        if not (isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("parametrize")):
            continue
        if len(decorator.args) < 2 or not isinstance(decorator.args[1], ast.List | ast.Tuple):
            continue
        names = _value(decorator.args[0])
        columns = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(names or ())
        if not columns or columns[-1] not in _EXPECTED or len(columns) < 2:
            continue
        seen: dict[str, tuple[Any, int]] = {}
        for row in decorator.args[1].elts:
            if not isinstance(row, ast.List | ast.Tuple) or len(row.elts) != len(columns):
                continue
            value = [_value(cell) for cell in row.elts]
            if any(cell is _UNKNOWN for cell in value):
                continue
            inputs = repr(value[:-1])
            if inputs in seen and _differ(seen[inputs][0], value[-1]):
                return [seen[inputs][1], row.lineno]
            seen.setdefault(inputs, (value[-1], row.lineno))
    return []


_UNKNOWN = object()


def _value(node: ast.expr | None) -> Any:
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("approx"):
        return _UNKNOWN
    try:
        return ast.literal_eval(node) if node is not None else _UNKNOWN
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        pass
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left), _value(node.right)
        if isinstance(left, int | float) and isinstance(right, int | float):
            if isinstance(node.op, ast.Add):
                return left + right
            if isinstance(node.op, ast.Sub):
                return left - right
            if isinstance(node.op, ast.Mult):
                return left * right
    return _UNKNOWN


def _facts_of(facts: dict[str, _Facts], node: ast.expr) -> _Facts:
    names = frozenset(part.id for part in ast.walk(node) if isinstance(part, ast.Name))
    fragile = any(isinstance(part, ast.Call | ast.Attribute | ast.Subscript) for part in ast.walk(node))
    return facts.setdefault(ast.unparse(node), _Facts(names=names, fragile=fragile))


def _steady(node: ast.expr) -> bool:
    """Whether an expression evaluated twice in a row gives the same: no call that hands out one after another."""
    for part in ast.walk(node):
        if isinstance(part, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr | ast.Lambda):
            return False
        if isinstance(part, ast.Call):
            name = part.func.attr if isinstance(part.func, ast.Attribute) else ast.unparse(part.func)
            if name.lower().lstrip("_").startswith(_ONE_BY_ONE):
                return False
            if isinstance(part.func, ast.Name) and not part.args and not part.keywords:
                return False
    return True


def _forget(facts: dict[str, _Facts], statement: ast.stmt) -> None:
    """Drop what a statement may have changed: anything it names, and anything read from objects if it calls."""
    named = {part.id for part in ast.walk(statement) if isinstance(part, ast.Name)}
    acts = any(
        isinstance(part, ast.Call | ast.Attribute | ast.Subscript | ast.Await) for part in ast.walk(statement)
    )
    for key in [key for key, known in facts.items() if known.names & named or (acts and known.fragile)]:
        del facts[key]


def _inner_blocks(statement: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if isinstance(block, list):
            yield block


def _is_raises(statement: ast.With) -> bool:
    return any("aises" in ast.unparse(item.context_expr) for item in statement.items)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
