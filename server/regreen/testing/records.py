"""Reading what the probe wrote: only lines with the right digest and number count."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from regreen.testing.lack import Missed
from regreen.testing.report import Failure, Frame, Outcome, TestRecord

Record = Mapping[str, Any]


def read_records(data: bytes, key: bytes) -> list[Record]:
    """The records of one run, in order, up to the first gap.

    A line that is not ours, or ours a second time, is passed over: project code can write into the file, but
    it does not have the key. A missing number means that records were removed; nothing after it counts.
    """
    found: list[Record] = []
    for line in data.split(b"\n"):
        digest, _, body = line.partition(b" ")
        expected = hashlib.blake2b(body, key=key, digest_size=16).hexdigest().encode()
        if not body or not hmac.compare_digest(digest, expected):
            continue
        record = cast(dict[str, Any], json.loads(body))
        if record["n"] == len(found):
            found.append(record)
        elif record["n"] > len(found):
            break
    return found


@dataclass
class Reading:
    """What a run's records say, before it is compared with what was asked."""

    tests: dict[str, TestRecord] = field(default_factory=lambda: dict[str, TestRecord]())
    collected: list[str] = field(default_factory=lambda: list[str]())
    deselected: list[str] = field(default_factory=lambda: list[str]())
    collection_errors: dict[str, Failure] = field(default_factory=lambda: dict[str, Failure]())
    collection_skips: dict[str, str] = field(default_factory=lambda: dict[str, str]())
    executed: dict[str, set[int]] = field(default_factory=lambda: dict[str, set[int]]())
    failed_at: dict[str, set[int]] = field(default_factory=lambda: dict[str, set[int]]())
    missed: list[Missed] = field(default_factory=lambda: list[Missed]())
    listened: bool = False
    warnings: list[str] = field(default_factory=lambda: list[str]())
    tampered: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    no_pytest: str = ""
    internal_error: str = ""
    heard: bool = False
    started: bool = False
    finished: bool = False
    status: int | None = None
    pytest: str = ""
    python: str = ""
    hanging: str = ""


def understand(records: Iterable[Record], timed_out: bool) -> Reading:
    """Put a run's records together. A test that began and did not end is `timeout` or `crashed`."""
    reading = Reading()
    parts: dict[str, list[Record]] = {}
    lines: dict[str, int | None] = {}
    running = last = ""
    seconds: dict[str, float] = {}
    for record in records:
        reading.heard = True
        match record["event"]:
            case "python":
                reading.python = record["version"]
            case "start":
                reading.started = True
                reading.pytest, reading.python = record["pytest"], record["python"]
            case "item":
                reading.collected.append(record["id"])
                lines[record["id"]] = record["line"]
            case "deselected":
                reading.deselected += record["ids"]
            case "collect_error":
                reading.collection_errors[record["id"]] = _failure(record["failure"])
            case "collect_skipped":
                reading.collection_skips[record["id"]] = record["failure"].get("text", "")
            case "running":
                running = last = record["id"]
                parts[running] = []
            case "report":
                parts.setdefault(record["id"], []).append(record)
            case "done":
                seconds[record["id"]] = record["seconds"]
                running = ""
            case "executed":
                for path, numbers in record["lines"].items():
                    reading.executed.setdefault(path, set()).update(numbers)
                for path, numbers in record["failed"].items():
                    reading.failed_at.setdefault(path, set()).update(numbers)
            case "looked_for":
                reading.listened = True
                reading.missed += [Missed(**missed) for missed in record["missed"]]
                changed = set(record["changed"])
                reading.missed = [m for m in reading.missed if m.kind != "variable" or m.name not in changed]
            case "warning":
                reading.warnings.append(f"{record['type']}: {record['text']}")
            case "tampered":
                reading.tampered = tuple(record["names"])
            case "elsewhere":
                reading.elsewhere = tuple(record["paths"])
            case "no_pytest":
                reading.no_pytest = record["text"]
            case "internal_error":
                reading.internal_error = record["text"]
            case "finish":
                reading.finished, reading.status = True, record["status"]
            case _:
                pass
    for nodeid, reports in parts.items():
        ended = nodeid != running
        record = _judge(nodeid, reports, ended, timed_out)
        if nodeid == last and record.outcome == "missing":
            record = _interrupted(nodeid, record.seconds)
        reading.tests[nodeid] = _with(record, seconds.get(nodeid), lines.get(nodeid))
    reading.hanging = running
    return reading


def _interrupted(nodeid: str, seconds: float) -> TestRecord:
    """The last test that ran, and of which pytest tells nothing: it was stopped together with the whole run."""
    test = nodeid.split("::")[-1]
    said = f"{test} stopped the whole test run, as an uncaught KeyboardInterrupt or pytest.exit() does"
    return TestRecord(nodeid, "failed", seconds, Failure("Interrupted", said))


def _with(record: TestRecord, seconds: float | None, line: int | None) -> TestRecord:
    return TestRecord(
        record.nodeid, record.outcome, seconds or record.seconds, record.failure, record.reason, line
    )


def _judge(nodeid: str, reports: list[Record], ended: bool, timed_out: bool) -> TestRecord:
    """One test's outcome from the reports of its phases. A pass needs all three, and no failed subtest."""
    total = sum(float(report["seconds"]) for report in reports if not report["subtest"])
    failed = [report for report in reports if report["outcome"] == "failed"]
    if not ended:
        outcome: Outcome = "timeout" if timed_out else "crashed"
        said = "was still running at the time limit" if timed_out else "ended the Python process"
        return TestRecord(nodeid, outcome, total, Failure(outcome, f"{nodeid.split('::')[-1]} {said}"))
    if failed:
        first = failed[0]
        outcome = "failed" if first["when"] == "call" else "error"
        chosen = next((report for report in failed if report["failure"].get("type")), first)
        return TestRecord(nodeid, outcome, total, _failure({**first["failure"], **chosen["failure"]}))
    for report in reports:
        if report["subtest"]:
            continue
        if report["outcome"] == "skipped":
            outcome = "xfailed" if "wasxfail" in report else "skipped"
            reason = report.get("wasxfail") or report.get("reason", "")
            return TestRecord(nodeid, outcome, total, reason=reason)
        if report["outcome"] == "passed" and "wasxfail" in report:
            return TestRecord(nodeid, "xpassed", total, reason=report["wasxfail"])
    phases = {report["when"] for report in reports if report["outcome"] == "passed"}
    whole = {"setup", "call", "teardown"} <= phases
    return TestRecord(nodeid, "passed" if whole else "missing", total)


def _failure(detail: Mapping[str, Any]) -> Failure:
    text: str = detail.get("text", "")
    message: str = detail.get("message", "")
    if not message:
        marked = [line[1:].strip() for line in text.splitlines() if line.startswith("E  ")]
        message = marked[0] if marked else text.strip().split("\n")[-1]
    return Failure(
        type=detail.get("type") or _type_in(message),
        message=message,
        left=detail.get("left"),
        right=detail.get("right"),
        frames=tuple(Frame(**frame) for frame in detail.get("frames", ())),
        text=text,
        output=detail.get("output", ""),
    )


def _type_in(message: str) -> str:
    """The exception's name where only pytest's text is known."""
    name = message.split(":")[0].strip()
    if name.isidentifier() and name[:1].isupper():
        return name
    return "AssertionError" if message.startswith("assert") else "Failure"
