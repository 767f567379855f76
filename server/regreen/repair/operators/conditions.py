"""Conditions: another comparison, negated, narrowed, widened, guards and base cases."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from regreen.repair.operators import documented
from regreen.repair.operators.site import SHORT, Site, arguments, once
from regreen.repair.source import Edit, FunctionNode

SIGN: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
OTHER = {
    "<": (("<=", 1.0), (">", 0.85), (">=", 0.75), ("!=", 0.4), ("==", 0.3)),
    "<=": (("<", 1.0), (">=", 0.85), (">", 0.75), ("==", 0.4), ("!=", 0.25)),
    ">": ((">=", 1.0), ("<", 0.85), ("<=", 0.75), ("!=", 0.4), ("==", 0.3)),
    ">=": ((">", 1.0), ("<=", 0.85), ("<", 0.75), ("==", 0.4), ("!=", 0.25)),
    "==": (("!=", 0.85), (">=", 0.5), ("<=", 0.5), ("in", 0.4), (">", 0.35), ("<", 0.35), ("is", 0.2)),
    "!=": (("==", 0.85), ("<", 0.5), (">", 0.5), ("not in", 0.4), ("<=", 0.25), (">=", 0.25)),
    "in": (("not in", 0.85), ("==", 0.3)),
    "not in": (("in", 0.85), ("!=", 0.3)),
    "is": (("is not", 0.8), ("==", 0.5)),
    "is not": (("is", 0.8), ("!=", 0.5)),
}
"""Which comparison is meant instead of which; a missed boundary is the commonest slip."""


def expressions(site: Site, node: ast.expr) -> Iterator[Edit]:
    """Edits of one expression that decides something."""
    if isinstance(node, ast.Compare):
        yield from _compare(site, node)
    elif isinstance(node, ast.BoolOp):
        yield from _boolean(site, node)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from site.replace(node, site.code(node.operand), "negated", 0.85)
    elif isinstance(node, ast.IfExp):
        swapped = (
            f"{site.tight(node.orelse, 2)} if {site.tight(node.test, 2)} else {site.tight(node.body, 1)}"
        )
        yield from site.replace(node, swapped, "swapped branches", 0.4)
        yield from negated(site, node.test, 0.5)
        yield from site.replace(node, site.code(node.body), "condition dropped", 0.15)
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        for loop in node.generators:
            for test in loop.ifs:
                yield from negated(site, test, 0.6)


def joined(site: Site, test: ast.expr, word: str, other: str, level: int) -> str:
    """`test and other`; a chain of the same kind grows without parentheses."""
    chain = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) == (word == "and")
    return f"{site.code(test) if chain else site.tight(test, level)} {word} {other}"


def _compare(site: Site, node: ast.Compare) -> Iterator[Edit]:
    text = site.source.text
    left = node.left
    for op, right in zip(node.ops, node.comparators, strict=True):
        start, end = site.source.span(left)[1], site.source.span(right)[0]
        gap, sign = text[start:end], SIGN[type(op)]
        if gap.count(sign) == 1 and "#" not in gap:
            for new, weight in OTHER[sign]:
                yield from site.edit(start, end, gap.replace(sign, new), node.lineno, "comparison", weight)
        left = right
    if len(node.ops) == 1:
        sign, right = SIGN[type(node.ops[0])], node.comparators[0]
        if isinstance(right, ast.Constant) and type(right.value) is int and sign in ("==", "!="):
            signs = ("<=", ">=") if sign == "==" else (">", "<")
            for new, value in zip(signs, (right.value + 1, right.value - 1), strict=True):
                yield from site.replace(node, f"{site.tight(node.left, 6)} {new} {value}", "comparison", 0.25)
        if sign in ("in", "not in", "<", ">", "<=", ">="):
            swapped = f"{site.tight(right, 6)} {sign} {site.tight(node.left, 6)}"
            yield from site.replace(node, swapped, "swapped comparison", 0.25)
    else:
        first, second = node.comparators[0], node.comparators[1]
        plain = f"{site.code(node.left)} {SIGN[type(node.ops[0])]} {site.code(first)}"
        yield from site.replace(node, plain, "condition dropped", 0.2)
        plain = f"{site.code(first)} {SIGN[type(node.ops[1])]} {site.code(second)}"
        yield from site.replace(node, plain, "condition dropped", 0.2)


def _boolean(site: Site, node: ast.BoolOp) -> Iterator[Edit]:
    old, new = ("or", "and") if isinstance(node.op, ast.Or) else ("and", "or")
    level = 4 if new == "and" else 3
    words = [site.tight(value, level) for value in node.values]
    if len(node.values) == 2:
        start, end = site.source.span(node.values[0])[1], site.source.span(node.values[1])[0]
        gap = site.source.text[start:end]
        nested = site.source.parent(node)
        simple = gap.count(old) == 1 and not isinstance(nested, ast.BoolOp)
        if simple and words == [site.code(value) for value in node.values]:
            yield from site.edit(start, end, gap.replace(old, new), node.lineno, "and/or", 0.85)
        else:
            yield from site.replace(node, f" {new} ".join(words), "and/or", 0.85)
    else:
        yield from site.replace(node, f" {new} ".join(words), "and/or", 0.6)
        for i in range(len(words) - 1):
            mixed = [*words[:i], f"({words[i]} {new} {words[i + 1]})", *words[i + 2 :]]
            yield from site.replace(node, f" {old} ".join(mixed), "and/or", 0.4)
    for value in node.values:
        rest = [site.code(v) for v in node.values if v is not value]
        yield from site.replace(node, f" {old} ".join(rest), "condition dropped", 0.5)
        yield from negated(site, value, 0.4)


def negated(site: Site, test: ast.expr, weight: float) -> Iterator[Edit]:
    """A test the other way round; comparisons are left to their own operator."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return
    yield from site.replace(test, f"not {site.tight(test, 4)}", "negated", weight)


