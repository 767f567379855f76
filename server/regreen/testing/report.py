"""What one run of the person's tests told us: records of our own probe, never an exit code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from regreen.testing.lack import Lack, Suspect

Outcome = Literal[
    "passed", "failed", "error", "skipped", "xfailed", "xpassed", "crashed", "timeout", "missing"
]
"""A test's own result. `error` is a failing fixture or collection, `missing` a test without any record."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame inside the workspace; `line` is 1-based, `source` the line's text, stripped of its end."""

    path: str
    line: int
    function: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a test failed.

    `type` is the exception's name, `message` its text; `left` and `right` are the compared values of the
    failing assertion where pytest knows them; `frames` run from the test to the place that raised;
    `text` is pytest's own report, trimmed; `output` what the test printed, head and tail.
    """

    type: str
    message: str
    left: str | None = None
    right: str | None = None
    frames: tuple[Frame, ...] = ()
    text: str = ""
    output: str = ""

    @property
    def signature(self) -> tuple[str, ...]:
        """Equal for two failures that are the same as far as progress is concerned."""
        last = self.frames[-1] if self.frames else None
        test = self.frames[0] if self.frames else None
        place = (last.path, last.function, last.source.strip()) if last else ()
        where = (str(test.line),) if test else ()
        return (self.type, self.message.strip().split("\n")[0], *place, *where)


@dataclass(frozen=True, slots=True)
class TestRecord:
    """One test of the run. `nodeid` is relative to the workspace, with forward slashes.

    `reason` is why it was skipped or expected to fail. `line` (1-based) is where pytest says it begins.
    """

    __test__: ClassVar[bool] = False

    nodeid: str
    outcome: Outcome
    seconds: float = 0.0
    failure: Failure | None = None
    reason: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """One finished (or killed) run of the person's test runner.

    `collected` are the node ids pytest collected for the selection. `finished` is true only when our probe
    saw the session end. `problem` is one line when the run could not test anything (no pytest, usage error,
    broken conftest, nothing collected). `executed` maps a path to the line numbers the target executed, `failed_at`
    to those that a failed assertion came from or passed through, whether it was caught or not.
    `deselected` are node ids that options or hooks took out. `tampered` names parts of the runner that project
    code replaced while tests ran; `elsewhere` are files that were loaded from the workspace, not the trial.
    `lack` is the problem with the permission that would help, if it is of that kind; `suspects` are things that the
    person has, and that were looked for in vain.
    """

    tests: Mapping[str, TestRecord] = field(default_factory=lambda: dict[str, TestRecord]())
    collected: tuple[str, ...] = ()
    finished: bool = False
    problem: str = ""
    lack: Lack | None = None
    suspects: tuple[Suspect, ...] = ()
    collection_errors: tuple[Failure, ...] = ()
    executed: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: dict[str, tuple[int, ...]]())
    failed_at: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: dict[str, tuple[int, ...]]())
    output: str = ""
    seconds: float = 0.0
    timed_out: bool = False
    deselected: tuple[str, ...] = ()
    tampered: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    pytest: str = ""
    python: str = ""

    @property
    def passed(self) -> tuple[str, ...]:
        """Node ids that passed by their own record."""
        return tuple(t.nodeid for t in self.tests.values() if t.outcome == "passed")

    @property
    def failed(self) -> tuple[str, ...]:
        """Node ids that did not pass and were not skipped or expected to fail."""
        bad = ("failed", "error", "crashed", "timeout", "missing")
        return tuple(t.nodeid for t in self.tests.values() if t.outcome in bad)
