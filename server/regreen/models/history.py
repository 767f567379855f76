"""The conversation as each wire wants it: append-only, byte-identical from one request to the next.

A reply is sent back as it was generated wherever the wire allows it, so that the server's cache of the prompt
goes on to hold.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from regreen.agent.conversation import Message, ToolCall, ToolSpec

Mode = Literal["native", "text", "constrained"]
"""native: the server's `tools`; text: tools described in the prompt, calls read from the text; constrained: the
same, with the output held to a JSON schema by the server's grammar."""

WireMessage = dict[str, Any]

REASON_CHARS = 160
"""Room for one sentence."""


def wire_tools(tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    """The tools as both wires declare them."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": {k: v for k, v in tool.parameters.items() if k != "required" or v},
            },
        }
        for tool in tools
    ]


def call_schema(tools: Sequence[ToolSpec]) -> dict[str, Any]:
    """A JSON schema that any one call of these tools fits, for constrained output. The reason is bounded: a weak model
    does not find the end of a text that the schema lets go on."""
    shapes = [
        {
            "type": "object",
            "properties": {
                "reason": {"type": "string", "maxLength": REASON_CHARS},
                "name": {"const": tool.name},
                "arguments": dict(tool.parameters),
            },
            "required": ["reason", "name", "arguments"],
        }
        for tool in tools
    ]
    return shapes[0] if len(shapes) == 1 else {"anyOf": shapes}


def call_text(call: ToolCall) -> str:
    """A call as the Hermes and Qwen templates write it."""
    body = json.dumps({"name": call.name, "arguments": dict(call.arguments)}, ensure_ascii=False)
    return f"<tool_call>\n{body}\n</tool_call>"


def restated(tools: Sequence[ToolSpec]) -> str:
    """The tools in one line each, for a template that prints them unreadably."""
    lines: list[str] = []
    for tool in tools:
        properties: Mapping[str, Any] = tool.parameters.get("properties", {})
        required = tool.parameters.get("required", ())
        names = ", ".join(name if name in required else f"{name}?" for name in properties)
        lines.append(f"{tool.name}({names}): {tool.description}")
    return "The tools and their arguments:\n" + "\n".join(lines)


STOP = "<tool_response>"


def stops(messages: Sequence[Message]) -> list[str]:
    """Where a server may end a reply with tools as text: at the answer that the model makes up to its own call. Nowhere
    in a project that has that mark in its own text, for a reply may then have to hold it."""
    said = (message.content + str([call.arguments for call in message.calls]) for message in messages)
    return [] if any(STOP in text for text in said) else [STOP]


class RawReplies:
    """What the model wrote, letter by letter, by the place of its message in the conversation."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[str, tuple[ToolCall, ...], str]] = {}

    def keep(self, place: int, text: str, calls: tuple[ToolCall, ...], raw: str) -> None:
        """Remember a reply whose message will stand at `place`."""
        self._kept[place] = (text, calls, raw)

    def at(self, place: int, message: Message) -> str | None:
        """The reply that this message stands for; None when it is not one that was kept."""
        kept = self._kept.get(place)
        if kept is None or kept[0] != message.content or kept[1] != message.calls:
            return None
        return kept[2]


def _written(place: int, message: Message, raws: RawReplies) -> str:
    """An assistant message with its calls as text."""
    raw = raws.at(place, message)
    if raw is not None:
        return raw
    return "\n".join(filter(None, (message.content, *(call_text(call) for call in message.calls))))


def _with_system(messages: Sequence[Message], extra: str) -> list[Message]:
    """The conversation with a text added at the end of its system message."""
    if not extra:
        return list(messages)
    if messages and messages[0].role == "system":
        return [Message("system", f"{messages[0].content}\n\n{extra}"), *messages[1:]]
    return [Message("system", extra), *messages]


def as_text(messages: Sequence[Message], tools_text: str, raws: RawReplies) -> list[WireMessage]:
    """For text tools, on both wires: calls and results are text between tags, the tools are in the system text."""
    shift = 1 if tools_text and not (messages and messages[0].role == "system") else 0
    out: list[WireMessage] = []
    for place, message in enumerate(_with_system(messages, tools_text)):
        if message.role == "assistant":
            out.append({"role": "assistant", "content": _written(place - shift, message, raws)})
        elif message.role == "tool":
            text = f"<tool_response>\n{message.content}\n</tool_response>"
            out.append({"role": "user", "content": text})
        else:
            out.append({"role": message.role, "content": message.content})
    return out


def for_ollama(
    messages: Sequence[Message], raws: RawReplies, calls_as_text: bool, extra: str = ""
) -> list[WireMessage]:
    """For Ollama's own tools.

    Templates of the Qwen 2.5 kind print an assistant's content or its calls, never both. Where the template
    writes calls between `<tool_call>` tags, the reply goes back as content, tags and all (`calls_as_text`): it
    renders exactly as it was generated. Elsewhere the calls go back as calls, without content.
    """
    shift = 1 if extra and not (messages and messages[0].role == "system") else 0
    out: list[WireMessage] = []
    for place, message in enumerate(_with_system(messages, extra)):
        if message.role == "assistant" and message.calls and not calls_as_text:
            calls = [
                {"function": {"index": i, "name": call.name, "arguments": dict(call.arguments)}}
                for i, call in enumerate(message.calls)
            ]
            out.append({"role": "assistant", "content": "", "tool_calls": calls})
        elif message.role == "assistant":
            out.append({"role": "assistant", "content": _written(place - shift, message, raws)})
        elif message.role == "tool":
            result: WireMessage = {"role": "tool", "content": message.content}
            result.update({"tool_name": message.tool_name} if message.tool_name else {})
            out.append(result)
        else:
            out.append({"role": message.role, "content": message.content})
    return out


def for_openai(messages: Sequence[Message]) -> list[WireMessage]:
    """For chat completions with tools; content is "" and never null (LM Studio stops in silence on null)."""
    out: list[WireMessage] = []
    for message in messages:
        if message.role == "assistant" and message.calls:
            calls = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {
                        "name": call.name,
                        "arguments": json.dumps(dict(call.arguments), ensure_ascii=False),
                    },
                }
                for call in message.calls
            ]
            out.append({"role": "assistant", "content": message.content, "tool_calls": calls})
        elif message.role == "tool":
            out.append({"role": "tool", "tool_call_id": message.call_id, "content": message.content})
        else:
            out.append({"role": message.role, "content": message.content})
    return out


