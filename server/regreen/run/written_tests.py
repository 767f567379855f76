"""Tests that the agent wrote in the run that they shall speak for: what they show, and how little that is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regreen.run.suite import failing, first_failure, passes
from regreen.testing.report import Failure, Report
from regreen.workspace.changes import FileChange

Overlay = Mapping[str, "bytes | None"]
Run = Callable[[Overlay, Collection[str]], Awaitable[Report]]
NAMED = 3
"""So many tests are named in a text for people."""


@dataclass(frozen=True)
class WrittenTests:
    """Tests of the agent's own. `names` are node ids, or the path of a file that cannot be imported; `now` is how they
    run with the change, `without` how they run on the files as they were before (None: nothing but tests was changed)."""

    names: tuple[str, ...]
    now: Report
    without: Report | None

    @property
    def failing(self) -> tuple[str, ...]:
        """Those that do not pass now."""
        return tuple(name for name in self.names if not passes(self.now, name))

    @property
    def failed_before(self) -> tuple[str, ...]:
        """Those that do not pass without the change, as far as that was seen."""
        if self.without is None or self.without.timed_out:
            return ()
        return tuple(name for name in self.names if not passes(self.without, name))

    @property
    def failure(self) -> Failure | None:
        """Why the first of them fails now."""
        return first_failure(self.now)

    def to_json(self) -> dict[str, Any]:
        """For the outcome: the tests, whether all pass now, and whether one failed before (null: not seen)."""
        seen = self.without is not None and not self.without.timed_out
        return {
            "tests": list(self.names),
            "passes_now": not self.failing,
            "failed_before": bool(self.failed_before) if seen else None,
        }

    def words(self) -> str:
        """What they show, for a person."""
        one = len(self.names) == 1
        listed = ", ".join(self.names[:NAMED]) + (" and others" if len(self.names) > NAMED else "")
        what = (
            f"The test that the agent wrote, {listed},"
            if one
            else f"The tests that the agent wrote ({listed})"
        )
        if bad := self.failing:
            which = "" if one or len(bad) == len(self.names) else f", {bad[0]} among them"
            return f"{what} {'fails' if one else 'fail'} now{which}{_why(self.now, bad)}."
        return f"{what} {'passes' if one else 'pass'} now{self._before(one)} {LESS}"

    def _before(self, one: bool) -> str:
        if self.without is None:
            return ". Nothing but tests was changed, so whether it fails without the change was not seen."
        if self.without.timed_out:
            return ". Without the change the run took too long, so what it showed before was not seen."
        before = self.failed_before
        if not before:
            return f", but passed before as well, without the change: {'it shows' if one else 'they show'} nothing of it."
        how_many = "" if len(before) == len(self.names) else f" {len(before)} of {len(self.names)}"
        return f", and{how_many} failed before, without the change{_why(self.without, before)}."


LESS = (
    "A test by the same agent proves less than one of yours, since it chose what to look at: read it before you "
    "rely on it."
)


def _why(report: Report, names: Sequence[str]) -> str:
    """The failure of the first of these, in one line, in brackets."""
    record = report.tests.get(names[0])
    failure = (record.failure if record else None) or first_failure(report)
    if failure is None:
        return f" ({report.problem})" if report.problem else ""
    line = f"{failure.type}: {failure.message}".strip().split("\n", 1)[0]
    return f" ({line if len(line) <= 160 else line[:157] + '…'})"


@dataclass(frozen=True)
class ChangedFiles:
    """The files that a run changed, told apart: those that belong to the tests, and the others with what they held
    before."""

    tests: tuple[str, ...]
    others: Overlay

    @classmethod
    def of(
        cls,
        changes: Sequence[FileChange],
        is_test: Callable[[str], bool],
        earlier: Overlay | None = None,
    ) -> ChangedFiles:
        """Of changes in their order, and of the files that an earlier run changed, which this one goes on from."""
        before = dict(earlier or {})
        for change in changes:
            before.setdefault(change.path, change.base)
        tests = tuple(dict.fromkeys(change.path for change in changes if is_test(change.path)))
        return cls(tests, {path: base for path, base in before.items() if not is_test(path)})


async def look(
    files: ChangedFiles, run: Run, overlay: Overlay, known: Collection[str]
) -> WrittenTests | None:
    """Run the tests that the agent wrote, with the change and without it; None when it wrote none.

    `run` runs files under an overlay, `known` are the node ids that were there before.
    """
    modules = [path for path in files.tests if path.endswith(".py") and not path.endswith("conftest.py")]
    if not modules:
        return None
    now = await run(overlay, modules)
    there = [name for name in (*now.collected, *failing(now)) if name.partition("::")[0] in modules]
    fresh = [name for name in there if name not in known]
    names = tuple(dict.fromkeys(fresh or there))
    if not names:
        return None
    without = await run({**overlay, **files.others}, modules) if files.others else None
    return WrittenTests(names, now, without)
