"""`regreen ask`: a task in words. The model finds its own way; the tests decide, where there are any."""

from __future__ import annotations

import contextlib
from pathlib import Path

from regreen.agent import prompt
from regreen.agent.loop import Agent
from regreen.agent.model import Model
from regreen.agent.stops import NotVerified, Rejected, SetupProblem, Stop, Stuck
from regreen.repair.ground import SearchGround
from regreen.run.bench import Bench
from regreen.run.protocol import Channel
from regreen.run.session import Session
from regreen.run.suite import SuiteJudge, first_failure
from regreen.settings import RunSettings
from regreen.testing.judge import Judge
from regreen.testing.report import Report
from regreen.testing.runner import TestRunner
from regreen.testing.target import Target
from regreen.tools import menu
from regreen.tools.results import failure_text
from regreen.tools.toolbox import Toolbox
from regreen.workspace.root import Workspace
from regreen.workspace.trial import Trial

SHOWN_FILES = 60


class AskSession(Session):
    """A run without a named target."""

    system = prompt.ASK_SYSTEM
    tools = menu.ASK

    def __init__(
        self, task: str, workspace: Workspace, python: Path, settings: RunSettings, channel: Channel
    ) -> None:
        super().__init__(Target(""), workspace, python, settings, channel)
        self.label = task

    async def _fix(
        self,
        stack: contextlib.AsyncExitStack,
        judge: Judge,
        trial: Trial,
        runner: TestRunner,
        model: Model,
        ground: SearchGround,
    ) -> Stop:
        if model.name == "builtin":
            raise SetupProblem(
                "A task in words needs a model: start Ollama (`ollama serve`), or name one with --model. "
                "The built-in search can only fix a named test."
            )
        self._model_needed.set()
        warming = self._beside(stack, self._warm(model))
        suite = SuiteJudge(runner, trial)
        with self._budget.clock.spend("tests"):
            report = await suite.baseline(self._draft.overlay())
        await warming
        desk = self._desk = self._new_desk(suite, first_failure(report))
        bench = _AskBench(Target(""), self._draft, desk, trial, runner, self._budget.clock, [])
        bench.before = report
        toolbox = Toolbox(self._workspace, self._draft, desk, bench, self._emit)
        self._agent = Agent(
            model, toolbox, self.tools, bench, self._budget, self._listener, self._emit, verified=False
        )
        stop = await self._agent.run(prompt.opening(self._opening(report), system=self.system))
        if isinstance(stop, NotVerified) and (desk.written or not desk.rejected):
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
        if not report.collected:
            tests = "There are no tests; check with run_python."
        else:
            tests = f"Tests: {len(report.passed)} pass, {len(report.failed)} fail."
            tests += "".join(f"\n{nodeid} fails" for nodeid in report.failed[:5])
        return f"Task: {self.label}\n\nFiles:\n{listed}\n\n{tests}"


class _AskBench(Bench):
    """Without a target, `run_tests` runs everything, and a claim is judged by all tests or not at all."""

    before: Report
    _printed: str = ""

    async def run(self, path: str | None) -> str:
        """Run the tests of a path, or all."""
        return await self._run_selection([path] if path else [])

    async def python(self, code: str) -> str:
        """Run a snippet, and remember what it showed: it is the evidence where there are no tests."""
        self._printed = await super().python(code)
        return self._printed

    def failure(self) -> str:
        """The first failure left, or what there is to judge by."""
        return failure_text(self._desk.failure) or "No test fails."

    async def confirmed(self) -> bool:
        """All tests decide; without a test that failed before, nothing can be verified."""
        if not self.before.failed:
            shown = f" What a check printed: {self._printed.strip()[:300]}" if self._printed else ""
            kind = "No test failed before" if self.before.collected else "There are no tests"
            raise NotVerified(
                f"{kind}, so the runner cannot say that the task is done.{shown} "
                "A test that fails without the change would show it: write one, then run `regreen fix` on it."
            )
        return await super().confirmed()
