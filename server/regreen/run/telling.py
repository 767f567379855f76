"""The one door through which a run tells what happens: into its trace, and to whoever started it, without secrets."""

from __future__ import annotations

import os

from regreen.agent.trace import TraceWriter
from regreen.errors import RegreenError
from regreen.redact import EXACT, Redactor, Stream
from regreen.run.protocol import Channel, Event

_FILES_TOO = EXACT | {"files"}


class Teller:
    """Emits events. Nothing secret stands in them, with one exception: the files of a proposal, on the channel.

    Those are written as they are when the person accepts them, so they must not lose a byte; in the trace they
    are without secrets as well.
    """

    def __init__(self, trace: TraceWriter, channel: Channel, redactor: Redactor) -> None:
        self._trace = trace
        self._channel = channel
        self._redactor = redactor
        self._hidden: dict[str, str] = {}
        self._words = Stream(redactor, self._say)

    def hide(self, name: str, value: str) -> None:
        """Leave out one more value from now on, if a variable of that name holds a secret."""
        self._hidden[name] = value
        self._redactor = Redactor({**os.environ, **self._hidden})
        self._words = Stream(self._redactor, self._say)

    def emit(self, event: Event) -> None:
        """Into the trace, and to the channel."""
        if event.get("event") == "text":
            self._words.feed(str(event["delta"]))
            return
        self._words.flush()
        safe = self._redactor.event(event)
        try:
            self._trace.write(safe)
        except RegreenError:
            if event.get("event") != "outcome":  # the end is told in any case
                raise
        if event.get("event") == "proposal":
            safe = self._redactor.event(event, _FILES_TOO)
        self._channel.emit(safe)

    def show(self, event: Event) -> None:
        """To the channel alone."""
        self._channel.emit(self._redactor.event(event))

    def text(self, text: str) -> str:
        """A text without secrets."""
        return self._redactor.text(text)

    def _say(self, delta: str) -> None:
        event = {"event": "text", "delta": delta}
        self._trace.write(event)
        self._channel.emit(event)
