"""Whole statements: returned, moved, copied, inserted, jumps; deleted last of all."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from regreen.repair.operators.site import Site, once
from regreen.repair.source import Edit, FunctionNode

SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.Return, ast.Raise, ast.Delete)
BLOCKS = (ast.For, ast.While, ast.If, ast.With, ast.Try, ast.AsyncFor, ast.AsyncWith)


def statements(site: Site, node: ast.stmt) -> Iterator[Edit]:
    """Edits of one statement and of its place."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.Return):
        yield from _returned(site, node)
    elif isinstance(node, (ast.Break, ast.Continue)):
        other = "continue" if isinstance(node, ast.Break) else "break"
        yield from site.edit(*site.source.span(node), other, node.lineno, "jump", 0.5)
        yield from site.edit(*site.source.span(node), "pass", node.lineno, "jump", 0.25)
    elif isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
        yield from _kept(site, node)
    if site.source.starts_line(node) and not isinstance(
        node, (FunctionNode, ast.ClassDef, ast.Import, ast.ImportFrom)
    ):
        yield from _moved(site, node)
        yield from _guarded(site, node)
        yield from _inserted(site, node)
        yield from _deleted(site, node)


def _returned(site: Site, node: ast.Return) -> Iterator[Edit]:
    if node.value is None:
        return
    value = site.code(node.value)
    if isinstance(node.value, (ast.Call, ast.Name, ast.Attribute)):
        yield from site.replace(node.value, f"not {site.tight(node.value, 4)}", "negated", 0.35)
    for name in site.names[:12]:
        yield from site.replace(node.value, name, "return value", 0.55 if name in site.unused else 0.32)
    for text in ("True", "False", "None", "0", "1", "-1", "[]", "''", "{}"):
        yield from site.replace(node.value, text, "return value", 0.2)
    if isinstance(node.value, ast.Constant) and isinstance(node.value.value, bool):
        for name in site.names[:6]:
            for text in (f"not {name}", f"{name} == 0", f"{name} != 0", f"bool({name})"):
                yield from site.replace(node.value, text, "return value", 0.3)
    if not isinstance(node.value, (ast.Tuple, ast.Constant)):
        for name in site.names[:5]:
            if name not in value:
                yield from site.replace(node.value, f"{value}, {name}", "element added", 0.08)


def _kept(site: Site, node: ast.Expr) -> Iterator[Edit]:
    """A value that is computed and thrown away."""
    start, end = site.source.span(node)
    text = site.code(node.value)
    value = node.value
    if isinstance(value, ast.Yield) and value.value is not None:
        yield from site.edit(start, end, f"yield from {site.code(value.value)}", node.lineno, "yield", 0.4)
    elif isinstance(value, ast.YieldFrom):
        yield from site.edit(start, end, f"yield {site.code(value.value)}", node.lineno, "yield", 0.5)
    elif isinstance(value, (ast.Call, ast.Await, ast.Name, ast.Compare, ast.BinOp, ast.Attribute)):
        method = (
            value.func.attr if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) else ""
        )
        in_place = method in ("append", "sort", "add", "extend", "update", "insert")
        own = site.function is not None and isinstance(value, ast.Call) and site.function.name in text[:60]
        yield from site.edit(
            start,
            end,
            f"return {text}",
            node.lineno,
            "return added",
            0.8 if own else 0.15 if in_place else 0.45,
        )
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and not in_place:
            owner = site.code(value.func.value)
            yield from site.edit(start, end, f"{owner} = {text}", node.lineno, "assignment added", 0.4)
        yield from site.edit(start, end, f"yield {text}", node.lineno, "yield", 0.08)
        if own:
            yield from site.edit(start, end, f"yield from {text}", node.lineno, "yield", 0.3)
        for name in site.names[:5]:
            yield from site.edit(start, end, f"{name} = {text}", node.lineno, "assignment added", 0.14)
            yield from site.edit(start, end, f"{name} += {text}", node.lineno, "assignment added", 0.08)


