"""What the docstring says in words, and the code does not: a number, a name spelled right, code that was put into a comment."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterator

from regreen.repair.operators.site import Site, once
from regreen.repair.source import Edit, FunctionNode, Part

_WORD = re.compile(r"[A-Za-z][A-Za-z'-]{3,}")
_NUMBER = re.compile(r"(?<![\w.\-])-?\d{1,6}(?![\w.]*\w)")
_CODE = re.compile(r"^(\s*)#+ ?(?=\S)(.+)$")
WRITTEN = {
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "ten": 10,
    "twelve": 12,
    "hundred": 100,
}
MOST = 6


def _prose(site: Site) -> str:
    """The docstrings around, without lines that show a call: what those give is for tests to say."""
    found: list[str] = []
    inner = site.function if site.function is not None else site.source.tree
    for node in (inner, *site.source.around(inner)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)):
            lines = (ast.get_docstring(node) or "").splitlines()
            shown = [">>>" in line or "(" in line for line in lines]
            found += [
                line
                for i, line in enumerate(lines)
                if not shown[i]
                and not (i and ">>>" in lines[i - 1])
                and not re.match(r"\s*[\[({'\"\d-]", line)
            ]
    return "\n".join(found)


@once
def numbers(site: Site) -> list[tuple[int, float]]:
    """Numbers that the docstring speaks of, with a weight: those that the code never mentions are likely missing."""
    prose = _prose(site)
    found = [int(text) for text in _NUMBER.findall(prose)]
    found += [number for word, number in WRITTEN.items() if re.search(rf"\b{word}\b", prose.lower())]
    tree = site.function if site.function is not None else site.source.tree
    there = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and type(n.value) is int}
    return [(n, 0.35 if n in there else 0.75) for n in dict.fromkeys(found)][:MOST]


@once
def words(site: Site) -> list[str]:
    """Words of the docstring."""
    return list(dict.fromkeys(_WORD.findall(_prose(site))))[:200]


@once
def comparisons(site: Site) -> list[tuple[str, float]]:
    """Comparisons of the function with a number of the docstring in place of their own, with a weight."""
    found: dict[str, float] = {}
    for node in ast.walk(site.function) if site.function is not None else ():
        if not isinstance(node, ast.Compare) or "\n" in site.code(node) or len(site.code(node)) > 40:
            continue
        for part in ast.walk(node):
            if not isinstance(part, ast.Constant) or type(part.value) is not int:
                continue
            (low, high), (start, end) = site.source.span(node), site.source.span(part)
            text = site.source.text
            for number, weight in numbers(site):
                if number != part.value and (part.value not in (0, 1) or number > 1):
                    found[text[low:start] + str(number) + text[end:high]] = 2 * weight
    return list(found.items())[: 2 * MOST]


def statements(site: Site, node: ast.stmt) -> Iterator[Edit]:
    """Code that was put into a comment, right before or behind a statement."""
    source = site.source
    if isinstance(node, (FunctionNode, ast.ClassDef)) or site.function is None:
        return
    lines = [node.lineno - 1]
    if not hasattr(node, "body") and node.end_lineno is not None:
        lines.append(node.end_lineno + 1)
    for number in lines:
        if number < 1 or number > source.text.count("\n") + 1:
            continue
        match = _CODE.match(source.line_text(number))
        if match is not None and _is_code(match.group(2)):
            start = source.line_start(number)
            for indent in dict.fromkeys((source.indent(node.lineno), match.group(1))):
                yield from site.edit(
                    start,
                    start + len(match.group()),
                    indent + match.group(2).strip(),
                    node.lineno,
                    "uncommented",
                    0.4,
                )


def guards(site: Site, function: FunctionNode) -> Iterator[Edit]:
    """Statements of a function that were put between triple quotes."""
    for node in function.body:
        text = node.value if isinstance(node, ast.Expr) else None
        if (
            not isinstance(text, ast.Constant)
            or not isinstance(text.value, str)
            or not site.source.starts_line(node)
        ):
            continue
        start, end = site.source.span(text)
        quotes = site.source.text[start : start + 3]
        inside = textwrap.dedent(site.source.indent(node.lineno) + text.value)
        if quotes in ('"""', "'''") and "=" in inside and _parses(inside):
            parts = (Part(start, start + 3, ""), Part(end - 3, end, ""))
            yield Edit(site.source.path, parts, function.lineno, "uncommented", 0.9, site.scope)


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return any(isinstance(node, (ast.Assign, ast.Return)) for node in ast.parse(text).body)
    except (SyntaxError, ValueError):
        return False


def _is_code(text: str) -> bool:
    """True for a comment that is a statement with an effect, not words."""
    if not re.search(r"[=(]|^(return|break|continue|del)\b", text):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (node,) = ast.parse(text.strip()).body
    except (SyntaxError, ValueError):
        return False
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    return isinstance(node, (ast.Assign, ast.AugAssign, ast.Return, ast.Break, ast.Continue, ast.Delete))
