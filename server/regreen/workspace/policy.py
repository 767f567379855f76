"""What a path means: which files the agent may change, which only when a person is asked, which never.

One object decides for the file tools, the writer and what a trial leaves out. It looks at names only, folded as
in `names.fold`, so that it holds for files that do not exist yet.
"""

from __future__ import annotations

import fnmatch
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from regreen.workspace import listed
from regreen.workspace.names import PathRefused, fold, split

Permission = Literal["allow", "ask", "locked", "refused"]


@dataclass(frozen=True, slots=True)
class Ruling:
    """What may be done with a path, and the rule in words ("" for allow)."""

    permission: Permission
    reason: str = ""


ALLOW = Ruling("allow")

_ENVIRONMENT_FILE = re.compile(r"\.env(?:rc)?(?![a-z])")
_EXAMPLE = re.compile(
    r"[.\-_](?:example|sample|template|dist|defaults|pub)$|^(?:example|sample|template)\.env$"
)

LARGEST_FILE = 8 << 20
"""Characters of a file that an edit may leave: what is larger cannot be read by a model either."""

LARGEST_GROWTH = 1 << 20
"""Characters that one edit may add to a file."""

_TEST_FOLDERS = frozenset(("tests", "test", "__snapshots__"))
_TEST_FILES = ("test_*.py", "*_test.py", "tests.py")
_SNAPSHOTS = ("*.snap", "*.ambr", "*.snapshot")
_TEST_CONFIG = frozenset(("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini"))
_MIXED_CONFIG = frozenset(("pyproject.toml", "setup.cfg"))
_RUNNER = frozenset(("pytest", "_pytest", "pluggy", "iniconfig", "exceptiongroup"))
_PYTEST_TABLE = re.compile(
    r"""^[ \t]*(?:\[[ \t]*(?:["']?tool["']?[ \t]*\.[ \t]*["']?pytest\b|tool:pytest\b|pytest\b)"""
    r"""|["']?tool["']?[ \t]*\.[ \t]*["']?pytest\b"""
    r"""|["']?pytest["']?[ \t]*(?:\.[ \t]*["']?|=[ \t]*\{[^\n]*)ini_options)""",
    re.MULTILINE,
)
_LOCKED_WORDS = "Change the code under test instead; if the test itself is wrong, say so."


