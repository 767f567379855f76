"""Where an operator works: one file, one function, the names and facts it may use."""

from __future__ import annotations

import ast
import difflib
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast

from regreen.repair.source import ATOM, Edit, FunctionNode, Part, Source, binding, needed

SHORT = 60
"""Characters of an expression that may be copied elsewhere."""


@dataclass(frozen=True)
class Signature:
    """A function of the project: its parameters in order, those with defaults, and where it is."""

    name: str
    parameters: tuple[str, ...]
    optional: frozenset[str]
    method: bool
    predicate: bool


@dataclass(frozen=True)
class Hints:
    """What the failure shows: type and message, compared texts, the line of the deepest project frame."""

    type: str = ""
    message: str = ""
    left: str = ""
    right: str = ""
    texts: tuple[str, str] | None = None
    crash: tuple[str, int] | None = None
    raised: bool = False


@dataclass(frozen=True)
class Project:
    """Names known across the project's executed files: functions, and what instances of its classes hold.

    `uncalled` are functions that those files define and never speak of: likelier than others to be what is missing.
    """

    signatures: Mapping[str, Signature] = field(default_factory=lambda: dict[str, Signature]())
    fields: tuple[str, ...] = ()
    hints: Hints = Hints()
    uncalled: frozenset[str] = frozenset()


T = TypeVar("T")


def once(ask: Callable[[Site], T]) -> Callable[[Site], T]:
    """Let a question about a site be answered once; operators ask it at every node."""

    @functools.wraps(ask)
    def answered(site: Site) -> T:
        if ask not in site.answers:
            site.answers[ask] = ask(site)
        return cast("T", site.answers[ask])

    return answered


class Site:
    """One function (or the module level) of one source, with what is in scope there."""

    def __init__(self, source: Source, project: Project, function: FunctionNode | None) -> None:
        self.source = source
        self.project = project
        self.function = function
        self.answers: dict[object, object] = {}
        self.names = self._names()
        self.unused = self._unused()
        self.module_names = self._module_names()
        self.attributes = self._attributes()
        self.scope = source.scope_name(function) if function is not None else ""

    # emitting

    def edit(self, start: int, end: int, new: str, line: int, kind: str, weight: float) -> Iterator[Edit]:
        """One edit of a text span, unless it changes nothing."""
        if self.source.text[start:end] != new:
            yield Edit(self.source.path, (Part(start, end, new),), line, kind, weight, self.scope)

    def replace(self, node: ast.expr, new: str, kind: str, weight: float) -> Iterator[Edit]:
        """An expression becomes `new`, in parentheses where its place asks for them."""
        if weight <= 0 or not self.source.editable(node) or self.source.code(node) == new:
            return
        try:
            fresh = ast.parse(new, mode="eval").body
        except (SyntaxError, ValueError):
            return
        found = self.source.parents.get(node)
        parent, name = (found[0], found[1]) if found else (None, "")
        start, end = self.source.span(node)
        tight = ATOM if new.startswith("(") and isinstance(fresh, ast.Tuple) else binding(fresh)
        if tight < needed(parent, name) and not self._in_parentheses(start, end, parent):
            new = f"({new})"
        elif isinstance(node, ast.GeneratorExp) and self._only_argument(node, parent):
            new = f"({new})" if self.source.text[start] == "(" else new
        yield from self.edit(start, end, new, node.lineno, kind, weight)

    def _in_parentheses(self, start: int, end: int, parent: ast.AST | None) -> bool:
        text = self.source.text
        inside = text[:start].rstrip()[-1:] == "(" and text[end:].lstrip()[:1] == ")"
        return inside and isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare))

    @staticmethod
    def _only_argument(node: ast.expr, parent: ast.AST | None) -> bool:
        return isinstance(parent, ast.Call) and parent.args == [node] and not parent.keywords

    def insert_before(self, node: ast.stmt, lines: Iterable[str], kind: str, weight: float) -> Iterator[Edit]:
        """New lines before a statement, at its indent."""
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        at = self.source.line_start(first)
        indent = self.source.indent(node.lineno)
        text = "".join(indent + line + self.source.newline for line in lines)
        yield from self.edit(at, at, text, node.lineno, kind, weight)

    def insert_after(self, node: ast.stmt, lines: Iterable[str], kind: str, weight: float) -> Iterator[Edit]:
        """New lines behind a statement, at its indent."""
        assert node.end_lineno is not None
        at = self.source.line_end(node.end_lineno)
        indent = self.source.indent(node.lineno)
        body = [indent + line for line in lines]
        if at == len(self.source.text) and not self.source.text.endswith(("\n", "\r")):
            text = "".join(self.source.newline + line for line in body)
        else:
            text = "".join(line + self.source.newline for line in body)
        yield from self.edit(at, at, text, node.end_lineno, kind, weight)

    # facts

    def code(self, node: ast.expr | ast.stmt | ast.keyword | ast.arg) -> str:
        """A node's own text."""
        return self.source.code(node)

    def tight(self, node: ast.expr, level: int) -> str:
        """A node's text, in parentheses when it binds looser than `level`."""
        text = self.code(node)
        if isinstance(node, ast.Tuple) and text.startswith("("):
            return text
        return text if binding(node) >= level else f"({text})"

    def near(self, word: str, pool: Iterable[str], most: int = 10) -> list[tuple[str, float]]:
        """The likeliest of `pool` to be meant instead of `word`, with a likeness from 0 to 1."""
        rated = [(_likeness(word, other), other) for other in dict.fromkeys(pool) if other != word]
        rated.sort(key=lambda pair: -pair[0])
        return [(other, rate) for rate, other in rated[:most]]

    def _names(self) -> list[str]:
        names: list[str] = []
        scope: ast.AST | None = self.function
        while scope is not None:
            if isinstance(scope, FunctionNode):
                names += [a.arg for a in _arguments(scope)]
                names += [
                    n.id for n in ast.walk(scope) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
                ]
                names += [n.name for n in ast.walk(scope) if isinstance(n, FunctionNode) and n is not scope]
            scope = self.source.parent(scope)
        return [name for name in dict.fromkeys(names) if name not in ("self", "cls", "_")]

    def _unused(self) -> set[str]:
        if self.function is None:
            return set()
        read = {
            n.id for n in ast.walk(self.function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
        }
        return {name for name in self.names if name not in read}

    def _module_names(self) -> list[str]:
        names: list[str] = []
        for node in self.source.tree.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                names.append(node.name)
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names += [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                names += [(a.asname or a.name).split(".")[0] for a in node.names if a.name != "annotations"]
        return list(dict.fromkeys(names))

    def _attributes(self) -> list[str]:
        """Attributes used in the file, those of the own class first."""
        nodes: list[ast.AST] = list(ast.walk(self.source.tree))
        klass = self.source.klass(self.function) if self.function is not None else None
        if klass is not None:
            nodes = list(ast.walk(klass)) + nodes
        used = [n.attr for n in nodes if isinstance(n, ast.Attribute)]
        return list(dict.fromkeys([*used, *fields(self.source), *self.project.fields]))

    @once
    def own_attributes(self) -> list[str]:
        """What `self.` gives in the class around: attributes that are set, properties and methods."""
        klass = self.source.klass(self.function) if self.function is not None else None
        if klass is None:
            return []
        found: list[str] = []
        for node in ast.walk(klass):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "self"
            ):
                found.append(node.attr)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found.append(node.target.id)
        found += [n.name for n in klass.body if isinstance(n, FunctionNode) and not n.name.startswith("__")]
        return list(dict.fromkeys(found))

    def in_loop(self, node: ast.AST) -> bool:
        """True inside a loop of the same function."""
        for outer in self.source.around(node):
            if isinstance(outer, (ast.For, ast.While, ast.AsyncFor)):
                return True
            if isinstance(outer, (FunctionNode, ast.ClassDef)):
                return False
        return False


def arguments(function: FunctionNode) -> list[str]:
    """Names of a function's positional and keyword parameters, without self and cls."""
    a = function.args
    return [x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs) if x.arg not in ("self", "cls")]