class PrefixMeter:
    """Estimates which part of a prompt the server has in its cache: the longest start that the last request,
    with its reply, has in common with the new one."""

    def __init__(self) -> None:
        self._last = ""
        self._last_prompt = "\0none"
        self.chars_per_token = 0.0

    @staticmethod
    def flat(messages: Sequence[WireMessage], tools: Sequence[Mapping[str, Any]]) -> str:
        """A prompt as one text, in the order in which templates print it."""
        parts = [json.dumps(tool, ensure_ascii=False) for tool in tools]
        for message in messages:
            calls = "".join(json.dumps(call, ensure_ascii=False) for call in message.get("tool_calls", ()))
            parts.append(f"\0{message['role']}\n{message['content']}{calls}")
        return "\n".join(parts) + "\n"

    def shared(self, flat: str) -> int:
        """How many characters of a new prompt the last one and its reply begin with."""
        low, high = 0, min(len(flat), len(self._last))
        while low < high:
            middle = (low + high + 1) // 2
            if flat[low:middle] == self._last[low:middle]:
                low = middle
            else:
                high = middle - 1
        return low

    def extends(self, flat: str) -> bool:
        """Whether a new prompt begins with the whole of the last one."""
        return flat.startswith(self._last_prompt)

    def cached_tokens(self, flat: str, prompt_tokens: int) -> int:
        """The estimate, in tokens, of a prompt that the server counted as `prompt_tokens`."""
        return prompt_tokens * self.shared(flat) // max(1, len(flat))

    def remember(self, flat: str, reply: str, prompt_tokens: int) -> None:
        """Note what the server's cache holds now; `prompt_tokens` is the server's own count, 0 if it has none."""
        self._last_prompt = flat
        self._last = f"{flat}\0assistant\n{reply}\n"
        if prompt_tokens:
            self.chars_per_token = len(flat) / prompt_tokens
