"""Candidates read out of the failure's own words: unknown names, attributes, arguments, imports."""

from __future__ import annotations

import ast
import builtins
import difflib
import keyword
import re
from collections.abc import Iterator, Sequence

from regreen.repair.operators import candidates
from regreen.repair.operators.names import kin
from regreen.repair.operators.site import Hints, Project, arguments, signatures
from regreen.repair.source import Edit, FunctionNode, Part, Source
from regreen.repair.syntax import syntax_edits
from regreen.repair.texts import Texts

MODULES = (
    "math", "re", "os", "sys", "json", "random", "itertools", "collections", "copy", "time", "datetime", "functools",
    "string", "heapq", "bisect", "operator", "pathlib", "statistics", "decimal", "fractions", "textwrap", "logging",
)  # fmt: skip
HOMES = {
    "math": "sqrt floor ceil gcd log pi inf isclose hypot prod", "collections": "defaultdict Counter deque OrderedDict namedtuple",
    "typing": "List Dict Optional Tuple Set Any Iterable Union Callable", "itertools": "chain product permutations combinations groupby accumulate islice count cycle zip_longest",
    "functools": "reduce lru_cache partial wraps cmp_to_key cache", "heapq": "heappush heappop heapify", "copy": "deepcopy copy",
    "datetime": "datetime timedelta date timezone", "pathlib": "Path", "bisect": "bisect_left bisect_right insort",
    "dataclasses": "dataclass field replace asdict", "decimal": "Decimal", "fractions": "Fraction", "statistics": "mean median stdev",
    "enum": "Enum IntEnum auto", "contextlib": "contextmanager suppress", "abc": "ABC abstractmethod",
}  # fmt: skip
FOREIGN = {
    "push": "append", "length": "__len__", "size": "__len__", "has_key": "__contains__", "contains": "__contains__",
    "trim": "strip", "toLowerCase": "lower", "toUpperCase": "upper", "indexOf": "index", "iteritems": "items",
    "charAt": "__getitem__", "put": "update", "add": "append", "append": "add", "substring": "__getitem__",
}  # fmt: skip
_NAME = re.compile(r"name '(\w+)' is not defined|(?:free|local) variable '(\w+)'")
_ATTRIBUTE = re.compile(r"(?:type object |module )?'([\w.]+)'(?: object)? has no attribute '(\w+)'")
_KEYWORD = re.compile(r"(\w+)\(\) got an unexpected keyword argument '(\w+)'")


def crash_edits(source: Source, hints: Hints) -> Iterator[Edit]:
    """Edits of one file that the failure's type and message speak for."""
    line = hints.crash[1] if hints.crash and hints.crash[0] == source.path else 0
    match = _NAME.search(hints.message)
    if match and hints.type in ("NameError", "UnboundLocalError", "CollectionError"):
        yield from _unknown_name(source, match.group(1) or match.group(2), line)
    match = _ATTRIBUTE.search(hints.message)
    if match:
        yield from _unknown_attribute(source, match.group(1), match.group(2), line)
    match = _KEYWORD.search(hints.message)
    if match:
        words = set(re.findall(r"[A-Za-z_]\w*", source.text))
        for other in difflib.get_close_matches(match.group(2), words - {match.group(2)}, 6, 0.3):
            yield from _everywhere(
                source, rf"(?<![\w.]){match.group(2)}(?=\s*=)", other, "keyword", 1.0, line
            )
    if line and hints.type == "TypeError" and ("bytes-like" in hints.message or "encoded" in hints.message):
        yield from _encoded(source, line)
    if line and hints.type in ("TypeError", "ZeroDivisionError", "IndexError", "KeyError", "AttributeError"):
        yield from _at_crash(source, hints, line)


def _everywhere(
    source: Source, pattern: str, new: str, kind: str, weight: float, line: int
) -> Iterator[Edit]:
    for match in re.finditer(pattern, source.text):
        at = source.line_of(match.start())
        near = weight if not line or at == line else weight * 0.75
        yield Edit(source.path, (Part(match.start(), match.end(), new),), at, kind, near)


