"""Tools described in the prompt, for models and servers that do not take them in a field of their own."""

from __future__ import annotations

import json
from collections.abc import Sequence

from regreen.agent.conversation import ToolSpec
from regreen.models.history import wire_tools


def tools_text(tools: Sequence[ToolSpec]) -> str:
    """The end of the system message: the words that Qwen 2.5 and Hermes models were trained with.

    They are those of the chat template in Qwen2.5's tokenizer_config.json; other models follow them as well as
    any, and the dialects read whatever comes back.
    """
    listed = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in wire_tools(tools))
    return (
        "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
        "You are provided with function signatures within <tools></tools> XML tags:\n"
        f"<tools>\n{listed}\n</tools>\n\n"
        "For each function call, return a json object with function name and arguments within "
        "<tool_call></tool_call> XML tags:\n"
        '<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>'
    )
