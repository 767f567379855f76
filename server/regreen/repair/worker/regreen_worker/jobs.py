"""What the worker's process keeps of a batch that another process does."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, Dict

if TYPE_CHECKING:
    from regreen_worker.hands import Hand

MOST_WAIT = 4
Fact = Dict[str, Any]
Request = Dict[str, Any]


class Job:
    """A running child."""

    def __init__(self, batch: list[Request], pid: int, pipe: int, hand: Hand | None = None) -> None:
        self.batch = batch
        self.hand = hand
        self.wall = batch[0]["wall"] * (1 if len(batch) == 1 else 2)
        self.pid = pid
        self.pipe = pipe
        self.begun = time.monotonic()
        self.data = b""

    def overdue(self, now: float) -> bool:
        """Past its time; on a busy machine a process that waits for a processor gets up to four times as much."""
        late = now - self.begun
        return late > self.wall and not (late < MOST_WAIT * self.wall and starved(self.pid, self.wall))

    @property
    def finished(self) -> bool:
        """True when the child said its last word, even if a process it left holds the pipe open."""
        return b'"end": true' in self.data[-300:] and self.data.endswith(b"\n")


def starved(pid: int, seconds: float) -> bool:
    """True for a process that wants to run and has had less than so many seconds of a processor; Linux knows."""
    try:
        with open("/proc/%d/stat" % pid) as stat:
            fields = stat.read().rpartition(")")[2].split()
        used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return False
    return fields[0] == "R" and used < seconds