def _unknown_name(source: Source, bad: str, line: int) -> Iterator[Edit]:
    words = set(re.findall(r"[A-Za-z_]\w*", source.text)) - set(keyword.kwlist) - {bad}
    pool = [*words, *(n for n in dir(builtins) if n not in words)]
    share = 1.0 if len(re.findall(rf"(?<![\w.]){bad}\b", source.text)) == 1 else 0.65
    for i, other in enumerate(difflib.get_close_matches(bad, pool, 8, 0.3)):
        yield from _everywhere(source, rf"(?<![\w.]){bad}\b", other, "name", (1.3 - 0.06 * i) * share, line)
    at = _import_place(source)
    number = source.line_of(at)
    if bad in MODULES:
        yield Edit(source.path, (Part(at, at, f"import {bad}{source.newline}"),), number, "import", 1.6)
    for module, names in HOMES.items():
        if bad in names.split():
            text = f"from {module} import {bad}{source.newline}"
            yield Edit(source.path, (Part(at, at, text),), number, "import", 1.5)
    if line:
        start = source.line_start(line)
        function = _around(source, line)
        on_self = function is None or any(argument.arg == "self" for argument in function.args.args)
        for match in re.finditer(rf"(?<![\w.]){bad}\b", source.line_text(line) if on_self else ""):
            place = start + match.start()
            yield Edit(source.path, (Part(place, place, "self."),), line, "self added", 1.0)
        yield from _never_set(source, bad, line)
        yield from _named_otherwise(source, bad, line)


def _never_set(source: Source, bad: str, line: int) -> Iterator[Edit]:
    """A first value for a name that has none: at the start of the function, or right where it is missed."""
    function = _around(source, line)
    used = source.text if function is None else source.code(function)
    likely = ""
    for pattern, value in (
        (rf"\b{bad}\.(append|extend|insert|sort)\b", "[]"), (rf"\b{bad}\.add\b", "set()"), (rf"\b{bad}\[[^\]]*\]\s*[-+*]?=(?!=)", "{}"),
        (rf"\b{bad}\s*[-+]=", "0"), (rf"\b{bad}\s*\*=", "1"),
    ):  # fmt: skip
        if not likely and re.search(pattern, used):
            likely = value
    for value in dict.fromkeys((likely or "0", "0", "[]", "{}", "''", "None", "1", "set()", "False")):
        weight = 0.9 if value == likely else 0.5
        start = source.line_start(line)
        text = f"{source.indent(line)}{bad} = {value}{source.newline}"
        yield Edit(source.path, (Part(start, start, text),), line, "name", 0.6 * weight if likely else weight)
        body = _body(source, function)
        if body is not None and body.lineno < line:
            start = source.line_start(body.lineno)
            text = f"{source.indent(body.lineno)}{bad} = {value}{source.newline}"
            yield Edit(source.path, (Part(start, start, text),), line, "name", weight)


def _named_otherwise(source: Source, bad: str, line: int) -> Iterator[Edit]:
    """A name used several times that nothing binds: all of them mean a parameter or variable that nothing reads."""
    function = _around(source, line)
    if function is None:
        return
    start, end = source.span(function)
    uses = [m for m in re.finditer(rf"(?<![\w.]){bad}\b", source.text) if start <= m.start() < end]
    nodes = [n for n in ast.walk(function) if isinstance(n, ast.Name)]
    read = {n.id for n in nodes if isinstance(n.ctx, ast.Load)}
    bound = [n.id for n in nodes if isinstance(n.ctx, ast.Store)]
    known = list(dict.fromkeys([*arguments(function), *bound]))
    for other in [name for name in known if name != bad][:8]:
        weight = 1.35 if other not in read else 0.5 if len(uses) > 1 else 0.0
        if weight:
            parts = tuple(Part(use.start(), use.end(), other) for use in uses)
            yield Edit(source.path, parts, line, "name", weight, source.scope_name(function))


