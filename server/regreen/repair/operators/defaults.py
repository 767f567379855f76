"""Mutable defaults of arguments and classes, made anew for each call and object; a base class that was not asked."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from regreen.repair.operators.site import Site, arguments
from regreen.repair.source import Edit, FunctionNode, Part


def guards(site: Site, function: FunctionNode) -> Iterator[Edit]:
    """`def f(items=[])` becomes `items=None` with the list made inside."""
    yield from _of_class(site, function)
    yield from _base(site, function)
    a = function.args
    plain = [*a.posonlyargs, *a.args]
    pairs = list(zip(plain[len(plain) - len(a.defaults) :], a.defaults, strict=True))
    pairs += [(x, d) for x, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d is not None]
    body = [n for n in function.body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
    if not body or not site.source.starts_line(body[0]):
        return
    at = site.source.line_start(body[0].lineno)
    indent, newline = site.source.indent(body[0].lineno), site.source.newline
    for argument, default in pairs:
        start, end = site.source.span(default)
        if _changeable(default):
            name, value = argument.arg, site.code(default)
            guard = f"{indent}if {name} is None:{newline}{indent}    {name} = {value}{newline}"
            parts = (Part(start, end, "None"), Part(at, at, guard))
            yield Edit(site.source.path, parts, function.lineno, "mutable default", 1.2, site.scope)


def _changeable(value: ast.expr) -> bool:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in ("list", "dict", "set")
    return isinstance(value, (ast.List, ast.Dict, ast.Set))


def _of_class(site: Site, function: FunctionNode) -> Iterator[Edit]:
    """What all objects of a class share by mistake is made anew in `__init__`."""
    klass = site.source.parent(function)
    first = function.body[0]
    if (
        function.name != "__init__"
        or not isinstance(klass, ast.ClassDef)
        or not site.source.starts_line(first)
    ):
        return
    for node in klass.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _changeable(node.value):
            text = f"self.{node.targets[0].id} = {site.code(node.value)}"
            yield from site.insert_before(first, (text,), "mutable default", 1.2)


def _base(site: Site, function: FunctionNode) -> Iterator[Edit]:
    """`super().__init__(...)` that was forgotten, or the like for a method that a base class of the file has too."""
    klass = site.source.parent(function)
    first = function.body[0]
    if not isinstance(klass, ast.ClassDef) or not klass.bases or not site.source.starts_line(first):
        return
    if any(isinstance(n, ast.Name) and n.id == "super" for n in ast.walk(function)):
        return
    bases = [
        n
        for n in site.source.tree.body
        if isinstance(n, ast.ClassDef) and n.name in {site.code(b) for b in klass.bases}
    ]
    same = [n for b in bases for n in b.body if isinstance(n, FunctionNode) and n.name == function.name]
    if not same and function.name != "__init__":
        return
    known = set(arguments(function))
    wanted = [name for base in same[:1] for name in arguments(base) if name in known]
    for given in dict.fromkeys((", ".join(wanted), "")):
        call = f"super().{function.name}({given})"
        weight = 0.8 if function.name == "__init__" else 0.3
        yield from site.insert_before(first, (call,), "base class asked", weight)
        if function.name != "__init__":
            yield from site.insert_before(first, (f"return {call}",), "base class asked", 0.15)
