"""Calls written as Python: `read_file(path="a.py")`, in a list, printed, assigned, after `call:`."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Any

from regreen.models.dialects import lenient
from regreen.models.dialects.names import Toolset
from regreen.models.dialects.python_text import tree_of
from regreen.models.dialects.reading import Asked, as_mapping

_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"""|\'\'\'(?:[^\\]|\\.)*?\'\'\'|"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[()\[\]{}]|["\']',
    re.DOTALL,
)
_BEFORE = re.compile(
    r"^[\s\-*>•$#\d.()\[\]`,;:|]*"
    r"(?:(?:action(?: input)?|tool(?:[ _]?(?:call|code|use))?|function(?: call)?|call(?:ing)?|command|next|step|final|"
    r"invoke|execute|use|run|answer|python|json)\b[\s:=\d.*`]*)*"
    r"[\s`\[(*:]*(?:print\(|await |(?:[A-Za-z_]\w*\s*=\s*)|(?:default_api|functions|tools|api|tool)\.)*$",
    re.IGNORECASE,
)
_AFTER = re.compile(r"[\s`;,.\])*|]*(?=$|<|\[/?[A-Z]|```|#|\w+(?:\.\w+)*\()")
_CONSTANTS = {"true": True, "false": False, "null": None, "none": None, "undefined": None}


@dataclass(frozen=True, slots=True)
class Written:
    """A call found as Python text; `asked` is None when it is no call or (`cut`) never ends."""

    asked: Asked | None
    end: int
    cut: bool = False


def read(text: str, line_start: int, name: str, name_start: int, paren: int, tools: Toolset) -> Written:
    """The call `name(` whose parenthesis is at `paren`, when it stands alone: not in the middle of a sentence."""
    before = text[line_start:name_start]
    if len(before) > 160 or not _BEFORE.match(before):
        return Written(None, paren + 1)
    end = _closing(text, paren)
    if end < 0:
        inside = text[paren + 1 :].lstrip()
        begun = re.match(r"[\w\"'{]+\s*[=:,\"'{]|[\"'{]", inside) is not None
        return Written(None, len(text) if begun else paren + 1, cut=begun)
    newline = text.find("\n", end)
    rest = text[end : newline if newline >= 0 else len(text)]
    if not _AFTER.match(rest):
        return Written(None, paren + 1)
    given = _arguments(
        text[paren + 1 : end - 1], list(tools.specs[tools.known(name)].parameters.get("properties", {}))
    )
    return (
        Written(None, paren + 1) if given is None else Written(Asked(name, given[0], guessed=given[1]), end)
    )


def marker_before(text: str, line: int, start: int) -> int:
    """The offset behind the last tag or marker between the start of a line and an offset in it; 0 without one."""
    found = list(re.finditer(r"<[^<>\n]{1,60}>|\[[A-Z_]{4,}\]", text[line:start]))
    return line + found[-1].end() if found else 0


def only_calls(code: str, tools: Toolset) -> list[Asked]:
    """The calls of a code block that holds nothing else; empty when it is code for a file."""
    if not any(name in code for name in tools.specs) and "(" not in code:
        return []
    tree = tree_of(code.strip())
    if tree is None:
        return []
    found: list[Asked] = []
    for statement in tree.body:
        value = getattr(statement, "value", None)
        if not isinstance(statement, (ast.Expr, ast.Assign)) or not isinstance(
            value, (ast.Call, ast.List, ast.Await)
        ):
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                continue
            return []
        calls = value.elts if isinstance(value, ast.List) else [value]
        for call in calls:
            asked = _from_node(call, tools)
            if asked is None:
                return []
            found.append(asked)
    return found


def _from_node(node: ast.expr, tools: Toolset) -> Asked | None:
    if isinstance(node, ast.Await):
        node = node.value
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Name) and node.func.id == "print" and len(node.args) == 1:
        return _from_node(node.args[0], tools)
    name = _dotted(node.func)
    tool = tools.known(name)
    if not tool:
        return None
    given = _values(node, list(tools.specs[tool].parameters.get("properties", {})))
    return None if given is None else Asked(name, given)


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _closing(text: str, paren: int) -> int:
    """The offset after the parenthesis that closes the one at `paren`; -1 when none does."""
    depth = 0
    for found in _TOKEN.finditer(text, paren):
        token = found.group()
        if token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
            if depth <= 0:
                return found.end()
    return -1


def _arguments(inside: str, names: list[str]) -> tuple[dict[str, Any], bool] | None:
    """The values between the parentheses, and whether the ends of their strings are a guess."""
    if not inside.strip():
        return {}, False
    tree = tree_of(f"f({inside}\n)")
    if tree is not None and len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
        node = tree.body[0].value
        given = _values(node, names) if isinstance(node, ast.Call) else None
        return None if given is None else (given, False)
    if not re.match(r"\s*(?:\{|\w+\s*[=:])", inside):
        return None
    try:  # raw newlines between plain quotes, and the like
        parsed = lenient.parse(inside.strip() if inside.lstrip()[:1] == "{" else "{" + inside + "}")
    except lenient.Broken:
        return None
    unclear = parsed.guessed and '"""' not in inside and "'''" not in inside
    return None if unclear else (as_mapping(parsed.value), parsed.guessed)


def _values(node: ast.Call, names: list[str]) -> dict[str, Any] | None:
    """The values of a call, all of them constants; positional ones in the order of the tool's arguments."""
    given: dict[str, Any] = {}
    try:
        for name, argument in zip(names, node.args, strict=False):
            value = _constant(argument)
            if isinstance(value, dict) and len(node.args) == 1:
                given.update(as_mapping(value))  # pyright: ignore[reportUnknownArgumentType]
            else:
                given[name] = value
        for keyword in node.keywords:
            value = _constant(keyword.value)
            if keyword.arg is not None:
                given[keyword.arg] = value
            elif isinstance(value, dict):
                given.update(as_mapping(value))  # pyright: ignore[reportUnknownArgumentType]
    except (ValueError, TypeError, RecursionError, MemoryError):
        return None
    return given


def _constant(node: ast.expr) -> Any:
    if isinstance(node, ast.Name) and node.id.lower() in _CONSTANTS:
        return _CONSTANTS[node.id.lower()]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _constant(node.left), _constant(node.right)
        if isinstance(left, str) and isinstance(right, str):
            return left + right
    return ast.literal_eval(node)
