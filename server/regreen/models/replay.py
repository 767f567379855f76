"""A trace as a model: it says what was said before, so that a run can be gone through again without a model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regreen.agent.conversation import Message, Reply, Request, ToolSpec
from regreen.agent.model import Listener
from regreen.agent.trace import read_trace, reply_from
from regreen.errors import RegreenError, UsageError


class ReplayEnded(RegreenError):
    """The run asked for more replies than the trace holds: it went another way than the recorded one."""


class ReplayModel:
    """Gives back the replies of a trace, in order; `events` are all its lines. Raises UsageError for a file that is no trace, or has none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.events = read_trace(path)
        self._replies = [event for event in self.events if event.get("event") == "reply"]
        self._given = 0
        if not self._replies and not any(event.get("event") == "search" for event in self.events):
            raise UsageError(f"{path} holds no reply of a model, so there is nothing to replay.")

    @property
    def name(self) -> str:
        """As in `--model`."""
        return f"replay:{self._path}"

    @property
    def left(self) -> int:
        """How many recorded replies have not been given yet: more than 0 at the end means the runs differ."""
        return len(self._replies) - self._given

    async def warm(
        self, messages: tuple[Message, ...], tools: tuple[ToolSpec, ...], listener: Listener
    ) -> None:
        """Nothing to load."""

    async def reply(self, request: Request, listener: Listener) -> Reply:
        """The next recorded reply. Raises ReplayEnded when there is none."""
        if self._given >= len(self._replies):
            raise ReplayEnded(
                f"The trace {self._path} ends after {len(self._replies)} replies, and this run asks for another one: "
                "the code, the tests or Regreen differ from those of the recorded run."
            )
        event: Mapping[str, Any] = self._replies[self._given]
        self._given += 1
        try:
            reply = reply_from(event)
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(
                f"Reply {self._given} of the trace {self._path} is damaged: {error!r}."
            ) from error
        if reply.text:
            listener.text(reply.text)
        return reply

    async def aclose(self) -> None:
        """Nothing to close."""
