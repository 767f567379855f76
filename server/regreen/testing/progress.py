"""Is a failure further along than another? Decided by what the runner saw, for the same locked test. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from regreen.testing.report import Failure, Outcome, TestRecord
from regreen.testing.verdict import Progress

_ORDER: dict[Outcome, int] = {
    "missing": 0, "skipped": 0, "xfailed": 0, "xpassed": 0, "crashed": 1, "timeout": 1, "error": 2, "failed": 3,
    "passed": 4,
}  # fmt: skip


def compare(before: Sequence[TestRecord], after: Sequence[TestRecord]) -> Progress:
    """How the target's cases stand after a change; both are the target's own records.

    `forward` when more cases pass and none is lost, when an error became a failure of the test itself, when the
    failing line of the test moved down, or the exception moved past the old place. `worse` when a case that passed
    does not, or a test that ran does not run any more.
    """
    passed_before = {record.nodeid for record in before if record.outcome == "passed"}
    passed_after = {record.nodeid for record in after if record.outcome == "passed"}
    if passed_before - passed_after:
        return "worse"
    if passed_after - passed_before:
        return "forward"
    old, new = _first_failing(before), _first_failing(after)
    if old is None or new is None:
        return "worse" if old is not None else "changed"
    if _ORDER[new.outcome] != _ORDER[old.outcome]:
        return "forward" if _ORDER[new.outcome] > _ORDER[old.outcome] else "worse"
    if old.failure is None or new.failure is None:
        return "changed" if old.outcome != new.outcome else "same"
    path = new.nodeid.split("::")[0]
    return _compare_failures(path, old.failure, new.failure)


def _first_failing(records: Sequence[TestRecord]) -> TestRecord | None:
    return next((record for record in records if record.outcome != "passed"), None)


def _compare_failures(path: str, old: Failure, new: Failure) -> Progress:
    if old.signature == new.signature:
        return "same"
    line_before, line_after = _line_in(path, old), _line_in(path, new)
    if line_before is not None and line_after is not None and line_before != line_after:
        return "forward" if line_after > line_before else "changed"
    inside_before, inside_after = old.frames[len(_own(path, old)) :], new.frames[len(_own(path, new)) :]
    if inside_before and not inside_after and old.type != "AssertionError":
        # The code raised; now it returns, and the test's own assertion speaks.
        return "forward"
    if inside_before and inside_after:
        last, now = inside_before[-1], inside_after[-1]
        same_function = (last.path, last.function) == (now.path, now.function)
        if same_function and now.line > last.line and now.source.strip() != last.source.strip():
            return "forward"
        if len(inside_after) < len(inside_before) and _is_prefix(inside_after, inside_before):
            return "forward" if now.line > inside_before[len(inside_after) - 1].line else "changed"
    return "changed"


def _own(path: str, failure: Failure) -> list[int]:
    """Lines of the leading frames that are in the test's file."""
    lines: list[int] = []
    for frame in failure.frames:
        if frame.path != path:
            break
        lines.append(frame.line)
    return lines


def _line_in(path: str, failure: Failure) -> int | None:
    own = _own(path, failure)
    return own[0] if own else None


def _is_prefix(short: Sequence[object], long: Sequence[object]) -> bool:
    from regreen.testing.report import Frame

    return all(
        isinstance(one, Frame)
        and isinstance(other, Frame)
        and (one.path, one.function) == (other.path, other.function)
        for one, other in zip(short, long, strict=False)
    )