def _around(source: Source, line: int) -> FunctionNode | None:
    """The innermost function that holds a line."""
    inside = [
        n
        for n in ast.walk(source.tree)
        if isinstance(n, FunctionNode) and n.lineno <= line <= (n.end_lineno or 0)
    ]
    return inside[-1] if inside else None


def _body(source: Source, function: FunctionNode | None) -> ast.stmt | None:
    """The first statement of a function that is not its docstring."""
    body = [n for n in function.body if not source.is_docstring(getattr(n, "value", n))] if function else []
    return body[0] if body and source.starts_line(body[0]) else None


def _import_place(source: Source) -> int:
    """Before the first statement that is neither the docstring nor a `from __future__`."""
    for node in source.tree.body:
        if source.is_docstring(getattr(node, "value", node)):
            continue
        if getattr(node, "module", "") == "__future__":
            continue
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        return source.line_start(first)
    return len(source.text)


def _unknown_attribute(source: Source, owner: str, bad: str, line: int) -> Iterator[Edit]:
    kind = getattr(builtins, owner.split(".")[-1], None)
    words = set(re.findall(r"[A-Za-z_]\w*", source.text)) - set(keyword.kwlist)
    pool = [*(dir(kind) if kind is not None else ()), *words]
    near = difflib.get_close_matches(bad, [w for w in pool if w != bad], 8, 0.4)
    near = [*kin(bad), *([FOREIGN[bad]] if bad in FOREIGN else []), *near]
    for i, other in enumerate(dict.fromkeys(near)):
        yield from _everywhere(source, rf"(?<=\.){bad}\b", other, "attribute", 1.2 - 0.05 * i, line)
    if bad in ("size", "length", "count", "len") and line:
        start = source.line_start(line)
        for match in re.finditer(rf"([\w.\[\]]+)\.{bad}(\(\))?", source.line_text(line)):
            part = Part(start + match.start(), start + match.end(), f"len({match.group(1)})")
            yield Edit(source.path, (part,), line, "function", 1.2)


