"""Judging without a named target: the whole suite before, and the whole suite with a change."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

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
        self._runner = runner
        self._trial = trial

    async def baseline(self, overlay: Mapping[str, bytes | None]) -> Report:
        """Run everything before anything is changed."""
        self.first = await self._run(overlay)
        return self.first

    async def _run(self, overlay: Mapping[str, bytes | None]) -> Report:
        tree = await asyncio.to_thread(self._trial.prepare, overlay)
        return await self._runner.run(tree, [], wall=SUITE_SECONDS)

    async def judge(self, overlay: Mapping[str, bytes | None], changes: Changes) -> Verdict:
        """Run everything under `overlay`, which holds the changes."""
        begun = time.monotonic()
        report = await self._run(overlay)
        newly = tuple(nodeid for nodeid in self.first.passed if nodeid not in set(report.passed))
        open_ones = [nodeid for nodeid in self.first.failed if nodeid not in set(report.passed)]
        reason = self._reason(report, newly, open_ones)
        progress: Progress = "changed"
        if newly:
            progress = "worse"
        elif not reason:
            progress = "fixed"
        elif len(open_ones) < len(self.first.failed):
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
        )

    def _reason(self, report: Report, newly: tuple[str, ...], open_ones: list[str]) -> str:
        if report.problem and self.first.collected:
            return report.problem
        if newly:
            return f"{newly[0]} passed before and does not now"
        if open_ones:
            return f"{len(open_ones)} of the tests that failed before still fail, {open_ones[0]} among them"
        if len(report.collected) < len(self.first.collected):
            return f"{len(self.first.collected) - len(report.collected)} tests are no longer collected"
        if not self.first.failed:
            return "no test failed before, so none can show that the task is done"
        return "" if report.finished else "the test run ended before it was finished"


def first_failure(report: Report) -> Failure | None:
    """The failure to show of a run of many tests."""
    return next(
        (report.tests[nodeid].failure for nodeid in report.failed if report.tests[nodeid].failure), None
    )
