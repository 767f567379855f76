"""Calls: arguments swapped, dropped and added; wrapped, unwrapped, chained and awaited."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from regreen.repair.operators.site import SHORT, Signature, Site, once
from regreen.repair.source import Edit

WRAPPERS = (
    ("len", 0.3), ("abs", 0.32), ("int", 0.32), ("str", 0.32), ("list", 0.25), ("sorted", 0.32), ("set", 0.25),
    ("float", 0.2), ("tuple", 0.15), ("sum", 0.2), ("max", 0.2), ("min", 0.2), ("round", 0.22), ("reversed", 0.2),
    ("bool", 0.12),
)  # fmt: skip
METHODS = (
    ("lower()", 0.26), ("strip()", 0.28), ("copy()", 0.2), ("upper()", 0.18), ("items()", 0.22), ("split()", 0.16),
    ("values()", 0.16), ("keys()", 0.1), ("title()", 0.08), ("rstrip()", 0.1), ("sort()", 0.02),
)  # fmt: skip
ORDERED = ("sorted", "sort", "max", "min")
VALUE_FIELDS = (
    "value",
    "args",
    "iter",
    "left",
    "right",
    "comparators",
    "elt",
    "test",
    "orelse",
    "body",
    "elts",
    "key",
)


More = Callable[[str, float], Iterator[Edit]]
"""Makes an edit that puts one more argument behind the others."""


def called(node: ast.Call) -> str:
    """The last part of the called name."""
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def expressions(site: Site, node: ast.expr) -> Iterator[Edit]:
    """Edits around calls."""
    if isinstance(node, ast.Call):
        yield from _swapped(site, node)
        yield from _dropped(site, node)
        yield from _added(site, node)
        yield from _unwrapped(site, node)
    yield from _wrapped(site, node)


def _swapped(site: Site, node: ast.Call) -> Iterator[Edit]:
    args = node.args
    for i in range(len(args)):
        for j in range(i + 1, len(args)):
            (start, mid), (late, end) = site.source.span(args[i]), site.source.span(args[j])
            text = site.code(args[j]) + site.source.text[mid:late] + site.code(args[i])
            weight = 0.75 if j == i + 1 else 0.5
            yield from site.edit(start, end, text, node.lineno, "swapped arguments", weight)
    if (
        isinstance(node.func, ast.Attribute)
        and len(args) == 1
        and isinstance(args[0], (ast.Name, ast.Attribute))
    ):
        owner = site.code(node.func.value)
        if isinstance(node.func.value, (ast.Name, ast.Attribute)) and owner != "self":
            swapped = f"{site.code(args[0])}.{node.func.attr}({owner})"
            yield from site.replace(node, swapped, "swapped caller", 0.3)


def _dropped(site: Site, node: ast.Call) -> Iterator[Edit]:
    parts: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
    if len(parts) < 2 and not node.keywords:
        return
    for i, part in enumerate(parts):
        if i + 1 < len(parts):
            start, end = site.source.span(part)[0], site.source.span(parts[i + 1])[0]
        elif i:
            start, end = site.source.span(parts[i - 1])[1], site.source.span(part)[1]
        else:
            start, end = site.source.span(part)
        yield from site.edit(start, end, "", node.lineno, "argument dropped", 0.4)


def _added(site: Site, node: ast.Call) -> Iterator[Edit]:
    parts: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
    name = called(node)
    end = site.source.span(node)[1] - 1
    at = site.source.span(parts[-1])[1] if parts else end
    if len(parts) == 1 and isinstance(parts[0], ast.GeneratorExp):
        return
    comma = ", " if parts else ""

    def more(text: str, weight: float) -> Iterator[Edit]:
        return site.edit(at, at, comma + text, node.lineno, "argument added", weight)

    signature = site.project.signatures.get(name)
    if signature is not None:
        yield from _missing_parameters(site, node, signature, more)
    elif name in ORDERED:
        for text in (
            "reverse=True",
            "key=len",
            "key=abs",
            "key=str.lower",
            "default=0",
            "default=None",
            "key=str",
        ):
            yield from more(text, 0.4)
        yield from more("key=lambda pair: pair[1]", 0.3)
        yield from more("key=lambda pair: (-pair[1], pair[0])", 0.1)
    else:
        common = [*site.names[:6], "0", "1", "-1", "None", "True", "False", "''", "2"]
        weight = (
            0.3
            if name in ("round", "get", "pop", "split", "replace", "range", "join", "sum", "print", "index")
            else 0.18
        )
        for text in common:
            yield from more(text, weight if text not in site.unused else 0.5)
        if name == "zip":
            yield from more("strict=True", 0.05)
        if node.args and name not in ("print", "len", "str"):
            start = site.source.span(node.args[0])[0]
            for text in site.names[:5]:
                yield from site.edit(start, start, text + ", ", node.lineno, "argument added", 0.12)


def _missing_parameters(site: Site, node: ast.Call, signature: Signature, more: More) -> Iterator[Edit]:
    given = set(signature.parameters[: len(node.args)]) | {k.arg for k in node.keywords}
    for parameter in signature.parameters:
        if parameter in given:
            continue
        if parameter in site.names:
            yield from more(f"{parameter}={parameter}", 0.9)
        if parameter in site.own_attributes():
            yield from more(f"{parameter}=self.{parameter}", 0.6)
        for value in ("True", "False", "None", "0", "1"):
            yield from more(f"{parameter}={value}", 0.35)
        for name in site.names[:6]:
            if name != parameter:
                yield from more(f"{parameter}={name}", 0.3)
    if len(node.args) < len(signature.parameters):
        for name in site.names[:6]:
            yield from more(name, 0.3)


def _unwrapped(site: Site, node: ast.Call) -> Iterator[Edit]:
    if len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred):
        weight = 0.55 if isinstance(node.func, ast.Name) else 0.2
        if called(node) in site.project.signatures:  # work of the project is left out: little speaks for that
            weight = 0.2
        yield from site.replace(node, site.code(node.args[0]), "call dropped", weight)
    if isinstance(node.func, ast.Attribute):
        owner = node.func.value
        if not (isinstance(owner, ast.Name) and owner.id in ("self", "cls")):
            yield from site.replace(node, site.code(owner), "call dropped", 0.45 if not node.args else 0.3)
        if node.func.attr == "sort" and isinstance(site.source.parent(node), (ast.Return, ast.Assign)):
            rest = ", ".join([site.code(owner), *(site.code(k) for k in node.keywords)])
            yield from site.replace(node, f"sorted({rest})", "function", 0.9)
    if isinstance(site.function, ast.AsyncFunctionDef) and not isinstance(
        site.source.parent(node), ast.Await
    ):
        yield from site.replace(node, f"await {site.code(node)}", "await added", 0.6)
    if (
        isinstance(site.source.parent(node), ast.Expr)
        and len(node.args) > 1
        and called(node) in ("append", "add")
    ):
        start, end = site.source.span(node.args[0])[0], site.source.span(node.args[-1])[1]
        inner = site.source.text[start:end]
        yield from site.edit(start, end, f"({inner})", node.lineno, "argument", 0.6)


def _wrapped(site: Site, node: ast.expr) -> Iterator[Edit]:
    kinds = (ast.Name, ast.Call, ast.Subscript, ast.BinOp, ast.Attribute, ast.ListComp, ast.IfExp)
    if not isinstance(node, kinds) or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return
    parent, field, _ = site.source.parents[node]
    if field not in VALUE_FIELDS or isinstance(parent, (ast.Attribute, ast.Expr, ast.Starred, ast.Await)):
        return
    if isinstance(parent, ast.Subscript) and field == "value":
        return
    if isinstance(node, ast.Name) and node.id not in site.names and node.id not in site.module_names:
        return
    text = site.code(node)
    if len(text) > SHORT * 2:
        return
    outer = site.source.parent(node)
    around = called(outer) if isinstance(outer, ast.Call) else ""
    for name, weight in WRAPPERS:
        if not text.startswith(name + "(") and around != name:
            yield from site.replace(node, f"{name}({text})", "call added", weight)
    if isinstance(node, (ast.Name, ast.Call, ast.Subscript)) and field in ("value", "args", "elts", "iter"):
        for name, weight in (("int", 0.14), ("float", 0.12), ("str", 0.12)):
            yield from site.replace(node, f"[{name}(each) for each in {text}]", "call added", weight)
        yield from site.replace(node, f"[each.strip() for each in {text}]", "call added", 0.1)
    if isinstance(node, (ast.BinOp, ast.Call, ast.Subscript)) and field == "value":
        yield from site.replace(node, f"max(0, {text})", "call added", 0.2)
        yield from site.replace(node, f"round({text}, 2)", "call added", 0.25)
        wanted = site.project.hints.right.rpartition(".")[2]
        if wanted.isdigit() and "." in site.project.hints.right and len(wanted) < 7:
            yield from site.replace(node, f"round({text}, {len(wanted)})", "call added", 0.4)
    for signature in site.project.signatures.values():
        required = [p for p in signature.parameters if p not in signature.optional]
        own = site.function is not None and signature.name == site.function.name
        if len(required) == 1 and around != signature.name and not text.startswith(signature.name + "("):
            missed = signature.name in site.project.uncalled
            if not signature.method and not own and signature.name in site.module_names:
                rate = 0.55 if missed else 0.25
                yield from site.replace(node, f"{signature.name}({text})", "call added", rate)
            elif signature.method and signature.name in site.own_attributes() and not own:
                rate = 0.45 if missed else 0.2
                yield from site.replace(node, f"self.{signature.name}({text})", "call added", rate)
    if not isinstance(node, ast.BinOp):
        for method, weight in METHODS:
            if not text.endswith("." + method):
                yield from site.replace(node, f"{text}.{method}", "method added", weight)
        for name in _zero_argument_methods(site):
            if not text.endswith(f".{name}()"):
                yield from site.replace(node, f"{text}.{name}()", "method added", 0.18)


@once
def _zero_argument_methods(site: Site) -> list[str]:
    """Methods the file calls without arguments, and those the project defines so."""
    found = [
        n.func.attr
        for n in ast.walk(site.source.tree)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and not n.args and not n.keywords
    ]
    found += [s.name for s in site.project.signatures.values() if s.method and not s.parameters]
    usual = {method[:-2] for method, _ in METHODS}
    return [name for name in dict.fromkeys(found) if name not in usual and not name.startswith("__")][:8]
