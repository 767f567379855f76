"""The desk: what happens to a proposal. First a trial, then the person, then the write, then one more look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from regreen.agent.budget import Clock
from regreen.agent.search import Found, Option
from regreen.agent.stops import Fixed, Rejected, SetupProblem
from regreen.run.protocol import Channel, Decision, Emit
from regreen.run.reasons import Reasons
from regreen.settings import Approval, Writes
from regreen.testing.confidence import confidence_of
from regreen.testing.doctests import examples_lost
from regreen.testing.report import Failure
from regreen.testing.tampering import reaches_into_runner
from regreen.testing.verdict import Verdict
from regreen.tools.results import after_trial, failure_text
from regreen.tools.toolbox import Settled
from regreen.workspace.changes import Changes, FileChange
from regreen.workspace.draft import Draft
from regreen.workspace.names import PathRefused
from regreen.workspace.root import Workspace
from regreen.workspace.writer import CannotWrite, Conflict, Writer

_RANK = {"fixed": 4, "forward": 3, "changed": 2, "same": 1, "worse": 0}

NEAR_MISS = "To that edit, the quick search for small mistakes added one small change:"
MENDS_TRIED = 3
"""So many of the edits that the search found on top of a failing one are put to a trial."""


class Trials(Protocol):
    """Who runs trials."""

    async def judge(self, overlay: Mapping[str, bytes | None], changes: Changes) -> Verdict:
        """What the runner sees with these changes."""
        ...


class Nearby(Protocol):
    """Who looks around an edit that failed in its trial."""

    async def around(self, changes: Sequence[FileChange]) -> Found:
        """Edits on top of these changes with which the target passes, or what was learned."""
        ...


class Desk:
    """Settles proposals one at a time, by the approval mode. `nearby` (None: nobody) is asked about edits that fail."""

    nearby: Nearby | None = None

    def __init__(
        self,
        workspace: Workspace,
        draft: Draft,
        judge: Trials,
        writer: Writer,
        channel: Channel,
        emit: Emit,
        clock: Clock,
        approval: Approval,
        writes: Writes,
        failure: Failure | None,
    ) -> None:
        self._workspace = workspace
        self._draft = draft
        self._judge = judge
        self._writer = writer
        self._channel = channel
        self._emit = emit
        self._clock = clock
        self.approval: Approval = approval
        self._writes = writes
        self._count = 0
        self._alternatives = 0
        self._refused: set[tuple[tuple[str, str], ...]] = set()
        self._based: set[str] = set()
        self.failure = failure
        self.tried = 0
        self.rejected = False
        self.verdict: Verdict | None = None
        self.best: tuple[Verdict, tuple[FileChange, ...]] | None = None
        self._reasons = Reasons()
        self.confidence = ""
        self.written: list[FileChange] = []

    async def submit(
        self, changes: Sequence[FileChange], why: str, confidence: str, alternatives: int = 0
    ) -> Settled:
        """Try, show, decide and write one proposal; see BRIEF's table of approval modes in docs/architecture.md."""
        if objection := self._objection(changes):
            return objection
        self._alternatives = alternatives
        verdict = await self._begin(changes)
        self._draft.remember(changes)
        learned = ""
        if self.nearby is not None and not verdict.fixed and verdict.target != "passed":
            found = await self.nearby.around(changes)
            if better := await self._mended(changes, found.options):
                changes, option, verdict = better
                why, confidence = f"{why} {NEAR_MISS} {option.why}".strip(), option.confidence
                learned = f"It was your edit, with one small change on top:\n{option.diff}"
            elif verdict.progress != "forward":  # then the rest is elsewhere
                learned = found.told
        settled = await self._settle(changes, verdict, why, confidence)
        if learned and settled.stop is None and (verdict.fixed or not self.rejected):
            settled = replace(settled, text=f"{settled.text}\n{learned}")
        return settled

    async def offer(self, changes: Sequence[FileChange], why: str, confidence: str) -> Settled:
        """Settle a proposal that no model made: it is dropped, unseen, unless the trial says that it is the fix."""
        if objection := self._objection(changes):
            return replace(objection, shown=False)
        verdict = await self._begin(changes)
        if not verdict.fixed:
            return Settled(after_trial(verdict), f"not shown: {verdict.summary()}", verdict, shown=False)
        return await self._settle(changes, verdict, why, confidence)

    async def confirm(self) -> Settled:
        """Judge the draft as it is now; edits that wait are shown when they turn out to be the fix."""
        waiting = self._draft.pending()
        verdict = await self._trial([])
        self.failure = verdict.failure or self.failure
        if verdict.fixed and waiting:
            return await self._show(waiting, _key(waiting), verdict, " ".join(self.reasons), self.confidence)
        return Settled(after_trial(verdict), verdict.summary(), verdict)

    @property
    def best_was_rejected(self) -> bool:
        """True when the person saw the best state and turned it down."""
        return self.best is not None and _key(self.best[1]) in self._refused

    @property
    def reasons(self) -> list[str]:
        """Why the edits that stand were made, in order."""
        return self._reasons.standing({c.path: c.after for c in (*self.written, *self._draft.pending())})

    # -- the steps -----------------------------------------------------------------------------------

    def _objection(self, changes: Sequence[FileChange]) -> Settled | None:
        """Why changes are not even tried."""
        if _key(changes) in self._refused:
            return Settled(
                "The person has rejected exactly this edit. Propose something else.",
                "rejected before, not shown",
            )
        for change in changes:
            if tampering := reaches_into_runner(change.before or "", change.after, change.path):
                return Settled(f"Refused: {tampering} Mend the code itself.", f"refused: {tampering}")
            locked = self._workspace.policy.examples_locked(change.path)
            if locked and (lost := examples_lost(change.before or "", change.after)):
                return Settled(f"Refused: {lost} Mend the code itself.", f"refused: {lost}")
        return None

    async def _begin(self, changes: Sequence[FileChange]) -> Verdict:
        self._note_bases(changes)
        self.tried += 1
        return await self._trial(changes)

    async def _mended(
        self, changes: Sequence[FileChange], options: Sequence[Option]
    ) -> tuple[list[FileChange], Option, Verdict] | None:
        """The first option that makes a failing edit the fix, as changes of both together, tried."""
        for option in options[:MENDS_TRIED]:
            both = self._on_top(changes, option)
            if both is None or self._objection(both):
                continue
            verdict = await self._begin(both)
            if verdict.fixed:
                return both, option, verdict
        return None

    def _on_top(self, changes: Sequence[FileChange], option: Option) -> list[FileChange] | None:
        """An option's edits on top of changes that are not in the draft; None when they do not fit, or may not be."""
        texts = {change.path: change.after for change in changes}
        for call in option.calls:
            path, find = str(call.arguments["path"]), str(call.arguments["find"])
            text = texts[path] if path in texts else self._draft.text(path)
            if text is None or text.count(find) != 1:
                return None
            texts[path] = text.replace(find, str(call.arguments["replace"]))
            if self._workspace.may_write(path, texts[path]).permission in ("locked", "refused"):
                return None
        return [self._draft.change(path, text) for path, text in texts.items()]

    async def _settle(
        self, changes: Sequence[FileChange], verdict: Verdict, why: str, confidence: str
    ) -> Settled:
        self.verdict = verdict
        if self.approval == "everyEdit" or verdict.fixed or self._asked_all_the_same(changes, verdict):
            whole = self._with_pending(changes) if self.approval != "everyEdit" else list(changes)
            if self.approval != "everyEdit" and self.reasons:
                why = " ".join([*self.reasons, why])
            return await self._show(whole, _key(changes), verdict, why, confidence)
        return self._hold(changes, verdict, why)

    def _asked_all_the_same(self, changes: Sequence[FileChange], verdict: Verdict) -> bool:
        """Whether changes that no verdict could let through are shown in every mode: files that the person is asked
        about in any case, such as tests that they unlocked for this run."""
        asked = any(self._workspace.may_write(c.path, c.after).permission == "ask" for c in changes)
        return asked and not verdict.decides and verdict.progress != "worse"

    async def _trial(self, changes: Sequence[FileChange]) -> Verdict:
        with self._clock.spend("tests"):
            verdict = await self._judge.judge(
                self._draft.overlay(changes), {change.path: change for change in changes}
            )
        self._emit({"event": "trial", "verdict": verdict.to_json(), "summary": verdict.summary()})
        self.verdict = verdict
        if self.best is None or self._rank(verdict) > self._rank(self.best[0]):
            self.best = (verdict, tuple(self._with_pending(changes)))
        return verdict

    @staticmethod
    def _rank(verdict: Verdict) -> tuple[int, int]:
        return (_RANK[verdict.progress], verdict.passed)

    def _with_pending(self, changes: Sequence[FileChange]) -> list[FileChange]:
        """The changes together with everything that waits to be written, one per file."""
        merged = {change.path: change for change in self._draft.pending()}
        merged.update({change.path: change for change in changes})
        return [change for change in merged.values() if change.after != change.before]

    def _hold(self, changes: Sequence[FileChange], verdict: Verdict, why: str) -> Settled:
        """whenGreen and never: nothing is shown yet; what helps, or does no harm, waits in the draft."""
        if verdict.progress != "worse":
            self._draft.keep(changes)
            if verdict.progress == "forward":
                self._reasons.give(why, changes)
            self.failure = verdict.failure or self.failure
        text = after_trial(verdict)
        if verdict.progress == "worse" and self.failure is not None:
            text += "\nThe failure is again:\n" + failure_text(self.failure)
        return Settled(text, verdict.summary(), verdict)

    async def _show(
        self,
        changes: list[FileChange],
        key: tuple[tuple[str, str], ...],
        verdict: Verdict,
        why: str,
        confidence: str,
    ) -> Settled:
        self._count += 1
        event: dict[str, Any] = {
            "event": "proposal",
            "id": f"p{self._count}",
            "why": why or _plain_why(changes),
            "files": [
                {"path": c.path, "base_sha256": c.base_sha256, "diff": c.diff(), "text": c.after}
                for c in changes
            ],
            "verdict": verdict.to_json(),
            "confidence": "low"
            if verdict.doubt
            else confidence or confidence_of(verdict, {c.path: c for c in changes}),
        }
        if self._alternatives:
            event["alternatives"], self._alternatives = self._alternatives, 0
        if asked := [c.path for c in changes if self._workspace.may_write(c.path).permission == "ask"]:
            event["asks"] = asked  # files that are asked about in every mode, also after "accept all"
        self._emit(event)
        decision = await self._decide(event, changes)
        self._emit(
            {
                "event": "decision",
                "proposal": event["id"],
                "decision": decision.kind,
                "reason": decision.reason,
                **({"files": dict(decision.files)} if decision.files else {}),
                **({"final": True} if decision.final else {}),
            }
        )
        if decision.kind == "reject":
            if not decision.final:
                self._refused |= {key, _key(changes)}
            return self._turned_down(decision, verdict)
        self.rejected = False
        self._reasons.give(event["why"], [_as_decided(change, decision) for change in changes])
        self.confidence = event["confidence"]
        return await self._write(changes, decision, verdict)

    async def _decide(self, event: Mapping[str, Any], changes: Sequence[FileChange]) -> Decision:
        asks = any(self._workspace.may_write(change.path).permission == "ask" for change in changes)
        paths = frozenset(change.path for change in changes)
        if self.approval == "never" and not asks:
            return Decision("accept", write=paths)
        with self._clock.spend("person"):
            while True:
                decision = await self._channel.decide(event)
                strangers = set(decision.files or ()) - paths
                if not strangers:
                    return decision
                text = f"{min(strangers)} is not part of this proposal. Still waiting for a decision."
                self._emit({"event": "note", "level": "warning", "text": text})

    def _turned_down(self, decision: Decision, verdict: Verdict) -> Settled:
        self.rejected = True
        if decision.final:
            stop = Rejected("Nobody was there to decide on the last proposal, so it was not written.")
            return Settled(str(stop), "rejected: no decision came", verdict, stop)
        reason = f" They say: {decision.reason}." if decision.reason else ""
        text = f"The person rejected this edit.{reason} The file is as before. Propose another edit."
        if self.failure is not None:
            text += "\nThe target fails with:\n" + failure_text(self.failure)
        summary = f"rejected: {decision.reason}" if decision.reason else "rejected"
        return Settled(text, summary, verdict)

    async def _write(self, changes: list[FileChange], decision: Decision, verdict: Verdict) -> Settled:
        wanted = [_as_decided(change, decision) for change in changes]
        try:
            self._put(wanted, decision)
        except Conflict as error:
            text = f"The edit was not written: {error} Look at the file again before the next edit."
            return Settled(text, f"not written: {error}", verdict)
        except (PathRefused, OSError) as error:
            stop = SetupProblem(f"The accepted edit could not be written: {error}. Nothing was lost.")
            return Settled(str(stop), f"not written: {error}", verdict, stop)
        self._draft.written(changes)
        self.written += [change for change in wanted if change.after != change.before]
        as_shown = all(new.after == old.after for new, old in zip(wanted, changes, strict=True))
        if verdict.fixed or not as_shown:
            verdict = await self._trial([])
        self.failure = verdict.failure
        if verdict.fixed:
            stop = Fixed("The target passes, judged again after the write.")
            return Settled(after_trial(verdict), verdict.summary(), verdict, stop)
        text = after_trial(verdict)
        if not as_shown:
            parts = "".join(change.diff() for change in wanted)
            text = f"The person kept only a part, or changed it. In the file now:\n{parts}\n{text}"
        return Settled(text, f"accepted; {verdict.summary()}", verdict)

    def _put(self, changes: Sequence[FileChange], decision: Decision) -> None:
        """Write the changes, or take note of what the editor wrote. All or nothing."""
        done: list[FileChange] = []
        try:
            for change in changes:
                if change.after == change.before:
                    continue
                if self._writes == "editor" and change.path not in decision.write:
                    if change.path not in (decision.files or {}) and self._unsaved(change):
                        raise Conflict(f"the editor did not say what {change.path} holds now.")
                    self._writer.note(change)
                    self._draft.set_buffer(change.path, change.after if self._unsaved(change) else None)
                elif self._draft.holds_unsaved(change.path):
                    raise PathRefused(
                        f"{change.path} has unsaved changes in the editor: save it and run again"
                    )
                else:
                    self._writer.write(change)
                done.append(change)
        except (Conflict, PathRefused, OSError) as error:
            if stay := " and ".join(c.path for c in done[::-1] if not self._writer.take_back(c)):
                raise CannotWrite(f"{error}. {stay} stay written: `regreen undo` helps") from error
            raise

    def _unsaved(self, change: FileChange) -> bool:
        """True when the editor holds the text but the disk does not, yet."""
        try:
            return self._workspace.read(change.path) != self._draft.encode(change)
        except (FileNotFoundError, PathRefused):
            return True

    def _note_bases(self, changes: Sequence[FileChange]) -> None:
        """The trace keeps each file's text before its first edit, so that a run can be replayed."""
        for change in changes:
            if change.path not in self._based:
                self._based.add(change.path)
                self._emit({"event": "base", "path": change.path, "text": change.before})


def _key(changes: Sequence[FileChange]) -> tuple[tuple[str, str], ...]:
    """Equal for proposals that leave the same files."""
    return tuple((change.path, change.after) for change in changes)


def _as_decided(change: FileChange, decision: Decision) -> FileChange:
    """The change as the person left it. Of a proposal that is kept partly, only the files they name."""
    files = decision.files or {}
    if change.path in files:
        return FileChange(change.path, change.before, files[change.path], change.base)
    if decision.kind == "partly":
        return FileChange(change.path, change.before, change.before or "", change.base)
    return change


def _plain_why(changes: Sequence[FileChange]) -> str:
    """A factual sentence where the model gave no reason."""
    names = " and ".join(change.path for change in changes)
    lines = sum(
        line.startswith(("+", "-")) and not line.startswith(("+++", "---"))
        for change in changes
        for line in change.diff().split("\n")
    )
    return f"Changes {lines} lines of {names}."
