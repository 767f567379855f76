"""A real `regreen fix … --json` process, and what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from environments import person_python

PROJECT = Path(__file__).resolve().parent.parent.parent
TWO_PART = "tests/test_cart.py::test_adding_more_of_a_product_reaches_the_offer"
HARD = "tests/test_receipts.py::test_a_receipt_shows_discount_and_tax_by_rate"
TASK = "There's a bug in bug.py, find and fix it"
BUG = "def mean(values):\n    return sum(values) / 2\n"
"""What bug.py holds for that task."""
ACCEPT_ALL = {"decision": "accept", "proposal": "*"}

Event = dict[str, Any]


class Run:
    """One run. Events are collected as they come; `say` answers."""

    def __init__(
        self,
        folder: Path,
        target: str,
        *options: str,
        environ: Mapping[str, str] | None = None,
        command: str = "fix",
    ) -> None:
        line = [sys.executable, "-m", "regreen", command, target, "--json", "--workspace", str(folder)]
        line += ["--python", person_python(), *options]
        self.events: list[Event] = []
        self._arrived = threading.Condition()
        self._process = subprocess.Popen(
            line,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(PROJECT / "server"), **(environ or {})},
        )
        self.errors: list[str] = []
        self._readers = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            with self._arrived:
                self.events.append(json.loads(line))
                self._arrived.notify_all()

    def _read_errors(self) -> None:
        assert self._process.stderr
        self.errors += list(self._process.stderr)

    @property
    def pid(self) -> int:
        return self._process.pid

    def say(self, *messages: Mapping[str, Any]) -> None:
        """Send lines to the run."""
        assert self._process.stdin
        for message in messages:
            self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def hang_up(self) -> None:
        """Close its input."""
        assert self._process.stdin
        self._process.stdin.close()

    def wait_for(self, kind: str, count: int = 1, timeout: float = 60) -> Event:
        """The count-th event of a kind."""
        with self._arrived:
            arrived = self._arrived.wait_for(lambda: len(self.of(kind)) >= count, timeout)
        assert arrived, (
            f"no {kind} event number {count}; got {[e['event'] for e in self.events]}; {self.errors}"
        )
        return self.of(kind)[count - 1]

    def of(self, kind: str) -> list[Event]:
        """All events of a kind so far."""
        return [event for event in self.events if event["event"] == kind]

    def terminate(self) -> None:
        """A polite kill."""
        self._process.terminate()

    def reap(self, timeout: float = 10) -> int:
        """Wait for the end of a run that was killed, and has no outcome."""
        return self._process.wait(timeout)

    def end(self, timeout: float = 90) -> tuple[int, Event]:
        """Wait for the end: exit code and the outcome, which is the last line."""
        code = self._process.wait(timeout)
        for reader in self._readers:
            reader.join(10)
        assert self.events, f"no events; {self.errors}"
        assert self.events[-1]["event"] == "outcome", f"{self.events[-1]}; {self.errors}"
        return code, self.events[-1]


def fix(folder: Path, target: str, *options: str, said: Sequence[Mapping[str, Any]] = (ACCEPT_ALL,)) -> Run:
    """Start a run, say everything, hang up."""
    run = Run(folder, target, *options)
    run.say(*said)
    run.hang_up()
    return run


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by relative path."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def passes(folder: Path, target: str) -> bool:
    """Whether plain pytest passes a target in a folder."""
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", target]
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0
