"""The first run of a target: whether there is anything to fix, and what the person allows its tests beyond the seal.

A failure that names what is kept out of runs stops a run at once, unless somebody is there and allows it for this run.
One that does not name it is tried out: once more, with words of no meaning in the place of the person's own values. Only
what shows in that is held against the seal; of the rest the outcome gives a hint. A permission lives as long as its run,
and only the person's answer gives it: nothing in the workspace, in a trace or from a model can.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from regreen.agent.budget import Clock
from regreen.agent.stops import AlreadyPassing, OutcomeName, SetupProblem
from regreen.errors import UsageError
from regreen.run.asking import Asker
from regreen.run.fixable import check_fixable
from regreen.run.parts import Parts
from regreen.run.protocol import Emit
from regreen.testing.host import env_value
from regreen.testing.lack import Lack, Permission, Suspect
from regreen.testing.report import Failure, Report
from regreen.testing.seal.allowed import Allowed, Widened, readable_path, variable_name
from regreen.testing.target import Target
from regreen.workspace.draft import Draft

ALLOW = "Allow it for this run"
WITHOUT = "Go on without it"
NO = "End the run"

PLACEHOLDER = "regreen-placeholder"
"""Stands for the person's own values where only their being there is tried out."""
LONGEST_TRY = 10.0
"""Seconds. A test that takes longer is not run again for it."""
TRIED_ALONE = 4
ASKED_AT_MOST = 6
_NONE = re.compile(r"\bNone(?:Type)?\b")

Ended = tuple[tuple[str, ...], ...]


class FirstLook:
    """Runs the target for the first time. `asker` is None when nobody is there; `hide` keeps a value out of traces.

    The runner's seal has to be a `Widened`, so that what is allowed holds for all that the run starts from then on.
    """

    def __init__(
        self,
        target: Target,
        parts: Parts,
        draft: Draft,
        clock: Clock,
        emit: Emit,
        asker: Asker | None,
        hide: Callable[[str, str], None],
    ) -> None:
        self._target = target
        self._draft = draft
        self._judge = parts.judge
        self._trial = parts.trial
        self._runner = parts.runner
        self._seal = Widened.around(parts.runner.seal)
        self._clock = clock
        self._emit = emit
        self._asker = asker
        self._hide = hide
        self._settled: set[Permission] = set()
        self._hints: dict[str, None] = {}
        self._granted: dict[str, str] = {}
        self._told: set[str] = set()

    def notes(self, outcome: OutcomeName) -> list[str]:
        """For the summary: what was allowed, and what the seal may have had to do with a failure that nobody mended."""
        notes = [f"Tests could {words}, in this run alone." for words in self._granted]
        if outcome in ("stuck", "budget", "rejected", "test_looks_wrong"):
            notes += [f"It may be the seal: {text}." for text in self._hints]
        return notes

    async def report(self) -> Report:
        """The target alone, fresh, with what is allowed. Raises the Stop for one that needs no fix or cannot have one."""
        while True:
            with self._clock.spend("tests"):
                report = await self._judge.baseline(self._draft.overlay())
                lack = report.lack or await self._proven(report)
            try:
                check_fixable(self._target, self._draft.text(self._target.path) or "", report)
            except AlreadyPassing as stop:
                raise AlreadyPassing(self._passes_now() or str(stop)) from None
            except SetupProblem as stop:
                if lack is None:
                    raise
                if await self._answer(lack, (ALLOW, NO)) != ALLOW:
                    raise SetupProblem(lack.text if lack is not report.lack else str(stop)) from None
                continue
            answer = await self._answer(lack, (ALLOW, WITHOUT, NO)) if lack else WITHOUT
            if lack and answer == NO:
                raise SetupProblem(lack.text)
            if answer == WITHOUT:
                if lack is None:
                    self._tell_hints()
                return report

    def _tell_hints(self) -> None:
        for text in self._hints:
            if text not in self._told:
                self._told.add(text)
                self._note(f"It may be the seal: {text}.")

    def _passes_now(self) -> str:
        """What to say of a target that passes with what was allowed; "" where nothing was."""
        words = " and ".join(self._granted)
        always = ", ".join(filter(None, self._granted.values()))
        told = f" To allow it for good: {always}." if always else ""
        return f"{self._target.nodeid} passes once its tests may {words}.{told}" if words else ""

    # --- asking ----------------------------------------------------------------------------------------

    async def _answer(self, lack: Lack, choices: Sequence[str]) -> str:
        """What the person wants done about a lack; NO when nobody is there, or no permission would help."""
        permission = lack.permission
        if permission is None or self._asker is None or permission in self._settled:
            return NO
        if len(self._settled) >= ASKED_AT_MOST:
            return NO
        try:
            more = allowed_by(permission, self._runner.workspace)
        except UsageError:
            return NO
        self._settled.add(permission)
        what = "the network" if permission.kind == "network" else "it"
        seems = "seems to need" if WITHOUT in choices else "needs"
        question = {
            "event": "question",
            "id": f"allow-{len(self._settled)}",
            "kind": "allow",
            "text": f"This test {seems} {lack.needs}, which sealed runs do not get. Allow {what} for this run?",
            "choices": list(choices),
            "default": NO,
        }
        with self._clock.spend("person"):
            answer = await self._asker.ask(question)
        if answer == ALLOW:
            self._grant(more)
            self._granted[more.words()] = "" if permission.file else permission.option
        else:
            self._note(f"Not allowed for this run: {more.words()}.")
        return answer

    def _grant(self, more: Allowed) -> None:
        for name, value in more.given:
            self._hide(name, value)
        for path in more.readable:
            self._trial.allow(path)
        self._seal.allow(more)
        words = self._seal.allowed.words()
        self._note(f"Tests may also {more.words()}: you allowed it for this run.", words)

    def _note(self, text: str, allowed: str | None = None) -> None:
        event = {"event": "note", "level": "info", "text": text}
        now = {} if allowed is None else {"seal": self._seal.name, "allowed": allowed}
        self._emit({**event, **now})

    # --- trying out ------------------------------------------------------------------------------------

    async def _proven(self, report: Report) -> Lack | None:
        """What the seal keeps from the target and makes it fail, as far as that can be shown; the rest is a hint."""
        settled = [one for one in report.suspects if one.lack.permission in self._settled]
        self._hints = {one.lack.text: None for one in settled}
        suspects = [one for one in report.suspects if one not in settled]
        variables = [one for one in suspects if one.missed.kind == "variable" and one.lack.permission]
        found: Lack | None = None
        if variables and report.seconds <= LONGEST_TRY:
            changed, again, steady = await self._try(report, variables)
            suspects = [one for one in suspects if one not in variables or one in changed]
            sure = [one for one in changed if steady and _shows(one, report, again)]
            found = sure[0].lack if sure else None
        for suspect in suspects:
            plain = suspect.missed.kind != "variable" and suspect.person != "failed"
            if found is None and plain and (suspect.direct or suspect.person == "passed"):
                found = suspect.lack
            self._hints[suspect.lack.text] = None
        return found

    async def _try(self, report: Report, variables: Sequence[Suspect]) -> tuple[list[Suspect], Report, bool]:
        """Those variables without which the target ends another way, how it ends with them, and whether it ends the same
        way twice without."""
        first = _ended(report)
        again = await self._run_with(variables)
        if _ended(again) == first:
            return [], again, True
        steady = _ended(await self._run_with(())) == first
        if len(variables) == 1:
            return list(variables), again, steady
        for one in variables[:TRIED_ALONE]:
            alone = await self._run_with([one])
            if _ended(alone) != first:
                return [one], alone, steady
        return list(variables), again, steady

    async def _run_with(self, variables: Sequence[Suspect]) -> Report:
        tree = self._trial.prepare(self._draft.overlay())
        environ = {one.missed.name: PLACEHOLDER for one in variables}
        return await self._runner.run(tree, [self._target.nodeid], trace_lines=True, environ=environ)


