"""How a scripted model writes its edits when it does not call tools natively."""

from __future__ import annotations

import json

from scripted.answers import Answer, Call
from scripted.toy import Edit


def edit_call(edit: Edit) -> Call:
    """The edit as a call of edit_file."""
    return Call("edit_file", {"path": edit.path, "find": edit.find, "replace": edit.replace})


def native(text: str, calls: tuple[Call, ...]) -> Answer:
    """As real tool calls."""
    return Answer(text, calls)


def hermes(text: str, calls: tuple[Call, ...]) -> Answer:
    """Between tags, as text."""
    return Answer(Answer(text, calls).raw)


def json_text(text: str, calls: tuple[Call, ...]) -> Answer:
    """As bare JSON after the sentence."""
    return Answer(
        text + "".join("\n\n" + json.dumps({"name": c.name, "arguments": c.arguments}) for c in calls)
    )


def json_fence(text: str, calls: tuple[Call, ...]) -> Answer:
    """As JSON in a Markdown fence."""
    blocks = "".join(
        f"\n\n```json\n{json.dumps({'name': c.name, 'arguments': c.arguments})}\n```" for c in calls
    )
    return Answer(text + blocks)


def swallowed(text: str, calls: tuple[Call, ...]) -> Answer:
    """As tags whose JSON has a fault, so that Ollama's parser drops everything from the tag on."""
    broken = "".join(
        f"\n<tool_call>\n{{'name': '{c.name}', 'arguments': {json.dumps(c.arguments)}}}\n</tool_call>"
        for c in calls
    )
    return Answer(text, withheld=broken)


def code_fence(edits: tuple[Edit, ...]) -> str:
    """The whole corrected functions, each in a fence under its path."""
    return "".join(f"\n\n{edit.path}\n```python\n{edit.function}```" for edit in edits)


def search_replace(edits: tuple[Edit, ...]) -> str:
    """Search and replace blocks under the path."""
    return "".join(
        f"\n\n{e.path}\n<<<<<<< SEARCH\n{e.find}\n=======\n{e.replace}\n>>>>>>> REPLACE" for e in edits
    )


def write(dialect: str, why: str, edits: tuple[Edit, ...], tools_offered: bool) -> Answer:
    """An answer with the edits in the dialect; "native" falls back to tags when no tools are offered."""
    calls = tuple(edit_call(edit) for edit in edits)
    return write_calls(dialect, why, calls, tools_offered, edits)


def write_calls(
    dialect: str, why: str, calls: tuple[Call, ...], tools_offered: bool, edits: tuple[Edit, ...] = ()
) -> Answer:
    """An answer with any calls in the dialect; edits are needed for the dialects that show code."""
    if dialect == "fence" and edits:
        return Answer(why + code_fence(edits))
    if dialect == "search_replace" and edits:
        return Answer(why + search_replace(edits))
    if dialect == "native":
        return native(why, calls) if tools_offered else hermes(why, calls)
    if dialect == "swallowed":
        return swallowed(why, calls) if tools_offered else hermes(why, calls)
    writers = {"hermes": hermes, "text": json_text, "json_fence": json_fence}
    return writers.get(dialect, hermes)(why, calls)