class Policy:
    """The rules of one run. `patterns` are the project's own `python_files`, beside pytest's usual names."""

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        self._patterns = (*_TEST_FILES, *(fold(pattern) for pattern in patterns))
        self._locked: set[str] = set()
        self._examples: set[str] = set()
        self.tests_unlocked = False

    def unlock_tests(self) -> None:
        """The person allowed changes to tests and test configuration for this run: they become `ask`."""
        self.tests_unlocked = True

    def lock(self, path: str) -> None:
        """Lock one more file (the target's own), whatever it is called; but one that holds the code as well stays open."""
        if fold(path) not in self._examples:
            self._locked.add(fold(path))

    def lock_examples(self, path: str) -> None:
        """The target is a doctest in this file of code: its examples are locked, the file is not."""
        self._examples.add(fold(path))

    def examples_locked(self, path: str) -> bool:
        """Whether the examples in the file's docstrings must stay as they are."""
        return fold(path) in self._examples and not self.tests_unlocked

    def for_reading(self, path: str) -> Ruling:
        """Whether the model may see a file: everything but secrets. Raises PathRefused for an impossible path."""
        names = [fold(name) for name in split(path)]
        if self._secret(names):
            return Ruling("refused", f"it may hold secrets, which a model must not see: '{path}'")
        if ".git" in names[:-1] or names[-1] == ".git":
            return Ruling("refused", f"the history of the project is not for reading: '{path}'")
        return ALLOW

    def for_writing(self, path: str, contents: Iterable[str | bytes | None] = ()) -> Ruling:
        """Whether the agent may change or create a file. `contents` are what it holds now and what it would hold:
        they decide for files that are test configuration only when pytest's tables are in them.

        Raises PathRefused for an impossible path.
        """
        names = [fold(name) for name in split(path)]
        if self._secret(names):
            return Ruling("refused", f"protected, it may hold secrets: '{path}'")
        protected = self._protected(names)
        if protected:
            return Ruling("refused", f"protected, {protected}: '{path}'")
        locked = self._test(names, fold(path), contents)
        if locked and self.tests_unlocked:
            return Ruling("ask", f"{locked}, unlocked for this run: '{path}'")
        if locked:
            return Ruling("locked", f"locked, {locked}: '{path}'. {_LOCKED_WORDS}")
        if fold(path) in self._examples and self.tests_unlocked:
            return Ruling("ask", f"it holds the doctest to be fixed, unlocked for this run: '{path}'")
        if self._asked(names):
            return Ruling("ask", f"it changes how the project is built, checked or run: '{path}'")
        return ALLOW

    def is_test(self, path: str) -> bool:
        """True for what belongs to the tests and how they run, locked or not. Raises PathRefused for an impossible
        path."""
        return bool(self._test([fold(name) for name in split(path)], fold(path), ()))

    def is_secret(self, path: str) -> bool:
        """True for files that are left out of listings as well. `path` need not be a legal one."""
        return self._secret([fold(name) for name in path.split("/")])

    def left_out_of_trials(self, path: str, head: Callable[[], bytes]) -> bool:
        """True for secrets that a test must not see either. Tests bring keys of their own, which are nobody's: what
        lies in a tests folder is copied, but for files that hold secrets wherever they lie (`.env`, `id_rsa`). So are
        certificates without a private key; `head` gives the beginning of the file and is asked for those alone."""
        names = [fold(name) for name in path.split("/")]
        if not self._secret(names):
            return False
        leaf = names[-1]
        if leaf.endswith(listed.CERTIFICATES) and leaf not in listed.SECRET_FILES:
            found = head()
            if b"-----BEGIN " in found and b"PRIVATE KEY" not in found:
                return False
        personal = leaf.startswith(".") or leaf.startswith(listed.SECRET_BEGINNINGS)
        return personal or not any(name in _TEST_FOLDERS for name in names[:-1])

    def _protected(self, names: list[str]) -> str:
        for name in names:
            if name in listed.PROTECTED_FOLDERS:
                return listed.PROTECTED_FOLDERS[name]
            if name.endswith(listed.PROTECTED_ENDS):
                return "it is compiled or installed code"
            if name.split(".")[0] in listed.PROTECTED_FOLDERS_LIKE:
                return "Python runs it at every start"
        return "programs outside the tests run or believe it" if names[-1] in listed.PROTECTED_FILES else ""

    def _secret(self, names: list[str]) -> bool:
        if any(name in listed.KEY_FOLDERS for name in names) or names[-2:] == [".docker", "config.json"]:
            return True
        leaf = names[-1]
        if _EXAMPLE.search(leaf):
            return False
        return (
            leaf in listed.SECRET_FILES
            or leaf.endswith(listed.SECRET_ENDS)
            or any(leaf.startswith(start) for start in listed.SECRET_BEGINNINGS)
            or _ENVIRONMENT_FILE.match(leaf) is not None
        )

    def _test(self, names: list[str], path: str, contents: Iterable[str | bytes | None]) -> str:
        leaf = names[-1]
        if path in self._locked:
            return "it is the file of the test to be fixed"
        if leaf == "conftest.py" or any(name.split(".")[0] == "conftest" for name in names):
            return "it decides how tests run"
        if leaf in _TEST_CONFIG:
            return "it is test configuration"
        if names[1 if names[0] == "src" and len(names) > 1 else 0].split(".")[0] in _RUNNER:
            return "it would stand in for the test runner"
        if leaf in _MIXED_CONFIG and any(_has_pytest_table(content) for content in contents):
            return "it holds test configuration"
        if any(fnmatch.fnmatchcase(leaf, pattern) for pattern in self._patterns):
            return "it is a test file"
        if any(name in _TEST_FOLDERS for name in names[:-1]):
            return "it belongs to the tests"
        if any(fnmatch.fnmatchcase(leaf, pattern) for pattern in _SNAPSHOTS):
            return "it holds results that tests compare with"
        return ""

    def _asked(self, names: list[str]) -> bool:
        leaf = names[-1]
        return (
            leaf in listed.ASK_FILES
            or any(name in listed.ASK_FOLDERS for name in names[:-1])
            or any(fnmatch.fnmatchcase(leaf, pattern) for pattern in listed.ASK_PATTERNS)
        )


def check_size(path: str, before: int, after: str) -> None:
    """Raises PathRefused when an edit makes a file too large. `before` is how many bytes the file has now."""
    if len(after) - before > LARGEST_GROWTH:
        raise PathRefused(
            f"too large: '{path}' would grow by {_megabytes(len(after) - before)}, {_megabytes(LARGEST_GROWTH)} are "
            "allowed in one edit. Write only the lines that change"
        )
    if len(after) > max(LARGEST_FILE, before):
        raise PathRefused(
            f"too large: '{path}' would have {_megabytes(len(after))}, {_megabytes(LARGEST_FILE)} are allowed"
        )


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):.3g} MB"


def _has_pytest_table(content: str | bytes | None) -> bool:
    """True when a pyproject.toml or setup.cfg holds a table for pytest; in doubt, true."""
    if content is None:
        return False
    text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content
    if _PYTEST_TABLE.search(text.replace("\r\n", "\n").replace("\r", "\n")):
        return True
    if sys.version_info < (3, 11):
        return False
    import tomllib  # Keys may be written in ways that only a parser sees through.

    try:
        return "pytest" in tomllib.loads(text).get("tool", {})
    except (ValueError, TypeError):
        return False


def python_files(config: str) -> list[str]:
    """The values of `python_files` in a pytest configuration of any of its forms; [] when it says nothing."""
    found = re.search(
        r"^[ \t]*python_files[ \t]*=[ \t]*(\[[^\]]*\]|[^\n]*(?:\n[ \t]+[^\n]+)*)", config, re.MULTILINE
    )
    if not found:
        return []
    words = re.sub(r"#[^\n]*", "", found[1])
    return re.findall(r"[^\s\[\],'\"]+", words)
