"""A check for servers that tell no token counts: does the model still see the start of its prompt?

A context that is too small is cut in silence, and what goes first is the first message of the user: the evidence. So
the model is asked to repeat that message's first line. The question is put at the end of the prompt just read, so
that all but a few tokens of it come from the server's cache, and it never enters the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from regreen.agent.conversation import Message

FIRST_TOKENS = 1800
"""No check before the prompt has about so many tokens: the smallest usual context holds 2048. The next check comes
when the prompt has doubled."""

ANSWER_TOKENS = 48

QUESTION = "Stop for a moment and call no tool. Repeat the first line of my first message, word for word."


class Canary:
    """Knows when a check is due."""

    def __init__(self) -> None:
        self._next = FIRST_TOKENS

    def due(self, tokens: int) -> bool:
        """Whether a prompt of about so many tokens should be checked; the next answer is no until it has doubled."""
        if tokens < self._next:
            return False
        self._next = 2 * tokens
        return True


def question(sent: Sequence[dict[str, Any]], reply: str) -> list[dict[str, Any]]:
    """The messages of the check, after those that were sent and the reply to them."""
    return [
        *sent,
        {"role": "assistant", "content": reply.strip() or "…"},
        {"role": "user", "content": QUESTION},
    ]


def forgotten(messages: Sequence[Message], answer: str) -> bool:
    """Whether the answer shows that the first line is gone: less than half of its words are in it.

    An empty answer, or a conversation without a line to ask for, shows nothing.
    """
    first = next((message.content for message in messages if message.role == "user"), "")
    line = next((line for line in first.splitlines() if line.strip()), "")
    wanted, given = set(_words(line)), set(_words(answer))
    return bool(wanted and given) and len(wanted & given) * 2 < len(wanted)


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())
