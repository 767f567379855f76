"""Tools described in the prompt, for models and servers that do not take them in a field of their own."""

from __future__ import annotations

import json
from collections.abc import Sequence

from regreen.agent.conversation import ToolSpec
from regreen.models.history import restated


def tools_text(tools: Sequence[ToolSpec]) -> str:
    """The end of the system message: one line for each tool, and one call in the shape that is wanted.

    The tags are those that Qwen 2.5 and Hermes models were trained with; a JSON schema of each tool would cost
    twice the tokens and tells a small model less than the example does.
    """
    first = tools[0]
    required = first.parameters.get("required") or list(first.parameters.get("properties", {}))
    example = json.dumps({"name": first.name, "arguments": dict.fromkeys(required, "…")}, ensure_ascii=False)
    return f"{restated(tools)}\nTo call a tool, write:\n<tool_call>\n{example}\n</tool_call>"
