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


def _index(value: Any) -> int | None:
    """The index of a fragment, as a number or as text; None where there is none."""
    if isinstance(value, str) and value.isdigit():
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() and value >= 0 else _count(value)


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

    def end_at(self, offset: int) -> None:
        """Take the reply as over at this place of its text."""
        self.content, self.end = self.content[:offset].rstrip(), {"done_reason": "stop"}

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

    @property
    def written(self) -> str:
        """All that the model wrote for the conversation, as far as it is known."""
        return (self.raw.strip("\n") if self.calls else "") or self.text

    as_text = written
    """The reply as one text, calls included; "" where that is not known."""

    @property
    def counted(self) -> int:
        """Tokens generated so far: Ollama tells at the end only, so 0."""
        return 0

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
    """The events of one streamed chat completion, or the one body of a server that does not stream.

    Rules from what servers do: fragments are keyed by index, and by id where there is no index; a second call may come
    on the same index (ollama#15457, vercel/ai#14277, litellm#33678); an empty or null id or name is none
    (opencode#37841); a whole call or message may be sent once more at the end, or come only there; an index may be
    written as text; a fragment may hold all of the arguments so far, and not what is new.
    """

    def __init__(self) -> None:
        self.content = ""
        self.thinking = ""
        self.finish = ""
        self.closed = False
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
        delta = _mapping(choice.get("delta"))
        message = _mapping(choice.get("message"))
        if not delta and not (self.content or self._calls):
            delta = message
        elif not self._calls and not delta.get("tool_calls") and message.get("tool_calls"):
            delta = {
                **delta,
                "tool_calls": message["tool_calls"],
            }  # the text came in pieces, the calls at the end
        content = _said(delta.get("content")) or _said(delta.get("refusal"))
        thinking = _thought(delta)
        self.content += content
        self.thinking += thinking
        parts = _list(delta.get("tool_calls")) or [_mapping(delta.get("tool_calls"))]
        written = "".join(self._fragment(_mapping(part)) for part in parts)
        if old := _mapping(delta.get("function_call")):  # how tools were called before there were several
            written += self._fragment({"index": 0, "function": old})
        return content, content or thinking or written

    def end_at(self, offset: int) -> None:
        """Take the reply as over at this place of its text. The server does not come to tell its counts then."""
        self.content, self.finish, self.closed = self.content[:offset].rstrip(), "stop", True

    def _fragment(self, part: Mapping[str, Any]) -> str:
        function = _mapping(part.get("function")) or part
        call_id, name = str(part.get("id") or ""), str(function.get("name") or "")
        arguments = function.get("arguments")
        whole = arguments is not None and not isinstance(arguments, str)
        text = json.dumps(arguments, ensure_ascii=False) if whole else str(arguments or "")
        if not (call_id or name or text):
            return ""
        call = self._call_of(_index(part.get("index")), call_id, name, text)
        call.id = call.id or call_id
        call.name = name if name.startswith(call.name) else call.name + name
        if call.arguments and (text == call.arguments or whole) and call.is_whole():
            return ""  # sent once more
        return call.add(text)

    def _call_of(self, index: int | None, call_id: str, name: str, text: str) -> _Fragments:
        """The call that a fragment belongs to."""
        same_id = next((call for call in self._calls if call_id and call.id == call_id), None)
        if same_id is not None:
            return same_id
        if index is None:
            last = self._calls[-1] if self._calls else None
            goes_on = last is not None and (not name or (name == last.name and last.is_cut()))
            return last if last is not None and goes_on else self._new(None)
        call = self._by_index.get(index)
        if call is None or call.is_another(call_id, name, text):
            return self._new(index)
        return call

    def _new(self, index: int | None) -> _Fragments:
        call = _Fragments()
        self._calls.append(call)
        if index is not None:
            self._by_index[index] = call
        return call

    @property
    def calls(self) -> list[JsonObject]:
        """The calls with whole argument strings, in the order in which they began."""
        return [
            {
                "id": call.id or f"call_{n}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments or "{}"},
            }
            for n, call in enumerate(self._calls)
        ]

    @property
    def written(self) -> str:
        """All that the model wrote for the conversation, as far as it is known."""
        return self.content + "".join(call.arguments for call in self._calls)

    @property
    def as_text(self) -> str:
        """The reply as one text, calls included; "" where that is not known."""
        return "" if self._calls else self.content

    @property
    def counted(self) -> int:
        """Tokens generated so far, where the server tells it with every piece; else 0."""
        return self.number("completion_tokens") or 0

    def number(self, name: str) -> int | None:
        """A token count of the server; None when it does not tell.

        llama.cpp can tell with every token, so that a reply that was cut has counts too.
        """
        counted = _count(self.usage.get(name))
        if counted is None and self.timings:
            parts = ("cache_n", "prompt_n") if name == "prompt_tokens" else ("predicted_n",)
            counts = [_count(self.timings.get(part)) for part in parts]
            return sum(n for n in counts if n is not None) if None not in counts else None
        return counted

    def body(self) -> JsonObject:
        """The whole reply as a chat completion without streaming."""
        message: JsonObject = {"role": "assistant", "content": self.content}
        if self.thinking:
            message["reasoning_content"] = self.thinking
        if self._calls:
            message["tool_calls"] = self.calls
        choice = {"index": 0, "finish_reason": self.finish or "stop", "message": message}
        return {"object": "chat.completion", "choices": [choice], "usage": dict(self.usage)}


def _said(value: Any) -> str:
    """Text, also where a server sends it as a list of parts."""
    if isinstance(value, list):
        return "".join(_said(_mapping(part).get("text")) for part in cast("list[Any]", value))
    return value if isinstance(value, str) else ""


def _thought(delta: Mapping[str, Any]) -> str:
    """The thinking in a delta, under any of its names."""
    named = (_said(delta.get(name)) for name in ("reasoning_content", "reasoning", "thinking"))
    return next((text for text in named if text), "") or _said(delta.get("reasoning_details"))


class _Fragments:
    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments = ""

    def add(self, text: str) -> str:
        """Take a fragment of the arguments; returns what is new in it. Nothing that is JSON goes on with its own
        beginning, or behind an empty object: such a fragment holds all that there is so far."""
        so_far = self.arguments
        again = so_far.startswith("{") and text.startswith(so_far)
        placeholder = so_far.strip() in ("{}", "null") and bool(text.strip())
        self.arguments = text if again or placeholder else so_far + text
        return text[len(so_far) :] if again else text

    def is_whole(self) -> bool:
        """Whether the arguments are complete."""
        try:
            json.loads(self.arguments)
        except ValueError:
            return False
        return True

    def is_cut(self) -> bool:
        """Whether the arguments have begun and are not complete."""
        return bool(self.arguments) and not self.is_whole()

    def is_another(self, call_id: str, name: str, text: str) -> bool:
        """Whether a fragment on the same index begins a new call.

        A new id alone proves nothing: some servers send another one with every fragment.
        """
        if not name:
            return bool(call_id and self.id and call_id != self.id and text and self.is_whole())
        if self.is_whole():
            return text != self.arguments or bool(call_id and self.id)
        renamed = bool(self.name) and not name.startswith(self.name) and not self.name.startswith(name)
        return renamed and bool(self.arguments or (call_id and self.id))