def _whole(site: Site, node: ast.stmt) -> tuple[int, int, str]:
    """The lines of a statement, line end included (one is added at the end of the file)."""
    assert node.end_lineno is not None
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    start, end = site.source.line_start(first), site.source.line_end(node.end_lineno)
    text = site.source.text[start:end]
    return start, end, text if text.endswith(("\n", "\r")) else text + site.source.newline


def _shift(text: str, old: str, new: str) -> str:
    return re.sub(rf"(?m)^{re.escape(old)}", new, text) if old else re.sub(r"(?m)^(?=.)", new, text)


def _moved(site: Site, node: ast.stmt) -> Iterator[Edit]:
    parent, field, index = site.source.parents[node]
    if field not in ("body", "orelse", "finalbody"):
        return
    block: list[ast.stmt] = getattr(parent, field)
    start, end, whole = _whole(site, node)
    indent = site.source.indent(node.lineno)
    if index + 1 < len(block):
        after = block[index + 1]
        if site.source.starts_line(after) and not isinstance(after, (FunctionNode, ast.ClassDef)):
            late, last, text = _whole(site, after)
            between = site.source.text[end:late]
            weight = 0.5 if _depend(node, after) else 0.06
            yield from site.edit(start, last, text + between + whole, node.lineno, "moved", weight)
    if (
        index == len(block) - 1
        and len(block) > 1
        and isinstance(parent, BLOCKS)
        and node.end_lineno == parent.end_lineno
    ):
        out = site.source.indent(parent.lineno)
        loop = isinstance(parent, (ast.For, ast.While, ast.AsyncFor))
        weight = 0.6 if loop and isinstance(node, ast.Return) else 0.4
        yield from site.edit(start, end, _shift(whole, indent, out), node.lineno, "moved out", weight)
    if index > 0 and isinstance(block[index - 1], BLOCKS):
        before = block[index - 1]
        inner = (getattr(before, "orelse", None) or getattr(before, "body", []))[-1]
        deeper = site.source.indent(inner.lineno)
        between_lines = range((before.end_lineno or 0) + 1, node.lineno)
        if not any(site.source.line_text(n).strip() for n in between_lines):
            yield from site.edit(start, end, _shift(whole, indent, deeper), node.lineno, "moved in", 0.4)
    if len(block) - index > 2 and isinstance(node, (*SIMPLE, ast.Break, ast.Continue)):
        late, last, text = _whole(site, block[-1])
        if site.source.starts_line(block[-1]) and not isinstance(block[-1], (FunctionNode, ast.ClassDef)):
            between = site.source.text[end:late]
            jump = isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue))
            weight = 0.6 if jump else 0.15
            yield from site.edit(start, last, between + text + whole, node.lineno, "moved", weight)
    if index >= 2 and isinstance(node, SIMPLE):
        first = block[0]
        if site.source.starts_line(first) and not isinstance(node, ast.Return):
            at = site.source.line_start(first.lineno)
            between = site.source.text[at:start]
            yield from site.edit(at, end, whole + between, node.lineno, "moved", 0.2)


def _depend(first: ast.stmt, second: ast.stmt) -> bool:
    """May it matter which of two statements comes first? True when one sets what the other speaks of."""
    if isinstance(first, (ast.Return, ast.Raise)) or isinstance(second, (ast.Return, ast.Raise)):
        return True
    words: list[tuple[set[str], set[str]]] = []
    for statement in (first, second):
        nodes = list(ast.walk(statement))
        named = {n.id for n in nodes if isinstance(n, ast.Name)} | {
            n.attr for n in nodes if isinstance(n, ast.Attribute)
        }
        stored = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        stored |= {n.attr for n in nodes if isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load)}
        stored |= {
            part.id if isinstance(part, ast.Name) else part.attr
            for n in nodes
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
            for part in [n.func.value]
            if isinstance(part, (ast.Name, ast.Attribute))
            and not (isinstance(part, ast.Name) and part.id == "self")
        }
        words.append((stored - {"self"}, named - {"self"}))
    (stored1, named1), (stored2, named2) = words
    return bool(stored1 & named2 or stored2 & named1)


