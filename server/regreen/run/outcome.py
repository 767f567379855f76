"""The outcome: the last line of a run, and the summary a person reads."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from regreen.agent.budget import Budget
from regreen.agent.stops import BudgetUsedUp, Fixed, NotVerified, Stop
from regreen.errors import command_in
from regreen.run.offer import Offer
from regreen.run.proposals import Desk
from regreen.testing.report import Failure
from regreen.testing.verdict import Verdict
from regreen.workspace.changes import FileChange


@dataclass
class Ending:
    """Everything the outcome is made of. `again` is the command that starts such a run, its target aside."""

    target: str
    stop: Stop
    budget: Budget
    model: str
    seal: str
    trace: str
    run: str
    explanation: str = ""
    confidence: str = ""
    verdict: Verdict | None = None
    written: Sequence[FileChange] = ()
    best: tuple[Verdict, tuple[FileChange, ...]] | None = None
    best_was_rejected: bool = False
    failure: Failure | None = None
    tried: int = 0
    notes: list[str] = field(default_factory=lambda: list[str]())
    again: str = ""
    offer: Offer | None = None

    def tell_of(self, desk: Desk) -> None:
        """Add what became of the proposals."""
        self.confidence = desk.confidence if self.stop.outcome == "fixed" else ""
        self.verdict, self.failure = desk.verdict, desk.failure
        self.written, self.tried = desk.written, desk.tried
        self.best, self.best_was_rejected = desk.best, desk.best_was_rejected

    def to_json(self) -> dict[str, Any]:
        """The `outcome` event."""
        budget = self.budget
        event: dict[str, Any] = {
            "event": "outcome",
            "outcome": self.stop.outcome,
            "target": self.target,
            "explanation": self.explanation or str(self.stop),
            "confidence": self.confidence,
            "steps": budget.steps,
            "tokens": {"prompt": budget.prompt, "cached": budget.cached, "generated": budget.generated},
            **({} if budget.cost is None else {"cost": round(budget.cost, 6)}),
            "seconds": budget.clock.to_json(),
            "edits": [{"path": c.path, "diff": c.diff()} for c in self.written],
            "verdict": self.verdict.to_json() if self.verdict else None,
            "model": self.model,
            "seal": self.seal,
            "trace": self.trace,
            "run": self.run,
            "summary": self.summary(),
        }
        if command := command_in(str(self.stop)) if self.stop.outcome == "setup_problem" else "":
            event["command"] = command
        if isinstance(self.stop, NotVerified) and self.stop.evidence:
            event["evidence"] = dict(self.stop.evidence)
        if self.offer:
            event["write_test"] = self.offer.to_json()
        if partial := self._partial():
            event["partial"] = [
                {"path": c.path, "base_sha256": c.base_sha256, "diff": c.diff(), "text": c.after}
                for c in partial
            ]
        return event

    def _partial(self) -> tuple[FileChange, ...]:
        """The best edits that were not written, of a run that ended without a fix."""
        if isinstance(self.stop, Fixed) or self.best is None:
            return ()
        undecided = isinstance(self.stop, NotVerified) and not self.best[0].decides
        if not undecided and self.best[0].progress not in ("fixed", "forward"):
            return ()
        now = {change.path: change.after for change in self.written}
        return tuple(change for change in self.best[1] if now.get(change.path) != change.after)

    def summary(self) -> str:
        """A few lines for a person: what happened, the best state, what to do next."""
        if isinstance(self.stop, Fixed):
            lines = [f"Fixed: {self.target}", self.explanation]
            if self.verdict:
                lines.append(self.verdict.summary().capitalize() + ".")
            if self.confidence == "low":
                lines.append(
                    "Confidence is low: few tests pin this down. Read the change before you keep it."
                )
            return "\n".join(line for line in lines if line)
        lines = [f"{_HEADS[self.stop.outcome]}: {self.stop}"]
        if self.stop.outcome == "not_verified":
            lines.append(self._kept())
        if self.stop.outcome in ("budget", "stuck", "rejected", "cancelled"):
            lines += self._state()
        if self.stop.outcome in ("budget", "stuck"):
            lines += self._next()
        if self.offer:
            lines.append(f"To have one written: {self.offer.command}")
        if self._partial():
            lines.append(
                f"To go on from the best state: {self.again} {shlex.quote(self.target)} --resume {self.run}"
            )
        return "\n".join([*lines, *self.notes])

    def _kept(self) -> str:
        if not self.written:
            return "No file was changed."
        names = ", ".join(sorted({change.path for change in self.written}))
        return f"Accepted edits stay in {names}; `regreen undo {self.run}` takes them back."

    def _state(self) -> list[str]:
        lines = [f"Tried: {self.tried} edit{'' if self.tried == 1 else 's'}."] if self.tried else []
        lines.append(self._kept())
        if partial := self._partial():
            names = ", ".join(change.path for change in partial)
            if self.best_was_rejected:
                lines.append(f"The edit of {names} that you rejected is kept: --resume shows it again.")
            elif self.best and self.best[0].fixed:
                lines.append(f"A verified fix is ready, and not written; it changes {names}.")
            else:
                lines.append(
                    f"The best edit so far, not written, changes {names} and moves the failure forward."
                )
        if self.failure is not None and not (self._partial() and self.best and self.best[0].fixed):
            lines.append(f"Where it stands: {self.failure.type}: {_one_line(self.failure.message)}")
        return lines

    def _next(self) -> list[str]:
        more = f"{self.stop.more}, " if isinstance(self.stop, BudgetUsedUp) else ""
        model = "another model (--model)" if self.model == "builtin" else "a larger model (--model)"
        return [f"What to try next: {more}{model}, or a smaller task: make one assertion pass first."]


_HEADS = {
    "already_passing": "Nothing to do",
    "test_looks_wrong": "The test looks wrong",
    "setup_problem": "Not a code bug",
    "not_verified": "Not verified",
    "budget": "Not fixed, the budget is used up",
    "stuck": "Not fixed",
    "rejected": "Rejected",
    "cancelled": "Cancelled",
    "error": "Error",
}


def _one_line(text: str) -> str:
    line = text.strip().split("\n", 1)[0]
    return line if len(line) <= 200 else line[:197] + "…"
