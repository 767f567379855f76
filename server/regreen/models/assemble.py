"""Putting a streamed reply together, on either wire. Pure: chunks in, one body out.

The body has the shape of the same server's answer without streaming, which is what `read_reply` takes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

JsonObject = dict[str, Any]


def json_object(value: Any) -> JsonObject | None:
    """A decoded JSON value as an object; None when it is something else."""
    return cast(JsonObject, value) if isinstance(value, dict) else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


class OllamaReply:
    """The objects of one /api/chat stream."""

    def __init__(self) -> None:
        self.content = ""
        self.thinking = ""
        self.calls: list[JsonObject] = []
        self.end: Mapping[str, Any] | None = None
        self._tokens = bytearray()

    def feed(self, chunk: Mapping[str, Any]) -> tuple[str, str]:
        """Take one object; returns the new visible text, and the new text in all (withheld text included)."""
        message = _mapping(chunk.get("message"))
        content, thinking = str(message.get("content") or ""), str(message.get("thinking") or "")
        self.content += content
        self.thinking += thinking
        self.calls += [dict(_mapping(call)) for call in _list(message.get("tool_calls"))]
        hidden = b"".join(_token_bytes(_mapping(token)) for token in _list(chunk.get("logprobs")))
        self._tokens += hidden
        if chunk.get("done"):
            self.end = chunk
        return content, content or thinking or hidden.decode("utf-8", "replace")

    @property
    def raw(self) -> str:
        """Everything the model wrote, as far as the logprobs tell; "" without them."""
        return self._tokens.decode("utf-8", "replace")

    @property
    def text(self) -> str:
        """The content; when the parser swallowed a call, the text that it withheld too.

        Since Ollama 0.13.3 the logprobs hold tokens that the parser keeps back (ollama PR 13238).
        """
        raw = self.raw
        if self.calls or len(raw.strip()) <= len((self.thinking + self.content).strip()):
            return self.content
        start = raw.find(self.content) if self.content.strip() else -1
        if start >= 0:
            return raw[start:]
        return raw.replace(self.thinking, "", 1) if self.thinking else raw

    def number(self, name: str) -> int | None:
        """A count or a duration in nanoseconds from the last object; None when it is not there."""
        return None if self.end is None else _count(self.end.get(name))

    @property
    def finish(self) -> str:
        """Why the reply ended; "" when the stream ended without saying."""
        return "" if self.end is None else str(self.end.get("done_reason") or "stop")

    def body(self) -> JsonObject:
        """The whole reply as /api/chat gives it without streaming."""
        message: JsonObject = {"role": "assistant", "content": self.text}
        if self.thinking:
            message["thinking"] = self.thinking
        if self.calls:
            message["tool_calls"] = self.calls
        return {**(self.end or {}), "message": message, "done": self.end is not None}


def _token_bytes(token: Mapping[str, Any]) -> bytes:
    data = _list(token.get("bytes"))
    if data and all(isinstance(byte, int) and 0 <= byte < 256 for byte in data):
        return bytes(cast("list[int]", data))
    return str(token.get("token") or "").encode("utf-8", "replace")


class OpenAIReply:
    """The events of one streamed chat completion.

    Rules from what servers do: fragments are keyed by index; a second call may come on the same index
    (ollama#15457, vercel/ai#14277, litellm#33678); an empty or null id or name is none (opencode#37841).
    """

    def __init__(self) -> None:
        self.content = ""
        self.thinking = ""
        self.finish = ""
        self.usage: Mapping[str, Any] = {}
        self.timings: Mapping[str, Any] = {}
        self._calls: list[_Fragments] = []
        self._by_index: dict[int, _Fragments] = {}

    def feed(self, chunk: Mapping[str, Any]) -> tuple[str, str]:
        """Take one event; returns the new visible text, and the new text in all (arguments included)."""
        self.usage = _mapping(chunk.get("usage")) or self.usage
        self.timings = _mapping(chunk.get("timings")) or self.timings
        choices = _list(chunk.get("choices"))
        if not choices:
            return "", ""
        choice = _mapping(choices[0])
        self.finish = str(choice.get("finish_reason") or self.finish)
        delta = _mapping(choice.get("delta")) or _mapping(choice.get("message"))
        content = str(delta.get("content") or "")
        thinking = str(delta.get("reasoning_content") or delta.get("reasoning") or "")
        self.content += content
        self.thinking += thinking
        written = "".join(self._fragment(_mapping(part)) for part in _list(delta.get("tool_calls")))
        return content, content or thinking or written

    def _fragment(self, part: Mapping[str, Any]) -> str:
        function = _mapping(part.get("function"))
        call_id, name = str(part.get("id") or ""), str(function.get("name") or "")
        arguments = function.get("arguments")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments) if arguments else ""
        index = _count(part.get("index"))
        index = (len(self._calls) if name else max(0, len(self._calls) - 1)) if index is None else index
        call = self._by_index.get(index)
        if call is None or call.is_another(call_id, name):
            call = self._by_index[index] = _Fragments()
            self._calls.append(call)
        call.id = call.id or call_id
        call.name = call.name if call.name == name else call.name + name
        call.arguments += text
        return text

    @property
    def calls(self) -> list[JsonObject]:
        """The calls with whole argument strings, in the order of their index."""
        return [
            {
                "id": call.id or f"call_{n}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments or "{}"},
            }
            for n, call in enumerate(self._calls)
        ]

    def body(self) -> JsonObject:
        """The whole reply as a chat completion without streaming."""
        message: JsonObject = {"role": "assistant", "content": self.content}
        if self.thinking:
            message["reasoning_content"] = self.thinking
        if self._calls:
            message["tool_calls"] = self.calls
        choice = {"index": 0, "finish_reason": self.finish or "stop", "message": message}
        return {"object": "chat.completion", "choices": [choice], "usage": dict(self.usage)}


class _Fragments:
    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments = ""

    def is_another(self, call_id: str, name: str) -> bool:
        """Whether a fragment on the same index begins a new call."""
        if not (call_id and self.id and call_id != self.id) and not (name and name == self.name):
            return False
        try:
            json.loads(self.arguments)
        except ValueError:
            return False
        return True