@once
def predicates(site: Site) -> list[tuple[str, float]]:
    """Conditions this project could ask here, with a weight: names, comparisons of the file, its predicates."""
    found: list[tuple[str, float]] = []
    names = site.names[:6]
    found += [(name, 0.5) for name in names] + [(f"not {name}", 0.6) for name in names]
    compared = [n for n in ast.walk(site.source.tree) if isinstance(n, ast.Compare)]
    in_scope = set(site.names) | set(site.module_names) | {"self"}
    for node in compared[:80]:
        used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        text = site.code(node)
        if used <= in_scope and len(text) < SHORT and "\n" not in text:
            found.append((text, 1.0))
    found += _asked(site, in_scope)
    found += documented.comparisons(site)
    found += [(f"{a} == {b}", 0.9) for a, b in _looped_together(site)]
    for signature in site.project.signatures.values():
        if not signature.predicate or len(signature.parameters) > 1:
            continue
        if signature.method:
            owners = [*(["self"] if signature.name in site.own_attributes() else []), *names]
            asked = [
                f"{o}.{signature.name}({n})"
                for o in owners[:4]
                for n in (names[:3] if signature.parameters else [""])
                if o != n
            ]
        else:
            asked = [f"{signature.name}({name})" for name in (names if signature.parameters else [""])]
        weight = 1.4 if signature.name in site.project.uncalled else 0.8
        for text in asked:
            found += [(text, weight), (f"not {text}", weight)]
    klass = site.source.klass(site.function) if site.function is not None else None
    if klass is not None:
        flags = {
            n.targets[0].attr
            for n in ast.walk(klass)
            if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Attribute)
            and isinstance(n.value, ast.Constant) and isinstance(n.value.value, bool)
        }  # fmt: skip
        for flag in sorted(flags):
            found += [(f"self.{flag}", 1.0), (f"not self.{flag}", 1.0)]
    for i, a in enumerate(names[:5]):
        for b in names[i + 1 : 5]:
            found += [(f"{a} == {b}", 0.3), (f"{a} != {b}", 0.35), (f"{a} < {b}", 0.3), (f"{a} > {b}", 0.3)]
    for name in names:
        found += [
            (f"{name} > 0", 0.4),
            (f"{name} is not None", 0.45),
            (f"{name} is None", 0.35),
            (f"{name} == 0", 0.3),
        ]
        found += [(f"{name} < 0", 0.4), (f"{name} <= 0", 0.4), (f"{name} < 1", 0.35)]
    best: dict[str, float] = {}
    for text, weight in found:
        best[text] = max(weight, best.get(text, 0.0))
    return sorted(best.items(), key=lambda pair: -pair[1])[:60]


