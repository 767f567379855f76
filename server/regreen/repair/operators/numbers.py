"""Constants: off by one, signs, near values, booleans, None."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from regreen.repair.operators import documented
from regreen.repair.operators.site import Site, once
from regreen.repair.source import Edit

UNITS = (7, 10, 12, 24, 30, 31, 60, 90, 100, 180, 360, 365, 366, 400, 1000, 1024, 3600, 86400)
"""Numbers that are taken for one another: parts of time, angles, sizes, per cent."""


def expressions(site: Site, node: ast.expr) -> Iterator[Edit]:
    """Another constant."""
    if not isinstance(node, ast.Constant) or not site.source.editable(node):
        return
    value = node.value
    if isinstance(value, bool):
        yield from site.replace(node, str(not value), "boolean", 0.85)
        for name in site.names[:6]:
            yield from site.replace(node, name, "constant to name", 0.3 if name not in site.unused else 0.7)
            yield from site.replace(node, f"not {name}", "constant to name", 0.25)
        yield from site.replace(node, "None", "constant", 0.2)
    elif isinstance(value, int):
        yield from _integer(site, node, value)
    elif isinstance(value, float):
        for text, weight in _floats(value):
            yield from site.replace(node, text, "constant", weight)
        for name in site.names[:8]:
            yield from site.replace(node, name, "constant to name", 0.25 if name not in site.unused else 0.8)
    elif value is None:
        for text in ("0", "[]", "''", "{}", "True", "False"):
            yield from site.replace(node, text, "constant", 0.3)
        for name in site.names[:6]:
            yield from site.replace(node, name, "constant to name", 0.3 if name not in site.unused else 0.7)


def _integer(site: Site, node: ast.Constant, value: int) -> Iterator[Edit]:
    parent = site.source.parent(node)
    small = abs(value) <= 3
    signed = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub)
    tries = [
        (value + 1, 0.95),
        (value - 1, 0.9),
        (0, 0.7 if small else 0.4),
        (1, 0.7 if small else 0.4),
        (2, 0.5 if small else 0.3),
        (-value, 0.45),
        (value * 10, 0.3),
    ]
    if value % 10 == 0 and value:
        tries.append((value // 10, 0.35))
    tries += [(value * 2, 0.25), (10, 0.42), (-1, 0.4)]
    if abs(value) > 3:
        tries += [(value + step, 0.22) for step in (2, -2, 5, -5, 3, -3)]
    asserted = _asserted(site)
    if value in UNITS:
        near = sorted((unit for unit in UNITS if unit != value), key=lambda unit: abs(math.log(unit / value)))
        tries += [(unit, 0.5 - 0.02 * i) for i, unit in enumerate(near)]
    others = _constants(site)
    tries += [(other, 0.35) for other in others]
    tries += [(other, weight) for other, weight in documented.numbers(site)]
    best: dict[int, float] = {}
    for other, weight in tries:
        best[other] = max(weight, best.get(other, 0.0))
    for other, weight in best.items():
        if other == value or (signed and other < 0):
            continue
        yield from site.replace(node, str(other), "constant", weight * (0.3 if other in asserted else 1.0))
    if value > 20:
        text = site.code(node)
        for i in range(len(text) - 1):
            swapped = text[:i] + text[i + 1] + text[i] + text[i + 2 :]
            if text.isdigit() and swapped.isdigit() and swapped[0] != "0":
                yield from site.replace(node, swapped, "constant", 0.15)
    for name in site.names[:10]:
        yield from site.replace(node, name, "constant to name", 0.32 if name not in site.unused else 0.9)
        if value in (0, 1):
            yield from site.replace(node, f"len({name})", "constant to name", 0.08)
    if value in (0, 1, -1) and isinstance(parent, (ast.Assign, ast.Return, ast.Call)):
        yield from site.replace(node, "float('inf')", "constant", 0.12)
        yield from site.replace(node, "float('-inf')", "constant", 0.12)
        yield from site.replace(node, "None", "constant", 0.15)
        yield from site.replace(node, "[]", "constant", 0.08)
    yield from site.replace(node, f"{value}.0", "constant", 0.1)


@once
def _asserted(site: Site) -> set[int]:
    """Numbers (not the smallest) the assertion asks for: a constant that is just one of them is copied, not found."""
    text = site.project.hints.right if site.project.hints.right != "" else ""
    return {int(text)} - {0, 1} if text.lstrip("-").isdigit() else set()


def _floats(value: float) -> list[tuple[str, float]]:
    tries = [
        (1 - value, 0.4),
        (value * 10, 0.4),
        (value / 10, 0.4),
        (value + 1, 0.4),
        (value - 1, 0.35),
        (-value, 0.3),
    ]
    tries += [
        (value * 100, 0.3),
        (value / 100, 0.3),
        (value * 2, 0.25),
        (value / 2, 0.25),
        (0.0, 0.3),
        (1.0, 0.3),
    ]
    tries += [(1 + value, 0.4), (value + 0.1, 0.2), (value - 0.1, 0.2)]
    found: dict[str, float] = {}
    for number, weight in tries:
        text = f"{number:.10g}"
        text = text if "." in text or "e" in text else text + ".0"
        found[text] = max(weight, found.get(text, 0.0))
    return [(text, weight) for text, weight in found.items() if text != repr(value)]


@once
def _constants(site: Site) -> list[int]:
    """Integers of the function, then of the file."""
    found: list[int] = []
    trees: list[ast.AST] = [site.function] if site.function is not None else []
    trees.append(site.source.tree)
    for tree in trees:
        found += [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and type(n.value) is int]
    return list(dict.fromkeys(found))[:10]
