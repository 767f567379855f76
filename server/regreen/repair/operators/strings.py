"""Strings and formats, near to what the assertion shows."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator

from regreen.repair.operators import documented
from regreen.repair.operators.site import Site, once
from regreen.repair.source import Edit

_SPEC = re.compile(r"([<>^=]?)([-+ ]?)(#?)(0?)(\d*)(,?)((?:\.\d+)?)([a-zA-Z%]?)$")


_PAIRS = ("()", "[]", "{}", "<>")
BRACKETS = {
    pair[side]: [pair[1 - side], *(other[side] for other in _PAIRS if other != pair)]
    for pair in _PAIRS
    for side in (0, 1)
}
"""The mark at the other end, and those of the other kinds at the same end."""


def expressions(site: Site, node: ast.expr) -> Iterator[Edit]:
    """Another string, or another format."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        if site.source.editable(node):
            yield from _constant(site, node, node.value)
    elif isinstance(node, ast.JoinedStr):
        yield from _formatted(site, node)


def quoted(site: Site, node: ast.Constant, value: str) -> str:
    """`value` as a literal with the quotes the old one had."""
    old = site.code(node)
    text = repr(value)
    quote = '"' if old.lstrip("rRbBuUfF")[:1] == '"' else "'"
    if text[0] != quote and quote not in value and "\\" not in text:
        text = quote + value + quote
    return text


def _constant(site: Site, node: ast.Constant, value: str) -> Iterator[Edit]:
    for other, weight in _shown(site, value):
        yield from site.replace(node, quoted(site, node, other), "string", weight)
    tries = [
        (value.lower(), 0.4),
        (value.upper(), 0.3),
        (value.strip(), 0.35),
        (value + " ", 0.3),
        (" " + value, 0.3),
    ]
    tries += [
        (value.title(), 0.2),
        (value[:-1], 0.25),
        (value[1:], 0.25),
        ("", 0.25),
        (" ", 0.2),
        (value + "s", 0.15),
    ]
    tries += [
        (value + "\n", 0.2),
        (value.replace("_", "-"), 0.3),
        (value.replace("-", "_"), 0.3),
        (",", 0.1),
        (", ", 0.12),
    ]
    for other, likeness in site.near(value, _texts(site), 8):
        tries.append((other, 0.3 + 0.3 * likeness))
    if "%" in value:
        tries += [
            (re.sub(r"%(\.\d+)?[a-z]", spec, value, count=1), 0.25) for spec in ("%s", "%d", "%.2f", "%.1f")
        ]
    if re.search(r"\{[^{}]*:[^{}]+\}", value):
        for spec in re.finditer(r"\{[^{}]*:([^{}]+)\}", value):
            for new, weight in specs(spec.group(1)):
                tries.append((value[: spec.start(1)] + new + value[spec.end(1) :], weight))
    tries += [(other, 0.3) for other in BRACKETS.get(value, "")]
    if len(value) > 4 and value.isalpha():
        for word in documented.words(site):
            if word != value and difflib.SequenceMatcher(None, word.lower(), value.lower()).ratio() >= 0.75:
                tries.append((word, 0.9))
    best: dict[str, float] = {}
    for text, weight in tries:
        if text != value:
            best[text] = max(weight, best.get(text, 0.0))
    for text, weight in best.items():
        yield from site.replace(node, quoted(site, node, text), "string", weight)
    if value == "":
        for name in site.names[:5]:
            yield from site.replace(node, name, "constant to name", 0.2)
    for name in site.names[:6]:
        if name in site.unused or name == value:
            yield from site.replace(node, name, "constant to name", 0.6)


@once
def _texts(site: Site) -> list[str]:
    """Short strings of the file."""
    return [
        n.value
        for n in ast.walk(site.source.tree)
        if isinstance(n, ast.Constant)
        and isinstance(n.value, str)
        and len(n.value) < 40
        and not site.source.is_docstring(n)
    ]


def _shown(site: Site, value: str) -> Iterator[tuple[str, float]]:
    """What a literal would have to be for the shown text to be the wanted one, when that is near."""
    texts = site.project.hints.texts
    if texts is None or not value:
        return
    got, wanted = texts
    seen: set[str] = set()
    for at in re.finditer(re.escape(value), got):
        low, high = at.span()
        for start, end, new in _differences(got, wanted):
            if low <= start and end <= high:
                fresh = value[: start - low] + new + value[end - low :]
                if fresh not in seen and _near(value, fresh):
                    seen.add(fresh)
                    yield fresh, 0.8


