# pyright: basic
"""Reads native calls and tags only, until the dialects are there."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regreen.agent.conversation import ToolCall, ToolSpec


@dataclass(frozen=True)
class Reading:
    text: str
    calls: tuple[ToolCall, ...]
    corrective: str = ""


def read_reply(
    message: Mapping[str, Any],
    tools: Sequence[ToolSpec],
    files: Mapping[str, str] = {},
    *,
    wire: str = "ollama",
) -> Reading:
    m = message.get("message") or (message.get("choices") or [{}])[0].get("message") or {}
    calls = []
    for c in m.get("tool_calls") or ():
        a = c["function"]["arguments"]
        calls.append(
            ToolCall(c["function"]["name"], json.loads(a) if isinstance(a, str) else a, c.get("id", ""))
        )
    text = m.get("content") or ""
    if not calls:
        for part in re.findall(r"<tool_call>\s*(.*?)\s*</tool_call>", text, re.S):
            try:
                d = json.loads(part)
            except ValueError:
                import ast

                try:
                    d = ast.literal_eval(part)
                except ValueError:
                    continue
            calls.append(ToolCall(d["name"], d["arguments"]))
        text = text.split("<tool_call>")[0].strip()
        if not calls and text.startswith("{"):
            d = json.loads(text)
            calls.append(ToolCall(d["name"], d["arguments"]))
            text = ""
    return Reading(text, tuple(calls))


def tools_text(tools: Sequence[ToolSpec]) -> str:
    return (
        "<tools>\n"
        + "\n".join(json.dumps({"name": t.name, "parameters": dict(t.parameters)}) for t in tools)
        + "\n</tools>\nCall with <tool_call>"
    )
