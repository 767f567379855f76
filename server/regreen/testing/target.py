"""The test a person picked: how it is written on a command line and as a node id."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from regreen.errors import UsageError
from regreen.testing import locate


@dataclass(frozen=True, slots=True)
class Target:
    """A test, a test class or a whole file (no names), relative to the workspace with forward slashes.

    `param` is a parametrize id without its brackets, which may be empty; None for all of a test's cases.
    """

    path: str
    names: tuple[str, ...] = ()
    param: str | None = None

    @property
    def nodeid(self) -> str:
        """As pytest writes it: "tests/test_x.py::TestA::test_b[id]"."""
        return _joined(self.path, self.names, self.param)

    def covers(self, nodeid: str) -> bool:
        """Whether a collected node id is this target or a part of it."""
        mine = self.nodeid
        if nodeid == mine or (self.param and escaped(nodeid) == escaped(mine)):
            return True
        if self.param is not None:
            return False
        return nodeid.startswith((mine + "::", mine + "[")) or (
            not self.names and nodeid.startswith(mine + "/")
        )

    @classmethod
    def from_nodeid(cls, nodeid: str) -> Target:
        """The target that has this node id."""
        path, names, param = split_nodeid(nodeid)
        return cls(path, names, param)


@dataclass(frozen=True, slots=True)
class ParsedTarget:
    """A target as typed, before the workspace is known. `file` is absolute and exists (a folder is possible)."""

    file: Path
    names: tuple[str, ...] = ()
    param: str | None = None

    @property
    def single(self) -> bool:
        """False for a whole file or folder, which stands for all its failing tests."""
        return bool(self.names)

    def within(self, workspace: Path) -> Target:
        """The same target relative to a workspace. Raises UsageError when it lies outside."""
        try:
            relative = self.file.resolve().relative_to(workspace.resolve())
        except ValueError:
            raise UsageError(
                f"{self.file} is not inside the workspace {workspace}: pass --workspace with a folder that holds it"
            ) from None
        return Target(relative.as_posix(), self.names, self.param)


def split_nodeid(nodeid: str) -> tuple[str, tuple[str, ...], str | None]:
    """Path, names and parametrize id of a node id. The id in brackets may hold any characters, "::" too, or none;
    without brackets it is None."""
    path, _, rest = nodeid.partition("::")
    names, bracket, param = rest.partition("[")
    if bracket and param.endswith("]"):
        param = param[:-1]
    return path, tuple(name for name in names.split("::") if name), param if bracket else None


def escaped(text: str) -> str:
    """A parametrize id as pytest writes it: other characters than printable ASCII ones by their numbers."""
    return "".join(
        c if c.isascii() and c.isprintable() else c.encode("unicode_escape").decode() for c in text
    )


def _check_whole(text: str) -> None:
    """A name that was begun and not written is a slip, and not the whole file."""
    path, colons, rest = text.partition("::")
    names, bracket, param = rest.partition("[")
    if colons and (any(not name.strip() for name in names.split("::"))):
        raise UsageError(
            f"{text} lacks a name beside '::'; for all failing tests of the file say {path or '.'}"
        )
    if bracket and not param.endswith("]"):
        raise UsageError(f"{text} lacks its last ']'; put it into quotes, so that the shell leaves it alone")


def parse_target(text: str, cwd: Path) -> ParsedTarget:
    """Read `path::names[id]`, `path:LINE` (1-based) or `path`, relative to `cwd`.

    Raises UsageError, one line that says what to do: no such file, no test at that line, no such test.
    """
    if not text.strip():
        raise UsageError("no target given: name a test, for example tests/test_cart.py::test_total")
    path, names, param = split_nodeid(text)
    _check_whole(text)
    if names:
        file = _existing(path, cwd)
        if file.is_dir():
            raise UsageError(f"{path} is a folder: name the file that holds {names[-1]}")
        _check_names(file, path, list(names))
        return ParsedTarget(file, names, None if param is None else escaped(param))
    whole = _absolute(text, cwd)
    line = re.fullmatch(r"(.+):(\d+)", text, re.DOTALL)
    if line and not whole.exists():
        return _at_line(_existing(line[1], cwd), line[1], int(line[2]))
    file = _existing(path, cwd)
    if file.is_file() and file.suffix != ".py":
        raise UsageError(f"{path} is not a Python file: name a test file, for example tests/test_cart.py")
    return ParsedTarget(file)


def _joined(path: str, names: tuple[str, ...], param: str | None) -> str:
    return "::".join((path, *names)) + ("" if param is None else f"[{param}]")


def _absolute(path: str, cwd: Path) -> Path:
    return Path(os.path.normpath(cwd / Path(path).expanduser()))


def _existing(path: str, cwd: Path) -> Path:
    file = _absolute(path, cwd)
    if file.exists():
        return file
    near = ""
    if file.parent.is_dir():
        close = difflib.get_close_matches(file.name, sorted(entry.name for entry in file.parent.iterdir()), 1)
        near = f"; did you mean {Path(path).with_name(close[0]).as_posix()}?" if close else ""
    if near:
        raise UsageError(f"no such file: {path}{near}")
    raise UsageError(f"no such file: {path} (looked in {cwd}); run `regreen tests .` to list the tests")


def _source(file: Path, path: str) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig", errors="replace")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error


def _at_line(file: Path, path: str, line: int) -> ParsedTarget:
    source = _source(file, path)
    try:
        found = locate.at(source, line)
        tests = locate.tests_in(source) if found is None else []
    except SyntaxError as error:
        raise UsageError(
            f"{path} does not parse (line {error.lineno}: {error.msg}): mend that, or name the test as {path}::test_name"
        ) from None
    if found is not None:
        return ParsedTarget(file, found.names)
    if (names := locate.function_at(source, line)) and _names_tests_its_own_way(file):
        return ParsedTarget(file, names)
    if not tests:
        raise UsageError(f"no test in {path}: name a file that holds one")
    functions = [test for test in tests if test.kind != "class"] or tests
    nearest = min(functions, key=lambda test: min(abs(test.first_line - line), abs(test.last_line - line)))
    raise UsageError(
        f"no test at {path}:{line}; the nearest is {'::'.join(nearest.names)}, "
        f"lines {nearest.first_line} to {nearest.last_line}"
    )


_OWN_NAMES = re.compile(r"^[ \t]*python_(?:functions|classes)[ \t]*=", re.MULTILINE)
_CONFIGS = (
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
)
MADE = re.compile(r"\b(?:globals|locals|vars|setattr|exec)\(|\btype\(\s*f?[\"']|\bload_tests\b")
"""What makes tests while a module is imported, under names that stand nowhere in it."""


def configs_around(file: Path) -> Iterator[list[str]]:
    """The texts of the files that may configure pytest, folder by folder upwards, as far as the repository goes."""
    for folder in file.parents:
        texts: list[str] = []
        for name in _CONFIGS:
            with contextlib.suppress(OSError):
                texts.append((folder / name).read_text(encoding="utf-8", errors="replace"))
        yield texts
        if (folder / ".git").exists():
            return


def _names_tests_its_own_way(file: Path) -> bool:
    """Whether pytest's configuration around a file says what functions or classes are called that are tests."""
    return any(_OWN_NAMES.search(text) for texts in configs_around(file) for text in texts)