def _guarded(site: Site, node: ast.stmt) -> Iterator[Edit]:
    """A condition put before one simple statement, or a `continue` before it in a loop."""
    from regreen.repair.operators.conditions import predicates

    if not isinstance(node, SIMPLE) or site.function is None:
        return
    start, end, whole = _whole(site, node)
    indent = site.source.indent(node.lineno)
    used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    loop = site.in_loop(node)
    for condition, likely in predicates(site)[:30]:
        touches = any(re.search(rf"\b{re.escape(name)}\b", condition) for name in used)
        weight = 0.16 * likely * (1.0 if touches else 0.6)
        text = f"{indent}if {condition}:{site.source.newline}" + _shift(whole, indent, indent + "    ")
        yield from site.edit(start, end, text, node.lineno, "guarded", weight)
        if loop:
            lines = (f"if {condition}:", "    continue")
            yield from site.insert_before(node, lines, "skipped", 0.1 * likely)


def _inserted(site: Site, node: ast.stmt) -> Iterator[Edit]:
    if site.function is None:
        return
    parent, field, index = site.source.parents[node]
    block: list[ast.stmt] = getattr(parent, field) if isinstance(getattr(parent, field), list) else []
    last = bool(block) and index == len(block) - 1
    jump = isinstance(node, (ast.Return, ast.Break, ast.Continue, ast.Raise))
    loop = site.in_loop(node)
    place = site.insert_before if jump else site.insert_after
    scale = 1.0 if last else 0.5
    for text, weight in _copies(site, node):
        yield from place(node, (text,), "statement copied", weight * scale)
    if isinstance(node, SIMPLE) and not jump:
        for text in _twins(site, node):
            yield from site.insert_after(node, (text,), "twin added", 0.5)
    names = site.names[:6]
    numbers = _number_attributes(site)
    for name in numbers:
        for step in ("+= 1", "-= 1"):
            yield from place(node, (f"{name} {step}",), "statement added", (0.1 if loop else 0.16) * scale)
    for name in names:
        for step in ("+= 1", "-= 1"):
            yield from place(node, (f"{name} {step}",), "statement added", (0.14 if loop else 0.05) * scale)
        if last and not jump:
            top = parent is site.function
            weight = 0.5 if top and not _has_return(site.function) else 0.3 if top else 0.2
            yield from place(node, (f"return {name}",), "return added", weight)
        elif not last and not jump:
            yield from place(node, (f"return {name}",), "return added", 0.05)
    if last and not jump and parent is site.function:
        for text in ("True", "False", "None", "[]", "0", "-1", "''"):
            yield from place(node, (f"return {text}",), "return added", 0.25)
        if site.source.klass(node) is not None:
            yield from place(node, ("return self",), "return added", 0.25)
    if last and loop and not jump:
        for word in ("break", "continue"):
            yield from place(node, (word,), "jump", 0.15)
    if len(names) <= 6:
        for a in names:
            for b in names:
                if a != b:
                    yield from place(node, (f"{a} = {b}",), "statement added", 0.1 * scale)
    if isinstance(node, ast.If) and not node.orelse and loop:
        yield from site.insert_after(node, ("else:", "    break"), "jump", 0.1)


@once
def _number_attributes(site: Site) -> list[str]:
    """Attributes of the class around that start as a number."""
    klass = site.source.klass(site.function) if site.function is not None else None
    found: list[str] = []
    for node in ast.walk(klass) if klass is not None else ():
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Constant)
            and type(node.value.value) is int
        ):
            found += [site.code(t) for t in node.targets if isinstance(t, ast.Attribute)]
    return list(dict.fromkeys(found))[:5]


def _has_return(function: FunctionNode) -> bool:
    return any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(function))


def _copies(site: Site, node: ast.stmt) -> Iterator[tuple[str, float]]:
    """Simple statements of the function, as they are and with one name for another."""
    assert site.function is not None
    seen: set[str] = set()
    here = site.code(node)
    simple = [
        n
        for n in ast.walk(site.function)
        if isinstance(n, (ast.Assign, ast.AugAssign, ast.Expr))
        and not site.source.is_docstring(getattr(n, "value", n))
    ]
    for other in simple[:12]:
        text = site.code(other)
        if "\n" in text or text in seen or len(text) > 90:
            continue
        seen.add(text)
        if text != here:
            yield text, 0.2
        words = [n.id for n in ast.walk(other) if isinstance(n, ast.Name) and n.id in site.names]
        for word in dict.fromkeys(words):
            for fresh in site.names[:6]:
                changed = re.sub(rf"(?<![\w.]){re.escape(word)}\b", fresh, text)
                if fresh != word and changed not in seen:
                    seen.add(changed)
                    yield changed, 0.1


