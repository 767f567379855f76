"""Statements borrowed from similar code: other methods of the class, collections asked but never filled."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from regreen.repair.operators.site import Site, once
from regreen.repair.source import Edit, FunctionNode

FILLS = {"set": ("add",), "list": ("append",), "dict": (), "": ("add", "append")}
"""How a collection of a known kind takes one more."""
PLAIN = (ast.Assign, ast.AugAssign, ast.Expr)
MOST = 12


def statements(site: Site, node: ast.stmt) -> Iterator[Edit]:
    """Statements put in before or behind this one, and a call in place of an assignment or the other way round."""
    if (
        site.function is None
        or not site.source.starts_line(node)
        or isinstance(node, (FunctionNode, ast.ClassDef))
    ):
        return
    if isinstance(node, ast.Expr):
        yield from _assigned(site, node)
    jump = isinstance(node, (ast.Return, ast.Break, ast.Continue, ast.Raise))
    for text in _fills(site):
        if jump or isinstance(node, (ast.For, ast.While)):
            yield from site.insert_before(node, (text,), "statement added", 0.4)
        else:
            yield from site.insert_after(node, (text,), "statement added", 0.4)
            if _first(site, node):
                yield from site.insert_before(node, (text,), "statement added", 0.3)
    for text, weight in _of_siblings(site):
        if jump:
            yield from site.insert_before(node, (text,), "statement copied", weight)
        else:
            yield from site.insert_after(node, (text,), "statement copied", weight)
            if _first(site, node):
                yield from site.insert_before(node, (text,), "statement copied", weight * 0.7)


def _first(site: Site, node: ast.stmt) -> bool:
    parent, field, index = site.source.parents[node]
    return index == 0 and field == "body" and isinstance(parent, (FunctionNode, ast.For, ast.While))


def _assigned(site: Site, node: ast.Expr) -> Iterator[Edit]:
    """`x.update(y)` as `x = y`: filled where it was to be replaced."""
    call = node.value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or len(call.args) != 1:
        return
    owner = call.func.value
    if call.func.attr in ("update", "extend", "append", "add") and isinstance(
        owner, (ast.Name, ast.Subscript, ast.Attribute)
    ):
        text = f"{site.code(owner)} = {site.code(call.args[0])}"
        yield from site.edit(*site.source.span(node), text, node.lineno, "assignment", 0.35)


@once
def _fills(site: Site) -> list[str]:
    """`seen.add(x)` for what is asked with `in` and never filled here."""
    assert site.function is not None
    filled = {
        site.code(n.func.value)
        for n in ast.walk(site.function)
        if isinstance(n, ast.Call)
        and isinstance(n.func, ast.Attribute)
        and n.func.attr in ("add", "append", "update", "extend", "insert", "setdefault", "appendleft")
    }
    filled |= {
        site.code(n.value)
        for n in ast.walk(site.function)
        if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)
    }
    found: list[str] = []
    for node in ast.walk(site.function):
        if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], (ast.In, ast.NotIn)):
            continue
        where, what = node.comparators[0], node.left
        if not isinstance(where, (ast.Name, ast.Attribute)) or site.code(where) in filled:
            continue
        if isinstance(what, ast.Constant) or site.code(where) in site.module_names:
            continue
        found += [f"{site.code(where)}.{method}({site.code(what)})" for method in FILLS[_kind(site, where)]]
        if _kind(site, where) == "dict":
            found += [
                f"{site.code(where)}[{site.code(what)}] = {value}" for value in (*site.names[:4], "1", "True")
            ]
    return list(dict.fromkeys(found))[:6]


def _kind(site: Site, where: ast.Name | ast.Attribute) -> str:
    """set, list or dict by what is assigned to it in the file; "" when nothing says so."""
    text = site.code(where)
    for node in ast.walk(site.source.tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(site.code(target) == text for target in targets) and node.value is not None:
                made = re.match(r"(set|list|dict)\(|(\[)|(\{[^:]*\}$)|(\{)", site.code(node.value))
                if made:
                    if made.group(4) or site.code(node.value) == "{}":
                        return "dict"
                    return made.group(1) or ("list" if made.group(2) else "set")
    return ""


@once
def _of_siblings(site: Site) -> list[tuple[str, float]]:
    """Simple statements of other methods that speak of the object alone, and are not in this one."""
    klass = site.source.klass(site.function) if site.function is not None else None
    if klass is None or site.function is None:
        return []
    here = {
        site.code(n) for n in ast.walk(site.function) if isinstance(n, ast.stmt) and not hasattr(n, "body")
    }
    known = {*site.names, *site.module_names, "self", "cls", "len", "max", "min", "sorted"}
    found: dict[str, float] = {}
    for method in klass.body:
        if not isinstance(method, FunctionNode) or method is site.function:
            continue
        for node in ast.walk(method):
            if not isinstance(node, PLAIN) or site.source.is_docstring(getattr(node, "value", node)):
                continue
            text = site.code(node)
            used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            if "\n" in text or len(text) > 80 or text in here or not used <= known or "self" not in used:
                continue
            own = used <= {"self"}
            found[text] = max(found.get(text, 0.0), 0.3 if own and not isinstance(node, ast.Assign) else 0.18)
    return sorted(found.items(), key=lambda pair: -pair[1])[:MOST]
