"""What the worker's process keeps of a batch that another process does."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Dict

if TYPE_CHECKING:
    from regreen_worker.hands import Hand

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

    @property
    def finished(self) -> bool:
        """True when the child said its last word, even if a process it left holds the pipe open."""
        return b'"end": true' in self.data[-300:] and self.data.endswith(b"\n")
