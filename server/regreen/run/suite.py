"""Judging without a named target: the whole suite before, and the whole suite with a change."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Mapping

from regreen.testing.report import Failure, Report
from regreen.testing.runner import TestRunner
from regreen.testing.verdict import Progress, Verdict
from regreen.workspace.changes import Changes
from regreen.workspace.trial import Trial

SUITE_SECONDS = 120.0


class SuiteJudge:
    """Fixed means: every test that failed before passes now, none that passed before fails, none is gone."""

    def __init__(self, runner: TestRunner, trial: Trial) -> None:
        self.first = Report()
        self._failed: tuple[str, ...] = ()
        self._runner = runner
        self._trial = trial

    async def baseline(self, overlay: Mapping[str, bytes | None]) -> Report:
        """Run everything before anything is changed."""
        self.first = await self.run(overlay)
        self._failed = failing(self.first)
        return self.first

    async def run(self, overlay: Mapping[str, bytes | None], selection: Collection[str] = ()) -> Report:
        """Run the tests of some files, or everything, under an overlay."""
        tree = await asyncio.to_thread(self._trial.prepare, overlay)
        return await self._runner.run(tree, sorted(selection), wall=SUITE_SECONDS)

    async def judge(self, overlay: Mapping[str, bytes | None], changes: Changes) -> Verdict:
        """Run everything under `overlay`, which holds the changes."""
        begun = time.monotonic()
        report = await self.run(overlay)
        passed = set(report.passed)
        newly = tuple(nodeid for nodeid in self.first.passed if nodeid not in passed)
        open_ones = [name for name in self._failed if not passes(report, name)]
        reason = self._reason(report, newly, open_ones)
        progress: Progress = "changed"
        if newly:
            progress = "worse"
        elif not reason:
            progress = "fixed"
        elif len(open_ones) < len(self._failed):
            progress = "forward"
        return Verdict(
            target="failed" if open_ones else "passed",
            fixed=not reason,
            progress=progress,
            passed=len(report.passed),
            failed=len(report.failed),
            collected_before=len(self.first.collected),
            collected_after=len(report.collected),
            newly_failing=newly,
            failure=first_failure(report),
            reason=reason,
            seconds=time.monotonic() - begun,
            decides=bool(self._failed),
        )

    def _reason(self, report: Report, newly: tuple[str, ...], open_ones: list[str]) -> str:
        if report.problem and (self.first.collected or self._failed):
            return report.problem
        if newly:
            return f"{newly[0]} passed before and does not now"
        if open_ones:
            return f"{len(open_ones)} of the tests that failed before still fail, {open_ones[0]} among them"
        if len(report.collected) < len(self.first.collected):
            return f"{len(self.first.collected) - len(report.collected)} tests are no longer collected"
        if not self._failed:
            return f"no test failed before, so none can show that the task is done{self._new(report)}"
        return "" if report.finished else "the test run ended before it was finished"

    def _new(self, report: Report) -> str:
        """What became of the tests that were not there before."""
        there = {*self.first.collected, *(nodeid.partition("::")[0] for nodeid in self._failed)}
        bad = [name for name in failing(report) if name not in there]
        good = [nodeid for nodeid in report.passed if nodeid not in there]
        if bad:
            return f"; the new {bad[0]} fails"
        return f"; {len(good)} new test{' passes' if len(good) == 1 else 's pass'}" if good else ""


def failing(report: Report) -> tuple[str, ...]:
    """Node ids of the tests that fail, and the paths of the test files that cannot even be imported."""
    broken = (error.frames[0].path for error in report.collection_errors if error.frames)
    return tuple(dict.fromkeys((*report.failed, *broken)))


def passes(report: Report, name: str) -> bool:
    """Whether a test passed, or, of a file, some test and no other."""
    inside = f"{name}::"
    if any(bad == name or bad.startswith(inside) for bad in failing(report)):
        return False
    return any(good == name or good.startswith(inside) for good in report.passed)


def has_no_tests(report: Report) -> bool:
    """True when pytest ran and there is nothing for it to run; false when it could not run."""
    return report.finished and not report.collected and not report.collection_errors and not report.deselected


def first_failure(report: Report) -> Failure | None:
    """The failure to show of a run of many tests."""
    failures = (report.tests[nodeid].failure for nodeid in report.failed)
    return next((failure for failure in (*report.collection_errors, *failures) if failure), None)
