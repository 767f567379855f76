"""What a source file defines and mentions: enough to find the code a test is about. Pure."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from regreen.workspace.changes import split_lines

Read = Callable[[str], str | None]
"""Reads a file by its relative path; None, or an error, when there is none to be had."""

ROOTS = ("", "src", "lib")
"""Folders of a project below which its packages lie, by custom."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class CodeUnit:
    """A piece of source: lines `first` to `last` (1-based) of `path`. `qualname` is "" for a whole file."""

    path: str
    qualname: str
    first: int
    last: int
    source: str

    @property
    def title(self) -> str:
        """As it is called in front of the source."""
        lines = f"lines {self.first}-{self.last}" if self.first != self.last else f"line {self.first}"
        return f"{self.path}, {self.qualname} ({lines})" if self.qualname else f"{self.path} (the whole file)"


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, method, class or module-level name of one file. `mentions` are the names its body uses."""

    qualname: str
    first: int
    last: int
    kind: str
    mentions: frozenset[str]

    @property
    def name(self) -> str:
        """The last part of the qualified name."""
        return self.qualname.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file: its lines (with their ends), definitions in order, and the files it may import from."""

    path: str
    lines: tuple[str, ...]
    definitions: tuple[Definition, ...]
    imports: tuple[str, ...]
    broken_at: int | None = None

    def unit(self, first: int, last: int, qualname: str = "") -> CodeUnit:
        """Some lines of this file as a piece of source."""
        return CodeUnit(
            self.path, qualname, first, last, "".join(self.lines[first - 1 : last]).rstrip("\r\n")
        )

    def whole(self) -> CodeUnit:
        """The whole file as a piece of source."""
        return self.unit(1, len(self.lines))

    def around(self, line: int) -> Definition | None:
        """The innermost function (or class) that holds a line."""
        holding = [d for d in self.definitions if d.first <= line <= d.last and d.kind != "name"]
        return max(holding, key=lambda definition: definition.first, default=None)


class CodeIndex:
    """Source files by path, read and understood once."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._files: dict[str, SourceFile | None] = {}

    def file(self, path: str) -> SourceFile | None:
        """The file, None when it cannot be read. One that does not parse has no definitions."""
        if path not in self._files:
            self._files[path] = self._load(path)
        return self._files[path]

    def imported_files(self, path: str) -> list[SourceFile]:
        """The files of the project that a file imports, in the order in which it does."""
        file = self.file(path)
        found: dict[str, SourceFile] = {}
        for candidate in file.imports if file else ():
            other = self.file(candidate)
            if other is not None and other.path != path:
                found[candidate] = other
        return list(found.values())

    def _load(self, path: str) -> SourceFile | None:
        try:
            text = self._read(path)
        except Exception:
            # Refused by the workspace's rules, not decodable, gone: not to be shown, all the same.
            return None
        if text is None:
            return None
        lines = tuple(split_lines(text))
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError) as error:
            return SourceFile(path, lines, (), (), getattr(error, "lineno", None) or 1)
        return SourceFile(path, lines, tuple(_definitions(tree.body, "")), tuple(_import_places(tree, path)))


def names_used(node: ast.AST) -> set[str]:
    """Names, attributes, and arguments (which may be fixtures) that a piece of a tree uses."""
    found: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.Attribute):
            found.add(part.attr)
        elif isinstance(part, ast.arg):
            found.add(part.arg)
    return found


def mentions(node: ast.AST) -> frozenset[str]:
    """What a piece of a tree uses, also by its name in a string (as in `usefixtures`)."""
    texts = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
    return frozenset(
        names_used(node) | {text for text in texts if isinstance(text, str) and text.isidentifier()}
    )


def part_named(tree: ast.Module, names: Sequence[str]) -> ast.AST:
    """The test or class of a qualified name, wherever it is defined; the whole tree when there is none."""
    found: ast.AST = tree
    for name in names:
        for node in ast.walk(found):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == name:
                found = node
                break
        else:
            return tree
    return found


def _definitions(body: list[ast.stmt], prefix: str) -> Iterator[Definition]:
    for node in body:
        if isinstance(node, _DEFINITIONS):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            kind = "class" if isinstance(node, ast.ClassDef) else "function"
            name = prefix + node.name
            yield Definition(name, first, node.end_lineno or node.lineno, kind, mentions(node))
            if isinstance(node, ast.ClassDef):
                yield from _definitions(node.body, name + ".")
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    last = node.end_lineno or node.lineno
                    yield Definition(prefix + target.id, node.lineno, last, "name", mentions(node))
        elif isinstance(node, ast.If | ast.Try | ast.With):
            for block in (node.body, getattr(node, "orelse", []), getattr(node, "finalbody", [])):
                yield from _definitions(block, prefix)


def _import_places(tree: ast.AST, path: str) -> Iterator[str]:
    """Every place where an imported module may lie, likeliest first."""
    folders = path.split("/")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
            if node.level:
                base = folders[: len(folders) - node.level + 1]
                stem = "/".join([*base, *(node.module or "").split(".")]).strip("/")
                yield from _places(stem, names)
            else:
                for root in _roots(folders):
                    yield from _places("/".join(filter(None, [root, *(node.module or "").split(".")])), names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                for root in _roots(folders):
                    yield from _places("/".join(filter(None, [root, *alias.name.split(".")])), [])


def _roots(folders: list[str]) -> list[str]:
    above = ["/".join(folders[:depth]) for depth in range(len(folders), 0, -1)]
    nested = [f"{folder}/src" for folder in above]
    return list(dict.fromkeys([*ROOTS, *above, *nested]))


def _places(stem: str, names: list[str]) -> Iterator[str]:
    yield f"{stem}.py"
    for name in names:
        if name != "*":
            yield f"{stem}/{name}.py" if stem else f"{name}.py"
    yield f"{stem}/__init__.py"