@once
def _looped_together(site: Site) -> list[tuple[str, str]]:
    """Names that two loops, one in the other, run through: pairs are made to be compared."""
    found: list[tuple[str, str]] = []
    for outer in ast.walk(site.function) if site.function is not None else ():
        if isinstance(outer, ast.For) and isinstance(outer.target, ast.Name):
            found += [
                (outer.target.id, inner.target.id)
                for inner in outer.body
                if isinstance(inner, ast.For) and isinstance(inner.target, ast.Name)
            ]
    return found[:3]


def _asked(site: Site, in_scope: set[str]) -> list[tuple[str, float]]:
    """What the file asks elsewhere without comparing: `user.active`, `not text.strip()`."""
    found: dict[str, float] = {}
    for node in ast.walk(site.source.tree):
        tests: list[ast.expr] = []
        if isinstance(node, ast.BoolOp):
            tests = node.values
        elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
            tests = [node.test]
        elif isinstance(node, ast.comprehension):
            tests = node.ifs
        for test in tests:
            plain = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
            used = {n.id for n in ast.walk(plain) if isinstance(n, ast.Name)}
            text = site.code(plain)
            fits = isinstance(plain, (ast.Attribute, ast.Call)) and used <= in_scope
            if fits and len(text) < SHORT and "\n" not in text:
                found[text] = found[f"not {text}"] = 0.9
    return list(found.items())


def statements(site: Site, node: ast.stmt) -> Iterator[Edit]:
    """Edits of the test of an if or a while."""
    if not isinstance(node, (ast.If, ast.While)):
        return
    test = node.test
    yield from negated(site, test, 0.75)
    text = site.code(test)
    for other, weight in predicates(site):
        if other in text:
            continue
        loose = " or " in other
        narrower, wider = joined(site, test, "and", other, 4), joined(site, test, "or", other, 3)
        yield from site.replace(test, narrower, "narrower condition", 0.24 * weight)
        yield from site.replace(test, wider, "wider condition", 0.2 * weight)
        if not loose:
            yield from site.replace(test, other, "condition", 0.16 * weight)
    for word in ("True", "False"):
        yield from site.replace(test, word, "constant condition", 0.12 if isinstance(node, ast.If) else 0.2)
    start = site.source.span(node)[0]
    if isinstance(node, ast.While):
        yield from site.edit(start, start + 5, "if", node.lineno, "if/while", 0.25)
    elif site.source.text.startswith("if", start):
        if not node.orelse:
            yield from site.edit(start, start + 2, "while", node.lineno, "if/while", 0.25)
        yield from _else_if(site, node, start)


def _else_if(site: Site, node: ast.If, start: int) -> Iterator[Edit]:
    """`if` after an `if` at the same level becomes `elif`."""
    parent, field, index = site.source.parents[node]
    block: list[ast.stmt] = getattr(parent, field)
    if index and isinstance(block[index - 1], ast.If):
        yield from site.edit(start, start + 2, "elif", node.lineno, "elif", 0.4)


