"""What the scripted model sees of a request, and what it answers, free of any wire."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

PROBE_FILE = "probe.txt"
"""A request whose last message asks for this file is the client's probe, not a turn of a run."""


@dataclass(frozen=True)
class Call:
    """A tool call the scripted model makes."""

    name: str
    arguments: dict[str, Any]

    def as_json(self) -> str:
        """The call as Qwen models write it between their tags."""
        return json.dumps({"name": self.name, "arguments": self.arguments}, ensure_ascii=False)


@dataclass(frozen=True)
class Fault:
    """How the server breaks the exchange.

    kind: status | html | raw (`message` as the whole body, "Content-Type" in `headers`) | reset | error_line | no_done | silent | stall | slow | endless | dropped_length
    """

    kind: str
    status: int = 500
    message: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True)
class Answer:
    """One reply. `calls` go out natively; `withheld` is text that only the logprobs show, as when Ollama's
    parser met a call it could not read; `endless` yields text for ever."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    withheld: str = ""
    thinking: str = ""
    fault: Fault | None = None
    endless: Callable[[], Iterator[str]] | None = None
    finish: str = ""
    prompt_count: int | None = None

    @property
    def raw(self) -> str:
        """What the model generated, calls included."""
        return self.text + "".join(f"\n<tool_call>\n{call.as_json()}\n</tool_call>" for call in self.calls)


@dataclass(frozen=True)
class Said:
    """One message of the conversation; `calls` are those of the assistant."""

    role: str
    text: str
    calls: tuple[Call, ...] = ()

    def __str__(self) -> str:
        return self.text + "".join("\n" + call.as_json() for call in self.calls)


@dataclass(frozen=True)
class Seen:
    """A chat request in one form for both wires."""

    wire: str
    body: dict[str, Any]
    messages: tuple[Said, ...]
    tools: tuple[str, ...]

    @property
    def said(self) -> str:
        """Everything the model itself said so far, calls included."""
        return "\n".join(str(m) for m in self.messages if m.role == "assistant")

    @property
    def turns(self) -> int:
        """How often the model has spoken."""
        return sum(m.role == "assistant" for m in self.messages)

    @property
    def news(self) -> str:
        """What has been said to the model since it spoke last."""
        last = max((i for i, m in enumerate(self.messages) if m.role == "assistant"), default=-1)
        return "\n".join(m.text for m in self.messages[last + 1 :] if m.role != "system")

    @property
    def is_probe(self) -> bool:
        """Whether the client only finds out how this model calls tools."""
        return self.turns == 0 and PROBE_FILE in self.news

    @property
    def is_canary(self) -> bool:
        """Whether the client only asks if the start of the prompt is still there."""
        return bool(self.messages) and "first line of my first message" in self.messages[-1].text

    @property
    def is_warming(self) -> bool:
        """Whether the client only wants the start of the prompt evaluated."""
        options = self.body.get("options") or {}
        return (options.get("num_predict") or self.body.get("max_tokens")) == 1


def seen(wire: str, body: dict[str, Any]) -> Seen:
    """A request body of either wire in the common form."""
    messages = tuple(_said(m) for m in body.get("messages") or [])
    tools = tuple(t.get("function", t).get("name", "") for t in body.get("tools") or [])
    return Seen(wire, body, messages, tools)


def _said(message: dict[str, Any]) -> Said:
    calls = tuple(
        Call(c["function"]["name"], _arguments(c["function"].get("arguments")))
        for c in message.get("tool_calls") or []
    )
    return Said(message.get("role", ""), _text(message.get("content")), calls)


def _arguments(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value or "{}")
        except ValueError:
            return {"_raw": value}
    return value or {}


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return content or ""


def render(seen: Seen, garbled: bool = False) -> str:
    """The prompt as the chat template of the Qwen 2.5 models lays it out: system and tools first.

    `garbled` prints the tools as Ollama does since 0.14 for templates in Go (ollama#14601).
    """
    messages = list(seen.messages)
    out = ["<|im_start|>system\n"]
    out.append("\n\n".join(m.text for m in messages if m.role == "system"))
    if seen.body.get("tools"):
        out.append(
            "\n\n# Tools\n\nYou may call one or more functions to assist with the user query.\n\n<tools>\n"
        )
        for tool in seen.body["tools"]:
            function = tool["function"]
            if garbled:
                line = f'{{"type": "function", "function": {{{function["name"]} {function.get("description", "")} '
                line += f"{{object <nil> <nil> [] {json.dumps(function['parameters'].get('properties', {}))}}}}}}}"
            else:
                line = json.dumps(tool, ensure_ascii=False)
            out.append(line + "\n")
        out.append("</tools>\n\nFor each function call, return a json object within <tool_call></tool_call>.")
    out.append("<|im_end|>\n")
    for message in messages:
        if message.role == "assistant":
            both = (
                seen.wire == "openai" or not message.text
            )  # Qwen's template for Ollama prints one or the other
            body = Answer(message.text, message.calls if both else ()).raw
            out.append(f"<|im_start|>assistant\n{body}<|im_end|>\n")
        elif message.role == "tool":
            out.append(f"<|im_start|>user\n<tool_response>\n{message.text}\n</tool_response><|im_end|>\n")
        elif message.role != "system":
            out.append(f"<|im_start|>{message.role}\n{message.text}<|im_end|>\n")
    out.append("<|im_start|>assistant\n")
    return "".join(out)


def pieces(text: str) -> Iterable[str]:
    """A text in pieces about as long as tokens."""
    return re.findall(r" ?\w{1,8}|\s|[^\w\s]", text)


def tokens(characters: int) -> int:
    """Four characters a token, rounded up."""
    return (characters + 3) // 4


def common_prefix(a: str, b: str) -> int:
    """How many characters two texts have in common at their start."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