def allowed_by(permission: Permission, workspace: Path) -> Allowed:
    """What a permission adds to a seal. Raises UsageError for what nobody may allow."""
    if permission.kind == "network":
        return Allowed(network=True)
    if permission.kind == "readable":
        return Allowed(readable=(readable_path(permission.name, workspace),))
    name = variable_name(permission.name)
    value = env_value(workspace / permission.file, name) if permission.file else None
    return Allowed(environment=(name,), given=((name, value),) if value is not None else ())


def _ended(report: Report) -> Ended:
    """Equal for two runs of the target that ended the same way."""
    return tuple(
        sorted(
            (
                record.nodeid,
                record.outcome,
                *(re.sub(r"0x[0-9a-fA-F]+", "0x", part) for part in _parts(record.failure)),
            )
            for record in report.tests.values()
        )
    )


def _parts(failure: Failure | None) -> tuple[str, ...]:
    return (*failure.signature, failure.left or "", failure.right or "") if failure else ()


def _failure(report: Report) -> Failure | None:
    return next((record.failure for record in report.tests.values() if record.failure), None)


def _shows(suspect: Suspect, report: Report, again: Report) -> bool:
    """Whether the run with a word of no meaning in a variable shows that it is the variable, and no bug, that matters.

    A variable that is only looked at in passing may send the code another way too, or make it stop at the word. So the
    code must have come as far as before, and what failed must have been the None that stood for the variable.
    """
    if suspect.person == "failed":
        return False
    if suspect.person == "passed":
        return True
    if suspect.missed.how == "default":
        return suspect.expected and _came_as_far(report, again)
    if again.passed and not again.failed:
        return True
    first, second = _failure(report), _failure(again)
    if first is None:
        return True  # it was skipped, and is not any more
    if second is None or not _came_as_far(report, again):
        return False
    nothing = bool(_NONE.search(_said(first))) and not _NONE.search(_said(second))
    return suspect.expected or suspect.direct or nothing


def _said(failure: Failure) -> str:
    return "\n".join((failure.message, failure.left or "", failure.right or ""))


def _came_as_far(report: Report, again: Report) -> bool:
    """Whether the second run got through the line at which the first one failed, or failed at it too: not on the way,
    in something that this line calls before it comes to what went wrong there."""
    first, second = _failure(report), _failure(again)
    if first is None or not first.frames:
        return False
    last = first.frames[-1]
    frames = second.frames if second else ()
    if frames and (frames[-1].path, frames[-1].line) == (last.path, last.line):
        return True
    if any((frame.path, frame.line) == (last.path, last.line) for frame in frames):
        return False
    while_importing = last.function == "<module>" and all(frame.function != "<module>" for frame in frames)
    return while_importing or last.line in again.executed.get(last.path, ())
