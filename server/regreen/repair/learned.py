"""What the runs before any edit say: how long a test may take, how a test ended its process, what the failure shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from regreen.repair.operators.site import Hints
from regreen.repair.patch import Failure
from regreen.testing.report import Report

PASSES_NOW = "the test failed at first and passes now, with nothing changed: it is flaky, or depends on the tests around it"
"""Why there is nothing to search for where a test that failed does not fail."""


def ended_how(report: Report | None) -> str:
    """How the test ended its process before any edit, "" when it did not: there are no lines to search then."""
    ended = [t for t in report.tests.values() if t.outcome == "crashed" and t.failure] if report else []
    return (
        f"{ended[0].failure.message}, so that no edit can be tried on it"
        if ended and ended[0].failure
        else ""
    )


def limits(
    outcome: Mapping[str, Mapping[str, Any]], keep: Sequence[str], failing: Sequence[str]
) -> tuple[float, float]:
    """Seconds on the processor for one test, and by the clock for one candidate, from a run of the tests as they are."""
    slowest = max(
        (
            float(outcome[n]["cpu"])
            for n in (*keep, *failing)
            if n in outcome and outcome[n]["outcome"] != "timeout"
        ),
        default=0.0,
    )
    limit = min(5.0, max(0.03 if slowest else 0.08, slowest * 15))
    total = sum(float(outcome[n]["seconds"]) for n in keep)
    return limit, 1.0 + 4 * limit + 6 * total


def hints_of(failure: Failure | None) -> Hints:
    """What a failure shows to the operators."""
    if failure is None:
        return Hints()
    crash = failure.frames[-1][:2] if len(failure.frames) > 1 else None
    return Hints(failure.type, failure.message, failure.left, failure.right, failure.texts, crash)
