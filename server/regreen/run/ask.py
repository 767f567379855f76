"""`regreen ask`: a task in words. The model finds its own way; the tests decide, where there are any."""

from __future__ import annotations

import shlex
from pathlib import Path

from regreen.agent import prompt
from regreen.agent.budget import Clock
from regreen.agent.loop import Agent
from regreen.agent.stops import NotVerified, Rejected, SetupProblem, Stop, Stuck
from regreen.run import written_tests
from regreen.run.bench import Bench
from regreen.run.offer import Offer
from regreen.run.parts import Parts
from regreen.run.proposals import Desk
from regreen.run.protocol import Channel
from regreen.run.resume import Earlier, offer_again
from regreen.run.session import Session
from regreen.run.suite import SuiteJudge, failing, first_failure, has_no_tests
from regreen.run.written_tests import ChangedFiles, WrittenTests
from regreen.settings import RunSettings
from regreen.testing.evidence import cut
from regreen.testing.report import Report
from regreen.testing.target import Target
from regreen.tools import menu
from regreen.tools.results import failure_text
from regreen.tools.toolbox import Toolbox
from regreen.workspace.draft import Draft
from regreen.workspace.root import Workspace

SHOWN_FILES = 60
PRINTED_CHARS = 300


class AskSession(Session):
    """A run without a named target."""

    command = "ask"
    rules = prompt.ASK_SYSTEM
    tools = menu.ASK

    def __init__(
        self,
        task: str,
        workspace: Workspace,
        python: Path,
        settings: RunSettings,
        channel: Channel,
        earlier: Earlier | None = None,
    ) -> None:
        super().__init__(Target(""), workspace, python, settings, channel, earlier)
        self.label = task
        self.again = f"regreen ask --workspace {shlex.quote(str(workspace.root))}"
        self._bench: _AskBench | None = None
        self.offered: Offer | None = None

    async def _fix(self, parts: Parts) -> Stop:
        if parts.model.name == "builtin":
            raise SetupProblem(
                "A task in words needs a model: start Ollama (`ollama serve`), or name one with --model. "
                "The built-in search can only fix a named test."
            )
        self._model_needed.set()
        warming = self._beside(parts.stack, self._warm(parts.model))
        suite = SuiteJudge(parts.runner, parts.trial)
        with self._budget.clock.spend("tests"):
            report = await suite.baseline(self._draft.overlay())
        await warming
        desk = self._desk = self._new_desk(suite, first_failure(report))
        settled = self._earlier and await offer_again(self._earlier, self._draft, desk, self._note)
        if settled and settled.stop:
            return settled.stop
        bench = self._bench = _AskBench(
            self._workspace, self._draft, desk, parts, suite, self._budget.clock, self._earlier
        )
        toolbox = Toolbox(self._workspace, self._draft, desk, bench, self._emit)
        self._agent = Agent(
            parts.model,
            toolbox,
            self.tools,
            bench,
            self._budget,
            self._listener,
            self._emit,
            verified=False,
        )
        told = self._earlier.told_task() if self._earlier else ""
        stop = await self._agent.run(prompt.opening(self._opening(report), told, self._system))
        if isinstance(stop, NotVerified) and (desk.written or not desk.rejected):
            if desk.verdict and (waiting := self._draft.pending()):
                desk.best = (desk.verdict, tuple(waiting))
            return stop
        if isinstance(stop, NotVerified):
            return Rejected("The last proposal was rejected, and there was nothing else to show.")
        if isinstance(stop, Stuck) and desk.rejected:
            return Rejected(f"The last proposal was rejected, and there was nothing else to show. {stop}")
        return stop

    def _opening(self, report: Report) -> str:
        files = self._workspace.files()
        more = f"\n[{len(files) - SHOWN_FILES} more files]" if len(files) > SHOWN_FILES else ""
        listed = "\n".join(files[:SHOWN_FILES]) + more
        bad = failing(report)
        if report.collected or bad:
            tests = f"Tests: {len(report.passed)} pass, {len(bad)} fail."
            tests += "".join(f"\n{name} fails" for name in bad[:5])
        elif has_no_tests(report):
            tests = "There are no tests; check with run_python."
        else:
            why = report.problem or "the test run did not come to its end."
            tests = f"The tests cannot be run: {why}\nCheck with run_python."
        return f"Task: {self.label}\n\nFiles:\n{listed}\n\n{tests}"

    def offer(self, stop: Stop) -> Offer | None:
        """A test, where none decided and the agent wrote none. The same as `offered`, once the run has ended."""
        bench, desk = self._bench, self._desk
        if isinstance(stop, NotVerified) and bench is not None and desk is not None and bench.wants_a_test:
            changed = bool(desk.written)
            self.offered = Offer.of(self.label, self._workspace.root, self.run, changed, self._settings)
        return self.offered