def _encoded(source: Source, line: int) -> Iterator[Edit]:
    """`f(text)` as `f(text.encode())`, where bytes are asked for."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and node.lineno == line:
            for value in node.args:
                if isinstance(value, (ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.JoinedStr)):
                    end = source.span(value)[1]
                    yield Edit(source.path, (Part(end, end, ".encode()"),), line, "method added", 0.9)


def _at_crash(source: Source, hints: Hints, line: int) -> Iterator[Edit]:
    """Guards around a line that crashed: skip it, or leave the function."""
    indent, start = source.indent(line), source.line_start(line)
    text = source.line_text(line)
    if not text.strip() or text.strip().startswith(("elif", "else", "except", "finally", ")", "]", "}")):
        return
    names = [
        n for n in dict.fromkeys(re.findall(r"(?<![\w.'\"])[A-Za-z_]\w*", text)) if not keyword.iskeyword(n)
    ]
    if hints.type == "ZeroDivisionError":
        for match in re.finditer(r"[/%]\s*([\w.]+(?:\([^()]*\))?)", text):
            empty = re.sub(r"^len\((.*)\)$", r"\1", match.group(1))
            for value in ("0", "0.0", "None"):
                guard = f"{indent}if not {empty}:{source.newline}{indent}    return {value}{source.newline}"
                yield Edit(
                    source.path, (Part(start, start, guard),), line, "guard", 0.8 if value == "0" else 0.6
                )
    if "NoneType" in hints.message:
        known = _returned_at(source, line)
        rest = [value for value in ("None", "0", "[]", "False", "''") if value not in known]
        values = [*((value, 0.35) for value in known), *((value, 0.15 if known else 0.35) for value in rest)]
        for name in names[:4]:
            for value, weight in values:
                guard = (
                    f"{indent}if {name} is None:{source.newline}{indent}    return {value}{source.newline}"
                )
                yield Edit(source.path, (Part(start, start, guard),), line, "guard", weight)


def _returned_at(source: Source, line: int) -> list[str]:
    """Plain values that the function around a line returns, those for "no" first."""
    function = _around(source, line)
    if function is None:
        return []
    values = [n.value for n in ast.walk(function) if isinstance(n, ast.Return)]
    plain = [
        v for v in values if isinstance(v, (ast.Constant, ast.List, ast.Dict)) and len(source.code(v)) < 8
    ]
    empty = [v for v in plain if not isinstance(v, ast.Constant) or not v.value]
    return list(dict.fromkeys(source.code(v) for v in [*empty, *plain]))[:3]


def import_edits(message: str, paths: Sequence[str], texts: Texts) -> list[Edit]:
    """Candidates for what keeps the tests from being imported: syntax errors, else what the traceback names."""
    found: list[Edit] = []
    for path in paths:
        text = texts.text(path)
        if text is not None and texts.source(path) is None and path in message.replace("\\", "/"):
            found += syntax_edits(path, text)
    if not found:
        last = message.strip().split("\n")[-1]
        kind = re.search(r"\b(\w+(?:Error|Exception))\b", last)
        for path in paths:
            source = texts.source(path)
            lines = re.findall(rf"{re.escape(path)}\"?(?:, line |:)(\d+)", message.replace("\\", "/"))
            if source is None or not lines:
                continue
            hints = Hints(kind.group(1) if kind else "", message, crash=(path, int(lines[-1])))
            found += list(crash_edits(source, hints))
            found += _import_names(source, message, texts)
            found += _near_line(source, int(lines[-1]), hints)
        found += _missing_name(message, paths, texts)
    return sorted(found, key=lambda e: -e.weight)[:400]


def _near_line(source: Source, line: int, hints: Hints) -> list[Edit]:
    """Candidates about one line that runs while the module is imported."""
    return candidates(source, Project(signatures(source), hints=hints), (line,))[:120]


def _import_names(source: Source, message: str, texts: Texts) -> list[Edit]:
    """`cannot import name 'x' from 'm'`: a near name of that module."""
    match = re.search(r"cannot import name '(\w+)' from '([\w.]+)'", message)
    if match is None:
        return []
    home = match.group(2).replace(".", "/")
    text = texts.text(home + ".py") or texts.text(home + "/__init__.py") or ""
    words = re.findall(r"(?m)^(?:def|class)\s+(\w+)|^(\w+)\s*=", text)
    pool = [a or b for a, b in words]
    near = difflib.get_close_matches(match.group(1), pool, 5, 0.3)
    return [
        e
        for i, n in enumerate(near)
        for e in _everywhere(source, rf"\b{match.group(1)}\b", n, "import", 1.2 - 0.05 * i, 0)
    ]


def _missing_name(message: str, paths: Sequence[str], texts: Texts) -> list[Edit]:
    """The test imports a name that a project module spells differently: rename the definition."""
    match = re.search(r"cannot import name '(\w+)' from '([\w.]+)'", message)
    if match is None:
        return []
    home = match.group(2).replace(".", "/")
    found: list[Edit] = []
    for path in paths:
        source = texts.source(path)
        if source is None or not path.endswith((home + ".py", home + "/__init__.py")):
            continue
        for define in re.finditer(r"(?m)^(?:def|class|async def)\s+(\w+)|^(\w+)(?=\s*=)", source.text):
            name = define.group(1) or define.group(2)
            ratio = difflib.SequenceMatcher(None, name, match.group(1)).ratio()
            if ratio > 0.6:
                found += list(_everywhere(source, rf"(?<![\w.]){name}\b", match.group(1), "import", ratio, 0))
    return found
