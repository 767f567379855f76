"""How models write their tool calls, and how calls are read out of replies of any kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from regreen.agent.conversation import ToolSpec
from regreen.models.dialects.reading import Reading, Reason
from regreen.models.dialects.reply import read_unguarded

__all__ = ["Reading", "Reason", "read_reply"]

_NO_FILES: Mapping[str, str] = {}


def read_reply(
    message: Mapping[str, Any],
    tools: Sequence[ToolSpec],
    files: Mapping[str, str] = _NO_FILES,
    *,
    wire: str = "",
    tests_locked: bool = False,
) -> Reading:
    """Read the calls out of one reply. Pure, never raises, a few milliseconds for a reply of 8 kB.

    `message` is one assistant message ("role", "content", "thinking", "tool_calls" …), a whole response body ("message",
    "choices" or "error"), or {"stream": [chunks]}, as either wire ("ollama" or "openai") sends it. `tools` are those that
    are carried out, `files` the texts of the files in play by relative path: with them a lone code block becomes an edit,
    and edits are fitted to the real text. `tests_locked` refuses changes of tests here already; without it the workspace's
    policy decides, which knows what the person unlocked.
    """
    try:
        return read_unguarded(message, tools, files, wire, tests_locked)
    except Exception as error:  # a reply must never end a run; the fuzz test calls `read_unguarded` and sees what is hidden here
        kind = type(error).__name__
        return Reading(
            corrective=f"The reply could not be read ({kind}). Answer with exactly one call, as one line of JSON.",
            reason="internal",
        )
