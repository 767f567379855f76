"""Running single tests without reports, and describing why one failed."""

from __future__ import annotations

import difflib
import importlib
import os
import re
import unittest
from typing import Any, Dict, List, Optional, Set, Tuple

import pytest

from regreen_worker import guard

Fact = Dict[str, Any]
Outcome = Tuple[str, Optional[BaseException]]
SKIPS = (pytest.skip.Exception, unittest.SkipTest)
TEXT = 2000
"""Characters kept of a message or of a compared value."""


class Compared:
    """Remembers the values of the last failing comparison, in place of pytest's own explanation of it.

    And, as a pytest plugin, the first subtest that failed: its test goes on, and may end without an exception.
    """

    def __init__(self) -> None:
        self.last: Any = None
        self.inner: Optional[BaseException] = None
        self._inner_last: Any = None
        try:
            util: Any = importlib.import_module("_pytest.assertion.util")
            util._reprcompare = self._compare
        except (ImportError, AttributeError):
            pass

    def _compare(self, op: str, left: Any, right: Any) -> None:
        self.last = (op, left, right)

    def clear(self) -> None:
        """Before a test."""
        self.last = self.inner = self._inner_last = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        """Only subtests ask for reports here."""
        error = call.excinfo.value if call.excinfo is not None else None
        if error is not None and self.inner is None and not isinstance(error, SKIPS):
            self.inner, self._inner_last = error, self.last

    def failed_inside(self) -> Optional[BaseException]:
        """The first subtest's exception; its values are the last comparison then."""
        if self.inner is not None:
            self.last = self._inner_last
        return self.inner


def short(value: Any) -> str:
    """repr, cut, never failing."""
    try:
        return repr(value)[:TEXT]
    except Exception as error:
        return "<%s>" % type(error).__name__


def distance(left: Any, right: Any, depth: int = 0) -> float:
    """How far apart two compared values are: 0 for equal, at most 1."""
    try:
        if left == right:
            return 0.0
    except Exception:
        return 1.0
    if isinstance(left, bool) or isinstance(right, bool):
        return 0.9
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        gap = abs(left - right)
        return 0.1 + 0.7 * gap / (gap + abs(right) + 1.0) if gap == gap else 1.0
    if type(left) is not type(right) or depth > 3:
        return 1.0
    return _distance_of_many(left, right, depth)


def _distance_of_many(left: Any, right: Any, depth: int) -> float:
    """The same for two texts or collections of one type."""
    kind = str(left.__class__.__name__)
    if kind == "str":
        return 1.0 - 0.95 * difflib.SequenceMatcher(None, left[:400], right[:400], autojunk=False).ratio()
    far, most = 0.0, 0
    if kind in ("list", "tuple"):
        most = max(len(left), len(right))
        far = abs(len(left) - len(right))
        if most <= 200:
            far += sum(distance(a, b, depth + 1) for a, b in zip(left, right))
    elif kind == "dict":
        keys: Set[Any] = set(left) | set(right)
        most = len(keys)
        if most <= 200:
            far = sum(
                distance(left[k], right[k], depth + 1) if k in left and k in right else 1.0 for k in keys
            )
    elif kind in ("set", "frozenset"):
        far, most = len(left ^ right), len(left | right)
    return min(1.0, 0.02 + 0.95 * far / most) if 0 < most <= 200 else 0.9


class Runner:
    """Runs items one by one through pytest's own hooks."""

    def __init__(self, root: str, compared: Compared) -> None:
        self.root = root
        self.compared = compared
        self._paths: Dict[str, str] = {}

    def run(self, item: Any, after: Any, seconds: float) -> Outcome:
        """Run one item; returns (outcome, exception). `after` is the next item, `seconds` its time."""
        self.compared.clear()
        result = ("passed", None)
        guard.clock(seconds)
        try:
            if hasattr(item, "_request") and not item._request:
                item._initrequest()
            item.ihook.pytest_runtest_setup(item=item)
            item.ihook.pytest_runtest_call(item=item)
            kept = getattr(item, "_excinfo", None)
            if kept:
                error = getattr(kept[0], "value", None) or kept[0][1]
                result = ("skipped" if isinstance(error, SKIPS) else "failed", error)
            inner = self.compared.failed_inside()
            if inner is not None:
                result = ("failed", inner)
        except BaseException as error:
            result = self._outcome(error)
        guard.clock(0)
        return self._teardown(item, after, seconds, result)

    def _teardown(self, item: Any, after: Any, seconds: float, result: Outcome) -> Outcome:
        guard.clock(seconds)
        try:
            item.ihook.pytest_runtest_teardown(item=item, nextitem=after)
        except BaseException as error:
            if result[0] == "passed":
                result = self._outcome(error)
        guard.clock(0)
        if hasattr(item, "_request"):  # as pytest's own protocol does, so that the item can run once more
            item._request = False
            item.funcargs = None
        if getattr(item, "_excinfo", None):
            item._excinfo = None
        return result

    @staticmethod
    def _outcome(error: BaseException) -> Outcome:
        if isinstance(error, guard.OutOfTime):
            return ("timeout", error)
        if isinstance(error, SKIPS):
            return ("skipped", error)
        return ("failed", error)

    def describe(self, item: Any, error: BaseException | None) -> Fact:
        """Type, message, frames inside the project (test first) and the compared values of a failure."""
        frames: List[List[Any]] = []
        trace = getattr(error, "__traceback__", None)
        while trace is not None:
            code = trace.tb_frame.f_code
            path = self._relative(code.co_filename)
            if path:
                frames.append([path, trace.tb_lineno, code.co_name])
            trace = trace.tb_next
        test = self._relative(str(item.fspath))
        line: int = next((f[1] for f in frames if f[0] == test), 0)
        about: Fact = {
            "type": type(error).__name__,
            "bases": [base.__name__ for base in type(error).__mro__[1:-2]],
            "message": str(error)[:TEXT] if not isinstance(error, guard.OutOfTime) else "",
            "frames": frames if len(frames) <= 40 else frames[:10] + frames[-10:],
            "line": line,
        }
        if self.compared.last is not None and isinstance(error, AssertionError):
            op, left, right = self.compared.last
            about.update(
                op=op, left=short(left), right=short(right), kinds=[type(left).__name__, type(right).__name__]
            )
            if isinstance(left, str) and isinstance(right, str):
                about.update(texts=[left[:TEXT], right[:TEXT]])
            if op == "==":
                about["distance"] = distance(left, right)
        return about

    def _relative(self, filename: str) -> str:
        """A project file's path with forward slashes; "" for any other."""
        if filename not in self._paths:
            real = os.path.realpath(filename)
            inside = real.startswith(self.root + os.sep) and "site-packages" not in real
            self._paths[filename] = real[len(self.root) + 1 :].replace(os.sep, "/") if inside else ""
        return self._paths[filename]


_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


def mark(outcome: str, about: Fact) -> list[Any]:
    """Equal for two runs of the same code that failed the same way."""
    return [outcome, about.get("type"), about.get("line"), _ADDRESS.sub("0x", about.get("message", "")[:300])]
