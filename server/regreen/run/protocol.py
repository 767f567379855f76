"""The run protocol: JSON Lines, events out, decisions and changed buffers in.

Every event is an object with "event". The first one of a run is `started`, the last one `outcome`. Notes and budgets
that come up earlier are held back until after `started`; two things cannot wait and may come first: a `question`, and
the note ("urgent": true) that the run waits for another one in the same folder. What comes in is one of
`{"decision": …}`, `{"buffers": …}`, `{"extend": …}`, `{"cancel": true}` and `{"answer": …, "question": …}`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TextIO, cast

from regreen.run.lines import read_lines

Event = Mapping[str, Any]
Emit = Callable[[Event], None]

PRIVATE_EVENTS = ("reply", "base", "prompt", "span")
"""Events that stand in the trace only."""
_AFTER_STARTED = ("note", "budget")


@dataclass(frozen=True, slots=True)
class Decision:
    """What the person decided on a proposal.

    `files` is what the files hold, or shall hold, by path, where that differs from the proposal or the
    editor wrote them. `write` are paths that the run writes although the editor writes the others: files
    that are not open in an editor which would not save them. `lasting` means this one and all to come;
    `final` that nobody is there to decide.
    """

    kind: Literal["accept", "reject", "partly"]
    reason: str = ""
    files: Mapping[str, str] | None = None
    lasting: bool = False
    final: bool = False
    write: frozenset[str] = frozenset()


NOBODY = Decision("reject", "no decision came", final=True)


class Hearing(Protocol):
    """Who wants to know what comes in during a run."""

    def cancel(self) -> None:
        """End the run."""
        ...

    def extend(self, steps: int, tokens: int, seconds: float) -> None:
        """Allow more."""
        ...

    def buffers(self, buffers: Mapping[str, str | None]) -> None:
        """The editor's unsaved texts changed."""
        ...


class Channel(Protocol):
    """Where a run shows itself and asks: JSON Lines, or a terminal."""

    def emit(self, event: Event) -> None:
        """Show one event."""
        ...

    def listen(self, hearing: Hearing) -> None:
        """Pass on what comes in from now on."""
        ...

    async def decide(self, proposal: Event) -> Decision:
        """Ask for a decision on a `proposal` event that was emitted before."""
        ...

    async def ask(self, question: Event) -> str:
        """Put a `question` event and return the choice; its default when nobody answers."""
        ...


