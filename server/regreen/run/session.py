"""One run from target to outcome: puts the parts together, in the order in which a person sees them."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import traceback
from collections.abc import Coroutine, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from regreen import settings as defaults
from regreen.agent import prompt
from regreen.agent.budget import Budget
from regreen.agent.conversation import Message
from regreen.agent.loop import Agent
from regreen.agent.model import Model
from regreen.agent.stops import EXIT_CODES, Cancelled, OutcomeName, Rejected, SetupProblem, Stop, Stuck
from regreen.agent.trace import TraceWriter, span_event
from regreen.errors import RegreenError, UsageError
from regreen.models.builtin import BuiltinModel
from regreen.models.choose import choose
from regreen.redact import Redactor
from regreen.repair.ground import SearchGround
from regreen.run.asking import OneAtATime
from regreen.run.bench import Bench
from regreen.run.beside import LiveFinder, SearchBeside, finder_for
from regreen.run.consent import seal_mode
from regreen.run.folders import RunFolders
from regreen.run.listener import ModelListener
from regreen.run.offer import Offer
from regreen.run.outcome import Ending
from regreen.run.parts import Parts
from regreen.run.permission import FirstLook
from regreen.run.proposals import Desk, Trials
from regreen.run.protocol import Channel, Event
from regreen.run.resume import Earlier, offer_again
from regreen.run.telling import Teller
from regreen.run.turn import turn
from regreen.run.warming import warm
from regreen.settings import RunSettings
from regreen.testing.doctests import lock_target
from regreen.testing.evidence import gather
from regreen.testing.judge import Judge, Patience
from regreen.testing.report import Failure
from regreen.testing.runner import TestRunner
from regreen.testing.seal.allowed import Widened
from regreen.testing.seal.choose import choose as choose_seal
from regreen.testing.target import Target
from regreen.tools import menu
from regreen.tools.toolbox import Toolbox
from regreen.workspace.draft import Draft
from regreen.workspace.journal import Journal
from regreen.workspace.names import PathRefused
from regreen.workspace.root import Workspace
from regreen.workspace.trial import Trial
from regreen.workspace.writer import Writer

TICK_SECONDS = 1.0
_EXPLAINED: tuple[OutcomeName, ...] = ("fixed", "not_verified")


class Session:
    """A run. `execute` plays it and returns the exit code; `outcome` is known afterwards."""

    command = "fix"
    again = "regreen fix"
    rules = prompt.SYSTEM
    tools = menu.FIX

    def __init__(
        self,
        target: Target,
        workspace: Workspace,
        python: Path,
        settings: RunSettings,
        channel: Channel,
        earlier: Earlier | None = None,
    ) -> None:
        self.target = target
        self.label = target.nodeid
        self.run = defaults.new_run_id()
        self.outcome: OutcomeName = "error"
        self._workspace = workspace
        lock_target(workspace.policy, target)
        self._python = python
        self._settings = settings
        self._channel = channel
        self._asker = OneAtATime(channel) if settings.interactive else None
        self._earlier = earlier
        self._budget = Budget(settings.allowance)
        self._draft = Draft(workspace.read)
        self._folders = RunFolders(self.run)
        clock = self._budget.clock
        self._trace = TraceWriter(self._folders.trace, clock.elapsed)
        clock.on_span = lambda who, begin, end: self._trace.write(span_event(who, begin, end))
        self._tell = Teller(self._trace, channel, Redactor.of_this_process())
        self._journal = Journal(self._folders.journal, self.run)
        self._listener = ModelListener(self._emit, self._budget)
        self._task: asyncio.Task[Any] | None = None
        self._cancelled = False
        self._desk: Desk | None = None
        self._agent: Agent | None = None
        self._first: FirstLook | None = None
        self._model_name = settings.model
        self._seal_name = ""
        self._notes: list[str] = []
        self._model_needed = asyncio.Event()

    @property
    def _system(self) -> str:
        """The fixed start of the prompt."""
        return prompt.unlocked(self.rules) if self._workspace.policy.tests_unlocked else self.rules

    @property
    def wrote(self) -> bool:
        """True when the run changed a file."""
        return bool(self._desk and self._desk.written)

    # -- Hearing: what comes in while the run goes -----------------------------------------------------

    def cancel(self) -> None:
        """End the run; it answers with the outcome `cancelled`."""
        self._cancelled = True
        if self._task:
            self._task.cancel()

    def extend(self, steps: int, tokens: int, seconds: float) -> None:
        """Allow more."""
        self._budget.extend(steps, tokens, seconds)
        self._emit({"event": "budget", **self._budget.to_json()})

    def buffers(self, buffers: Mapping[str, str | None]) -> None:
        """Take note of unsaved texts, by relative path. What lies outside the workspace is left alone."""
        for path, text in buffers.items():
            with contextlib.suppress(PathRefused, OSError, UnicodeError):
                self._draft.set_buffer(path, text)

    # -- the run ---------------------------------------------------------------------------------------

    async def execute(self) -> int:
        """Play the run to its end. Never raises but for a cancellation that nobody asked for."""
        self._task = asyncio.current_task()
        self._channel.listen(self)
        stop: Stop
        try:
            stop = await self._play()
        except Stop as reached:
            stop = reached
        except asyncio.CancelledError:
            if not self._cancelled:
                raise
            stop = Cancelled("The run was cancelled; nothing was written after that.")
        except UsageError as error:
            self.outcome = "error"
            self._finish(Stop(str(error)))
            return error.exit_code
        except (RegreenError, PathRefused) as error:
            stop = SetupProblem(str(error))
        except Exception as error:
            sys.stderr.write(self._tell.text(traceback.format_exc()))
            stop = Stop(
                f"An error of Regreen's own: {type(error).__name__}: {error}. The trace holds the details."
            )
        self._finish(stop)
        return EXIT_CODES[self.outcome]

    async def _play(self) -> Stop:
        async with contextlib.AsyncExitStack() as stack:
            stack.callback(self._folders.remove)
            stack.callback(self._close_journal)
            await stack.enter_async_context(turn(self._workspace.root, self._urgent_note))
            mode = await seal_mode(self._settings, self._workspace.root, self._channel)
            choice = await choose_seal(mode, self._settings.allowed)
            seal = Widened.around(choice.seal)
            self._seal_name = seal.name
            if choice.why:
                self._note(f"Tests run without the strongest seal ({seal.name}): {choice.why}")
            if allowed := self._settings.allowed.words():
                self._note(f"Tests may also {allowed}: you allowed it.")
            trial = Trial(self._workspace.root, self._folders.trial, readable=self._settings.allowed.readable)
            stack.callback(trial.close)
            runner = TestRunner(self._python, self._workspace.root, seal, self._folders.scratch)
            stack.push_async_callback(runner.aclose)
            whole, strict = self._settings.tests == "all", self._settings.approval == "never"
            patience = Patience.within(self._budget.allowance.seconds)
            judge = Judge(runner, trial, self.target, self._locked, patience, whole, strict)
            judge.examples_locked = self._workspace.policy.examples_locked
            ground = self._ground(seal, judge)
            model = await self._choose_model(ground)
            stack.push_async_callback(model.aclose)
            self._started(model)
            self._beside(stack, self._tick())
            try:
                return await self._fix(Parts(stack, judge, trial, runner, model, ground))
            finally:
                await runner.cool_down()  # Processes end first: folders full of files take their time.

    @staticmethod
    def _beside(stack: contextlib.AsyncExitStack, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do some work beside the run; it is ended, and waited for, before the run's folders go."""
        task = asyncio.create_task(work)

        async def end() -> None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        stack.push_async_callback(end)
        return task

    def _locked(self, path: str) -> bool:
        return self._workspace.may_write(path).permission in ("locked", "refused")

    async def _fix(self, parts: Parts) -> Stop:
        judge = parts.judge
        warming = self._beside(parts.stack, self._warm(parts.model))
        search = self._search_beside(parts, warming)
        first = self._first = self._first_look(parts)
        report = await first.report()
        evidence = gather(self.target, report, self._draft.text)
        desk = self._desk = self._new_desk(judge, evidence.failure)
        if self._earlier and (settled := await offer_again(self._earlier, self._draft, desk, self._note)):
            if settled.stop:
                return settled.stop
            report = await first.report()
            evidence = gather(self.target, report, self._draft.text)
        self._workspace.policy.lock(evidence.test.path)  # An inherited test stands elsewhere.
        self._emit({"event": "evidence", **evidence.to_json(), "seconds": round(report.seconds, 3)})
        self._beside(parts.stack, judge.broaden(self._draft.overlay()))
        if search is None:
            await warming
        desk.nearby = search
        shown = [unit.path for unit in evidence.functions]
        bench = Bench(self.target, self._draft, desk, parts.trial, parts.runner, self._budget.clock, shown)
        toolbox = Toolbox(self._workspace, self._draft, desk, bench, self._emit)
        self._agent = Agent(
            parts.model, toolbox, self.tools, bench, self._budget, self._listener, self._emit, search=search
        )
        told = self._earlier.told() if self._earlier else ""
        stop = await self._agent.run(prompt.opening(evidence.render(), told, self._system))
        if isinstance(stop, Stuck) and (unsteady := await judge.unsteady()):
            return Stuck(
                f"{self.target.nodeid} {unsteady}. Look for what it leaves to chance or to others. {stop}"
            )
        if isinstance(stop, Stuck) and desk.rejected:
            return Rejected(f"The last proposal was rejected, and there was nothing else to show. {stop}")
        return stop

    def _new_desk(self, judge: Trials, failure: Failure | None) -> Desk:
        return Desk(
            self._workspace,
            self._draft,
            judge,
            Writer(self._workspace, self._journal),
            self._channel,
            self._emit,
            self._budget.clock,
            self._settings.approval,
            self._settings.writes,
            failure,
        )

    def _first_look(self, parts: Parts) -> FirstLook:
        clock, hide = self._budget.clock, self._tell.hide
        return FirstLook(self.target, parts, self._draft, clock, self._emit, self._asker, hide)

    # -- the parts -------------------------------------------------------------------------------------

    def _ground(self, seal: Widened, judge: Judge) -> SearchGround:
        return SearchGround(
            target=self.target,
            python=self._python,
            workspace=self._workspace.root,
            seal=seal,
            scratch=self._folders.scratch,
            baseline=lambda: judge.first,
            overlay=self._draft.overlay,
            read=self._draft.current,
            writable=lambda path: self._workspace.may_write(path).permission == "allow",
            files=self._workspace.files,
        )

    async def _choose_model(self, ground: SearchGround) -> Model:
        return await choose(
            self._settings.model,
            base_url=self._settings.base_url,
            make_builtin=lambda: BuiltinModel(ground),
            notes=self._note,
            warn=lambda text: self._note(text, "warning"),
            max_cost=self._settings.allowance.cost,
        )

    def _search_beside(self, parts: Parts, warming: asyncio.Task[None]) -> SearchBeside | None:
        """The quick search beside a model; None where it is the model, or is switched off."""
        if not self._settings.search or parts.model.name == "builtin":
            self._model_needed.set()
            return None
        finder = finder_for(parts.model, parts.ground, self._draft)
        if isinstance(finder, LiveFinder):
            parts.stack.push_async_callback(finder.quick.aclose)
            finder.quick.start_early()
        return SearchBeside(
            finder,
            self._budget,
            self._emit,
            self._progress,
            warming,
            self._model_needed,
            self._settings.search_grace,
        )

    async def _warm(self, model: Model) -> None:
        system = (Message("system", self._system),)
        clock, needed = self._budget.clock, self._model_needed.wait
        await warm(model, system, self.tools, self._listener, self._asker, needed, clock, self._progress)

    def _close_journal(self) -> None:
        for path, kept in self._journal.close():
            self._notes.append(
                f"Another program still wrote to the old {path}; its lines are kept in {kept}."
            )

    # -- events ----------------------------------------------------------------------------------------

    def _emit(self, event: Event) -> None:
        self._tell.emit(event)

    def _note(self, text: str, level: str = "info") -> None:
        self._emit({"event": "note", "level": level, "text": text})

    def _urgent_note(self, text: str) -> None:
        self._emit({"event": "note", "level": "info", "text": text, "urgent": True})

    def _progress(self, text: str, percent: float | None) -> None:
        self._tell.show({"event": "progress", "text": text, "percent": percent})

    async def _tick(self) -> None:
        """Keeps the budget meter moving; not part of the trace."""
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self._channel.emit({"event": "budget", **self._budget.to_json()})

    def _started(self, model: Model) -> None:
        self._model_name = model.name
        allowance = self._budget.allowance
        self._emit(
            {
                "event": "started",
                "run": self.run,
                "command": self.command,
                "target": self.label,
                "workspace": str(self._workspace.root),
                "python": str(self._python),
                "model": model.name,
                "budget": {
                    "steps": allowance.steps,
                    "tokens": allowance.tokens,
                    "seconds": allowance.seconds,
                },
                "seal": self._seal_name,
                "allowed": self._settings.allowed.words(),
                "approval": self._settings.approval,
                **({"unlocked": True} if self._workspace.policy.tests_unlocked else {}),
                "trace": str(self._folders.trace),
                "time": datetime.now().astimezone().isoformat(timespec="seconds"),
            }
        )

    def _finish(self, stop: Stop) -> None:
        self.outcome = stop.outcome
        desk = self._desk
        ending = Ending(
            self.label,
            stop,
            self._budget,
            self._model_name,
            self._seal_name,
            str(self._folders.trace),
            self.run,
            notes=[*self._notes, *(self._first.notes(stop.outcome) if self._first else ())],
            again=self.again,
            offer=self.offer(stop),
        )
        if desk:
            ending.explanation = self._explanation(desk) if stop.outcome in _EXPLAINED else str(stop)
            ending.tell_of(desk)
        self._budget.clock.on_span = None
        self._emit(ending.to_json())
        self._trace.close()

    def offer(self, stop: Stop) -> Offer | None:
        """What there is to do where no test could decide."""
        return None

    def _explanation(self, desk: Desk) -> str:
        """Why the fix works: the reasons of the accepted edits, or what the model said last."""
        said = self._agent.last_text if self._agent else ""
        return " ".join(desk.reasons) or said if self.target.path else said or " ".join(desk.reasons)
