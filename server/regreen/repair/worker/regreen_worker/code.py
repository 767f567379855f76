"""Candidate texts to code objects: compile only what changed, and put it into the running modules."""

from __future__ import annotations

import ast
import gc
import importlib.machinery
import os
import re
import sys
import types
from types import CodeType
from typing import Any, Dict, Iterator, List, Tuple

_LINE = re.compile(r"\r\n|\r|\n")
_future = 0
for _name in ("annotations", "generator_stop", "division", "unicode_literals"):
    _future |= getattr(__import__("__future__"), _name).compiler_flag

Bound = Tuple[int, int, int]
"""Start and end of a region in characters, and the lines before it."""
Parts = List[List[Any]]
"""[start, end, new text], ... in characters of the file."""
Swaps = List[Tuple[Any, CodeType]]
"""Functions and the code each had."""

OVERRIDE: Dict[str, str] = {}
"""Texts that stand for files, by real path, in a process that imports the project anew."""


def patch_loader() -> None:
    """Let imports take the texts of OVERRIDE."""
    loader = importlib.machinery.SourceFileLoader
    usual = loader.get_code

    def get_code(self: Any, name: str) -> Any:
        path = os.path.realpath(self.path)
        if path in OVERRIDE:
            return compile(OVERRIDE[path], self.path, "exec", dont_inherit=True)
        return usual(self, name)

    setattr(loader, "get_code", get_code)  # noqa: B010


def walk(code: CodeType, path: tuple[Any, ...] = ()) -> Iterator[Tuple[Any, CodeType]]:
    """Yield (path, code) of a code object and of all inside it; a path names each by name and count."""
    yield path, code
    seen: Dict[str, int] = {}
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            seen[const.co_name] = seen.get(const.co_name, 0) + 1
            yield from walk(const, (*path, (const.co_name, seen[const.co_name])))


def _plain(const: Any) -> Any:
    """A constant as something hashable that tells 1, 1.0 and True apart."""
    if type(const) in (tuple, frozenset):
        items: List[Any] = [_plain(item) for item in const]
        return (
            type(const).__name__,
            tuple(sorted(items, key=repr)) if type(const) is frozenset else tuple(items),
        )
    return (type(const).__name__, repr(const))


def fingerprint(code: CodeType, deep: bool = True) -> tuple[Any, ...]:
    """What the code does, without line numbers. With `deep` off, code inside it counts by name only."""
    consts: List[Any] = []
    for const in code.co_consts:
        if not isinstance(const, types.CodeType):
            consts.append(_plain(const))
        else:
            consts.append(fingerprint(const) if deep else const.co_name)
    return (
        code.co_name,
        code.co_code,
        tuple(consts),
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_flags,
        code.co_argcount,
        getattr(code, "co_exceptiontable", b""),
    )


def frame_of(code: CodeType) -> list[Any]:
    """The parts that a swap cannot change: module and class bodies, with the defaults and decorators in them."""
    return [(path, fingerprint(c, deep=False)) for path, c in walk(code) if not c.co_flags & 2]


class BaseFile:
    """One project file as it stands, cut into regions: one for each statement at the top level."""

    def __init__(self, relative: str, text: str) -> None:
        self.path = os.path.realpath(relative)
        self.text = text
        self.module_path = self.path
        self.flags = 0
        self.bounds: List[Bound] = []
        self.old: Dict[Bound, CodeType] = {}
        try:
            self.flags = compile(text, self.path, "exec", dont_inherit=True).co_flags & _future
            self.bounds = self._regions(ast.parse(text))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self.bounds = []

    def _regions(self, tree: ast.Module) -> list[Bound]:
        starts = [0] + [m.end() for m in _LINE.finditer(self.text)]
        lines: List[Tuple[int, int]] = []
        for node in tree.body:
            marks = [d.lineno for d in getattr(node, "decorator_list", [])]
            first = min([node.lineno, *marks])
            if not lines or first > lines[-1][0]:
                lines.append((first, node.end_lineno or first))
        for (_, last), (first, _) in zip(lines, lines[1:]):
            if first <= last:
                return []
        cuts = [starts[first - 1] for first, _ in lines]
        if not cuts:
            return []
        cuts[0] = 0
        ends = [*cuts[1:], len(self.text)]
        numbers = [0] + [first - 1 for first, _ in lines[1:]]
        return list(zip(cuts, ends, numbers))

    def apply(self, parts: Parts) -> str:
        """The text with parts [(start, end, new), ...] put in."""
        text = self.text
        for start, end, new in sorted(parts, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def region(self, parts: Parts) -> Bound | None:
        """The region that holds all the parts, or None."""
        low = min(part[0] for part in parts)
        high = max(part[1] for part in parts)
        for bound in self.bounds:
            if bound[0] <= low and high <= bound[1] and low < bound[1]:
                return bound
        if self.bounds and low == len(self.text):
            return self.bounds[-1]
        return None

    def compile_region(self, bound: Bound, parts: Parts) -> CodeType:
        """Code of one region with the parts put in. Raises SyntaxError or ValueError."""
        start, end, lines = bound
        text = self.text[start:end]
        for low, high, new in sorted(parts, reverse=True):
            text = text[: low - start] + new + text[high - start :]
        return compile("\n" * lines + text, self.module_path, "exec", flags=self.flags, dont_inherit=True)

    def old_region(self, bound: Bound) -> CodeType:
        """Code of one region as it stands."""
        if bound not in self.old:
            self.old[bound] = self.compile_region(bound, [])
        return self.old[bound]


def _file_of(module: Any) -> str:
    path = getattr(module, "__file__", None)
    return path if isinstance(path, str) else ""


class Functions:
    """The functions of the project that exist now, by place of definition.

    `loaded` are the files that were imported by now: of any other, nothing is there that could be swapped.
    """

    def __init__(self, root: str) -> None:
        self.root = root + os.sep
        self.by_place: Dict[Tuple[str, int, str], List[Any]] = {}
        files = [_file_of(module) for module in list(sys.modules.values())]
        self.loaded: set[str] = {os.path.realpath(file) for file in files if file}
        real: Dict[str, str] = {}
        for thing in gc.get_objects():
            if type(thing) is types.FunctionType:
                code = thing.__code__
                name = code.co_filename
                if name not in real:
                    real[name] = os.path.realpath(name)
                if real[name].startswith(self.root):
                    self.by_place.setdefault((real[name], code.co_firstlineno, code.co_name), []).append(
                        thing
                    )
        self.loaded |= {path for path, _line, _name in self.by_place}

    def swap(self, path: str, old: CodeType, new: CodeType) -> Swaps | None:
        """Put the functions of `new` in the place of those of `old`.

        Returns what `swap_back` needs, or None (and everything as it was) when that cannot be done.
        """
        fresh = dict(walk(new))
        done: Swaps = []
        for place, code in walk(old):
            if not code.co_flags & 2 or place not in fresh:
                continue
            for function in self.by_place.get((path, code.co_firstlineno, code.co_name), ()):
                before = function.__code__
                try:
                    function.__code__ = fresh[place]
                except ValueError:
                    swap_back(done)
                    return None
                done.append((function, before))
        return done


def swap_back(done: Swaps) -> None:
    """Undo swaps, the last first."""
    for function, before in reversed(done):
        function.__code__ = before


def forget_modules(root: str) -> None:
    """Drop the project's modules, so that the next import makes them anew."""
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if name == "__main__" or not isinstance(path, str):
            continue
        real = os.path.realpath(path)
        if real.startswith(root + os.sep) and "site-packages" not in real:
            del sys.modules[name]