class _AskBench(Bench):
    """Without a target, `run_tests` runs everything, and a claim is judged by all tests or not at all."""

    def __init__(
        self,
        workspace: Workspace,
        draft: Draft,
        desk: Desk,
        parts: Parts,
        suite: SuiteJudge,
        clock: Clock,
        earlier: Earlier | None,
    ) -> None:
        super().__init__(Target(""), draft, desk, parts.trial, parts.runner, clock, [])
        self._policy = workspace.policy
        self._suite = suite
        self._before = suite.first
        self._earlier = earlier
        self._printed = self._printed_on = self._doubted = ""

    async def run(self, path: str | None) -> str:
        """Run the tests of a path, or all."""
        return await self._run_selection([path] if path else [])

    async def python(self, code: str) -> str:
        """Run a snippet, and remember what it showed: it is the evidence where there are no tests."""
        self._printed = await super().python(code)
        self._printed_on = self.fingerprint()
        return self._printed

    def failure(self) -> str:
        """The first failure left, or what there is to judge by."""
        return failure_text(self._desk.failure) or "No test fails."

    @property
    def wants_a_test(self) -> bool:
        """True where no test decides, and one could: pytest runs, and tests are locked, so the agent wrote none."""
        runs = bool(self._before.collected) or has_no_tests(self._before)
        return runs and not failing(self._before) and not self._policy.tests_unlocked

    async def confirmed(self) -> bool:
        """All tests decide; without a test that failed before, nothing can be verified. A test of the agent's own that
        fails is told to it, once."""
        if failing(self._before):
            return await super().confirmed()
        written = await self._written_tests()
        if written and written.failing and self._doubted != (on := self.fingerprint()):
            self._doubted = on
            self._desk.failure = written.failure
            return False
        parts = [self._kind(written), self._checked(), "" if written else self._unwritten()]
        evidence = {**(written.to_json() if written else {}), "printed": self._printed}
        raise NotVerified(" ".join(part for part in parts if part), evidence)

    async def _written_tests(self) -> WrittenTests | None:
        changes = (*self._desk.written, *self._draft.pending())
        files = ChangedFiles.of(
            changes, self._policy.is_test, self._earlier.before if self._earlier else None
        )
        with self._clock.spend("tests"):
            return await written_tests.look(
                files, self._suite.run, self._draft.overlay(), frozenset(self._before.collected)
            )

    def _kind(self, written: WrittenTests | None) -> str:
        """Why nothing is verified, and what a test of the agent's own is worth."""
        before = self._before
        if written:
            yours = "No test of yours failed before" if before.collected else "There is no test of yours"
            return f"{yours}, so the runner cannot say that the task is done. {written.words()}"
        if not before.collected and not has_no_tests(before):
            return f"The tests cannot be run: {before.problem or 'the run did not come to its end'}."
        kind = "No test failed before" if before.collected else "There are no tests"
        return f"{kind}, so the runner cannot say that the task is done."

    def _checked(self) -> str:
        if not self._printed:
            return ""
        when = "" if self._printed_on == self.fingerprint() else ", before the last edit"
        return f"What a check printed{when}: {cut(self._printed.strip(), PRINTED_CHARS)}"

    def _unwritten(self) -> str:
        """What became of edits that no verdict lets through."""
        if self._draft.pending() and self._desk.approval != "everyEdit":
            return (
                f"With --approval {self._desk.approval} only a verified fix is written, so its edits were not: use "
                "--approval everyEdit to see each of them."
            )
        return (
            "" if not self.wants_a_test else "A test that fails without the change would show it: write one."
        )
