"""The verdict: what the test runner saw of a change, in the words a person reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from regreen.testing.report import Failure, Outcome

Progress = Literal["fixed", "forward", "changed", "same", "worse"]
"""`forward`: the failure moved past the old place; `changed`: another failure at the same place or before."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a trial of a change saw.

    `fixed` is decided by the runner alone. `reason` is one line that says why it is not fixed, or "". `scope` says
    which tests were left out for lack of time, "" when none were. `doubt` is why a pass may be no fix all the same:
    the code answers the test's own values, or decides itself what it is equal to (see doubts.py). `decides` is False
    for a task in words where no test failed before, so that none can say that it is done.
    """

    target: Outcome
    fixed: bool
    progress: Progress
    passed: int = 0
    failed: int = 0
    collected_before: int = 0
    collected_after: int = 0
    newly_failing: tuple[str, ...] = ()
    failure: Failure | None = None
    reason: str = ""
    seconds: float = 0.0
    scope: str = ""
    doubt: str = ""
    decides: bool = True

    def summary(self) -> str:
        """One line for people: "target passes, 41 of 41 tests pass"."""
        if self.fixed:
            said = f"target passes, {self.passed} of {self.passed + self.failed} tests pass"
            if self.failed:
                said += f", {self.failed} failed before too"
            said = f"{said} ({self.scope})" if self.scope else said
            return f"{said}; look closely: {self.doubt}" if self.doubt else said
        where = f": {self.reason}" if self.reason else ""
        moved = " (the failure moved forward)" if self.progress == "forward" else ""
        if not self.decides and self.progress != "worse":
            return f"not verified{where}"
        return f"not fixed{where}{moved}"

    def to_json(self) -> dict[str, Any]:
        """The verdict as it stands in the run protocol."""
        return {
            "target": self.target,
            "fixed": self.fixed,
            "progress": self.progress,
            "passed": self.passed,
            "failed": self.failed,
            "collected_before": self.collected_before,
            "collected_after": self.collected_after,
            "newly_failing": list(self.newly_failing),
            "reason": self.reason,
            "seconds": round(self.seconds, 3),
            "scope": self.scope,
            "doubt": self.doubt,
            **({} if self.decides else {"decides": False}),
        }
