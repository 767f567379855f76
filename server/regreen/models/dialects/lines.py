"""`regreen read-reply`: JSON Lines in, one line out per line in."""

from __future__ import annotations

import json
from typing import Any, TextIO

from regreen.models.dialects import read_reply
from regreen.models.dialects.reading import as_mapping, as_text
from regreen.tools.menu import ALL


def read_lines(source: TextIO, sink: TextIO) -> None:
    """Answer each line {"id", "wire", "message", "files"?} with {"id", "calls": […]} or {"id", "corrective": "…"}.

    A line that is no such object is answered with {"id": null or its id, "error": "…"}; blank lines are passed over.
    """
    for number, line in enumerate(source, start=1):
        if line.strip():
            sink.write(json.dumps(answer(line, number)) + "\n")
            sink.flush()


def answer(line: str, number: int = 1) -> dict[str, Any]:
    """The answer to one line; `number` is named in errors."""
    try:
        case = json.loads(line)
    except (ValueError, RecursionError) as error:
        return {"id": None, "error": f"line {number} is not JSON: {error}"}
    if not isinstance(case, dict):
        return {"id": None, "error": f"line {number} is not an object with id, wire and message"}
    given = as_mapping(case)  # pyright: ignore[reportUnknownArgumentType]
    message = given.get("message")
    if not isinstance(message, dict):
        return {"id": given.get("id"), "error": f"line {number} has no message object"}
    files = {path: text for path, text in as_mapping(given.get("files")).items() if isinstance(text, str)}
    reading = read_reply(as_mapping(message), ALL, files, wire=as_text(given.get("wire")), tests_locked=True)  # pyright: ignore[reportUnknownArgumentType]
    if reading.calls:
        calls = [{"name": call.name, "arguments": dict(call.arguments)} for call in reading.calls]
        return {"id": given.get("id"), "calls": calls}
    return {"id": given.get("id"), "corrective": reading.corrective}
