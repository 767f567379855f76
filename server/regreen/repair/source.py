"""One Python source with its tree: exact text spans, scopes and edits that leave all other text alone."""

from __future__ import annotations

import ast
import re
import sys
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

_END = re.compile(r"\r\n|\r|\n")
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_EXACT_FSTRINGS = sys.version_info >= (3, 12)


@dataclass(frozen=True)
class Part:
    """Characters `start` to `end` of a text become `new`."""

    start: int
    end: int
    new: str

    def meets(self, other: Part) -> bool:
        """True when both cannot be put in: they change the same characters, or begin at the same place."""
        return self.start == other.start or (self.start < other.end and other.start < self.end)


@dataclass(frozen=True)
class Edit:
    """One candidate: parts of one file that change together.

    `weight` is the prior, about 1 for the likeliest kinds; `line` the 1-based line it is about; `kind` the
    operator's name; `scope` the function it lies in, for people.
    """

    path: str
    parts: tuple[Part, ...]
    line: int
    kind: str
    weight: float
    scope: str = ""

    def apply(self, text: str) -> str:
        """The text with the parts put in."""
        for part in sorted(self.parts, key=lambda p: (p.start, p.end), reverse=True):
            text = text[: part.start] + part.new + text[part.end :]
        return text

    @property
    def span(self) -> tuple[int, int]:
        """From the first changed character to behind the last."""
        return min(p.start for p in self.parts), max(p.end for p in self.parts)


