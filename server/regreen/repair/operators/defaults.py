"""Mutable default arguments: made anew at each call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from regreen.repair.operators.site import Site
from regreen.repair.source import Edit, FunctionNode, Part


def guards(site: Site, function: FunctionNode) -> Iterator[Edit]:
    """`def f(items=[])` becomes `items=None` with the list made inside."""
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
        made = (
            isinstance(default, ast.Call)
            and isinstance(default.func, ast.Name)
            and default.func.id in ("list", "dict", "set")
        )
        if isinstance(default, (ast.List, ast.Dict, ast.Set)) or made:
            name, value = argument.arg, site.code(default)
            guard = f"{indent}if {name} is None:{newline}{indent}    {name} = {value}{newline}"
            parts = (Part(start, end, "None"), Part(at, at, guard))
            yield Edit(site.source.path, parts, function.lineno, "mutable default", 1.2, site.scope)
