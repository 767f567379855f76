"""Where things are in the workspace, and which of its lines run. Standard library only, Python 3.8 and later."""

from __future__ import annotations

import os
import sys
from types import CodeType, FrameType
from typing import Any, Dict, List, Optional, Set

LINES_LIMIT = 20_000


class Places:
    """Turns paths of the running process into paths relative to the workspace."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self._known: Dict[str, Optional[str]] = {}
        self._foreign = tuple(
            os.path.realpath(prefix) + os.sep
            for prefix in {sys.prefix, sys.base_prefix, sys.exec_prefix}
            if os.path.realpath(prefix) != self.root
        )

    def relative(self, path: str) -> Optional[str]:
        """The path with forward slashes, or None outside the workspace and in installed libraries."""
        if path not in self._known:
            self._known[path] = self._relative(path)
        return self._known[path]

    def _relative(self, path: str) -> Optional[str]:
        if path.startswith("<"):
            return None
        real = os.path.realpath(os.path.join(self.root, path))
        inside = os.path.join(self.root, "")
        if not real.startswith(inside):
            return None
        foreign = any(real.startswith(f) and not inside.startswith(f) for f in self._foreign)
        if foreign or "site-packages" in real or "dist-packages" in real:
            return None
        return real[len(inside) :].replace(os.sep, "/")


class Tracer:
    """Collects the lines that run in files of the workspace, and those that a failed assertion passes, while it is on."""

    def __init__(self, places: Places) -> None:
        self.lines: Dict[str, Set[int]] = {}
        self._failed: Dict[str, Set[int]] = {}
        self._places = places
        self._tool: Optional[int] = None
        self._before: Any = None
        self._count = 0

    def start(self) -> None:
        if sys.version_info >= (3, 12):
            self._start_monitoring()
        else:
            self._before = sys.gettrace()
            sys.settrace(self._call)

    def stop(self) -> None:
        if sys.version_info >= (3, 12):
            if self._tool is not None:
                sys.monitoring.set_events(self._tool, 0)
                sys.monitoring.register_callback(self._tool, sys.monitoring.events.LINE, None)
                sys.monitoring.register_callback(self._tool, sys.monitoring.events.RAISE, None)
                sys.monitoring.free_tool_id(self._tool)
                self._tool = None
        else:
            sys.settrace(self._before)

    def take(self) -> Dict[str, List[int]]:
        """The lines so far, by path; forgets them."""
        taken = {path: sorted(lines) for path, lines in sorted(self.lines.items())}
        self.lines, self._count = {}, 0
        return taken

    def take_failed(self) -> Dict[str, List[int]]:
        """The lines that failed assertions have passed so far, caught or not; forgets them."""
        taken = {path: sorted(lines) for path, lines in sorted(self._failed.items())}
        self._failed = {}
        return taken

    def _raised(self, filename: str, line: int, error: object) -> None:
        if isinstance(error, AssertionError) or type(error).__name__ == "Failed":
            path = self._places.relative(filename)
            if path is not None:
                self._failed.setdefault(path, set()).add(line)

    def _hit(self, filename: str, line: int) -> None:
        path = self._places.relative(filename)
        if path is not None and self._count < LINES_LIMIT:
            lines = self.lines.setdefault(path, set())
            if line not in lines:
                lines.add(line)
                self._count += 1

    def _start_monitoring(self) -> None:
        if sys.version_info >= (3, 12):
            monitoring = sys.monitoring
            free = [tool for tool in (4, 3, 0, 1, 2, 5) if monitoring.get_tool(tool) is None]
            if not free:
                return
            self._tool = free[0]
            monitoring.use_tool_id(self._tool, "regreen")
            monitoring.register_callback(self._tool, monitoring.events.LINE, self._line_event)
            monitoring.register_callback(self._tool, monitoring.events.RAISE, self._raise_event)
            monitoring.set_events(self._tool, monitoring.events.LINE | monitoring.events.RAISE)
            monitoring.restart_events()

    def _line_event(self, code: CodeType, line: int) -> object:
        self._hit(code.co_filename, line)
        # One hit a line is enough; switching the line off makes the rest of the run as fast as before.
        return sys.monitoring.DISABLE if sys.version_info >= (3, 12) else None

    def _raise_event(self, code: CodeType, offset: int, error: BaseException) -> None:
        # The traceback begins with the frame that the exception is in now.
        trace = error.__traceback__
        if trace is not None and trace.tb_frame.f_code is code:
            self._raised(code.co_filename, trace.tb_lineno or 0, error)

    def _call(self, frame: FrameType, event: str, arg: object) -> Any:
        # The call itself is no line of the body: `def` lines run when a module is imported.
        return self._line if self._places.relative(frame.f_code.co_filename) is not None else None

    def _line(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            self._hit(frame.f_code.co_filename, frame.f_lineno)
        elif event == "exception":
            self._raised(frame.f_code.co_filename, frame.f_lineno, arg[1])
        return self._line
