"""Hearing a model while it answers: its words become events, and the clock stands while it loads."""

from __future__ import annotations

from regreen.agent.budget import Budget
from regreen.run.protocol import Emit


class ModelListener:
    """Passes on what a model says, and stops the budget's clock while it loads."""

    def __init__(self, emit: Emit, budget: Budget) -> None:
        self._emit = emit
        self._budget = budget
        self._waiting = False
        self._charged = False

    def text(self, delta: str) -> None:
        """A piece of the model's text."""
        self._emit({"event": "text", "delta": delta})

    def waiting(self, reason: str) -> None:
        """The model loads, or the server is busy."""
        self._emit({"event": "progress", "text": reason, "percent": None})
        if not self._waiting:
            self._waiting = True
            self._charged = self._budget.clock.doing == "model"
            if self._charged:
                self._budget.clock.enter("loading")

    def working(self) -> None:
        """The model works."""
        if self._waiting:
            self._waiting = False
            if self._charged and self._budget.clock.doing == "loading":
                self._budget.clock.leave()
