"""One slip that shows in several places: both sides of a comparison, all answers, all uses of a constant, a case left out."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator

from regreen.repair.operators.site import SHORT, Site
from regreen.repair.source import Edit, FunctionNode, Part

BOTH = (
    ("{}.lower()", 0.2), ("sorted({})", 0.16), ("set({})", 0.16), ("len({})", 0.12), ("{}.strip()", 0.12), ("str({})", 0.1),
    ("abs({})", 0.12), ("int({})", 0.1), ("list({})", 0.06), ("float({})", 0.06),
)  # fmt: skip
"""What two values are made alike with before they are compared."""
MOST_PLACES = 6


def guards(site: Site, function: FunctionNode) -> Iterator[Edit]:
    """Edits of a function that change several of its places alike."""
    yield from _answers(site, function)
    yield from _constants(site, function)


def expressions(site: Site, node: ast.expr) -> Iterator[Edit]:
    """Both sides of a comparison, and the case that a chain of alternatives leaves out."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield from _both_sides(site, node)
    elif isinstance(node, ast.BoolOp):
        yield from _case_left_out(site, node)


def _both_sides(site: Site, node: ast.Compare) -> Iterator[Edit]:
    """`a == b` as `a.lower() == b.lower()`: what is compared is to be alike in one respect only."""
    left, right = node.left, node.comparators[0]
    if not isinstance(node.ops[0], (ast.Eq, ast.NotEq)) or isinstance(left, ast.Constant):
        return
    if isinstance(right, ast.Constant) or len(site.code(node)) > SHORT:
        return
    (start, mid), (late, end) = site.source.span(left), site.source.span(right)
    for shape, weight in BOTH:
        sides = [shape.format(site.tight(side, 16 if shape[0] == "{" else 0)) for side in (left, right)]
        text = sides[0] + site.source.text[mid:late] + sides[1]
        yield from site.edit(start, end, text, node.lineno, "both sides", weight)


def _case_left_out(site: Site, node: ast.BoolOp) -> Iterator[Edit]:
    """`a + b == c or b + c == a` has a third case: one alternative with its names put round."""
    texts = [site.code(value) for value in node.values]
    word = " or " if isinstance(node.op, ast.Or) else " and "
    names = [sorted({n.id for n in ast.walk(v) if isinstance(n, ast.Name)}) for v in node.values]
    if not all(2 <= len(used) <= 4 and used == names[0] for used in names) or "\n" in site.code(node):
        return
    shapes = {_shape(text, names[0]) for text in texts}
    if len(shapes) != 1:
        return
    made: dict[str, None] = {}
    for order in itertools.permutations(names[0]):
        swap = dict(zip(names[0], order, strict=True))
        made.setdefault(re.sub(r"\b[A-Za-z_]\w*\b", lambda m: swap.get(m.group(), m.group()), texts[0]))  # noqa: B023
    end = site.source.span(node.values[-1])[1]
    closing = re.match(r"\s*\)", site.source.text[end:])
    inside = texts[-1].startswith("(") or (closing and _opens(site, node.values[-1]))
    at = end + (closing.end() if closing and inside and not texts[-1].startswith("(") else 0)
    for text in [text for text in made if text not in texts][:MOST_PLACES]:
        grown = f"({text})" if site.source.text[at - 1] == ")" else text
        yield from site.edit(at, at, word + grown, node.lineno, "case added", 0.6)


def _opens(site: Site, node: ast.expr) -> bool:
    """True when the expression stands in parentheses of its own."""
    return site.source.text[: site.source.span(node)[0]].rstrip().endswith("(")


def _shape(text: str, names: list[str]) -> str:
    return re.sub(rf"\b(?:{'|'.join(map(re.escape, names))})\b", "_", text)


def _answers(site: Site, function: FunctionNode) -> Iterator[Edit]:
    """Yes for no and no for yes, all through a function that answers with nothing else."""
    returned = [
        n for n in ast.walk(function) if isinstance(n, ast.Return) and site.source.function(n) is function
    ]
    parts: list[Part] = []
    said: set[bool] = set()
    for node in returned:
        if not isinstance(node.value, ast.Constant) or not isinstance(node.value.value, bool):
            return
        said.add(node.value.value)
        parts.append(Part(*site.source.span(node.value), str(not node.value.value)))
    if len(said) == 2 and len(parts) <= MOST_PLACES:
        line = returned[0].lineno
        yield Edit(
            site.source.path, tuple(parts), line, "answers swapped", 0.5, site.source.scope_name(function)
        )


def _constants(site: Site, function: FunctionNode) -> Iterator[Edit]:
    """A constant that stands in several places of a function, another in all of them."""
    places: dict[tuple[type, object], list[ast.Constant]] = {}
    for node in ast.walk(function):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, (str, int))
            and site.source.editable(node)
        ):
            places.setdefault((type(node.value), node.value), []).append(node)
    for (kind, value), nodes in places.items():
        if not 2 <= len(nodes) <= MOST_PLACES or kind is bool or len({site.code(n) for n in nodes}) != 1:
            continue
        old = site.code(nodes[0])
        fresh: list[tuple[str, float]] = []
        if isinstance(value, str) and "\n" not in value and old[:1] in "'\"" and len(value) < SHORT:
            others = [value.strip(), value.lower(), value.upper(), value + " ", "" if len(value) < 2 else " "]
            fresh = [(old[0] + other + old[0], 0.3) for other in dict.fromkeys(others) if other != value]
        elif isinstance(value, int) and value not in (0, 1):
            fresh = [(str(value + 1), 0.2), (str(value - 1), 0.2)]
        for text, weight in fresh:
            parts = tuple(Part(*site.source.span(node), text) for node in nodes)
            scope = site.source.scope_name(function)
            yield Edit(site.source.path, parts, nodes[0].lineno, "constant everywhere", weight, scope)