def _arguments(function: FunctionNode) -> list[ast.arg]:
    a = function.args
    rest = [x for x in (a.vararg, a.kwarg) if x is not None]
    return [*a.posonlyargs, *a.args, *a.kwonlyargs, *rest]


@functools.lru_cache(maxsize=1 << 16)
def _likeness(word: str, other: str) -> float:
    ratio = difflib.SequenceMatcher(None, word, other).ratio()
    if set(word.split("_")) & set(other.split("_")):
        ratio = max(ratio, 0.6)
    return ratio


def signatures(source: Source) -> dict[str, Signature]:
    """The functions a source defines, by name; a class counts by its constructor."""
    found: dict[str, Signature] = {}
    for node in ast.walk(source.tree):
        if not isinstance(node, FunctionNode):
            continue
        klass = source.parent(node)
        method = isinstance(klass, ast.ClassDef)
        name = klass.name if isinstance(klass, ast.ClassDef) and node.name == "__init__" else node.name
        a = node.args
        plain = [x.arg for x in (*a.posonlyargs, *a.args)]
        optional = set(plain[len(plain) - len(a.defaults) :] if a.defaults else ())
        optional |= {x.arg for x, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d is not None}
        names = tuple(x for x in (*plain, *(k.arg for k in a.kwonlyargs)) if x not in ("self", "cls"))
        found.setdefault(name, Signature(name, names, frozenset(optional), method, _is_predicate(node)))
    return found


def fields(source: Source) -> list[str]:
    """What instances of the classes in a file hold: declared fields, attributes set on self, properties."""
    found: list[str] = []
    for klass in ast.walk(source.tree):
        if not isinstance(klass, ast.ClassDef):
            continue
        for node in ast.walk(klass):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found.append(node.target.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.append(node.attr)
            elif isinstance(node, FunctionNode) and any(
                isinstance(d, ast.Name) and d.id.endswith("property") for d in node.decorator_list
            ):
                found.append(node.name)
    return list(dict.fromkeys(found))


def uncalled(sources: Iterable[Source]) -> frozenset[str]:
    """Functions that the sources define and that none of them names."""
    defined: set[str] = set()
    named: set[str] = set()
    for source in sources:
        for node in ast.walk(source.tree):
            if isinstance(node, FunctionNode) and not node.name.startswith("__"):
                defined.add(node.name)
            elif isinstance(node, ast.Name):
                named.add(node.id)
            elif isinstance(node, ast.Attribute):
                named.add(node.attr)
    return frozenset(defined - named)


def _is_predicate(node: FunctionNode) -> bool:
    if node.name.startswith(("is_", "has_", "can_", "should_", "are_", "was_")):
        return True
    if isinstance(node.returns, ast.Name) and node.returns.id == "bool":
        return True
    returns = [n.value for n in ast.walk(node) if isinstance(n, ast.Return) and n.value is not None]
    return bool(returns) and all(
        isinstance(v, (ast.Compare, ast.BoolOp))
        or (isinstance(v, ast.UnaryOp) and isinstance(v.op, ast.Not))
        or (isinstance(v, ast.Constant) and isinstance(v.value, bool))
        for v in returns
    )
