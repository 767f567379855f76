"""Operators, signs, off-by-one terms, grouping and augmented assignment."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from regreen.repair.operators.site import Site, once
from regreen.repair.source import Edit, binding

SIGN: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.MatMult: "@",
}  # fmt: skip
OTHER: dict[str, tuple[tuple[str, float], ...]] = {
    "+": (("-", 0.85), ("*", 0.6), ("//", 0.15)), "-": (("+", 0.85), ("*", 0.35), ("%", 0.2), ("//", 0.2)),
    "*": (("/", 0.75), ("+", 0.7), ("//", 0.6), ("**", 0.6), ("-", 0.3)),
    "/": (("//", 0.8), ("*", 0.75), ("%", 0.4), ("-", 0.2)), "//": (("/", 0.85), ("%", 0.75), ("*", 0.6), ("-", 0.2)),
    "%": (("//", 0.85), ("/", 0.6), ("*", 0.4), ("-", 0.2)), "**": (("*", 0.85), ("+", 0.3)),
    "&": (("|", 0.85), ("^", 0.6), ("-", 0.4)), "|": (("&", 0.85), ("^", 0.6), ("+", 0.4)),
    "^": (("&", 0.85), ("|", 0.8), ("**", 0.5)), "<<": ((">>", 0.85), ("*", 0.3)), ">>": (("<<", 0.85), ("//", 0.3)),
    "@": (),
}  # fmt: skip
_SUMS = (
    ast.Return,
    ast.Assign,
    ast.AugAssign,
    ast.Call,
    ast.BinOp,
    ast.Tuple,
    ast.List,
    ast.keyword,
    ast.Dict,
)
"""Where a term may have been forgotten."""
COUNTING = ("len", "index", "find", "rfind", "count", "int", "min", "max", "sum", "abs", "round", "ord")
"""Calls whose answer may be one off; of others that is seldom said."""
COMMUTES = ("+", "*", "&", "|", "^")


def expressions(site: Site, node: ast.expr) -> Iterator[Edit]:
    """Edits of one expression that computes something."""
    if isinstance(node, ast.BinOp):
        yield from _binary(site, node)
    elif (
        isinstance(node, ast.UnaryOp)
        and not isinstance(node.op, ast.Not)
        and not isinstance(node.operand, ast.Constant)
    ):
        yield from site.replace(node, site.code(node.operand), "sign", 0.75)
    if _is_number_place(site, node):
        yield from _off_by_one(site, node)
    elif isinstance(node, (ast.ListComp, ast.List)) and isinstance(
        site.source.parent(node), (ast.Return, ast.Assign)
    ):
        for name in site.names[:6]:
            yield from site.replace(node, f"{name} + {site.code(node)}", "term added", 0.14)
            yield from site.replace(node, f"{site.code(node)} + {name}", "term added", 0.12)


def _binary(site: Site, node: ast.BinOp) -> Iterator[Edit]:
    start, end = site.source.span(node.left)[1], site.source.span(node.right)[0]
    gap, sign = site.source.text[start:end], SIGN[type(node.op)]
    words = isinstance(node.left, (ast.JoinedStr, ast.Constant)) and sign == "%"
    if gap.count(sign) == 1 and "#" not in gap and not words:
        for new, weight in OTHER[sign]:
            yield from site.edit(start, end, gap.replace(sign, new), node.lineno, "operator", weight)
    left, right = site.code(node.left), site.code(node.right)
    if sign not in COMMUTES and not words:
        swapped = f"{site.tight(node.right, binding(node))} {sign} {site.tight(node.left, binding(node) + 1)}"
        yield from site.replace(node, swapped, "swapped operands", 0.4)
    elif sign == "+" and not _plain_number(node.left) and not _plain_number(node.right):
        yield from site.replace(node, f"{right} + {site.tight(node.left, 11)}", "swapped operands", 0.15)
    yield from site.replace(node, left, "term dropped", 0.4)
    yield from site.replace(node, right, "term dropped", 0.3)
    yield from _regroup(site, node, sign)
    yield from _middle_dropped(site, node)


def _regroup(site: Site, node: ast.BinOp, sign: str) -> Iterator[Edit]:
    """`a + b * c` as `(a + b) * c`, `a - b + c` as `a - (b + c)`, and back."""
    if isinstance(node.right, ast.BinOp):
        inner = node.right
        first = f"({site.code(node.left)} {sign} {site.tight(inner.left, binding(node))})"
        yield from site.replace(
            node, f"{first} {SIGN[type(inner.op)]} {site.tight(inner.right, 12)}", "grouping", 0.45
        )
    if isinstance(node.left, ast.BinOp):
        inner = node.left
        last = f"({site.code(inner.right)} {sign} {site.code(node.right)})"
        yield from site.replace(
            node, f"{site.tight(inner.left, 11)} {SIGN[type(inner.op)]} {last}", "grouping", 0.4
        )


def _middle_dropped(site: Site, node: ast.BinOp) -> Iterator[Edit]:
    """`a * b ** c` as `a ** c`, `a ** b * c` as `a ** c`: a term too many stands with its sign in the text."""
    left, right = node.left, node.right
    if isinstance(right, ast.BinOp) and not site.code(right).startswith("("):
        start, end = site.source.span(node.left)[1], site.source.span(right.left)[1]
        yield from site.edit(start, end, "", node.lineno, "term dropped", 0.3)
    if isinstance(left, ast.BinOp) and type(left.op) is not type(node.op):
        start, end = site.source.span(left.right)[0], site.source.span(right)[0]
        if site.source.text[start:end].count("(") == site.source.text[start:end].count(")"):
            yield from site.edit(start, end, "", node.lineno, "term dropped", 0.3)


def _plain_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


def _is_number_place(site: Site, node: ast.expr) -> bool:
    """May `+ 1` stand behind this expression?"""
    if not isinstance(node, (ast.Name, ast.Call, ast.Subscript, ast.Attribute, ast.BinOp)):
        return False
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return False
    found = site.source.parents.get(node)
    if found is None:
        return False
    parent, field, _ = found
    if field in (
        "func",
        "iter",
        "decorator_list",
        "bases",
        "exc",
        "type",
        "test",
        "context_expr",
        "format_spec",
    ):
        return False
    if isinstance(parent, (ast.Attribute, ast.Expr, ast.FormattedValue, ast.Starred, ast.Await, ast.keyword)):
        return False
    if isinstance(parent, ast.Subscript) and field == "value":
        return False
    if isinstance(node, ast.Name) and node.id not in site.names:
        return False
    return not isinstance(node, ast.BinOp) or isinstance(
        node.op, (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Div, ast.Mod)
    )


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def _off_by_one(site: Site, node: ast.expr) -> Iterator[Edit]:
    parent = site.source.parent(node)
    in_sum = isinstance(parent, ast.BinOp) and isinstance(parent.op, (ast.Add, ast.Sub))
    near_one = in_sum and any(isinstance(c, ast.Constant) for c in (parent.left, parent.right))  # type: ignore[union-attr]
    weight = 0.25 if near_one else 0.6
    if isinstance(parent, ast.Compare):
        weight *= 0.7
    if (
        isinstance(node, ast.Call)
        and _called(node) not in COUNTING
        and _called(node) not in site.project.signatures
    ):
        weight *= 0.5
    if isinstance(node, ast.Name) and node.id not in _counts(site) and _hands_on(site, parent):
        weight *= 0.6
    text = site.tight(node, 10)
    yield from site.replace(node, f"{text} + 1", "off by one", weight)
    yield from site.replace(node, f"{text} - 1", "off by one", weight)
    key = any(isinstance(n, ast.Lambda) for n in site.source.around(node))
    beside = isinstance(parent, ast.Tuple) and any(isinstance(e, ast.UnaryOp) for e in parent.elts)
    yield from site.replace(
        node, f"-{site.tight(node, 12)}", "sign", 0.95 if key and beside else 0.45 if key else 0.22
    )
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        yield from site.replace(node, f"{text} ** 2", "power", 0.2 if isinstance(parent, ast.BinOp) else 0.1)
    product = site.tight(node, 11)
    yield from site.replace(node, f"{product} // 2", "half", 0.1)
    yield from site.replace(node, f"{product} * 2", "double", 0.1)
    yield from site.replace(node, f"{product} / 100", "hundredth", 0.08)
    if not isinstance(node, ast.BinOp) and isinstance(parent, _SUMS):
        others = [name for name in site.names if name not in text]
        others.sort(key=lambda name: name not in _counts(site))
        for name in others[:8]:
            rate = 0.3 if name in site.unused else 0.16 if name in _counts(site) else 0.07
            yield from site.replace(node, f"{text} + {name}", "term added", rate)
            yield from site.replace(node, f"{name} + {text}", "term added", rate * 0.6)
            yield from site.replace(node, f"{text} - {name}", "term added", rate)
            yield from site.replace(node, f"{product} * {name}", "factor added", rate)


def _hands_on(site: Site, parent: ast.AST | None) -> bool:
    """A call that passes a value along, rather than counting or recurring with it."""
    if not isinstance(parent, ast.Call):
        return False
    called = _called(parent)
    return called != "range" and called not in COUNTING and called not in site.project.signatures


@once
def _counts(site: Site) -> set[str]:
    """Names that hold numbers, by what is assigned to them: lengths, sums, whole numbers, places of a range."""
    found: set[str] = set()
    for node in ast.walk(site.function) if site.function is not None else ():
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = node.value
            number = isinstance(value, ast.Constant) and type(value.value) in (int, float)
            counted = isinstance(value, ast.Call) and _called(value) in COUNTING
            worked = isinstance(value, ast.BinOp) and not isinstance(value.op, ast.Add)
            if number or counted or worked:
                found.add(node.targets[0].id)
        elif isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and _called(node.iter) == "range":
            found |= {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
    return found


def statements(site: Site, node: ast.stmt) -> Iterator[Edit]:
    """`=`, `+=` and their kin."""
    source = site.source
    if isinstance(node, ast.AugAssign):
        start, end = source.span(node.target)[1], source.span(node.value)[0]
        gap, sign = source.text[start:end], SIGN[type(node.op)]
        for new, weight in OTHER[sign]:
            yield from site.edit(
                start, end, gap.replace(sign + "=", new + "="), node.lineno, "assignment", weight
            )
        yield from site.edit(start, end, gap.replace(sign + "=", "="), node.lineno, "assignment", 0.5)
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        if isinstance(target, ast.Tuple):
            return
        start, end = source.span(target)[1], source.span(node.value)[0]
        gap = source.text[start:end]
        if gap.strip() == "=":
            kept = isinstance(target, (ast.Attribute, ast.Subscript))
            for i, new in enumerate(("+=", "-=", "*=", "|=")):
                weight = (0.6 if kept else 0.4) - 0.12 * i
                if site.code(target) in site.code(node.value):  # `x = x * y` holds what `x *= y` would
                    weight *= 0.3
                yield from site.edit(start, end, gap.replace("=", new), node.lineno, "assignment", weight)
        name = source.code(target)
        if isinstance(node.value, (ast.BinOp, ast.Call, ast.Name)) and not kept_in(node.value, name):
            for call in ("max", "min"):
                yield from site.replace(
                    node.value, f"{call}({name}, {source.code(node.value)})", "kept best", 0.2
                )


def kept_in(value: ast.expr, name: str) -> bool:
    """True when `value` already speaks of `name`."""
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(value)) and isinstance(
        value, ast.Call
    )
