"""Another name: variables, functions, attributes, targets, keywords."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from regreen.repair.operators.site import Site, once
from regreen.repair.source import Edit

KIN: tuple[tuple[str, ...], ...] = (
    ("append", "extend", "insert", "appendleft", "add"),
    ("add", "update", "discard", "remove"),
    ("pop", "popleft", "popitem", "remove", "get"),
    ("get", "setdefault", "pop"),
    ("keys", "values", "items"),
    ("startswith", "endswith"),
    ("strip", "lstrip", "rstrip"),
    ("lower", "upper", "title", "capitalize", "swapcase", "casefold"),
    ("isalpha", "isdigit", "isalnum", "isspace", "isupper", "islower", "isdecimal"),
    ("find", "index", "rfind", "rindex", "count"),
    ("split", "rsplit", "splitlines", "partition", "rpartition"),
    ("ljust", "rjust", "center", "zfill"),
    ("replace", "removeprefix", "removesuffix"),
    ("union", "intersection", "difference", "symmetric_difference"),
    ("issubset", "issuperset", "isdisjoint"),
    ("sort", "reverse"),
    ("min", "max", "sum", "len"),
    ("any", "all"),
    ("int", "float", "str", "round", "bool"),
    ("floor", "ceil", "round", "trunc", "sqrt"),
    ("sin", "cos", "tan"),
    ("log", "log2", "log10", "exp"),
    ("list", "set", "tuple", "sorted", "reversed", "frozenset"),
    ("dict", "defaultdict", "Counter", "OrderedDict"),
    ("enumerate", "range", "zip"),
    ("isinstance", "issubclass"),
    ("heappush", "heappop", "heappushpop", "heapreplace"),
    ("bisect_left", "bisect_right", "insort"),
    ("days", "seconds", "total_seconds"),
    ("year", "month", "day", "hour", "minute", "second"),
    ("weekday", "isoweekday"),
    ("permutations", "combinations", "product", "combinations_with_replacement"),
    ("nlargest", "nsmallest"),
    ("dumps", "loads", "dump", "load"),
    ("match", "search", "fullmatch", "findall"),
    ("copy", "deepcopy"),
    ("group", "groups", "groupdict"),
    ("width", "height"),
    ("first", "last"),
    ("left", "right"),
    ("start", "end", "stop"),
    ("rows", "columns"),
)
"""Names that are taken for one another; the order is the order of a dictionary, not of frequency."""

NEAR_LINES = 3
"""A name bound so few lines above is likely to be read."""
JUST_BOUND = 0.6
"""As likely to be meant as a name that is spelled so much alike."""


def kin(name: str) -> list[str]:
    """Names that are often meant instead of `name`."""
    return [other for group in KIN if name in group for other in group if other != name]


def expressions(site: Site, node: ast.expr) -> Iterator[Edit]:
    """Another name for this name or attribute."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield from _name(site, node)
    elif isinstance(node, ast.Attribute):
        yield from _attribute(site, node)
    elif isinstance(node, ast.Call):
        yield from _keywords(site, node)


def _name(site: Site, node: ast.Name) -> Iterator[Edit]:
    parent, field, _ = site.source.parents[node]
    called = field == "func"
    if isinstance(parent, ast.Attribute) and node.id not in site.names and node.id not in ("self", "cls"):
        weight = 0.25
    else:
        weight = 0.3 if called else 0.85
    known = [name for name in site.names if name != node.id]
    recent = _just_bound(site, node) if not called else frozenset[str]()
    for other, likeness in site.near(node.id, known, 14):
        rate = weight * (0.6 + 0.4 * max(likeness, JUST_BOUND if other in recent else 0.0))
        if other in site.unused and not called:
            rate = max(rate, 1.0)
        yield from site.replace(node, other, "name", rate)
    if called:
        for other in kin(node.id):
            yield from site.replace(node, other, "function", 0.7)
    pool = [n for n in site.module_names if n != node.id]
    same_kind = [n for n in pool if n.isupper() == node.id.isupper()]
    for other, likeness in site.near(node.id, same_kind, 8):
        yield from site.replace(
            node, other, "module name", (0.55 if called else 0.3) * (0.5 + 0.5 * likeness)
        )
    if node.id in site.names and not called and field not in ("iter", "values"):
        for attribute in _of_names(site)[:8]:
            yield from site.replace(node, f"{node.id}.{attribute}", "attribute added", 0.2)
    own = site.own_attributes()
    if node.id in own and node.id != "self":
        yield from site.replace(node, f"self.{node.id}", "self added", 0.7)
    for other, likeness in site.near(node.id, own, 5):
        if likeness > 0.6 and node.id in site.names:
            yield from site.replace(node, f"self.{other}", "self added", 0.4)


def _just_bound(site: Site, node: ast.Name) -> frozenset[str]:
    """Names that get their value on one of the lines right above: they are there to be read here."""
    return frozenset(name for line, name in _bindings(site) if node.lineno - NEAR_LINES <= line < node.lineno)


@once
def _bindings(site: Site) -> list[tuple[int, str]]:
    """(line, name) for every name that the function binds in its body."""
    tree = site.function
    return [
        (n.lineno, n.id)
        for n in (ast.walk(tree) if tree is not None else ())
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]


@once
def _of_names(site: Site) -> list[str]:
    """Plain attributes (not methods) that the file reads from its variables."""
    calls = {n.func for n in ast.walk(site.source.tree) if isinstance(n, ast.Call)}
    found = [
        n.attr
        for n in ast.walk(site.source.tree)
        if isinstance(n, ast.Attribute) and n not in calls and isinstance(n.value, ast.Name)
    ]
    return list(dict.fromkeys(found))