def _differences(got: str, wanted: str) -> list[tuple[int, int, str]]:
    codes = difflib.SequenceMatcher(None, got, wanted, autojunk=False).get_opcodes()
    found = [(a, b, wanted[c:d]) for tag, a, b, c, d in codes if tag != "equal"]
    if len(found) > 1:
        a, b = found[0][0], found[-1][1]
        c, d = codes[0][4] if codes[0][0] == "equal" else 0, len(wanted) - (len(got) - b)
        if c <= d:
            found.append((a, b, wanted[c:d]))
    return found


def _near(value: str, fresh: str) -> bool:
    """Near enough to be a slip, not the answer copied out of the test."""
    if abs(len(value) - len(fresh)) <= 2 and max(len(value), len(fresh)) <= 4:
        return True
    return difflib.SequenceMatcher(None, value, fresh).ratio() >= 0.6


def specs(spec: str) -> list[tuple[str, float]]:
    """Other format specifications than this one."""
    match = _SPEC.match(spec)
    if match is None:
        return []
    align, sign, alternate, zero, width, comma, digits, kind = match.groups()
    found: list[tuple[str, float]] = []

    def spell(
        a: str = align, w: str = width, p: str = digits, k: str = kind, z: str = zero, c: str = comma
    ) -> str:
        return a + sign + alternate + z + w + c + p + k

    if width:
        found += [(spell(a=new), 0.5) for new in ("<", ">", "^") if new != align]
    if width:
        found += [(spell(w=str(int(width) + 1)), 0.5), (spell(w=str(max(0, int(width) - 1))), 0.5)]
        found += [(spell(w=str(int(width) + 2)), 0.3), (spell(z="" if zero else "0"), 0.4)]
    if digits:
        number = int(digits[1:])
        found += [
            (spell(p=f".{n}"), 0.5) for n in (number + 1, number - 1, 2, 1, 0) if n >= 0 and n != number
        ]
    elif not kind and (width or comma):
        found += [(spell(p=".2", k="f"), 0.5), (spell(p=".1", k="f"), 0.35), (spell(p=".0", k="f"), 0.2)]
    found.append((spell(c="" if comma else ","), 0.3))
    for new in ("d", "f", "x", "X", "%", "b", "e"):
        if kind and new != kind:
            found.append((spell(k=new), 0.15))
    return found


def _formatted(site: Site, node: ast.JoinedStr) -> Iterator[Edit]:
    """Literal pieces and specifications inside an f-string, found in its text."""
    if "\n" in site.code(node) or not site.source.editable(node):
        return
    start, end = site.source.span(node)
    text = site.source.text[start:end]
    for spec in re.finditer(r"\{[^{}]*?:([^{}:]+)\}", text):
        for new, weight in specs(spec.group(1)):
            yield from site.edit(
                start + spec.start(1), start + spec.end(1), new, node.lineno, "format", weight
            )
    for field in re.finditer(r"(?<!\{)\{([A-Za-z_][\w.\[\]'\"]*(?:\([^{}]*\))?)\}", text):
        at = start + field.end(1)
        for new in (":.2f", ":.1f", ":,", ":02d", ":03d", "!r", ":.0f", ":,.2f", ":.1%", ":.0%"):
            yield from site.edit(at, at, new, node.lineno, "format", 0.16)
    names = re.finditer(r"(?<!\{)\{([A-Za-z_]\w*)", text)
    for field in names:
        for other, likeness in site.near(field.group(1), site.names, 6):
            low, high = start + field.start(1), start + field.end(1)
            yield from site.edit(low, high, other, node.lineno, "name", 0.6 * (0.6 + 0.4 * likeness))
    for piece in node.values:
        if isinstance(piece, ast.Constant) and isinstance(piece.value, str):
            value = piece.value
            if text.count(value) != 1:
                continue
            low = start + text.index(value)
            tries = [*_shown(site, value), (value.strip(), 0.2), (value + " ", 0.15), (value.lower(), 0.2)]
            for other, weight in tries:
                clean = "{" not in other and "}" not in other and "\\" not in other and text[-1] not in other
                if clean and "\n" not in other:
                    yield from site.edit(low, low + len(value), other, node.lineno, "string", weight)
