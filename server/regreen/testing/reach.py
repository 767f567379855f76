"""Which test files can a change reach? By the import statements of the whole project, read without running anything."""

from __future__ import annotations

import os
import re
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]*(?:\(([^)]*)\)|([^#\n;]*))|import[ \t]+([\w., \t]+))",
    re.MULTILINE,
)
_LARGE = 2 << 20
_SKIPPED = frozenset((".git", "node_modules", "__pycache__"))


@dataclass(frozen=True, slots=True)
class _Imports:
    state: tuple[int, int, int]
    names: frozenset[tuple[int, str]]


class ImportGraph:
    """The imports between a tree's Python files. `refresh` reads only what changed since the last time."""

    def __init__(self) -> None:
        self._files: dict[str, _Imports] = {}
        self.complete = False

    def refresh(self, tree: Path, seconds: float = 20.0) -> None:
        """Read the tree. Stops after `seconds`; `complete` then is False and some files are not known."""
        end = time.monotonic() + seconds
        seen: dict[str, _Imports] = {}
        self.complete = True
        for path, state in _python_files(tree):
            known = self._files.get(path)
            if known is not None and known.state == state:
                seen[path] = known
            elif time.monotonic() > end:
                self.complete = False
            else:
                seen[path] = _Imports(state, _imports_of(tree / path))
        self._files = seen

    def tests_reaching(self, changed: Collection[str], also: Collection[str] = ()) -> list[str]:
        """Test files that import a changed file, directly or through others; the nearest first.

        A test file is one of pytest's default names, or one of `also` (files known to hold tests). What a
        conftest.py imports counts for every test below it.
        """
        importers = self._importers()
        depth: dict[str, int] = dict.fromkeys(changed, 0)
        todo = list(changed)
        for path in todo:
            for importer in sorted(importers[path]):
                if importer not in depth:
                    depth[importer] = depth[path] + 1
                    todo.append(importer)
        found: dict[str, int] = {}
        for path in self._files:
            if path in also or is_test_file(path):
                near = [depth[other] for other in (path, *_conftests(path)) if other in depth]
                if near:
                    found[path] = min(near)
        return sorted(found, key=lambda path: (found[path], path))

    def _importers(self) -> Mapping[str, set[str]]:
        modules = _modules(self._files)
        importers: defaultdict[str, set[str]] = defaultdict(set)
        for path, imports in self._files.items():
            for level, name in imports.names:
                for target in _targets(path, level, name, modules):
                    if target != path:
                        importers[target].add(path)
        return importers


def is_test_file(path: str) -> bool:
    """Whether pytest looks for tests in a file of this name by default."""
    name = path.rpartition("/")[2]
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def _python_files(tree: Path) -> Iterable[tuple[str, tuple[int, int, int]]]:
    stack = [("", str(tree))]
    while stack:
        prefix, folder = stack.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _SKIPPED:
                    stack.append((f"{prefix}{entry.name}/", entry.path))
            elif entry.name.endswith(".py") and entry.is_file(follow_symlinks=False):
                found = entry.stat(follow_symlinks=False)
                yield prefix + entry.name, (found.st_size, found.st_mtime_ns, found.st_ino)


def _imports_of(file: Path) -> frozenset[tuple[int, str]]:
    """Names a file imports, each with its number of leading dots: of modules, or of something inside one."""
    try:
        with open(file, "rb") as stream:
            data = stream.read(_LARGE)
    except OSError:
        return frozenset()
    names: set[tuple[int, str]] = set()
    for module, inside, line, plain in _IMPORT.findall(data):
        if plain:
            names.update(
                (0, part.split()[0]) for part in plain.decode("utf-8", "replace").split(",") if part.strip()
            )
            continue
        base = module.decode("utf-8", "replace")
        level = len(base) - len(base.lstrip("."))
        base = base.lstrip(".")
        names.add((level, base))
        text = re.sub(r"#[^\n]*", "", (inside or line).decode("utf-8", "replace"))
        for part in text.split(","):
            word = part.split()
            if word and word[0].isidentifier():
                names.add((level, f"{base}.{word[0]}" if base else word[0]))
    return frozenset(names)


def _modules(files: Collection[str]) -> Mapping[str, list[str]]:
    """Files by every dotted name they can be imported under.

    The folder above the top package may be any that is not itself a package: the root, `src`, a project of a
    monorepo, a folder of tests.
    """
    packages = {path.rpartition("/")[0] for path in files if path.endswith("__init__.py")}
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in files:
        parts = path.removesuffix(".py").split("/")
        if parts[-1] == "__init__":
            parts.pop()
        for start in range(len(parts)):
            if start and "/".join(parts[:start]) in packages:
                continue
            found[".".join(parts[start:])].append(path)
    return found


def _targets(path: str, level: int, name: str, modules: Mapping[str, list[str]]) -> Iterable[str]:
    if level:
        base = path.split("/")[:-1]
        base = base[: len(base) - level + 1]
        wanted = "/".join([*base, *filter(None, name.split("."))])
        places = {f"{wanted}.py", f"{wanted}/__init__.py"}
        dotted = ".".join(wanted.split("/"))
        return [found for found in modules.get(dotted, ()) if found in places]
    found: list[str] = []
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        # Importing a.b.c runs a and a.b as well.
        found += modules.get(".".join(parts[:end]), ())
    return found


def _conftests(path: str) -> list[str]:
    folders = path.split("/")[:-1]
    return ["/".join([*folders[:depth], "conftest.py"]) for depth in range(len(folders) + 1)]