@once
def _attributes_by_owner(site: Site) -> dict[str, list[str]]:
    """The attributes that the file takes of each expression."""
    found: dict[str, list[str]] = {}
    for node in ast.walk(site.source.tree):
        if isinstance(node, ast.Attribute):
            found.setdefault(ast.dump(node.value), []).append(node.attr)
    return found


def _attribute(site: Site, node: ast.Attribute) -> Iterator[Edit]:
    end = site.source.span(node)[1]
    start = end - len(node.attr)
    line = node.end_lineno or node.lineno
    if site.source.text[start:end] != node.attr or not site.source.editable(node):
        return
    on_self = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
    pool: dict[str, float] = {}
    if on_self:
        for other, likeness in site.near(node.attr, site.own_attributes(), 10):
            pool[other] = 0.75 * (0.6 + 0.4 * likeness)
    for other in kin(node.attr):
        pool[other] = max(pool.get(other, 0), 0.65)
    if not on_self:
        same = _attributes_by_owner(site).get(ast.dump(node.value), [])
        for other, likeness in site.near(node.attr, same, 8):
            pool[other] = max(pool.get(other, 0), 0.6 * (0.6 + 0.4 * likeness))
        for other, likeness in site.near(node.attr, site.attributes, 8):
            pool[other] = max(pool.get(other, 0), 0.5 * (0.5 + 0.5 * likeness))
    for other, weight in pool.items():
        yield from site.edit(start, end, other, line, "attribute", weight)
    if isinstance(node.ctx, ast.Load):
        weight = 0.5 if on_self and node.attr in site.names else 0.25
        if on_self and node.attr in site.names:
            yield from site.replace(node, node.attr, "self dropped", weight)
        elif not on_self:
            yield from site.replace(node, site.code(node.value), "attribute dropped", 0.3)


def _keywords(site: Site, node: ast.Call) -> Iterator[Edit]:
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    signature = site.project.signatures.get(name)
    if signature is None:
        return
    used = {k.arg for k in node.keywords}
    for keyword in node.keywords:
        if keyword.arg is None:
            continue
        start = site.source.span(keyword)[0]
        for other in signature.parameters:
            if other not in used:
                end = start + len(keyword.arg)
                yield from site.edit(start, end, other, keyword.lineno, "keyword", 0.45)


def _target_order(site: Site, target: ast.Tuple) -> Iterator[Edit]:
    """Two neighbours of `a, b, c = ...` the other way round."""
    for first, second in zip(target.elts, target.elts[1:], strict=False):
        (start, mid), (late, end) = site.source.span(first), site.source.span(second)
        text = site.code(second) + site.source.text[mid:late] + site.code(first)
        yield from site.edit(start, end, text, target.lineno, "order", 0.35)


def _target_copied(site: Site, node: ast.stmt, target: ast.expr) -> Iterator[Edit]:
    """Another place to keep the value: one that the function speaks of elsewhere."""
    if not isinstance(target, (ast.Subscript, ast.Attribute)):
        return
    start, end = site.source.span(target)
    inside = {site.code(n) for n in ast.walk(node) if isinstance(n, (ast.Subscript, ast.Attribute))}
    for place in _places(site):
        if place != site.code(target):
            weight = 0.4 if place in inside else 0.2
            yield from site.edit(start, end, place, node.lineno, "target", weight)


@once
def _places(site: Site) -> list[str]:
    """What of the function could stand on the left of an assignment."""
    if site.function is None:
        return []
    calls = {n.func for n in ast.walk(site.function) if isinstance(n, ast.Call)}
    found = [
        site.code(n)
        for n in ast.walk(site.function)
        if (isinstance(n, ast.Attribute) and n not in calls)
        or (isinstance(n, ast.Subscript) and not isinstance(n.slice, ast.Slice))
    ]
    return [text for text in dict.fromkeys(found) if len(text) < 50 and "\n" not in text][:8]


def statements(site: Site, node: ast.stmt) -> Iterator[Edit]:
    """Another target of an assignment, or the two sides the other way round."""
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            yield from _target_copied(site, node, target)
            if isinstance(target, ast.Name):
                start, end = site.source.span(target)
                if target.id in site.own_attributes():
                    yield from site.edit(start, end, f"self.{target.id}", node.lineno, "self added", 0.8)
                for other, likeness in site.near(target.id, site.names, 8):
                    yield from site.edit(
                        start, end, other, node.lineno, "target", 0.4 * (0.6 + 0.4 * likeness)
                    )
        if isinstance(node, ast.Assign) and len(targets) == 1 and isinstance(node.value, ast.Name):
            start, end = site.source.span(node)
            swapped = f"{node.value.id} = {site.code(targets[0])}"
            yield from site.edit(start, end, swapped, node.lineno, "swapped assignment", 0.3)
        if isinstance(node, ast.Assign) and isinstance(targets[0], ast.Tuple):
            yield from _target_order(site, targets[0])
        value = node.value
        pairs = (
            isinstance(node, ast.Assign)
            and isinstance(targets[0], ast.Tuple)
            and isinstance(value, ast.Tuple)
        )
        if pairs and isinstance(value, ast.Tuple) and len(value.elts) == 2:
            swapped = f"{site.code(value.elts[1])}, {site.code(value.elts[0])}"
            yield from site.replace(value, swapped, "order", 0.4)
    elif (
        isinstance(node, (ast.For, ast.AsyncFor))
        and isinstance(node.target, ast.Tuple)
        and len(node.target.elts) == 2
    ):
        first, second = node.target.elts
        start, end = site.source.span(first)[0], site.source.span(second)[1]
        swapped = f"{site.code(second)}, {site.code(first)}"
        yield from site.edit(start, end, swapped, node.lineno, "order", 0.35)
