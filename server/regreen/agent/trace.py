"""The trace: a JSON Lines record of a run, enough to replay it without a model, and to see where its time went.

Every line holds "at", the seconds since the run began. A `span` line says who had the time: {"event": "span",
"activity": "model", "begin": seconds, "end": seconds}. What no span covers was the harness's own.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from regreen.agent.conversation import Reply, ToolCall, Usage
from regreen.errors import RegreenError, UsageError


class TraceWriter:
    """Appends one flushed line per event; a crash loses at most the line being written.

    `elapsed` tells the seconds since the run began; by default since the writer was made.
    """

    def __init__(self, path: Path, elapsed: Callable[[], float] | None = None) -> None:
        self.path = path
        begun = time.monotonic()
        self._elapsed = elapsed or (lambda: time.monotonic() - begun)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._broken = False
        self._file = path.open("a", encoding="utf-8", errors="backslashreplace")

    def write(self, event: Mapping[str, Any]) -> None:
        """Add one event, with its time.

        Raises RegreenError, once, when the disk does not take it: that ends the run, whose outcome is still told.
        """
        if self._broken:
            return
        timed = {**event, "at": round(self._elapsed(), 3)}
        try:
            self._file.write(json.dumps(timed, ensure_ascii=False) + "\n")
            self._file.flush()
        except OSError as error:
            self._broken = True
            raise RegreenError(
                f"The trace {self.path} cannot be written: {error.strerror}. Make room there, or name another "
                "folder with REGREEN_STATE_DIR."
            ) from error

    def close(self) -> None:
        """Close the file; later writes are an error."""
        with contextlib.suppress(*((OSError,) if self._broken else ())):
            self._file.close()


def read_trace(path: Path) -> list[dict[str, Any]]:
    """All events of a trace. A cut last line is left out, and what is no event. Raises UsageError when it is no trace."""
    try:
        events = list(_lines(path))
    except OSError as error:
        raise UsageError(f"Cannot read the trace {path}: {error}") from error
    if not any(event.get("event") == "started" for event in events):
        raise UsageError(f"{path} is not a trace of a run: it has no `started` line.")
    return events


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        for line in file:  # as bytes: a kill may cut the last line inside a character
            try:
                event = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(event, dict):
                yield event


def span_event(activity: str, begin: float, end: float) -> dict[str, Any]:
    """Who had the time from `begin` to `end`, in seconds since the run began."""
    return {"event": "span", "activity": activity, "begin": round(begin, 3), "end": round(end, 3)}


def reply_event(n: int, reply: Reply) -> dict[str, Any]:
    """A reply as it stands in the trace; `reply_from` reads it back."""
    return {
        "event": "reply",
        "n": n,
        "text": reply.text,
        "calls": [{"name": c.name, "arguments": dict(c.arguments), "id": c.id} for c in reply.calls],
        "corrective": reply.corrective,
        "finish": reply.finish,
        "usage": {
            "prompt": reply.usage.prompt,
            "cached": reply.usage.cached,
            "generated": reply.usage.generated,
            **({} if reply.usage.cost is None else {"cost": round(reply.usage.cost, 8)}),
        },
        "seconds": round(reply.seconds, 3),
        **({"speed": speed} if (speed := reply.speed.to_json()) else {}),
    }


def reply_from(event: Mapping[str, Any]) -> Reply:
    """The reply of a `reply` event."""
    usage: Mapping[str, Any] = event.get("usage") or {}
    return Reply(
        text=str(event.get("text", "")),
        calls=tuple(
            ToolCall(c["name"], c.get("arguments") or {}, c.get("id", "")) for c in event.get("calls") or ()
        ),
        corrective=str(event.get("corrective", "")),
        usage=Usage(
            usage.get("prompt", 0), usage.get("cached", 0), usage.get("generated", 0), usage.get("cost")
        ),
        finish=str(event.get("finish", "stop")),
        seconds=float(event.get("seconds", 0.0)),
    )