def guards(site: Site, function: FunctionNode) -> Iterator[Edit]:
    """Base cases: `if CONDITION: return VALUE` as the first thing a function does."""
    body = [n for n in function.body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
    if not body or not site.source.starts_line(body[0]):
        return
    names = arguments(function)[:4]
    answers = [n.value for n in ast.walk(function) if isinstance(n, ast.Return) and n.value is not None]
    known = dict.fromkeys(t for v in answers if len(t := site.code(v)) < 25 and "\n" not in t)
    kinds = _answer_kinds(answers)
    values = [(v, 1.0) for v in kinds] + [(v, 0.8) for v in names] + [(v, 0.7) for v in list(known)[:3]]
    values += [
        ("None", 0.6),
        ("0", 0.5),
        ("[]", 0.4),
        ("False", 0.4),
        ("True", 0.4),
        ("''", 0.3),
        ("1", 0.3),
        ("{}", 0.2),
    ]
    conditions: list[tuple[str, float]] = []
    for name in names:
        number = _is_number(function, name)
        conditions += [
            (f"not {name}", 0.7 if number else 1.0),
            (f"{name} is None", 0.8),
            (f"{name} == 0", 0.75),
        ]
        conditions += [(f"{name} <= 0", 0.9 if number else 0.5), (f"{name} < 1", 0.6), (f"{name} < 0", 0.6)]
        conditions += [
            (f"{name} == 1", 0.5),
            (f"{name} < 2", 0.4),
            (f"len({name}) < 2", 0.3 if number else 0.6),
        ]
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            conditions += [(f"{a} == {b}", 0.6), (f"{a} < {b}", 0.4), (f"{a} > {b}", 0.4)]
    for text in _looked_into(site, function, set(names)):
        conditions.append((f"not {text}", 1.1))
    for condition, likely in conditions:
        for value, fits in values:
            lines = (f"if {condition}:", f"    return {value}")
            yield from site.insert_before(body[0], lines, "guard", 0.2 * likely * fits)


def _looked_into(site: Site, function: FunctionNode, known: set[str]) -> list[str]:
    """What a function goes through, takes the largest of or divides by, when its parameters alone say what that is."""
    found: list[str] = []
    for node in ast.walk(function):
        whole: list[ast.expr] = []
        if isinstance(node, (ast.For, ast.comprehension)):
            whole = [node.iter]
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("max", "min")
        ):
            whole = node.args[:1]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod)):
            whole = [node.right]
        for part in whole:
            used = {n.id for n in ast.walk(part) if isinstance(n, ast.Name)}
            if isinstance(part, (ast.Attribute, ast.Subscript)) and used <= known | {"self"} and used:
                key = part.slice if isinstance(part, ast.Subscript) else None
                if (
                    isinstance(part, ast.Subscript)
                    and isinstance(key, ast.Constant)
                    and isinstance(key.value, str)
                ):
                    found.append(f"{site.code(part.value)}.get({site.code(key)})")
                else:
                    found.append(site.code(part))
    return list(dict.fromkeys(found))[:4]


def _is_number(function: FunctionNode, name: str) -> bool:
    """True when the function computes with the parameter or orders it."""
    for node in ast.walk(function):
        sides: list[ast.expr] = []
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Add):
            sides = [node.left, node.right]
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            sides = list(node.args)
        if any(isinstance(side, ast.Name) and side.id == name for side in sides):
            return True
    return False


def _answer_kinds(answers: list[ast.expr]) -> list[str]:
    """Empty values of the kinds a function returns."""
    found: list[str] = []
    for value in answers:
        if isinstance(value, (ast.List, ast.ListComp)):
            found.append("[]")
        elif isinstance(value, (ast.Dict, ast.DictComp)):
            found.append("{}")
        elif isinstance(value, (ast.BinOp, ast.UnaryOp)):
            found.append("0")
        elif isinstance(value, (ast.Compare, ast.BoolOp)):
            found += ["False", "True"]
        elif isinstance(value, ast.JoinedStr) or (
            isinstance(value, ast.Constant) and isinstance(value.value, str)
        ):
            found.append("''")
    return list(dict.fromkeys(found))
