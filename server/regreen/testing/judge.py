"""The judge: runs a change in a trial and says what the runner saw. Nobody else says "fixed"."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from regreen.testing.before import Before
from regreen.testing.doctests import examples_lost, is_doctest
from regreen.testing.doubts import with_doubt
from regreen.testing.patience import Patience
from regreen.testing.progress import compare
from regreen.testing.reach import ImportGraph
from regreen.testing.report import Failure, Outcome, Report, TestRecord
from regreen.testing.runner import TestRunner
from regreen.testing.tampering import reaches_into_runner
from regreen.testing.target import Target
from regreen.testing.verdict import Progress, Verdict
from regreen.testing.whole import WholeSuite
from regreen.workspace.changes import Changes
from regreen.workspace.trial import Trial

Overlay = Mapping[str, bytes | None]

_WORST: dict[Outcome, int] = {
    "passed": 0, "xpassed": 1, "xfailed": 1, "skipped": 1, "missing": 2, "failed": 3, "error": 4, "timeout": 5,
    "crashed": 6,
}  # fmt: skip


class Judge:
    """Judges changes for one target. `locked` says of a path that it may not change (tests, their configuration);
    with `whole` no test of the project may break, be it reached or not; with `strict` a doubtful pass is no fix.

    `first` is the report of `baseline`; `flaky` is True once the target has passed without any change. `examples_locked`
    says of a path that the examples in its docstrings are the test.
    """

    def __init__(
        self,
        runner: TestRunner,
        trial: Trial,
        target: Target,
        locked: Callable[[str], bool] | None = None,
        patience: Patience | None = None,
        whole: bool = False,
        strict: bool = False,
    ) -> None:
        self.first: Report | None = None
        self.flaky = False
        self.examples_locked: Callable[[str], bool] = lambda _path: False
        self._runner = runner
        self._trial = trial
        self._target = target
        self._locked = locked
        self._patience = patience or Patience()
        self._whole = WholeSuite(runner, self._patience.whole) if whole else None
        self._strict = strict
        self._before = Before()
        self._bases: dict[str, bytes | None] = {}
        self._graph = ImportGraph()
        self._unsteady = False
        self._broadening: asyncio.Event | None = None

    # --- without the change --------------------------------------------------------------------------------

    async def baseline(self, overlay: Overlay) -> Report:
        """Run the target alone, fresh and traced, before anything is changed."""
        tree = await asyncio.to_thread(self._trial.prepare, overlay)
        report = self.first = await self._run_target(tree, warm=False)
        self._before.learn(report)
        return report

    async def broaden(self, overlay: Overlay) -> None:
        """Learn how the target's file and the tests near it stand, in a second copy. May run beside the model.

        Cancelling it is safe; what it did not learn is looked up when it is needed.
        """
        done = self._broadening = asyncio.Event()
        beside = self._trial.sibling("before")
        try:
            if self._trial.tree.is_dir():
                await self._runner.warm_up(self._trial.tree)
            tree = await asyncio.to_thread(beside.prepare, overlay)
            await asyncio.to_thread(self._graph.refresh, tree)
            near = self._graph.tests_reaching(self._code_that_ran(), self._before.collected)
            path = self._target.path
            files = [path, *(other for other in near if other != path)]
            report = await self._runner.run(tree, files, wall=self._patience.wider)
            self._before.learn(report, files)
            again = [record for record in self._records(report) if record.outcome == "passed"]
            if again and self._failed_before():
                await self._look_for_flakiness(tree)
            done.set()
            if self._whole is not None:
                await self._whole.learn(lambda: asyncio.to_thread(beside.prepare, overlay))
        finally:
            done.set()
            await asyncio.shield(asyncio.to_thread(beside.close))

    async def _look_for_flakiness(self, tree: Path) -> None:
        """The target failed alone and passed with its file: by order, or by chance? Alone once more tells."""
        self._unsteady = True
        report = await self._runner.run(tree, [self._target.nodeid], wall=self._patience.target)
        self.flaky |= not self._failing(report)

    async def unsteady(self) -> str:
        """What a target does that failed and then passed with nothing changed, as a clause; "" for any other."""
        if self._broadening is not None and self._unsteady:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._broadening.wait(), self._patience.target)
        if self.flaky:
            return "is flaky: it failed, and then passed with nothing changed"
        return "fails by itself and passes with the other tests of its file" if self._unsteady else ""

    def _code_that_ran(self) -> list[str]:
        """Files of code that the target executed; a doctest's own is one of them."""
        ran = self.first.executed if self.first else ()
        return [path for path in ran if path != self._target.path or is_doctest(self._target)]

    # --- with the change -----------------------------------------------------------------------------------

    async def judge(self, overlay: Overlay, changes: Changes) -> Verdict:
        """Run the target on the workspace under `overlay`, which holds the changes, and then what they can reach.

        `changes` are those of the proposal, to be looked at before anything runs; none when the overlay is judged
        as it stands. First the target, then its file, then the tests that import a changed file, within a time limit.
        """
        begun = time.monotonic()
        for change in changes.values():
            self._bases.setdefault(change.path, change.base)
        refused = self._refusal(changes)
        if refused:
            return self._not_fixed("same", refused, begun)
        tree = await asyncio.to_thread(self._trial.prepare, overlay)
        report = await self._run_target(tree, warm=True)
        doubt = self._doubt(report, traced=True)
        records = self._records(report)
        if doubt or not records or any(record.outcome != "passed" for record in records):
            progress = compare(self._records(self.first), records) if self.first else "changed"
            if doubt and progress == "forward":
                progress = "changed"
            return self._not_fixed(progress, doubt or self._why(report, records), begun, report)
        return await self._judge_wider(overlay, tree, begun, report)

    async def _run_target(self, tree: Path, warm: bool) -> Report:
        """The target alone, traced. What a warm run says is taken when it is a pass (a cold one follows) or the test's
        own failure; anything stranger is looked at again, cold."""
        selection, wall = [self._target.nodeid], self._patience.target
        report = await self._runner.run(tree, selection, trace_lines=True, wall=wall, warm=warm)
        outcomes = {record.outcome for record in self._records(report)}
        if not warm or (
            report.finished and not report.problem and outcomes and outcomes <= {"passed", "failed"}
        ):
            return report
        return await self._runner.run(tree, selection, trace_lines=True, wall=wall)

    async def _judge_wider(self, overlay: Overlay, tree: Path, begun: float, alone: Report) -> Verdict:
        """The target passes alone: now its file, and the tests that can reach what was changed."""
        changed = [path for path in self._bases if path.endswith(".py")]
        await asyncio.to_thread(self._graph.refresh, tree)
        path = self._target.path
        reaching = self._graph.tests_reaching(changed, self._before.collected)
        files = [path, *(other for other in reaching if other != path and (tree / other).is_file())]
        await asyncio.to_thread(lambda: self._trial.prepare(overlay, fresh=False))
        report = await self._runner.run(tree, files, wall=self._patience.wider)
        await self._know_before(overlay, files, report)
        lost = self._lost(report, files)
        failing = [nodeid for nodeid in (*report.failed, *lost) if not self._target.covers(nodeid)]
        newly = tuple(nodeid for nodeid in dict.fromkeys(failing) if self._before.passed(nodeid))
        if newly:
            newly = await self._still_failing(overlay, tree, newly)
        reason, failure = await self._objection(overlay, tree, report, newly, lost)
        before, after = self._counts(report, files)
        progress: Progress = "fixed" if not reason else "worse" if newly else "changed"
        verdict = Verdict(
            target="passed",
            fixed=not reason,
            progress=progress,
            passed=len(report.passed),
            failed=len(report.failed),
            collected_before=before,
            collected_after=after,
            newly_failing=newly,
            failure=failure,
            reason=reason,
            seconds=time.monotonic() - begun,
            scope=self._scope(report, files),
        )
        about = (verdict, self._bases, overlay, tree, self._target, self._strict, alone)
        verdict = await asyncio.to_thread(with_doubt, *about)
        if self._whole is None or not verdict.fixed:
            return verdict
        return await self._judge_whole(self._whole, verdict, overlay, begun)

    async def _judge_whole(
        self, whole: WholeSuite, verdict: Verdict, overlay: Overlay, begun: float
    ) -> Verdict:
        """All that the change can reach passes: now everything, as the person wished."""
        original = {**overlay, **self._bases}
        says = await whole.judge(
            lambda: asyncio.to_thread(lambda: self._trial.prepare(original, fresh=False)),
            lambda: asyncio.to_thread(lambda: self._trial.prepare(overlay, fresh=False)),
            self._target.covers,
        )
        return says.added_to(verdict, time.monotonic() - begun)

    async def _objection(
        self, overlay: Overlay, tree: Path, report: Report, newly: Sequence[str], lost: Sequence[str]
    ) -> tuple[str, Failure | None]:
        """Why a target that passes alone is not fixed all the same, with the failure to show; ("", None) if it is."""
        if newly:
            more = f" and {len(newly) - 1} more" if len(newly) > 1 else ""
            failure = report.tests[newly[0]].failure if newly[0] in report.tests else None
            return f"{newly[0]}{more} passed before and does not now", failure
        if lost and not report.timed_out:
            return f"{len(lost)} tests are no longer collected, {lost[0]} among them", None
        doubt = "" if report.timed_out else self._doubt(report, traced=False)
        if doubt:
            return doubt, None
        with_file = [record for record in self._records(report) if record.outcome != "missing"]
        wrong = next((record for record in with_file if record.outcome != "passed"), None)
        if wrong is not None:
            return f"{wrong.nodeid} passes alone, but not with the rest of its file", wrong.failure
        if not with_file:
            # The pass came from the warm process, and the time was up before the file's turn: see it cold.
            await asyncio.to_thread(lambda: self._trial.prepare(overlay, fresh=False))
            alone = self._failing(await self._run_target(tree, warm=False))
            if alone:
                return f"the target passed once and then was {alone[0].outcome}", alone[0].failure
        return await self._flakiness(overlay, tree)

    async def _flakiness(self, overlay: Overlay, tree: Path) -> tuple[str, Failure | None]:
        if self.flaky:
            return "the target is flaky: it also passed without any change, so a pass shows nothing", None
        if not self._unsteady:
            return "", None
        for turn in range(self._patience.reruns):
            await asyncio.to_thread(lambda: self._trial.prepare(overlay, fresh=False))
            report = await self._runner.run(tree, [self._target.nodeid], wall=self._patience.target)
            failing = self._failing(report)
            if failing:
                return f"the target is flaky: it failed in run {turn + 2} after it passed", failing[0].failure
        return "", None

    async def _still_failing(self, overlay: Overlay, tree: Path, nodeids: tuple[str, ...]) -> tuple[str, ...]:
        """Those that fail again when they are run by themselves, here; the others are flaky or were cut short."""
        some = list(nodeids)[:20]
        await asyncio.to_thread(lambda: self._trial.prepare(overlay, fresh=False))
        report = await self._runner.run(tree, some, wall=self._patience.wider)
        return tuple(nodeid for nodeid in some if nodeid not in report.passed)

    async def _know_before(self, overlay: Overlay, files: Sequence[str], after: Report) -> None:
        """Find out how tests that fail now stood before, where `broaden` has not been."""
        if self._broadening is not None and not self._broadening.is_set():
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._broadening.wait(), self._patience.wider)
        unknown = [nodeid for nodeid in after.failed if nodeid not in self._before.records]
        here = [path for path in files if path == self._target.path and path not in self._before.collected]
        wanted = here or sorted({nodeid.split("::")[0] for nodeid in unknown})
        if not wanted:
            return
        original = {**overlay, **self._bases}
        tree = await asyncio.to_thread(lambda: self._trial.prepare(original, fresh=False))
        report = await self._runner.run(tree, wanted, wall=self._patience.wider)
        self._before.learn(report, wanted)
        rest = [nodeid for nodeid in unknown if nodeid not in self._before.records]
        if rest and here:
            files_left = sorted({nodeid.split("::")[0] for nodeid in rest})
            self._before.learn(
                await self._runner.run(tree, files_left, wall=self._patience.wider), files_left
            )

    # --- questions -----------------------------------------------------------------------------------------

    def _refusal(self, changes: Changes) -> str:
        """Why a proposal is not even run."""
        for change in changes.values():
            if change.after == (change.before or ""):
                continue
            if self._locked is not None and self._locked(change.path):
                return f"refused: {change.path} is locked"
            tampering = reaches_into_runner(change.before or "", change.after, change.path)
            if tampering:
                return f"refused: {tampering}"
            lost = (
                examples_lost(change.before or "", change.after) if self.examples_locked(change.path) else ""
            )
            if lost:
                return f"refused: {lost}"
        return ""

    def _doubt(self, report: Report, traced: bool) -> str:
        """Why a report, whatever its records say, is no evidence of a pass."""
        new = set(report.tampered) - set(self.first.tampered if self.first else ())
        if new:
            return f"the run replaced parts of the test runner: {', '.join(sorted(new))}"
        stray = [path for path in self._bases if path in report.elsewhere]
        if stray:
            return f"the tests used {stray[0]} of the workspace instead of the changed one"
        if report.timed_out:
            return "the test run took too long and was ended"
        if not report.finished:
            return report.problem or "the test run ended before it was finished"
        if self.first and traced:
            gone = {i for i in self.first.collected if self._target.covers(i)} - set(report.collected)
            if gone:
                return f"{sorted(gone)[0]} is no longer collected"
            if self._body_ran(self.first) and not self._body_ran(report) and self._records(report):
                return "the test passed without its own lines being run"
        return ""

    def _body_ran(self, report: Report) -> bool:
        """Whether lines of the target's file ran below the line where the test begins."""
        ran = report.executed.get(self._target.path, ())
        begins = [record.line for record in self._records(report) if record.line is not None]
        return bool(begins) and any(line > min(begins) for line in ran)

    def _records(self, report: Report | None) -> list[TestRecord]:
        tests: Mapping[str, TestRecord] = report.tests if report else {}
        return [record for nodeid, record in tests.items() if self._target.covers(nodeid)]

    def _failing(self, report: Report) -> list[TestRecord]:
        records = self._records(report)
        return [record for record in records if record.outcome != "passed"] or (
            [] if records else [TestRecord(self._target.nodeid, "missing")]
        )

    def _failed_before(self) -> bool:
        return self.first is not None and bool(self._failing(self.first))

    def _why(self, report: Report, records: Sequence[TestRecord]) -> str:
        if report.problem:
            return report.problem
        worst = max(records, key=lambda record: _WORST[record.outcome], default=None)
        if worst is None or worst.outcome == "missing":
            return "the target did not run"
        if worst.failure is None:
            return f"the target is {worst.outcome}{': ' + worst.reason if worst.reason else ''}"
        said = worst.failure.message.strip().split("\n")[0][:200]
        return f"the target still fails: {worst.failure.type}: {said}"

    def _lost(self, report: Report, files: Sequence[str]) -> list[str]:
        """Tests of these files that were collected before and are not now."""
        if report.timed_out or not report.finished:
            return []
        now = set(report.collected)
        return sorted(i for path in files for i in self._before.collected.get(path, ()) if i not in now)

    def _counts(self, report: Report, files: Sequence[str]) -> tuple[int, int]:
        now = [nodeid.split("::")[0] for nodeid in report.collected]
        after = len(now)
        before = sum(
            len(self._before.collected[path]) if path in self._before.collected else now.count(path)
            for path in files
        )
        return before, after

    def _scope(self, report: Report, files: Sequence[str]) -> str:
        if report.timed_out:
            ran = sum(record.outcome not in ("missing", "timeout") for record in report.tests.values())
            return f"stopped after {self._patience.wider:.0f} s: {ran} tests of {len(files)} files were run"
        return "" if self._graph.complete else "not all imports of the project could be followed in time"

    def _not_fixed(
        self, progress: Progress, reason: str, begun: float, report: Report | None = None
    ) -> Verdict:
        records = self._records(report if report is not None else self.first)
        worst = max(records, key=lambda record: _WORST[record.outcome], default=None)
        failing = next((record.failure for record in records if record.failure), None)
        collected = [i for i in (self.first.collected if self.first else ()) if self._target.covers(i)]
        return Verdict(
            target=worst.outcome if worst else "missing",
            fixed=False,
            progress=progress,
            passed=sum(record.outcome == "passed" for record in records),
            failed=sum(record.outcome not in ("passed", "skipped", "xfailed") for record in records),
            collected_before=len(collected),
            collected_after=len(report.collected) if report else len(collected),
            failure=failing,
            reason=reason,
            seconds=time.monotonic() - begun,
        )