def _check_names(file: Path, path: str, names: list[str]) -> None:
    """Refuse a name that is surely wrong. A tree cannot know inherited or generated tests: those are let through."""
    if file.suffix != ".py":
        return  # a text file with doctests, or what a conftest.py of the project collects
    source = _source(file, path)
    if re.search(rf"\b{re.escape(names[-1])}\b", source) or "import *" in source or MADE.search(source):
        return
    known_as = {file.stem, file.name, file.parent.name if file.stem == "__init__" else file.stem}
    if len(names) == 1 and ">>>" in source and (names[0] in known_as or known_as & set(names[0].split("."))):
        return  # a doctest, which pytest calls module.function, or by the name of its file of text
    try:
        tests = locate.tests_in(source)
    except SyntaxError:
        return
    if len(names) > 1 and re.search(rf"\b{re.escape(names[-2])}\b", source):
        return  # a class may inherit it, and be a test case by a base in another file
    wanted = "::".join(names)
    known = ["::".join(test.names) for test in tests]
    close = difflib.get_close_matches(wanted, known, 1) or [
        name for name in known if name.split("::")[-1].startswith(names[-1])
    ]
    if close:
        raise UsageError(f"no test {wanted} in {path}; did you mean {path}::{close[0]}?")
    raise UsageError(f"no test {wanted} in {path}; it has " + (", ".join(known[:5]) or "no tests"))
