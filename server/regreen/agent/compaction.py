"""Making room in a long conversation: old tool results are cut in one big, rare step, and never in silence.

A cut costs the model's whole prefix cache, so it is made only when the room is nearly full, or the server has
refused the prompt, and then down to about half the room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from regreen.agent.conversation import Message, ToolCall
from regreen.agent.model import Bounded, Model

NEAR = 0.9
"""The share of the room from which on it counts as nearly full."""

TARGET = 0.5
"""The share of the room that a cut aims at."""

LEAST = 0.1
"""A cut that frees a smaller share of the room is not worth the prefix cache, unless the server refused."""

KEPT_RESULTS = 2
"""The last tool results are never cut: the model is about to use them."""

CHARS_PER_TOKEN = 3.3
"""Of code, for what was added since the server counted last (see `testing.evidence`)."""


@dataclass(frozen=True, slots=True)
class Shortened:
    """A conversation with `results` old tool results cut, `characters` long together."""

    messages: tuple[Message, ...]
    results: int
    characters: int

    @property
    def note(self) -> str:
        """For the person."""
        what = "1 old tool result" if self.results == 1 else f"{self.results} old tool results"
        return f"The conversation filled the model's room, so {what} ({self.characters:,} characters) were cut from it."


class Room:
    """Follows how full a model's room is, by the counts of the server and the text added since."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._refused_at: int | None = None
        self._tokens = 0
        self._characters = 0

    def counted(self, messages: Sequence[Message], tokens: int) -> None:
        """The server counted so many tokens for the prompt made of these messages."""
        if tokens:
            self._tokens, self._characters = tokens, _characters(messages)

    def tokens(self, messages: Sequence[Message]) -> int:
        """About how many tokens a prompt of these messages has."""
        added = _characters(messages) - self._characters
        return max(1, self._tokens + int(added / CHARS_PER_TOKEN))

    @property
    def limit(self) -> int | None:
        """Tokens a prompt may have, as the model tells or a refusal has shown; None when nobody knows."""
        told = self._model.room if isinstance(self._model, Bounded) else None
        known = [limit for limit in (told, self._refused_at) if limit]
        return min(known) if known else None

    def shorten(self, messages: Sequence[Message]) -> Shortened | None:
        """A shorter conversation once the room is nearly full; None when there is no need, or no gain."""
        limit, tokens = self.limit, self.tokens(messages)
        if limit is None or tokens < limit * NEAR:
            return None
        cut = _cut(messages, tokens - int(limit * TARGET))
        return cut if cut and cut.characters / CHARS_PER_TOKEN >= limit * LEAST else None

    def refused(self, messages: Sequence[Message], limit: int | None) -> Shortened | None:
        """A shorter conversation after the server refused this one; None when nothing can be cut.

        `limit` is the server's room in tokens where it told; our own count was too low, or it would not have
        come to this.
        """
        tokens = self.tokens(messages)
        self._refused_at = min(tokens, limit or self.limit or tokens)
        return _cut(messages, tokens - int(self._refused_at * TARGET))


def _cut(messages: Sequence[Message], tokens: int) -> Shortened | None:
    """The oldest tool results cut, one after another, until so many tokens are freed."""
    wanted = tokens * CHARS_PER_TOKEN
    calls = {call.id: call for message in messages for call in message.calls}
    results = [place for place, message in enumerate(messages) if message.role == "tool"]
    out, freed, count = list(messages), 0, 0
    for place in results[:-KEPT_RESULTS]:
        if freed >= wanted:
            break
        line = _instead(messages[place], calls.get(messages[place].call_id))
        gain = len(messages[place].content) - len(line)
        if gain > len(line):
            out[place] = replace(messages[place], content=line)
            freed, count = freed + gain, count + 1
    return Shortened(tuple(out), count, freed) if count else None


def _instead(result: Message, call: ToolCall | None) -> str:
    """The one line that stands where a result stood."""
    what = result.tool_name or "a tool"
    for name in ("path", "pattern"):
        value = str(call.arguments.get(name, "")) if call else ""
        if value and "\n" not in value:
            what = f"{what} {value[:80]}"
            break
    return f"[cut to make room: what {what} gave, {len(result.content):,} characters]"


def _characters(messages: Sequence[Message]) -> int:
    return sum(
        len(message.content)
        + sum(len(str(value)) for call in message.calls for value in call.arguments.values())
        for message in messages
    )
