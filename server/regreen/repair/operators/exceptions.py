"""Exceptions: another type, one more in an except, a check that was forgotten."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from regreen.repair.operators.site import Site, arguments
from regreen.repair.source import Edit, FunctionNode

USUAL = (
    "ValueError",
    "KeyError",
    "TypeError",
    "IndexError",
    "LookupError",
    "AttributeError",
    "ZeroDivisionError",
)
_MISSED = re.compile(r"DID NOT RAISE (?:<class ')?([\w.]+)|(\w+) not raised")


def wanted(site: Site) -> str:
    """The exception a test waits for in vain; "" when that is not why it fails."""
    match = _MISSED.search(site.project.hints.message)
    return (match.group(1) or match.group(2)).split(".")[-1] if match else ""


def expressions(site: Site, node: ast.expr) -> Iterator[Edit]:
    """Another exception type where one is named."""
    found = site.source.parents.get(node)
    if found is None or not isinstance(node, ast.Name):
        return
    parent, field, _ = found
    raised = field == "exc" or (field == "func" and isinstance(site.source.parent(parent), ast.Raise))
    handled = field == "type" and isinstance(parent, ast.ExceptHandler)
    if (
        not raised
        and not handled
        and not (field == "elts" and isinstance(site.source.parent(parent), ast.ExceptHandler))
    ):
        return
    hints = site.project.hints
    first = [name for name in (wanted(site), hints.type) if name and name.isidentifier()]
    own = [n for n in site.module_names if n.endswith(("Error", "Exception"))]
    for name in dict.fromkeys([*first, *own, *USUAL]):
        if name != node.id:
            weight = 0.9 if name in first else 0.35
            yield from site.replace(node, name, "exception", weight)
            if handled:
                yield from site.replace(node, f"({node.id}, {name})", "exception", weight * 0.7)


def statements(site: Site, node: ast.stmt) -> Iterator[Edit]:
    """Exceptions swallowed or let through; a failing statement put into a try is left to people."""
    if isinstance(node, ast.Try):
        for handler in node.handlers:
            body = handler.body
            if len(body) == 1 and isinstance(body[0], (ast.Pass, ast.Return, ast.Continue)):
                start, end = site.source.span(body[0])
                yield from site.edit(start, end, "raise", body[0].lineno, "exception", 0.35)
            if len(body) == 1 and isinstance(body[0], ast.Raise):
                start, end = site.source.span(body[0])
                for text in ("return None", "pass", "return 0", "return False", "return []", "return ''"):
                    yield from site.edit(start, end, text, body[0].lineno, "exception", 0.2)
    if isinstance(node, ast.Return) and wanted(site) and isinstance(node.value, (ast.Constant, type(None))):
        yield from site.edit(*site.source.span(node), f"raise {wanted(site)}", node.lineno, "exception", 0.25)


def guards(site: Site, function: FunctionNode) -> Iterator[Edit]:
    """A check at the start of a function, when a test waits for an exception that never comes."""
    name = wanted(site)
    body = [n for n in function.body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
    if not name or not body or not site.source.starts_line(body[0]) or not name.isidentifier():
        return
    own = [f"self.{attribute}" for attribute in site.own_attributes()[:6]]
    names = arguments(function)[:4]
    for argument in names:
        asked = [
            (f"{argument} < 0", 1.0),
            (f"{argument} <= 0", 0.95),
            (f"not {argument}", 0.9),
            (f"{argument} is None", 0.7),
        ]
        asked += [
            (f"{argument} == 0", 0.7),
            (f"not {argument}.strip()", 0.3),
            (f"not isinstance({argument}, str)", 0.2),
        ]
        for other in [
            *own,
            *(n for n in names if n != argument),
            *(n for n in site.module_names if n.isupper()),
        ]:
            asked += [
                (f"{argument} > {other}", 0.7),
                (f"{argument} not in {other}", 0.7),
                (f"{argument} in {other}", 0.6),
            ]
            asked += [(f"{argument} < {other}", 0.4), (f"{argument} >= {other}", 0.3)]
        for condition, likely in asked:
            lines = (f"if {condition}:", f'    raise {name}(f"bad {argument}: {{{argument}!r}}")')
            yield from site.insert_before(body[0], lines, "check", 0.4 * likely)