def _twins(site: Site, node: ast.stmt) -> Iterator[str]:
    """The statement with two names changed, when the function changes them so elsewhere: left/right, i/j."""
    assert site.function is not None
    text = site.code(node)
    words = list(
        dict.fromkeys(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in site.names)
    )
    if "\n" in text or not 2 <= len(words) <= 4:
        return
    there = {
        site.code(n) for n in ast.walk(site.function) if isinstance(n, ast.stmt) and not hasattr(n, "body")
    }
    there |= {site.code(n) for n in ast.walk(site.function) if isinstance(n, ast.expr)}
    for fresh, rename in _renamed_twice(text, words, site.names[:8]):
        if fresh in there:
            continue
        if any(len(other) > 4 and (twin := rename(other)) != other and twin in there for other in there):
            yield fresh


def _renamed_twice(
    text: str, words: list[str], names: list[str]
) -> Iterator[tuple[str, Callable[[str], str]]]:
    """The text with two of its names replaced by two others that it does not speak of, and how."""
    fresh = [name for name in names if name not in words]
    for i, a in enumerate(words):
        for b in words[i + 1 :]:
            for c in fresh:
                for d in fresh:
                    if c != d:
                        rename = _renamer(a, b, c, d)
                        yield rename(text), rename


def _renamer(a: str, b: str, c: str, d: str) -> Callable[[str], str]:
    pattern = re.compile(rf"(?<![\w.])(?:{re.escape(a)}|{re.escape(b)})\b")
    return lambda text: pattern.sub(lambda m: c if m.group() == a else d, text)


def _deleted(site: Site, node: ast.stmt) -> Iterator[Edit]:
    parent, field, index = site.source.parents[node]
    block: list[ast.stmt] = getattr(parent, field)
    start, end, _text = _whole(site, node)
    indent = site.source.indent(node.lineno)
    only = len(block) == 1
    simple = isinstance(node, (*SIMPLE, ast.Break, ast.Continue))
    weight = 0.1 if simple else 0.05
    new = f"{indent}pass{site.source.newline}" if only else ""
    if _set_again(block, index):
        weight = 0.2
    yield from site.edit(start, end, new, node.lineno, "deleted", weight)
    if simple and index + 1 < len(block) and len(block) > 2:
        yield from _two_deleted(site, block, index, start)
    if isinstance(node, ast.If) and not node.orelse and node.body and site.source.starts_line(node.body[0]):
        body = site.source.text[site.source.line_start(node.body[0].lineno) : end]
        deeper = site.source.indent(node.body[0].lineno)
        yield from site.edit(start, end, _shift(body, deeper, indent), node.lineno, "condition dropped", 0.1)


def _set_again(block: list[ast.stmt], index: int) -> bool:
    """True for a plain assignment to names that the statements before it in the block set already."""
    node = block[index]
    if not isinstance(node, ast.Assign) or not all(isinstance(t, ast.Name) for t in node.targets):
        return False
    before = {
        n.id
        for other in block[:index]
        if isinstance(other, ast.Assign)
        for target in other.targets
        for n in ast.walk(target)
        if isinstance(n, ast.Name)
    }
    return {t.id for t in node.targets if isinstance(t, ast.Name)} <= before


def _two_deleted(site: Site, block: list[ast.stmt], index: int, start: int) -> Iterator[Edit]:
    """Two lines one after the other taken out: they came in together."""
    after = block[index + 1]
    if isinstance(after, SIMPLE) and site.source.starts_line(after) and after is not block[-1]:
        both = _set_again(block, index) and _set_again(block, index + 1)
        _, end, _text = _whole(site, after)
        yield from site.edit(start, end, "", block[index].lineno, "deleted", 0.35 if both else 0.04)
