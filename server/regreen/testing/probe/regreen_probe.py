"""A pytest plugin that tells what happened to every test, in records that only it can write.

Runs in the person's interpreter: standard library only, Python 3.8 and later, pytest 6 and later.
"""

from __future__ import annotations

import linecache
import os
import sys
import unittest
from time import perf_counter
from typing import Any, Dict, Generator, List, Optional, Tuple

import pytest
from regreen_lookups import Lookups
from regreen_options import Unhindered
from regreen_records import OUTPUT_LIMIT, TEXT_LIMIT, VALUE_LIMIT, Records, bounded, shown
from regreen_trace import Places, Tracer
from regreen_values import unittest_values

FRAMES = 20


def frames_of(traceback: Any, places: Places) -> Tuple[List[Dict[str, Any]], List[Tuple[Any, int]]]:
    """Frames in the workspace, from the test to the place that raised, and all frames with their lines."""
    mine: List[Dict[str, Any]] = []
    every: List[Tuple[Any, int]] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        line = traceback.tb_lineno or 0
        every.append((traceback.tb_frame, line))
        path = places.relative(code.co_filename)
        if path is not None:
            name = getattr(code, "co_qualname", code.co_name).replace("<locals>.", "")
            source = linecache.getline(code.co_filename, line).rstrip()
            mine.append({"path": path, "line": line, "function": name, "source": source[:400]})
        traceback = traceback.tb_next
    if len(mine) > FRAMES:
        mine = mine[: FRAMES // 2] + mine[-FRAMES // 2 :]
    return mine, every


def escaped(text: str) -> str:
    """An id as pytest writes it, unless it is told to leave ids as they are."""
    return "".join(
        c if c.isprintable() and ord(c) < 128 else c.encode("unicode_escape").decode() for c in text
    )


class Probe(Unhindered):
    """The plugin. `job` says what to run; see `regreen_pytest.py`."""

    def __init__(self, job: Dict[str, Any], records: Records) -> None:
        super().__init__(job)
        self._emit = records.emit
        self._places = Places(job["root"])
        self._workspace = job.get("workspace") or ""
        self._only: List[str] = job.get("only") or []
        self._trace = Tracer(self._places) if job.get("trace") else None
        self._lookups = Lookups(self._places) if job.get("lookups") else None
        if self._lookups is not None:
            self._lookups.start()
        self._ids: Dict[str, str] = {}
        self._details: Dict[Tuple[str, str], Dict[str, Any]] = {}
        self._compared: Optional[Tuple[str, str]] = None
        self._guards: Dict[str, Any] = {}
        self._warnings = 0
        self._clock = perf_counter
        self._exit = os._exit

    # --- session and collection ----------------------------------------------------------------------------

    def pytest_sessionstart(self, session: Any) -> None:
        config = session.config
        self._guards = self._look(config)
        root = getattr(config, "rootpath", None) or config.rootdir
        self._emit(
            "start",
            pytest=pytest.__version__,
            python="%d.%d.%d" % sys.version_info[:3],
            rootdir=self._places.relative(str(root)) or ".",
        )

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector: Any) -> Generator[None, Any, None]:
        outcome = yield
        report: Any = outcome.get_result()
        if report.passed:
            return
        call = getattr(report, "call", None)
        error = call.excinfo.value if call is not None and call.excinfo is not None else None
        # pytest wraps what an import raised into its own error: the cause is what a person wants to read.
        error = getattr(error, "__cause__", None) or error
        detail = self._detail(error, getattr(error, "__traceback__", None)) if error is not None else {}
        detail["text"] = bounded(getattr(report, "longreprtext", "") or str(report.longrepr), TEXT_LIMIT)
        detail["frames"] = detail.get("frames", []) + self._place_of_syntax_error(error)
        kind = "collect_skipped" if report.skipped else "collect_error"
        self._emit(kind, id=self._collector_id(collector), failure=detail)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: List[Any]) -> None:
        """Keep the wanted cases of tests whose ids this pytest cannot take on its command line."""
        if self._only:
            tests = {wanted.partition("[")[0] for wanted in self._only}
            only = {escaped(wanted) for wanted in self._only}
            items[:] = [
                i for i in items if self._id(i).partition("[")[0] not in tests or escaped(self._id(i)) in only
            ]

    def pytest_deselected(self, items: List[Any]) -> None:
        self._emit("deselected", ids=[self._id(item) for item in items])

    def pytest_collection_finish(self, session: Any) -> None:
        for item in session.items:
            path, line, _name = item.location
            own = self._id(item)
            self._emit(
                "item", id=own, line=line + 1 if isinstance(line, int) else None, path=path.replace("\\", "/")
            )

    def pytest_internalerror(self, excrepr: Any) -> None:
        self._emit("internal_error", text=bounded(str(excrepr), TEXT_LIMIT))

    def pytest_warning_recorded(self, warning_message: Any, nodeid: str) -> None:
        name = getattr(warning_message.category, "__name__", "")
        if name.startswith("Pytest") and self._warnings < 20:
            self._warnings += 1
            self._emit("warning", type=name, text=bounded(str(warning_message.message), VALUE_LIMIT))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: Any, exitstatus: Any) -> None:
        changed = self._changed(session.config)
        if changed:
            self._emit("tampered", names=changed)
        self.tell_lookups()
        elsewhere = self._loaded_from_workspace()
        if elsewhere:
            self._emit("elsewhere", paths=elsewhere)
        self._emit("finish", status=int(exitstatus))
        if int(exitstatus) in (0, 1, 2, 5):
            # Everything is told. The summary on the terminal is for people who are not there, and plugins take
            # their time over it: hypothesis imports itself there, for the first time and with all its parts.
            sys.stdout.flush()
            sys.stderr.flush()
            self._exit(int(exitstatus))

    def tell_lookups(self) -> None:
        """What was looked for in vain up to now, as far as it was not told before."""
        if self._lookups is not None:
            self._lookups.tell(self._emit)

    # --- tests ---------------------------------------------------------------------------------------------

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> Generator[None, Any, None]:
        own = self._id(item)
        begin = self._clock()
        self._emit("running", id=own)
        yield
        if self._trace is not None:
            self._emit("executed", id=own, lines=self._trace.take(), failed=self._trace.take_failed())
        self.tell_lookups()
        self._emit("done", id=own, seconds=round(self._clock() - begin, 4))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: Any) -> Generator[None, Any, None]:
        yield from self._traced()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: Any) -> Generator[None, Any, None]:
        self._compared = None
        yield from self._traced()

    def _traced(self) -> Generator[None, Any, None]:
        if self._trace is None:
            yield
            return
        self._trace.start()
        try:
            yield
        finally:
            self._trace.stop()

    @pytest.hookimpl(tryfirst=True)
    def pytest_assertrepr_compare(self, config: Any, op: str, left: object, right: object) -> None:
        self._compared = (shown(left), shown(right))

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Generator[None, Any, None]:
        outcome = yield
        report: Any = outcome.get_result()
        if call.excinfo is not None and report.failed:
            self._details[(report.nodeid, report.when)] = self._detail(call.excinfo.value, call.excinfo.tb)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        subtest = type(report).__name__.lower() == "subtestreport"
        fields: Dict[str, Any] = {
            "id": self._ids.get(report.nodeid, report.nodeid),
            "when": report.when,
            "outcome": report.outcome,
            "seconds": round(float(report.duration), 4),
            "subtest": subtest,
        }
        if hasattr(report, "wasxfail"):
            fields["wasxfail"] = str(report.wasxfail)
        said: Any = report.longrepr
        if report.skipped and isinstance(said, tuple):
            fields["reason"] = bounded(str(said[-1]), VALUE_LIMIT)  # pyright: ignore[reportUnknownArgumentType]
        if report.failed:
            detail = self._details.pop((report.nodeid, report.when), {})
            detail["text"] = bounded(report.longreprtext, TEXT_LIMIT)
            detail["output"] = "\n".join(
                "%s:\n%s" % (name, bounded(body, OUTPUT_LIMIT))
                for name, body in report.sections
                if body.strip()
            )
            fields["failure"] = detail
        self._emit("report", **fields)

    # --- details -------------------------------------------------------------------------------------------

    def _id(self, item: Any) -> str:
        """The node id relative to the workspace; pytest's own is relative to its root folder."""
        known = self._ids.get(item.nodeid)
        if known is None:
            path = str(getattr(item, "path", None) or item.fspath)
            _file, sep, rest = item.nodeid.partition("::")
            known = (self._places.relative(path) or path.replace("\\", "/")) + sep + rest
            self._ids[item.nodeid] = known
        return known

    def _collector_id(self, collector: Any) -> str:
        path = str(getattr(collector, "path", None) or getattr(collector, "fspath", ""))
        _file, sep, rest = collector.nodeid.partition("::")
        return (self._places.relative(path) or collector.nodeid.partition("::")[0] or ".") + sep + rest

    def _detail(self, error: BaseException, traceback: Any) -> Dict[str, Any]:
        frames, every = frames_of(traceback, self._places)
        left: Optional[str] = None
        right: Optional[str] = None
        if isinstance(error, AssertionError):
            left, right = self._compared or unittest_values(every)
        try:
            message = bounded(str(error), VALUE_LIMIT)
        except Exception:
            message = "<message could not be made>"
        example: Any = getattr(error, "example", None)
        if type(error).__name__ == "DocTestFailure" and example is not None:
            left, right = (
                bounded(str(getattr(error, "got", "")), VALUE_LIMIT),
                bounded(example.want, VALUE_LIMIT),
            )
            message = "%s gave %s, expected was %s" % (example.source.strip(), left.strip(), right.strip())
        return {
            "type": type(error).__name__,
            "message": message,
            "left": left,
            "right": right,
            "frames": frames,
        }

    def _place_of_syntax_error(self, error: Any) -> List[Dict[str, Any]]:
        if not isinstance(error, SyntaxError) or not error.filename:
            return []
        path = self._places.relative(error.filename)
        if path is None:
            return []
        return [
            {
                "path": path,
                "line": error.lineno or 1,
                "function": "<module>",
                "source": (error.text or "").rstrip(),
            }
        ]

    def _loaded_from_workspace(self) -> List[str]:
        """Modules that came from the person's own files although a trial copy is running."""
        if not self._workspace or os.path.realpath(self._workspace) == self._places.root:
            return []
        original = Places(self._workspace)
        found: List[str] = []
        for module in list(sys.modules.values()):
            path = getattr(module, "__file__", None)
            if isinstance(path, str):
                relative = original.relative(path)
                if relative is not None and self._places.relative(path) is None:
                    found.append(relative)
        return sorted(found)[:50]

    # --- the runner itself ---------------------------------------------------------------------------------

    def _look(self, config: Any) -> Dict[str, Any]:
        """The parts of the runner that decide whether a test passed, as they are now."""
        import _pytest.python
        import _pytest.reports
        import _pytest.runner
        import _pytest.unittest

        parts: List[Tuple[Any, str]] = [
            (_pytest.runner, "runtestprotocol"),
            (_pytest.runner, "call_and_report"),
            (_pytest.runner, "check_interactive_exception"),
            (_pytest.runner, "pytest_runtest_makereport"),
            (_pytest.runner, "pytest_runtest_call"),
            (_pytest.runner.CallInfo, "from_call"),
            (_pytest.reports.TestReport, "from_item_and_call"),
            (_pytest.python, "pytest_pyfunc_call"),
            (_pytest.python.Function, "runtest"),
            (_pytest.unittest.TestCaseFunction, "runtest"),
            (unittest.TestCase, "run"),
            (unittest.TestCase, "assertEqual"),
            (unittest.TestCase, "assertTrue"),
            (unittest.TestCase, "fail"),
            (Probe, "pytest_runtest_logreport"),
            (Probe, "pytest_runtest_makereport"),
        ]
        seen: Dict[str, Any] = {}
        for owner, name in parts:
            # As the class holds it, not as an attribute: a method looked up twice is two objects.
            seen["%s.%s" % (owner.__name__, name)] = owner.__dict__.get(name)
        hook = config.pluginmanager.hook
        for name in ("pytest_runtest_logreport", "pytest_runtest_makereport", "pytest_runtest_protocol"):
            mine = [impl.plugin is self for impl in getattr(hook, name).get_hookimpls()]
            seen["hook %s" % name] = any(mine)
        seen["AssertionError"] = getattr(sys.modules["builtins"], "AssertionError", None)
        return seen

    def _changed(self, config: Any) -> List[str]:
        now: Dict[str, Any] = self._look(config)
        return sorted(name for name, part in self._guards.items() if now.get(name) is not part)
