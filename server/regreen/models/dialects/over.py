"""Whether a text reply that is still streaming has said all that can count."""

from __future__ import annotations

import json
import re

from regreen.models.dialects import thoughts

_OPENS = re.compile(r"[<{\[]|```|'''|\"\"\"|^\s*Action\b", re.MULTILINE)
"""What may be the start of something that only quotes a call."""

_CALL = re.compile(r"\s*<tool_call>\s*(?=\{)")
_CLOSE = re.compile(r"\s*</tool_call>\s*")
_FENCE = re.compile(r"^```(?:python|py|python3)?[ \t]*\n(?:(?![ \t]*```).*\n)*```[ \t]*\n\s*", re.MULTILINE)
_DECODER = json.JSONDecoder()
_LONGEST_BREAK = 20
"""Characters of white space that may follow an object before it counts as a reply without end."""


def over_at(text: str) -> int:
    """The offset at which a reply is over: behind plain prose and whole calls, or whole code fences, where the model
    begins to make up the answer to them (`<tool_response>`, the next turn of a conversation). 0 when it is not over.

    A reader takes nothing from behind that place, so the stream may be closed without losing a call. Any other reply
    is not over: a further call may follow, or the text may quote a marker inside something that is still open.
    """
    at = _behind_calls(text) or _behind_fences(text)
    return at if at and (thoughts.RESULT.match(text, at) or thoughts.TURN.match(text, at)) else 0


def _behind_calls(text: str) -> int:
    at = text.find("<tool_call>")
    if at < 0 or _OPENS.search(text, 0, at):
        return 0
    count = 0
    while call := _CALL.match(text, at):
        try:
            _, end = _DECODER.raw_decode(text, call.end())
        except (ValueError, RecursionError):
            return 0
        closed = _CLOSE.match(text, end)
        if closed is None:
            return 0
        at, count = closed.end(), count + 1
    return at if count else 0


def _behind_fences(text: str) -> int:
    """Code counts as an edit only where its reason stands before it."""
    at = text.find("```")
    if at < 0 or not text[:at].strip() or _OPENS.search(text, 0, at):
        return 0
    end = 0
    while fence := _FENCE.match(text, at):
        at = end = fence.end()
    return end


def whole_object(text: str) -> int:
    """The offset behind a reply that began with one JSON object and goes on after it; 0 for any other.

    A server that holds the model to a schema ends there by itself, and then tells its counts: so it may.
    """
    start = len(text) - len(text.lstrip())
    if text[start : start + 1] != "{":
        return 0
    try:
        _, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return 0
    more = text[end:]
    return end if more.strip() or len(more) > _LONGEST_BREAK else 0
