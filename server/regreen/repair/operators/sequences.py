"""Slices, indexes, ranges, order and comprehensions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from regreen.repair.operators.site import SHORT, Site, once
from regreen.repair.source import Edit


def expressions(site: Site, node: ast.expr) -> Iterator[Edit]:
    """Edits of one expression that picks or builds a sequence."""
    if isinstance(node, ast.Subscript):
        yield from _slice(site, node) if isinstance(node.slice, ast.Slice) else _index(site, node)
    elif isinstance(node, ast.Call):
        yield from _range(site, node)
        yield from _lookup(site, node)
    elif isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Load):
        yield from _elements(site, node)
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        yield from _comprehension(site, node)
    elif isinstance(node, ast.DictComp):
        swapped = f"{site.code(node.value)}: {site.code(node.key)}"
        start, end = site.source.span(node.key)[0], site.source.span(node.value)[1]
        yield from site.edit(start, end, swapped, node.lineno, "order", 0.4)
    if isinstance(node, (ast.Name, ast.Attribute, ast.Call)) and isinstance(
        getattr(node, "ctx", ast.Load()), ast.Load
    ):
        yield from _picked(site, node)
    elif isinstance(node, ast.ListComp) and isinstance(site.source.parent(node), (ast.Return, ast.Assign)):
        for pick in ("[1:]", "[:-1]", "[::-1]"):
            yield from site.replace(node, site.code(node) + pick, "slice added", 0.15)


def _slice(site: Site, node: ast.Subscript) -> Iterator[Edit]:
    cut = node.slice
    assert isinstance(cut, ast.Slice)

    def text(part: ast.expr | None) -> str:
        return site.code(part) if part is not None else ""

    def more(part: str, by: str) -> str:
        return f"{part} {by} 1"

    low, high, step = text(cut.lower), text(cut.upper), text(cut.step)
    tries: list[tuple[str, str, str, float]] = [
        (low, "", step, 0.6), ("", high, step, 0.6), (more(low, "+") if low else "1", high, step, 0.7),
        (more(low, "-") if low else "", high, step, 0.6), (low, more(high, "+") if high else "-1", step, 0.7),
        (low, more(high, "-") if high else "", step, 0.65), (high, "", step, 0.5), ("", low, step, 0.5),
        (low, high, "" if step else "-1", 0.45), (low, high, "2", 0.15), (f"-{low}" if low else "", high, step, 0.3),
        (low, f"-{high}" if high else "", step, 0.3), (high, low, step, 0.2),
    ]  # fmt: skip
    for name in site.names[:8]:
        tries += [(name, high, step, 0.3), (low, name, step, 0.3)]
        if low and name != low:
            tries.append((low, f"{low} + {name}", step, 0.3 if name != high else 0.0))
    if low and high:
        tries.append((low, f"{low} + {high}", step, 0.45))
    owner = site.code(node.value)
    for a, b, c, weight in tries:
        if not a.startswith("--") and not b.startswith("--"):
            yield from site.replace(node, f"{owner}[{a}:{b}{':' + c if c else ''}]", "slice", weight)
    yield from site.replace(node, owner, "slice dropped", 0.35)
    if low:
        yield from site.replace(node, f"{owner}[{low}]", "index", 0.15)


def _index(site: Site, node: ast.Subscript) -> Iterator[Edit]:
    owner, index = site.code(node.value), node.slice
    if isinstance(index, ast.Tuple):
        return
    text = site.code(index)
    load = isinstance(node.ctx, ast.Load)
    for new, weight in (("0", 0.4), ("-1", 0.45), ("1", 0.35)):
        if new != text:
            yield from site.edit(*site.source.span(index), new, node.lineno, "index", weight)
    if not isinstance(index, ast.Constant):
        yield from site.edit(*site.source.span(index), f"-{site.tight(index, 12)}", node.lineno, "index", 0.2)
        yield from site.edit(
            *site.source.span(index), f"~{site.tight(index, 12)}", node.lineno, "index", 0.05
        )
    if load:
        yield from site.replace(node, owner, "index dropped", 0.35)
        for name in ("sum", "max", "min", "len"):
            yield from site.replace(node, f"{name}({owner})", "call for item", 0.14)
        yield from site.replace(node, f"{owner}[{text}:]", "slice", 0.25)
        yield from site.replace(node, f"{owner}[:{text}]", "slice", 0.25)
        for default in ("0", "None", "[]", "''"):
            yield from site.replace(
                node, f"{owner}.get({text}, {default})", "lookup", 0.2 if default == "0" else 0.12
            )
    if isinstance(node.value, ast.Subscript) and not isinstance(node.value.slice, (ast.Slice, ast.Tuple)):
        inner = node.value
        swapped = f"{site.code(inner.value)}[{text}][{site.code(inner.slice)}]"
        yield from site.edit(*site.source.span(node), swapped, node.lineno, "order", 0.5)


def _range(site: Site, node: ast.Call) -> Iterator[Edit]:
    if not isinstance(node.func, ast.Name) or node.func.id not in ("range", "enumerate") or node.keywords:
        return
    args = [site.code(a) for a in node.args]
    if node.func.id == "enumerate":
        if len(args) == 1:
            yield from site.replace(node, f"enumerate({args[0]}, 1)", "range", 0.45)
            yield from site.replace(node, f"enumerate({args[0]}, start=1)", "range", 0.1)
        return
    if not 1 <= len(args) <= 3:
        return
    low, high = ("0", args[0]) if len(args) == 1 else (args[0], args[1])
    step = f", {args[2]}" if len(args) == 3 else ""
    shift = "1" if low == "0" else "2" if low == "1" else f"{low} + 1"
    tries = [
        (f"range({low}, {high} + 1{step})" if low != "0" or step else f"range({high} + 1)", 0.8),
        (f"range({low}, {high} - 1{step})" if low != "0" or step else f"range({high} - 1)", 0.7),
        (f"range({shift}, {high}{step})", 0.75), (f"range({shift}, {high} + 1{step})", 0.6),
        (f"range({low} - 1, {high}{step})", 0.3), (f"range({high}{step})", 0.3),
        (f"range({high} - 1, {low} - 1, -1)" if low != "0" else f"range({high} - 1, -1, -1)", 0.35),
        (f"reversed(range({low}, {high}))" if low != "0" else f"reversed(range({high}))", 0.2),
        (f"range({low}, {high}, 2)", 0.15), (f"range(2, {high} + 1)", 0.15),
    ]  # fmt: skip
    if len(args) == 3:
        tries += [(f"range({low}, {high})", 0.3), (f"range({low}, {high}, -({args[2]}))", 0.2)]
    tries += [(f"range({name}, {high}{step})", 0.35) for name in site.names[:6] if name != low]
    for text, weight in tries:
        yield from site.replace(node, text, "range", weight)


def _lookup(site: Site, node: ast.Call) -> Iterator[Edit]:
    if isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        owner, key = site.code(node.func.value), site.code(node.args[0])
        yield from site.replace(node, f"{owner}[{key}]", "lookup", 0.3)
        if len(node.args) == 2:
            for text in ("0", "1", "''", "[]", "None", key):
                yield from site.replace(node.args[1], text, "lookup", 0.25)


def _elements(site: Site, node: ast.Tuple | ast.List) -> Iterator[Edit]:
    parts = node.elts
    if not parts and isinstance(node, ast.List):
        yield from site.replace(node, "[[]]", "element added", 0.2)
        for name in site.names[:6]:
            yield from site.replace(node, f"[{name}]", "element added", 0.25)
    if not 1 <= len(parts) <= 8:
        return
    for i in range(len(parts) - 1):
        (start, mid), (late, end) = site.source.span(parts[i]), site.source.span(parts[i + 1])
        text = site.code(parts[i + 1]) + site.source.text[mid:late] + site.code(parts[i])
        yield from site.edit(start, end, text, node.lineno, "order", 0.4)
    if len(parts) > 1:
        for i in range(len(parts)):
            start = site.source.span(parts[i])[0] if i == 0 else site.source.span(parts[i - 1])[1]
            end = site.source.span(parts[1])[0] if i == 0 else site.source.span(parts[i])[1]
            yield from site.edit(start, end, "", node.lineno, "element dropped", 0.12)
    last = site.source.span(parts[-1])[1]
    for name in site.names[:8]:
        weight = 0.5 if name in site.unused else 0.15
        yield from site.edit(last, last, f", {name}", node.lineno, "element added", weight)


def _comprehension(site: Site, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Iterator[Edit]:
    loop = node.generators[-1]
    own = [n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)]
    for name in own:
        yield from site.replace(node.elt, name, "element", 0.35)
    end = site.source.span(loop.ifs[-1] if loop.ifs else loop.iter)[1]
    asked = [f"{n}" for n in own] + [f"{n} > 0" for n in own] + [f"{n} is not None" for n in own]
    asked += [f"{a} != {b}" for a in own for b in site.names[:5] if a != b]
    joint = " and " if loop.ifs else " if "
    for text in asked:
        yield from site.edit(end, end, joint + text, node.lineno, "filter added", 0.14)
    for signature in site.project.signatures.values():
        if signature.predicate and len(signature.parameters) == 1 and not signature.method:
            for name in own:
                yield from site.edit(
                    end, end, f"{joint}{signature.name}({name})", node.lineno, "filter added", 0.2
                )
                yield from site.edit(
                    end, end, f"{joint}not {signature.name}({name})", node.lineno, "filter added", 0.2
                )
    if loop.ifs:
        start = site.source.span(loop.iter)[1]
        yield from site.edit(start, site.source.span(loop.ifs[-1])[1], "", node.lineno, "filter dropped", 0.3)


@once
def _lengths(site: Site) -> list[int]:
    """Lengths of the function's short strings: what is cut off a text is often a mark it was looked at for."""
    if site.function is None:
        return []
    texts = [
        n.value for n in ast.walk(site.function) if isinstance(n, ast.Constant) and isinstance(n.value, str)
    ]
    return sorted({len(t) for t in texts if 2 <= len(t) <= 8})[:3]