class Source:
    """A parsed file. Raises SyntaxError or ValueError when the text does not parse."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.tree = ast.parse(text)
        self._starts = [0, *(m.end() for m in _END.finditer(text))]
        self._ascii = text.isascii()
        first_end = _END.search(text)
        self.newline = first_end.group() if first_end else "\n"
        self.parents: dict[ast.AST, tuple[ast.AST, str, int]] = {}
        for parent in ast.walk(self.tree):
            for name, value in ast.iter_fields(parent):
                children: list[object] = list(value) if isinstance(value, list) else [value]  # pyright: ignore[reportUnknownArgumentType]
                for index, child in enumerate(children):
                    if isinstance(child, ast.AST):
                        self.parents[child] = (parent, name, index)

    # text

    def offset(self, line: int, column: int) -> int:
        """A place as ast gives it (1-based line, column in UTF-8 bytes) as a character offset."""
        start = self._starts[line - 1]
        if self._ascii or not column:
            return start + column
        whole = self.text[start : self.line_end(line)]
        return start + len(whole.encode()[:column].decode("utf-8", "replace"))

    def line_start(self, line: int) -> int:
        """Offset of a line's first character; the text's end for the line behind the last."""
        return self._starts[line - 1] if line <= len(self._starts) else len(self.text)

    def line_end(self, line: int) -> int:
        """Offset behind a line, its end included."""
        return self._starts[line] if line < len(self._starts) else len(self.text)

    def line_of(self, offset: int) -> int:
        """The 1-based line that holds a character."""
        return bisect_right(self._starts, offset)

    def line_text(self, line: int) -> str:
        """A line without its end."""
        return self.text[self.line_start(line) : self.line_end(line)].rstrip("\r\n")

    def indent(self, line: int) -> str:
        """The white space a line begins with."""
        text = self.line_text(line)
        return text[: len(text) - len(text.lstrip(" \t"))]

    def span(self, node: ast.expr | ast.stmt | ast.keyword | ast.arg | ast.excepthandler) -> tuple[int, int]:
        """Where a node stands, decorators not included."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def code(self, node: ast.expr | ast.stmt | ast.keyword | ast.arg) -> str:
        """A node's own text."""
        start, end = self.span(node)
        return self.text[start:end]

    def starts_line(self, node: ast.stmt) -> bool:
        """True when nothing but white space stands before the statement on its line."""
        start = self.span(node)[0]
        return not self.text[self.line_start(node.lineno) : start].strip()

    # structure

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node around a node."""
        found = self.parents.get(node)
        return found[0] if found else None

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, from the inside out."""
        at = self.parent(node)
        while at is not None:
            yield at
            at = self.parent(at)

    def function(self, node: ast.AST) -> FunctionNode | None:
        """The function whose body, arguments or decorators hold the node."""
        return next((n for n in self.around(node) if isinstance(n, FunctionNode)), None)

    def klass(self, node: ast.AST) -> ast.ClassDef | None:
        """The nearest class around a node."""
        return next((n for n in self.around(node) if isinstance(n, ast.ClassDef)), None)

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The statement a node is part of (itself, when it is one)."""
        if isinstance(node, ast.stmt):
            return node
        return next((n for n in self.around(node) if isinstance(n, ast.stmt)), None)

    def scope_name(self, node: ast.AST) -> str:
        """Dotted name of the function or class around a node; "" at the top level."""
        names = [
            n.name
            for n in self.around(node)
            if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        ]
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.insert(0, node.name)
        return ".".join(reversed(names))

    def in_fstring(self, node: ast.AST) -> bool:
        """True inside a formatted string."""
        return any(isinstance(n, ast.JoinedStr) for n in self.around(node))

    def is_docstring(self, node: ast.AST) -> bool:
        """True for a string that stands alone as a statement."""
        return isinstance(node, ast.Constant) and isinstance(self.parent(node), ast.Expr)

    def editable(self, node: ast.expr) -> bool:
        """False for annotations, docstrings, and expressions whose place in the text is not known."""
        if self.is_docstring(node):
            return False
        inner: ast.AST = node
        for outer in self.around(node):
            field = self.parents[inner][1]
            if field in ("annotation", "returns", "type_comment"):
                return False
            if isinstance(outer, ast.JoinedStr) and (not _EXACT_FSTRINGS or isinstance(node, ast.Constant)):
                return False
            if isinstance(outer, ast.stmt):
                break
            inner = outer
        return True


# precedence: how tightly an expression binds, and how tightly its place needs it to

_BINARY: dict[type[ast.operator], int] = {
    ast.BitOr: 6,
    ast.BitXor: 7,
    ast.BitAnd: 8,
    ast.LShift: 9,
    ast.RShift: 9,
    ast.Add: 10,
    ast.Sub: 10,
    ast.Pow: 13,
}
ATOM = 16


def binding(node: ast.expr) -> int:
    """How tightly an expression binds: 0 for the loosest (a bare tuple), ATOM for names and calls."""
    if isinstance(node, ast.BinOp):
        return _BINARY.get(type(node.op), 11)
    if isinstance(node, ast.BoolOp):
        return 2 if isinstance(node.op, ast.Or) else 3
    if isinstance(node, ast.UnaryOp):
        return 4 if isinstance(node.op, ast.Not) else 12
    if isinstance(node, ast.Compare):
        return 5
    if isinstance(node, ast.IfExp):
        return 1
    if isinstance(node, ast.Await):
        return 14
    loose = (ast.Lambda, ast.NamedExpr, ast.Tuple, ast.Starred, ast.Yield, ast.YieldFrom)
    return 0 if isinstance(node, loose) else ATOM


def needed(parent: ast.AST | None, field: str) -> int:
    """The least binding an expression must have at a place to stand there without parentheses."""
    if isinstance(parent, ast.BinOp):
        own = binding(parent)
        tight = field == "left" if isinstance(parent.op, ast.Pow) else field == "right"
        return own + 1 if tight else own
    if isinstance(parent, ast.BoolOp):
        return binding(parent) + 1
    if isinstance(parent, ast.UnaryOp):
        return binding(parent)
    if isinstance(parent, ast.Compare):
        return 6
    if isinstance(parent, (ast.Attribute, ast.Await)) or field == "func":
        return 15
    if isinstance(parent, ast.Subscript):
        return 15 if field == "value" else 0
    if isinstance(parent, ast.IfExp):
        return 2 if field != "orelse" else 1
    if isinstance(parent, (ast.Return, ast.Assign, ast.AugAssign, ast.Expr)):
        return 0
    if isinstance(parent, ast.comprehension):
        return 2
    return 1
