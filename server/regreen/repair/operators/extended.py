"""Conditions that ask one thing more: filters, answers and flags; what a condition looks into asked first."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from regreen.repair.operators.conditions import joined, predicates
from regreen.repair.operators.site import Site
from regreen.repair.source import Edit


def expressions(site: Site, node: ast.expr) -> Iterator[Edit]:
    """One more thing asked where an expression decides; tests of `if` and `while` are left to `conditions`."""
    if _decides(site, node):
        yield from _extended(site, node)


def statements(site: Site, node: ast.stmt) -> Iterator[Edit]:
    """Other attributes of what a test asks, and whether it is there at all."""
    if isinstance(node, (ast.If, ast.While)):
        yield from _first_there(site, node.test)
        text = site.code(node.test)
        for other, weight in _of_owner(site, node.test):
            if other not in text:
                yield from site.replace(
                    node.test, joined(site, node.test, "and", other, 4), "narrower condition", 0.2 * weight
                )


def _decides(site: Site, node: ast.expr) -> bool:
    """True for a condition that is not the test of an `if` or `while`: a filter, an answer, a flag that is kept."""
    parent, field, _ = site.source.parents[node]
    if field == "ifs" or (field == "test" and isinstance(parent, ast.IfExp)):
        return True
    asks = isinstance(node, (ast.Compare, ast.BoolOp)) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )
    return asks and field == "value" and isinstance(parent, (ast.Return, ast.Assign))


def _extended(site: Site, test: ast.expr) -> Iterator[Edit]:
    """One more thing asked, or one of two enough."""
    text = site.code(test)
    asked = dict(predicates(site)[:24])
    for other, weight in _of_owner(site, test):
        asked[other] = max(weight, asked.get(other, 0.0))
    for other, weight in asked.items():
        if other not in text:
            for word, level, rate in (("and", 4, 0.3), ("or", 3, 0.18)):
                kind = "narrower condition" if word == "and" else "wider condition"
                yield from site.replace(test, joined(site, test, word, other, level), kind, rate * weight)


def _of_owner(site: Site, test: ast.expr) -> list[tuple[str, float]]:
    """What else the things that a condition asks could be asked: other attributes, other yes-no methods."""
    owners = [
        n.value.id for n in ast.walk(test) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)
    ]
    used = {n.attr for n in ast.walk(test) if isinstance(n, ast.Attribute)}
    found: list[tuple[str, float]] = []
    for owner in dict.fromkeys(owners):
        held = site.own_attributes() if owner == "self" else [*site.project.fields]
        for name in [n for n in dict.fromkeys(held) if n not in used][:10]:
            found += [(f"{owner}.{name}", 1.0), (f"not {owner}.{name}", 1.0)]
        for signature in site.project.signatures.values():
            if owner == "self" and signature.name not in site.own_attributes():
                continue
            if signature.method and signature.predicate and len(signature.parameters) < 2:
                given = site.names[:4] if signature.parameters else [""]
                weight = 1.6 if signature.name in site.project.uncalled else 1.0
                found += [
                    (f"{no}{owner}.{signature.name}({name})", weight)
                    for name in given
                    for no in ("", "not ")
                    if name != owner
                ]
    return found[:30]


def _first_there(site: Site, test: ast.expr) -> Iterator[Edit]:
    """Is there anything at all? Asked before a condition looks into it."""
    owners = [
        site.code(n.value)
        for n in ast.walk(test)
        if isinstance(n, (ast.Attribute, ast.Subscript)) and isinstance(n.value, (ast.Name, ast.Attribute))
    ]
    for owner in list(dict.fromkeys(owners))[:4]:
        if owner in ("self", "cls") or owner in site.module_names:
            continue
        for ask, word, level in (
            (f"{owner} is None", "or", 3), (f"not {owner}", "or", 3),
            (f"{owner} is not None", "and", 4), (owner, "and", 4),
        ):  # fmt: skip
            kind = "wider condition" if word == "or" else "narrower condition"
            yield from site.replace(test, f"{ask} {word} {site.tight(test, level)}", kind, 0.3)
