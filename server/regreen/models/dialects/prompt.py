"""The tool menu in our own words, one line a tool, and one example of the wanted edit: for models whose template prints
tools unreadably, and for text tools.

The same arguments give the same bytes: the prompt's start is cached by the server, token by token.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from regreen.agent.conversation import ToolSpec
from regreen.models.dialects.corrective import call
from regreen.models.dialects.reading import as_list, as_mapping, as_text

EditForm = Literal["function", "search_replace", "call", "none"]
"""How an edit is wanted: a whole function in one fence, a search/replace block, a call of edit_file; "none": no edit."""

_EXAMPLE_PATH = "shapes.py"
_OLD = "    return width + height"
_NEW = "    return width * height"

_FUNCTION = f"""To change code, answer with the whole corrected function in one block, every line of it, and nothing else:
```python
def area(width, height):
{_NEW}
```"""
_SEARCH_REPLACE = f"""To change code, answer with one block like this; the SEARCH lines are copied from the file as they are:
{_EXAMPLE_PATH}
<<<<<<< SEARCH
{_OLD}
=======
{_NEW}
>>>>>>> REPLACE"""
_CALL = "To change code, answer with one call like this; find is copied from the file as it is:"


def tool_lines(tools: Sequence[ToolSpec]) -> str:
    """One line a tool: `read_file(path, start_line?: integer): what it does.` A question mark means it may be left out."""
    return "\n".join(
        f"{tool.name}({_signature(tool)}): {' '.join(tool.description.split())}" for tool in tools
    )


def _signature(tool: ToolSpec) -> str:
    properties = as_mapping(tool.parameters.get("properties"))
    required = as_list(tool.parameters.get("required"))
    return ", ".join(
        _argument(name, as_mapping(schema), name in required) for name, schema in properties.items()
    )


def _argument(name: str, schema: dict[str, Any], required: bool) -> str:
    kind = as_text(schema.get("type"))
    return name + ("" if required else "?") + (f": {kind}" if kind not in ("", "string") else "")


def render(tools: Sequence[ToolSpec], edit: EditForm = "call") -> str:
    """The part of the system text that names the tools, shows how one is called, and shows the wanted edit once."""
    parts: list[str] = []
    if tools:
        parts.append(f"Tools, one a line:\n{tool_lines(tools)}")
        if edit != "call" or all(tool.name != "edit_file" for tool in tools):
            parts.append(f"To use one, answer with one line like this:\n{_first_call(tools)}")
    if edit == "function":
        parts.append(_FUNCTION)
    elif edit == "search_replace":
        parts.append(_SEARCH_REPLACE)
    elif edit == "call" and any(tool.name == "edit_file" for tool in tools):
        shown = call("edit_file", path=_EXAMPLE_PATH, find=_OLD.strip(), replace=_NEW.strip())
        parts.append(f"{_CALL}\n<tool_call>\n{shown}\n</tool_call>")
    return "\n\n".join(parts)


def _first_call(tools: Sequence[ToolSpec]) -> str:
    """A call of the simplest tool, filled in: reading a file where it is offered."""
    names = [tool.name for tool in tools]
    if "read_file" in names:
        return f"<tool_call>\n{call('read_file', path=_EXAMPLE_PATH)}\n</tool_call>"
    filled = dict.fromkeys(as_list(tools[0].parameters.get("required")), _EXAMPLE_PATH)
    return f"<tool_call>\n{call(tools[0].name, **filled)}\n</tool_call>"
