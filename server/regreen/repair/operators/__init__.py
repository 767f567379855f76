"""Candidate edits of a source, each a small change of exact text spans.

Weights follow how often a kind of slip is seen in real one-statement fixes, divided by the number of
variants a place offers; no operator knows any particular program.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from regreen.repair.operators import (
    arithmetic,
    borrowed,
    calls,
    conditions,
    defaults,
    documented,
    exceptions,
    extended,
    names,
    numbers,
    repeated,
    sequences,
    statements,
    strings,
)
from regreen.repair.operators.site import Project, Site, once
from regreen.repair.source import Edit, FunctionNode, Source

_EXPRESSIONS: tuple[Callable[[Site, ast.expr], Iterator[Edit]], ...] = (
    conditions.expressions,
    extended.expressions,
    arithmetic.expressions,
    numbers.expressions,
    names.expressions,
    calls.expressions,
    sequences.expressions,
    strings.expressions,
    exceptions.expressions,
    repeated.expressions,
)
_STATEMENTS: tuple[Callable[[Site, ast.stmt], Iterator[Edit]], ...] = (
    conditions.statements,
    extended.statements,
    arithmetic.statements,
    names.statements,
    statements.statements,
    borrowed.statements,
    exceptions.statements,
    documented.statements,
)
_FUNCTIONS: tuple[Callable[[Site, FunctionNode], Iterator[Edit]], ...] = (
    conditions.guards,
    exceptions.guards,
    defaults.guards,
    repeated.guards,
    documented.guards,
)


def _subexpressions(site: Site, node: ast.expr) -> Iterator[Edit]:
    """A part of an expression for the whole, and expressions of the same function for one another."""
    source = site.source
    parent = source.parent(node)
    found = source.parents.get(node)
    if found is None or isinstance(parent, ast.Expr) or found[1] in ("func", "slice", "decorator_list"):
        return
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return
    if isinstance(node, (ast.Call, ast.Subscript, ast.IfExp, ast.BoolOp, ast.BinOp)):
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.expr) or isinstance(child, (ast.Slice, ast.Starred)):
                continue
            if not (isinstance(node, ast.Call) and child is node.func):
                yield from site.replace(node, source.code(child), "part of it", 0.35)
    if site.function is None or isinstance(
        node, (ast.Compare, ast.BoolOp, ast.Starred, ast.Slice, ast.JoinedStr)
    ):
        return
    text = source.code(node)
    if len(text) < 60 and found[1] in (
        "value",
        "args",
        "left",
        "right",
        "comparators",
        "iter",
        "elt",
        "elts",
        "test",
    ):
        if isinstance(node, (ast.Call, ast.Subscript, ast.BinOp)) and found[1] != "value":
            for name in site.names[:10]:
                yield from site.replace(node, name, "name for more", 0.2)
        for other in _expressions_of(site):
            if other != text:
                yield from site.replace(node, other, "expression copied", 0.25)
    if (
        len(text) < 40
        and found[1] in ("value", "args", "elts")
        and isinstance(node, (ast.Name, ast.BinOp, ast.Call, ast.Subscript))
    ):
        for other in [*site.names[:6], *_expressions_of(site)[:12]]:
            if other != text and not other.startswith(("[", "(")):
                for call in ("max", "min"):
                    yield from site.replace(node, f"{call}({text}, {other})", "larger or smaller", 0.1)


@once
def _expressions_of(site: Site) -> list[str]:
    assert site.function is not None
    kinds = (ast.Call, ast.BinOp, ast.Subscript, ast.Attribute, ast.Tuple, ast.List)
    texts = [
        site.code(n)
        for n in ast.walk(site.function)
        if isinstance(n, kinds) and isinstance(getattr(n, "ctx", ast.Load()), ast.Load)
    ]
    return [t for t in dict.fromkeys(texts) if 1 < len(t) < 40 and "\n" not in t][:24]


def candidates(source: Source, project: Project, lines: Iterable[int]) -> list[Edit]:
    """All edits about the given lines (of functions or of the module level), best first, without doubles."""
    wanted = set(lines)
    sites: dict[FunctionNode | None, Site] = {}
    found: list[Edit] = []
    for node in ast.walk(source.tree):
        if isinstance(node, FunctionNode) and _touches(node, wanted):
            found += _of_function(source, project, node, sites)
        if not isinstance(node, (ast.stmt, ast.expr)):
            continue
        if not wanted.isdisjoint(range(node.lineno, (node.end_lineno or node.lineno) + 1)):
            if isinstance(node, ast.stmt) and node.lineno not in wanted and hasattr(node, "body"):
                continue
            site = _site(source, project, source.function(node), sites)
            if isinstance(node, ast.stmt):
                for of_statement in _STATEMENTS:
                    found += of_statement(site, node)
            elif source.editable(node) or isinstance(node, ast.JoinedStr):
                for of_expression in _EXPRESSIONS:
                    found += of_expression(site, node)
                found += _subexpressions(site, node)
    return _without_doubles(found)


def _site(
    source: Source, project: Project, function: FunctionNode | None, sites: dict[FunctionNode | None, Site]
) -> Site:
    if function not in sites:
        sites[function] = Site(source, project, function)
    return sites[function]


def _touches(node: FunctionNode, wanted: set[int]) -> bool:
    first = node.body[0].lineno
    return not wanted.isdisjoint(range(first, (node.end_lineno or first) + 1))


def _of_function(
    source: Source, project: Project, node: FunctionNode, sites: dict[FunctionNode | None, Site]
) -> Iterator[Edit]:
    site = _site(source, project, node, sites)
    for of_function in _FUNCTIONS:
        yield from of_function(site, node)


def _without_doubles(found: list[Edit]) -> list[Edit]:
    """Best first; of equal kinds on one line, each further one counts a little less."""
    found.sort(key=lambda e: -e.weight)
    seen: set[object] = set()
    count: dict[tuple[int, str], int] = {}
    kept: list[Edit] = []
    for edit in found:
        if edit.parts in seen:
            continue
        seen.add(edit.parts)
        rank = count.get((edit.line, edit.kind), 0)
        count[edit.line, edit.kind] = rank + 1
        weight = edit.weight / (1 + 0.1 * rank)
        kept.append(Edit(edit.path, edit.parts, edit.line, edit.kind, weight, edit.scope))
    kept.sort(key=lambda e: -e.weight)
    return kept
