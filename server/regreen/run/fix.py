"""`regreen fix`: from what was typed to one run, or one run for each failing test of a file."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from regreen.agent.stops import EXIT_CODES, OutcomeName
from regreen.errors import UsageError
from regreen.interrupts import INTERRUPTS
from regreen.models.choose import check_spec
from regreen.run.ask import AskSession
from regreen.run.consent import seal_mode
from regreen.run.look import look
from regreen.run.offer import Offer, wanted
from regreen.run.protocol import Channel, Event, Hearing
from regreen.run.resume import earlier_run, keep_batch
from regreen.run.saying_once import SayingOnce
from regreen.run.session import Session
from regreen.settings import RunSettings, new_run_id, state_folder
from regreen.testing.interpreter import find_interpreter
from regreen.testing.report import Report
from regreen.testing.seal.choose import choose as choose_seal
from regreen.testing.target import ParsedTarget, Target, parse_target
from regreen.workspace.recovery import recover_all
from regreen.workspace.root import Workspace, find_root

T = TypeVar("T")
_FROM_BEST: tuple[OutcomeName, ...] = (
    "already_passing",
    "fixed",
    "not_verified",
    "test_looks_wrong",
    "budget",
    "stuck",
    "rejected",
    "cancelled",
    "setup_problem",
    "error",
)


def open_target(text: str, workspace: str | None, cwd: Path) -> tuple[ParsedTarget, Workspace]:
    """The target and the folder it belongs to. Raises UsageError."""
    parsed = parse_target(text, cwd)
    root = (cwd / workspace) if workspace else find_root(parsed.file)
    if not root.is_dir():
        raise UsageError(f"There is no folder {root} to work in.")
    return parsed, Workspace.open(root)


async def fix(
    text: str,
    workspace: str | None,
    settings: RunSettings,
    channel: Channel,
    cwd: Path,
    resume: str | None = None,
) -> int:
    """Fix a target; returns the exit code. Raises UsageError before a run has started."""
    check_spec(settings.model)
    parsed, opened = open_target(text, workspace, cwd)
    earlier = earlier_run(resume) if resume else None
    _put_in_order(channel)
    if settings.unlock_tests:
        opened.policy.unlock_tests()
    try:
        target = parsed.within(opened.root)
        python = find_interpreter(opened.root, settings.python)
        if parsed.single:
            return await _interruptible(Session(target, opened, python, settings, channel, earlier))
        return await _fix_all(target, opened, python, settings, channel)
    finally:
        opened.close()


async def ask(
    task: str,
    workspace: str | None,
    settings: RunSettings,
    channel: Channel,
    cwd: Path,
    resume: str | None = None,
    offers: bool = False,
) -> int:
    """Work on a task in words; returns the exit code. Raises UsageError before a run has started. With `offers`, the
    person is asked at the end whether a test shall be written where none decided; that is a run of its own."""
    if not task.strip():
        raise UsageError(
            'Say what to do, for instance: regreen ask "There is a bug in bug.py, find and fix it"'
        )
    check_spec(settings.model)
    root = (cwd / workspace) if workspace else cwd
    if not root.is_dir():
        raise UsageError(f"There is no folder {root} to work in.")
    earlier = earlier_run(resume) if resume else None
    opened = Workspace.open(root)
    _put_in_order(channel)
    if settings.unlock_tests:
        opened.policy.unlock_tests()
    try:
        python = find_interpreter(opened.root, settings.python)
        session = AskSession(task.strip(), opened, python, settings, channel, earlier)
        code = await _interruptible(session)
        if offers and session.offered:
            await _write_test(session.offered, opened, python, settings, channel)
        return code
    finally:
        opened.close()


def _put_in_order(channel: Channel) -> None:
    """Finish or drop what runs before were killed in."""
    for path, status in recover_all(state_folder() / "runs"):
        text = f"After an interrupted run: {path} {status}."
        channel.emit({"event": "note", "level": "warning", "text": text})


async def _write_test(
    offer: Offer, workspace: Workspace, python: Path, settings: RunSettings, channel: Channel
) -> None:
    """A run that writes a test for the one before, if the person wants it."""
    between = _Between()
    INTERRUPTS.reach(between.cancel)
    channel.listen(between)
    if not await between.hold(wanted(channel)):
        return
    workspace.policy.unlock_tests()
    earlier = earlier_run(offer.resume) if offer.resume else None
    await _interruptible(AskSession(offer.task, workspace, python, settings, channel, earlier))


async def _interruptible(session: Session) -> int:
    """Play a run; Ctrl-C and a polite kill end it with its outcome."""
    INTERRUPTS.reach(session.cancel)
    try:
        return await session.execute()
    finally:
        INTERRUPTS.over()


async def _fix_all(
    target: Target, workspace: Workspace, python: Path, settings: RunSettings, channel: Channel
) -> int:
    """One run for each failing test of a path; the last outcome line carries the worst."""
    between = _Between()
    channel = SayingOnce(channel)
    INTERRUPTS.reach(between.cancel)
    channel.listen(between)
    where = str(workspace.root) if target.nodeid == "." else target.nodeid
    channel.emit(
        {"event": "progress", "text": f"Running {where}, to see which tests fail …", "percent": None}
    )
    # Asked once for all runs of the path.
    mode = await between.hold(seal_mode(settings, workspace.root, channel))
    settings = replace(settings, seal=mode or settings.seal)
    report = await between.hold(_run_path(target, workspace, python, settings)) if mode else None
    if report is None:
        channel.emit(
            _overall(target, "cancelled", "Cancelled before the first run; nothing was written.", {}, "")
        )
        return EXIT_CODES["cancelled"]
    worst: OutcomeName = "already_passing"
    explanation = f"All {len(report.passed)} tests of {target.nodeid} pass; nothing was changed."
    if report.problem:
        worst, explanation = "setup_problem", report.problem
    ended: dict[str, OutcomeName] = {}
    wrote: list[str] = []
    for nodeid in report.failed:
        if between.cancelled:
            worst, explanation = "cancelled", "Cancelled before the first run; nothing was written."
            break
        session = Session(Target.from_nodeid(nodeid), workspace, python, settings, channel)
        await _interruptible(session)
        INTERRUPTS.reach(between.cancel)
        channel.listen(between)
        ended[nodeid] = session.outcome
        wrote += [session.run] if session.wrote else []
        if _FROM_BEST.index(session.outcome) > _FROM_BEST.index(worst):
            worst = session.outcome
        if session.outcome == "cancelled":
            break
    if ended:
        fixed = sum(_FROM_BEST.index(outcome) <= 1 for outcome in ended.values())
        explanation = f"{fixed} of {len(report.failed)} failing tests of {target.nodeid} are fixed."
    batch = new_run_id() if wrote else ""
    if batch:
        keep_batch(batch, wrote)
    channel.emit(_overall(target, worst, explanation, ended, batch))
    return EXIT_CODES[worst]


def _overall(
    target: Target, worst: OutcomeName, explanation: str, ended: dict[str, OutcomeName], batch: str
) -> Event:
    lines = [explanation, *(f"{outcome}: {nodeid}" for nodeid, outcome in ended.items())]
    if batch:
        lines.append(f"To take all of it back: regreen undo {batch}")
    event: dict[str, Any] = {
        "event": "outcome",
        "outcome": worst,
        "target": target.nodeid,
        "explanation": explanation,
        "tests": ended,
        "summary": "\n".join(lines),
        **({"run": batch} if batch else {}),
    }
    return event


async def _run_path(target: Target, workspace: Workspace, python: Path, settings: RunSettings) -> Report:
    choice = await choose_seal(settings.seal, settings.allowed)
    async with look(workspace, python, choice.seal) as (runner, tree):
        return await runner.run(tree, [target.nodeid])


class _Between(Hearing):
    """Before and between the runs of a path: cancelling ends what is at work, and there is nothing to extend."""

    def __init__(self) -> None:
        self.cancelled = False
        self._work: asyncio.Future[Any] | None = None

    def cancel(self) -> None:
        """End what is at work, and start no other run."""
        self.cancelled = True
        if self._work:
            self._work.cancel()

    async def hold(self, work: Coroutine[Any, Any, T]) -> T | None:
        """Do some work that can be cancelled; None when it was."""
        task = self._work = asyncio.ensure_future(work)
        try:
            return await task
        except asyncio.CancelledError:
            if not self.cancelled:
                raise
            return None
        finally:
            self._work = None

    def extend(self, steps: int, tokens: int, seconds: float) -> None:
        pass

    def buffers(self, buffers: Any) -> None:
        pass
