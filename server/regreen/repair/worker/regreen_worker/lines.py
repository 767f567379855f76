"""Which project lines a test executes: sys.monitoring where there is one (3.12), else sys.settrace."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any, Dict, Set, Tuple

IDLE = 2000
"""Lines of one function that were nothing new, one after the other, after which it is no longer traced in a test."""

MONITORING: Any = getattr(sys, "monitoring", None)


def is_project(path: str, root: str) -> bool:
    """True for a real path of the project that is neither a test nor installed."""
    if not path.startswith(root + os.sep):
        return False
    parts = path[len(root) + 1 :].split(os.sep)
    name = parts[-1]
    if "site-packages" in parts or name == "conftest.py" or not name.endswith(".py"):
        return False
    if name.startswith("test_") or name.endswith("_test.py"):
        return False
    return not any(part in ("tests", "test", "testing_tests") for part in parts[:-1])


class Lines:
    """Collects (relative path, line) while a test runs."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.known: Dict[str, str] = {}
        self.hits: Set[Tuple[str, int]] = set()
        self.idle: Dict[Any, int] = {}

    def path(self, filename: str) -> str:
        """The relative path with forward slashes when the file is the project's, else ""."""
        if filename not in self.known:
            real = os.path.realpath(filename) if filename[:1] != "<" else ""
            good = bool(real) and is_project(real, self.root)
            self.known[filename] = real[len(self.root) + 1 :].replace(os.sep, "/") if good else ""
        return self.known[filename]

    def start(self) -> None:
        """Begin for one test."""
        self.hits = set()
        self.idle = {}
        if MONITORING is not None:
            self._monitor()
        else:
            sys.settrace(self._call)
            threading.settrace(self._call)

    def stop(self) -> dict[str, list[int]]:
        """End; returns {path: sorted lines}."""
        if MONITORING is not None:
            tool = MONITORING
            tool.set_events(4, 0)
            tool.register_callback(4, tool.events.LINE, None)
            tool.free_tool_id(4)
        else:
            sys.settrace(None)
            threading.settrace(None)
        found: Dict[str, Set[int]] = {}
        for filename, line in self.hits:
            path = self.path(filename)
            if path:
                found.setdefault(path, set()).add(line)
        return {path: sorted(lines) for path, lines in found.items()}

    def _monitor(self) -> None:
        tool = MONITORING
        hits, disable = self.hits, tool.DISABLE

        def line(code: Any, number: int) -> Any:
            if self.path(code.co_filename):
                hits.add((code.co_filename, number))
            return disable

        tool.use_tool_id(4, "regreen")
        tool.register_callback(4, tool.events.LINE, line)
        tool.set_events(4, tool.events.LINE)
        tool.restart_events()

    def _call(self, frame: Any, event: str, arg: Any) -> Any:
        code = frame.f_code
        if code not in self.idle:
            self.idle[code] = 0 if self.path(code.co_filename) else IDLE
        return self._line if self.idle[code] < IDLE else None

    def _line(self, frame: Any, event: str, arg: Any) -> Any:
        if event == "line":
            code = frame.f_code
            hit = (code.co_filename, frame.f_lineno)
            if hit in self.hits:
                self.idle[code] += 1
                if self.idle[code] > IDLE:
                    return None
            else:
                self.idle[code] = 0
                self.hits.add(hit)
        return self._line