def _picked(site: Site, node: ast.expr) -> Iterator[Edit]:
    """A part of a sequence instead of the whole."""
    parent, field, _ = site.source.parents[node]
    if field in ("func", "slice", "test") or isinstance(parent, (ast.Attribute, ast.Expr, ast.Await)):
        return
    if (isinstance(parent, ast.Subscript) and field == "value") or isinstance(parent, ast.keyword):
        return
    if isinstance(node, ast.Name) and node.id not in site.names:
        return
    text = site.code(node)
    if len(text) > SHORT:
        return
    for pick, weight in (
        ("[1:]", 0.22),
        ("[:-1]", 0.18),
        ("[0]", 0.2),
        ("[-1]", 0.2),
        ("[::-1]", 0.2),
        ("[:]", 0.15),
        ("[1]", 0.12),
    ):
        made = isinstance(node, ast.Call) and pick[1:-1] in (
            "1:",
            ":-1",
        )  # cut off what was just built: rarely meant
        yield from site.replace(node, text + pick, "slice added", weight * (0.5 if made else 1.0))
    for length in _lengths(site):
        yield from site.replace(node, f"{text}[{length}:]", "slice added", 0.18)
        yield from site.replace(node, f"{text}[:{length}]", "slice added", 0.1)
    if field in ("value", "iter", "args"):
        for name in site.names[:4]:
            if name != text:
                rate = 0.3 if name in site.unused else 0.08
                yield from site.replace(node, f"{text}[{name}]", "index added", rate)
                yield from site.replace(node, f"{text}[{name}:]", "slice added", rate * 0.7)
                yield from site.replace(node, f"{text}[:{name}]", "slice added", rate * 0.7)
