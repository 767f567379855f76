"""How the tests stood before any change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from regreen.testing.report import Report, TestRecord


@dataclass
class Before:
    """What is known of the tests without any change: records by node id, collected ids by file."""

    records: dict[str, TestRecord] = field(default_factory=lambda: dict[str, TestRecord]())
    collected: dict[str, set[str]] = field(default_factory=lambda: dict[str, set[str]]())

    def learn(self, report: Report, files: Iterable[str] = ()) -> None:
        for nodeid, record in report.tests.items():
            # A run that was cut short says nothing about the tests it did not come to.
            if report.finished or record.outcome not in ("missing", "timeout"):
                self.records.setdefault(nodeid, record)
        if report.finished:
            for path in files:
                self.collected.setdefault(path, {i for i in report.collected if i.split("::")[0] == path})

    def passed(self, nodeid: str) -> bool:
        record = self.records.get(nodeid)
        return record is not None and record.outcome == "passed"
