"""Every way in which a run ends, as a named exception."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

OutcomeName = Literal[
    "fixed",
    "already_passing",
    "test_looks_wrong",
    "setup_problem",
    "not_verified",
    "budget",
    "stuck",
    "rejected",
    "cancelled",
    "error",
]

EXIT_CODES: dict[OutcomeName, int] = {
    "fixed": 0,
    "already_passing": 0,
    "test_looks_wrong": 1,
    "not_verified": 1,
    "budget": 1,
    "stuck": 1,
    "setup_problem": 3,
    "rejected": 4,
    "cancelled": 4,
    "error": 5,
}


class Stop(Exception):
    """The run is over. `str(stop)` is one sentence for the person."""

    outcome: OutcomeName = "error"


class Fixed(Stop):
    """The runner saw the target pass and nothing else break, and the change is written."""

    outcome: OutcomeName = "fixed"


class AlreadyPassing(Stop):
    """The target passes before anything was changed."""

    outcome: OutcomeName = "already_passing"


class TestLooksWrong(Stop):
    """The test contradicts itself or the model says, with lines, that the test is at fault."""

    outcome: OutcomeName = "test_looks_wrong"
    __test__ = False


class SetupProblem(Stop):
    """Something outside the code is missing; no edit can mend it."""

    outcome: OutcomeName = "setup_problem"


class NotVerified(Stop):
    """There was no test that could decide. `evidence` is what there is instead, for the outcome."""

    outcome: OutcomeName = "not_verified"

    def __init__(self, text: str, evidence: Mapping[str, Any] | None = None) -> None:
        super().__init__(text)
        self.evidence = evidence or {}


class Stuck(Stop):
    """The run went in circles, or the model has nothing more to offer."""

    outcome: OutcomeName = "stuck"


class Rejected(Stop):
    """The person said no, and there was nothing else to show."""

    outcome: OutcomeName = "rejected"


class Cancelled(Stop):
    """The person, or the editor, ended the run."""

    outcome: OutcomeName = "cancelled"


class BudgetUsedUp(Stop):
    """A part of the budget is used up. `more` says what to raise."""

    outcome: OutcomeName = "budget"
    more = "more steps (--max-steps)"


class StepsUsedUp(BudgetUsedUp):
    """The steps are used up."""

    def __init__(self, allowed: int) -> None:
        super().__init__(f"All {allowed} steps are used up.")


class TokensUsedUp(BudgetUsedUp):
    """The tokens are used up."""

    more = "more tokens (--max-tokens)"

    def __init__(self, allowed: int) -> None:
        super().__init__(f"All {allowed:,} tokens are used up.")


class SecondsUsedUp(BudgetUsedUp):
    """The seconds are used up."""

    more = "more time (--max-seconds)"

    def __init__(self, allowed: float) -> None:
        super().__init__(f"All {allowed:g} seconds of model and test time are used up.")


class MoneyUsedUp(BudgetUsedUp):
    """What the model may cost is used up."""

    more = "more money (--max-cost)"

    def __init__(self, allowed: float, left: float = 0.0, needed: float = 0.0) -> None:
        if needed:
            super().__init__(
                f"Of {dollars(allowed)} for model costs {dollars(left)} is left, and the next turn's prompt alone costs "
                f"about {dollars(needed)}."
            )
        else:
            super().__init__(f"All {dollars(allowed)} of model costs are used up.")


def dollars(amount: float) -> str:
    """An amount as a person reads it, small ones to two digits that count: "$1.50", "$0.0042"."""
    if amount >= 0.1 or amount == 0:
        return f"${amount:.2f}"
    return f"${amount:.2g}" if amount >= 0.0001 else "<$0.0001"
