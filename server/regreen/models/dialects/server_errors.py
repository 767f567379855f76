"""Errors of model servers in our words: what happened, and what is done about it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from regreen.models.dialects.reading import Fault, as_mapping, as_text

_KNOWN: Sequence[tuple[str, str]] = (
    (
        r"does not support (?:tools|function)|tool.{0,30}not supported|--enable-auto-tool-choice|--jinja",
        "The model takes no tools field (HTTP 400). For the rest of the session the tools are described in the prompt as"
        " text, without the tools field, and the request is sent again.",
    ),
    (r"does not support (?:chat|thinking)", "The model cannot do what was asked (HTTP 400); the request is sent again without it."),
    (
        r"XML syntax error|error parsing tool call|failed to parse (?:tool|function)|invalid tool call|tool_use_failed|Failed to call a function",
        "The server could not parse the call that the model wrote, and its text is lost. The request is sent again; the second"
        " time without tools, with the call asked for as text.",
    ),
    (
        r"longer than the context|context length|context size|context window|exceed_context|maximum context|too many tokens|input length exceeds",
        "The prompt is longer than the model's context (HTTP 400). Old tool results are dropped and file excerpts shortened,"
        " then the request is sent again; num_ctx is raised once at most, because that loads the model anew.",
    ),
    (
        r"free-models-per-day|per[- ]day|daily|quota|insufficient_quota|credits|billing",
        "The quota of the day is used up (HTTP 429), so it is not tried again in a loop: the run stops, and the person is told"
        " when the quota is reset.",
    ),
    (
        r"model ['\"]?[^'\"]*['\"]? ?(?:not found|does not exist)|not found, try pulling|model_not_found|no such model|pull model manifest",
        "The model is not there (HTTP 404): it has to be pulled first. It is not tried again; the person is told the command.",
    ),
    (r"unauthorized|invalid api key|authentication|forbidden|signin|permission denied|API key", "The server refused the key (HTTP 401). It is not tried again; the person is told to set the key in the environment."),
    (r"rate limit|too many requests|429", "The server asks to slow down (HTTP 429): the request is sent again after a pause."),
    (r"server busy|overloaded|maximum pending|503|loading model|unavailable|502|bad gateway|504|gateway time-?out|Provider returned", "The server is busy or the provider failed: the request is sent again after a growing pause."),
    (r"terminated|unexpectedly stopped|out of memory|resource limitations|timed out waiting|cuda|requires more system memory|error was encountered while running", "The model's process failed on the server: the request is sent once more; if it fails again, with a smaller context."),
    (r"connection (?:refused|reset|error)|failed to connect|ECONN|timed out|timeout|EOF", "The connection to the model server was lost: the request is sent once more; if that fails, the server has to be started (ollama serve)."),
    (r"<html|<!doctype", "A web page came instead of an answer, so a proxy stands between: check the base URL and the proxy settings."),
)  # fmt: skip


def error_in(body: Mapping[str, Any]) -> Fault | None:
    """What a server's error means, in words; None when the body holds none."""
    error = body.get("error")
    if error is None and body.get("object") == "error":
        error = body
    if (
        error is None
        and isinstance(body.get("detail"), str)
        and "choices" not in body
        and "message" not in body
    ):
        error = body["detail"]
    if not error:
        return None
    given = as_mapping(error)
    text = as_text(error) or as_text(given.get("message")) or json.dumps(given or error, default=str)
    code = given.get("code", given.get("type", ""))
    extra = as_text(as_mapping(given.get("metadata")).get("raw"))
    whole = f"{text} {extra} {code}"
    words = next((words for pattern, words in _KNOWN if re.search(pattern, whole[:4000], re.IGNORECASE)), "")
    if re.search(r"<html|<!doctype", text[:500], re.IGNORECASE):
        text = re.sub(r"<[^<>]{1,200}>", " ", text[:4000])
    shown = re.sub(r"\s+", " ", text).strip()
    shown = shown if len(shown) <= 240 else f"{shown[:240]}… ({len(shown)} characters)"
    coded = f" (code {code})" if isinstance(code, int) else ""
    return Fault(
        "server",
        f"The server answered with an error{coded}: '{shown}'. {words or 'The turn failed and nothing was run; it is asked once more.'}",
    )


def server_fault(text: str) -> Fault:
    """An error text of a server, as the corrective that says what it means."""
    fault = error_in({"error": text or "no text"})
    assert fault is not None
    return fault