class JsonChannel:
    """The protocol on a descriptor to read and a stream to write. Lines that are no JSON object get a `note`.

    `attended` means that whoever started the run stays at the other end: when the input ends it has died,
    and the run ends with it. Otherwise the end of input only answers what is asked from then on.
    """

    def __init__(self, source: int, sink: TextIO, attended: bool = False) -> None:
        self._attended = attended
        self._source = source
        self._sink = sink
        self._decisions: dict[str, Decision] = {}
        self._answers: dict[str, str] = {}
        self._lasting: Decision | None = None
        self._ended = False
        self._changed = asyncio.Event()
        self._hearing: Hearing | None = None
        self._begun = False
        self._early: list[Event] = []
        self._waiting = ""
        self._decided: set[str] = set()

    def emit(self, event: Event) -> None:
        """Write one line, unless it is for the trace only. A reader that went away ends the run."""
        kind = event.get("event")
        if kind in PRIVATE_EVENTS:
            return
        if kind in _AFTER_STARTED and not self._begun and not event.get("urgent"):
            self._early.append(event)
        elif kind == "started":
            self._begun = True
            self._decided.clear()
            self._write(event)
            self._write_early()
        elif kind == "outcome":
            self._begun = True
            self._write_early()
            for ident in self._decisions:
                self._complain(f"The decision on {ident!r} was not used: no such proposal was shown.")
            self._decisions.clear()
            self._write(event)
            self._begun = False
        else:
            self._write(event)

    def _write_early(self) -> None:
        early, self._early = self._early, []
        for event in early:
            self._write(event)

    def _write(self, event: Event) -> None:
        try:
            self._sink.write(json.dumps(event, ensure_ascii=True) + "\n")
            self._sink.flush()
        except (BrokenPipeError, ValueError):
            if self._hearing:
                self._hearing.cancel()

    def listen(self, hearing: Hearing) -> None:
        """Start reading, once; a later run of the same process takes over what comes in."""
        first, self._hearing = self._hearing is None, hearing
        if first:
            read_lines(self._source, self._take, self._end)

    def _end(self) -> None:
        self._ended = True
        self._changed.set()
        if self._attended and self._hearing:
            self._hearing.cancel()

    def _take(self, line: str) -> None:
        if not line.strip():
            return
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            self._complain(f"Not a JSON object: {line.strip()[:80]!r}")
            return
        self._dispatch(cast("dict[str, Any]", message))
        self._changed.set()

    def _dispatch(self, message: dict[str, Any]) -> None:
        hearing = self._hearing
        if "decision" in message:
            self._take_decision(message)
        elif "answer" in message:
            self._answers[str(message.get("question", ""))] = str(message["answer"])
        elif hearing and (buffers := _texts(message.get("buffers"), missing=True)) is not None:
            hearing.buffers(buffers)
        elif hearing and isinstance(message.get("extend"), dict):
            more = message["extend"]
            hearing.extend(
                _whole(more.get("steps")), _whole(more.get("tokens")), float(_whole(more.get("seconds")))
            )
        elif hearing and message.get("cancel"):
            hearing.cancel()
        else:
            self._complain(f"Not understood: {sorted(message)}")

    def _complain(self, text: str) -> None:
        self.emit({"event": "note", "level": "warning", "text": text})

    def _take_decision(self, message: dict[str, Any]) -> None:
        kind = message["decision"]
        if kind not in ("accept", "reject", "partly"):
            self._complain(f"No such decision: {kind!r}; accept, reject or partly.")
            return
        files = _texts(message.get("files"))
        if (files is None and message.get("files") is not None) or (kind == "partly" and not files):
            self._complain(
                "A decision's files are texts by path; `partly` needs at least one. Still waiting."
            )
            return
        proposal = str(message.get("proposal", ""))
        decision = Decision(
            kind,
            str(message.get("reason") or ""),
            {path: text for path, text in files.items() if text is not None} if files else None,
            lasting=proposal == "*",
            write=frozenset(map(str, message["write"]))
            if isinstance(message.get("write"), list)
            else frozenset(),
        )
        if decision.lasting:
            self._lasting = decision
        elif not proposal:
            self._complain('A decision names its proposal, or "*" for all. Still waiting.')
        elif proposal in self._decided:
            self._complain(f"The proposal {proposal!r} is decided already; this decision was not used.")
        else:
            self._decisions[proposal] = decision
            self._complain_of_strangers([proposal])

    def _complain_of_strangers(self, idents: Iterable[str]) -> None:
        """Decisions on other proposals than the one that waits are kept, and that is said."""
        for ident in idents:
            if self._waiting and ident != self._waiting:
                self._complain(
                    f"There is no proposal {ident!r} yet; {self._waiting!r} waits for a decision. "
                    "This one is kept in case it comes."
                )

    async def decide(self, proposal: Event) -> Decision:
        """Wait for a decision on this proposal; end of input without one is a rejection."""
        ident = self._waiting = str(proposal["id"])
        self._decided.discard(ident)  # asked again: the decision before was none
        self._complain_of_strangers(self._decisions if ident not in self._decisions else ())
        try:
            decision = await self._decision_on(ident)
        finally:
            self._waiting = ""
        self._decided.add(ident)
        return decision

    async def _decision_on(self, ident: str) -> Decision:
        while True:
            self._changed.clear()
            if ident in self._decisions:
                return self._decisions.pop(ident)
            if self._lasting is not None:
                return self._lasting
            if self._ended:
                return NOBODY
            await self._changed.wait()

    async def ask(self, question: Event) -> str:
        """Wait for the answer; end of input is the question's default."""
        self.emit(question)
        ident = str(question["id"])
        while True:
            self._changed.clear()
            if ident in self._answers:
                answer = self._answers.pop(ident)
                return answer if answer in question["choices"] else str(question["default"])
            if self._ended:
                return str(question["default"])
            await self._changed.wait()


MOST = 1_000_000
"""What a run may be extended by at once."""


def _whole(value: object) -> int:
    """A number above 0 as a whole one; anything else is 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
        return 0
    return int(min(value, MOST))


def _texts(value: object, missing: bool = False) -> dict[str, str | None] | None:
    """A mapping of paths to texts (or to None, where that is allowed); None when it is none."""
    if not isinstance(value, dict):
        return None
    texts = cast("dict[Any, Any]", value)
    kinds = (str, type(None)) if missing else (str,)
    if not all(isinstance(path, str) and isinstance(text, kinds) for path, text in texts.items()):
        return None
    return texts
