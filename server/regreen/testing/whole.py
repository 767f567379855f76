"""The project's whole suite, without and with a change: the last question before a change is called a fix."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from regreen.testing.report import Failure, Report
from regreen.testing.runner import TestRunner
from regreen.testing.verdict import Verdict

Prepare = Callable[[], Awaitable[Path]]
"""Gives the folder of a copy that is ready for a run."""


@dataclass(frozen=True, slots=True)
class SuiteSays:
    """`reason` is why the change is not a fix ("" when it is one); `failure` belongs to the first of `newly_failing`.

    `passed`, `failed`, `before` and `after` count tests; `scope` says how many of how many were run.
    """

    reason: str
    scope: str
    passed: int
    failed: int
    before: int
    after: int
    newly_failing: tuple[str, ...] = ()
    failure: Failure | None = None

    def added_to(self, verdict: Verdict, seconds: float) -> Verdict:
        """The verdict on what the change can reach, with this beside it."""
        return replace(
            verdict,
            fixed=not self.reason,
            progress="fixed" if not self.reason else "worse" if self.newly_failing else "changed",
            passed=max(verdict.passed, self.passed),
            failed=self.failed,
            collected_before=self.before,
            collected_after=self.after,
            newly_failing=self.newly_failing,
            failure=self.failure,
            reason=self.reason,
            seconds=seconds,
            scope="; ".join(part for part in (self.scope, verdict.scope) if part),
        )


@dataclass
class WholeSuite:
    """All tests that pytest collects by itself in the workspace. `wall` is the limit of one run in seconds."""

    runner: TestRunner
    wall: float
    _before: Report | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def learn(self, prepare: Prepare) -> Report:
        """How the suite stands without the change, run once; `prepare` gives a copy without it."""
        async with self._turn:
            if self._before is None:
                self._before = await self.runner.run(await prepare(), wall=self.wall)
            return self._before

    async def judge(self, original: Prepare, changed: Prepare, covers: Callable[[str], bool]) -> SuiteSays:
        """Run everything with the change. `covers` says of a node id that it is the target, judged already."""
        before = await self.learn(original)
        report = await self.runner.run(await changed(), wall=self.wall)
        lost: list[str] = []
        reason = ""
        if report.finished and before.finished:
            lost = sorted(set(before.collected) - set(report.collected))
        suspects = [i for i in (*report.failed, *lost) if i in before.passed and not covers(i)]
        newly = await self._still_failing(changed, suspects, set(lost)) if suspects else ()
        first = next(iter(newly), "")
        if first:
            more = f" and {len(newly) - 1} more" if len(newly) > 1 else ""
            reason = f"{first}{more} passed before and does not now"
        elif lost:
            reason = f"{len(lost)} tests of the whole suite are no longer collected, {lost[0]} among them"
        elif not report.finished and not report.timed_out and before.finished:
            reason = report.problem or "the run of the whole suite ended before it was finished"
        failure = report.tests[first].failure if first in report.tests else None
        return SuiteSays(
            reason,
            self._scope(before, report),
            len(report.passed),
            len(report.failed),
            len(before.collected) if before.finished else len(report.collected),
            len(report.collected),
            newly,
            failure,
        )

    async def _still_failing(
        self, changed: Prepare, suspects: list[str], lost: set[str], some: int = 20
    ) -> tuple[str, ...]:
        """Those that fail once more by themselves; the others depend on order, on time or on luck."""
        chosen = [*(i for i in suspects if i not in lost), *(i for i in suspects if i in lost)][:some]
        report = await self.runner.run(await changed(), chosen, wall=self.wall)
        return tuple(i for i in chosen if i not in report.passed)

    def _scope(self, before: Report, report: Report) -> str:
        ran = sum(record.outcome not in ("missing", "timeout") for record in report.tests.values())
        of = max(len(before.collected), len(report.collected), ran)
        if report.timed_out:
            return f"whole suite: {ran} of {of} tests run, stopped after {self.wall:.0f} s"
        if not before.finished:
            # What cannot be run to its end without the change cannot tell what the change breaks.
            why = before.problem or ("too slow" if before.timed_out else "it ended early")
            return f"whole suite: {ran} of {of} tests run; without the change it could not be run to its end: {why}"
        return f"whole suite: {ran} of {of} tests run"
