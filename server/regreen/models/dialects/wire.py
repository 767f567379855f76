"""From what a server sent, on either wire, to one reply: streams joined, native calls gathered, server errors named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from regreen.models.dialects.names import Toolset
from regreen.models.dialects.reading import Asked, Fault, Spoken, as_list, as_mapping, as_text
from regreen.models.dialects.server_errors import error_in

_THINKING = ("thinking", "reasoning", "reasoning_content", "reasoning_text", "thought")


def unwrap(message: Mapping[str, Any], tools: Toolset, wire: str = "") -> Spoken:
    """One reply out of a message, a whole body or a list of stream chunks. A server's error becomes its `fault`."""
    body = as_mapping(message)
    if "stream" in body:
        return _stream(as_list(body["stream"]), tools, wire)
    if fault := error_in(body):
        return Spoken(fault=fault)
    if "choices" in body:
        return _choices(body)
    if "message" in body and "role" not in body:
        return _ollama(body)
    if "response" in body and "role" not in body:
        spoken = Spoken(text=as_text(body["response"]), thinking=as_text(body.get("thinking")))
        spoken.finish = as_text(body.get("done_reason"))
        spoken.fault = _unfinished(body, spoken)
        return spoken
    if not {"role", "content", "tool_calls", "function_call", *_THINKING} & set(body):
        shown = json.dumps(body, default=str)[:120]
        return Spoken(
            fault=Fault("server", f"The server's answer holds no message: {shown}. The turn is asked again.")
        )
    return _message(body)


def _ollama(body: dict[str, Any]) -> Spoken:
    spoken = _message(as_mapping(body["message"]))
    spoken.finish = as_text(body.get("done_reason"))
    count = body.get("eval_count")
    spoken.generated = count if isinstance(count, int) else -1
    raw = _from_tokens(body.get("logprobs"))
    if raw.strip() and not spoken.native and len(raw) > len(spoken.text):
        spoken.text = raw
    spoken.fault = _unfinished(body, spoken)
    return spoken


def _unfinished(body: Mapping[str, Any], spoken: Spoken) -> Fault | None:
    if body.get("done") is not False:
        return None
    if spoken.text and len(set(spoken.text.strip())) <= 3:
        return Fault(
            "repeats",
            "The server's repeat guard stopped the reply (done is false, no done_reason): the same piece came over and over"
            f"{_sample(spoken.text)}. This turn is dropped and asked once more with another seed and a little more temperature.",
        )
    return Fault(
        "server",
        f"The reply ended before the server said it was done{_sample(spoken.text)}. Nothing of it was run;"
        " the turn is asked once more.",
    )


def _sample(text: str) -> str:
    text = text.strip()
    return f" ('{text[:40]}{'…' if len(text) > 40 else ''}')" if text else ""


def _choices(body: dict[str, Any]) -> Spoken:
    usage = as_mapping(body.get("usage"))
    count = usage.get("completion_tokens")
    generated = count if isinstance(count, int) else -1
    choices = as_list(body.get("choices"))
    if not choices:
        return Spoken(
            fault=Fault(
                "server",
                "The server answered without a choice: no reply came. The turn is asked again after a pause.",
            )
        )
    choice = as_mapping(choices[0])
    if fault := error_in(choice):
        return Spoken(fault=fault)
    spoken = _message(as_mapping(choice.get("message", choice.get("delta"))))
    if "text" in choice and not spoken.text:
        spoken.text = as_text(choice["text"])
    spoken.finish = as_text(choice.get("finish_reason"))
    spoken.generated = generated
    raw = _from_tokens(as_mapping(choice.get("logprobs")).get("content"))
    if raw.strip() and not spoken.native and not spoken.text.strip():
        spoken.text = raw
    if generated == 0 and not spoken.text.strip() and not spoken.native and not spoken.thinking.strip():
        spoken.fault = Fault(
            "server",
            "The server sent an empty reply with no tokens at all (usage is zero): the provider failed."
            " It is not a finished turn; it is asked again after a pause.",
        )
    if spoken.finish in ("error", "content_filter"):
        spoken.fault = Fault(
            "server",
            f"The server ended the reply with '{spoken.finish}'. The turn is asked again after a pause.",
        )
    return spoken


def _message(message: dict[str, Any]) -> Spoken:
    spoken = Spoken()
    content = message.get("content")
    if isinstance(content, str):
        spoken.text = content
    elif content is not None:
        _parts(as_list(content) or [content], spoken)
    spoken.thinking += "\n".join(text for key in _THINKING if (text := as_text(message.get(key))))
    if not spoken.thinking:
        spoken.thinking = "".join(
            as_text(as_mapping(one).get("text")) for one in as_list(message.get("reasoning_details"))
        )
    calls = message.get("tool_calls")
    for one in as_list(calls) or ([calls] if isinstance(calls, Mapping) and calls else []):
        if asked := _native(as_mapping(one)):
            spoken.native.append(asked)
    legacy = as_mapping(message.get("function_call"))
    if legacy and not spoken.native:
        spoken.native.append(Asked(as_text(legacy.get("name")), legacy.get("arguments")))
    if refusal := as_text(message.get("refusal")):
        spoken.text = spoken.text or refusal
    return spoken


def _parts(parts: list[Any], spoken: Spoken) -> None:
    """Content as a list of parts, as some gateways send it."""
    for part in parts:
        if isinstance(part, str):
            spoken.text += part
            continue
        one = as_mapping(part)
        kind = as_text(one.get("type"))
        if kind in ("tool_use", "tool_call", "function_call"):
            if asked := _native(one):
                spoken.native.append(asked)
        elif kind in ("thinking", "reasoning"):
            spoken.thinking += as_text(one.get("thinking")) or as_text(one.get("text"))
        else:
            spoken.text += as_text(one.get("text")) or as_text(one.get("content"))


def _native(call: dict[str, Any]) -> Asked | None:
    if not call:
        return None
    inner = as_mapping(call.get("function")) or call
    name = inner.get("name")
    if name is None and isinstance(call.get("function"), str):
        name = call["function"]
    given = next((inner[key] for key in ("arguments", "parameters", "input", "args") if key in inner), None)
    if given is None and inner is not call:
        given = call.get("arguments")
    call_id = call.get("id") or call.get("tool_call_id")
    return Asked(
        as_text(name) or as_text(call.get("name")), given, call_id if isinstance(call_id, str) else ""
    )


def _from_tokens(logprobs: object) -> str:
    """The raw text of a reply whose call the server's own parser withheld: its tokens joined."""
    return "".join(as_text(as_mapping(one).get("token")) for one in as_list(logprobs))


# streams


@dataclass(slots=True)
class _Growing:
    """A native call of which more may arrive."""

    index: Any
    id: str = ""
    name: str = ""
    arguments: str = ""
    whole: Any = None

    def complete(self) -> bool:
        if self.whole is not None:
            return True
        try:
            json.loads(self.arguments)
        except (ValueError, RecursionError):
            return False
        return bool(self.arguments.strip())


@dataclass(slots=True)
class _Stream:
    text: list[str] = field(default_factory=lambda: list[str]())
    thinking: list[str] = field(default_factory=lambda: list[str]())
    tokens: list[str] = field(default_factory=lambda: list[str]())
    calls: list[_Growing] = field(default_factory=lambda: list[_Growing]())
    finish: str = ""
    done: bool = False
    generated: int = -1
    openai: bool = False


def _stream(chunks: list[Any], tools: Toolset, wire: str) -> Spoken:
    state = _Stream(openai=wire == "openai")
    for chunk in chunks:
        body = _chunk(chunk)
        if body is None:
            state.done = True
            continue
        if fault := error_in(body) or next(
            (found for one in as_list(body.get("choices")) if (found := error_in(as_mapping(one)))), None
        ):
            text = "".join(state.text)
            return Spoken(
                fault=Fault(
                    "server",
                    f"{fault.text} It came in the middle of a reply with status 200, so the turn failed:"
                    f" the partial text{_sample(text)} is dropped and the turn asked once more.",
                )
            )
        _take(body, state, tools)
    return _joined(state)


def _chunk(chunk: object) -> dict[str, Any] | None:
    """One chunk as an object, also when it is still a line of the wire; None for the closing line."""
    if not isinstance(chunk, str):
        return as_mapping(chunk)
    line = chunk.strip().removeprefix("data:").strip()
    if line == "[DONE]":
        return None
    try:
        return as_mapping(json.loads(line))
    except (ValueError, RecursionError):
        return {}


def _take(body: dict[str, Any], state: _Stream, tools: Toolset) -> None:
    usage = as_mapping(body.get("usage")).get("completion_tokens", body.get("eval_count"))
    if isinstance(usage, int):
        state.generated = usage
    if "choices" in body:
        state.openai = True
        for choice in as_list(body["choices"])[:1]:
            one = as_mapping(choice)
            delta = as_mapping(one.get("delta", one.get("message")))
            _text(delta, state)
            for call in as_list(delta.get("tool_calls")):
                _grow(as_mapping(call), state, tools)
            if legacy := as_mapping(delta.get("function_call")):
                _grow({"index": 0, "function": legacy}, state, tools)
            state.finish = as_text(one.get("finish_reason")) or state.finish
            state.tokens.append(_from_tokens(as_mapping(one.get("logprobs")).get("content")))
        return
    message = as_mapping(body.get("message"))
    _text(message, state)
    if isinstance(body.get("response"), str):
        state.text.append(body["response"])
    for call in as_list(message.get("tool_calls")):
        if asked := _native(as_mapping(call)):
            given: object = asked.arguments if asked.arguments is not None else "{}"
            state.calls.append(_Growing(None, asked.id, asked.name, whole=given))
    state.tokens.append(_from_tokens(body.get("logprobs")))
    if body.get("done") is True:
        state.done = True
        state.finish = as_text(body.get("done_reason")) or "stop"


def _text(delta: dict[str, Any], state: _Stream) -> None:
    part = Spoken()
    if isinstance(delta.get("content"), str):
        part.text = delta["content"]
    elif delta.get("content") is not None:
        _parts(as_list(delta["content"]), part)
    state.text.append(part.text)
    state.thinking.append(part.thinking + "".join(as_text(delta.get(key)) for key in _THINKING))


def _grow(call: dict[str, Any], state: _Stream, tools: Toolset) -> None:
    """Put one piece where it belongs: by index; a new call when another id, or a whole name again, comes after
    arguments that are complete."""
    function = as_mapping(call.get("function")) or call
    name, call_id = as_text(function.get("name")), as_text(call.get("id"))
    index = call.get("index")
    growing = next((one for one in reversed(state.calls) if one.index == index), None)
    if growing is None and index is None and state.calls:
        growing = state.calls[-1] if not call_id or state.calls[-1].id in ("", call_id) else None
    if growing is not None:
        other = bool(call_id) and bool(growing.id) and call_id != growing.id
        again = bool(name) and bool(growing.name) and bool(growing.arguments.strip()) and growing.complete()
        if (
            (other and (bool(name) or growing.complete()))
            or again
            or (growing.whole is not None and bool(name))
        ):
            growing = None
    if growing is None:
        growing = _Growing(index)
        state.calls.append(growing)
    growing.id = growing.id or call_id
    if name and name != growing.name:
        together = growing.name + name
        growing.name = together if not tools.known(name) or tools.known(together) else name
    piece = function.get("arguments")
    if isinstance(piece, str):
        growing.arguments += piece
    elif piece is not None:
        growing.whole = piece


def _joined(state: _Stream) -> Spoken:
    spoken = Spoken(text="".join(state.text), thinking="".join(state.thinking))
    spoken.finish, spoken.generated = state.finish, state.generated
    for one in state.calls:
        given = one.whole if one.whole is not None else one.arguments
        spoken.native.append(Asked(one.name, given, one.id))
    raw = "".join(state.tokens)
    if raw.strip() and not spoken.native and len(raw) > len(spoken.text):
        spoken.text = raw
    ended = state.done or bool(state.finish)
    complete = state.openai and bool(state.calls) and all(one.complete() for one in state.calls)
    if not ended and not complete:
        spoken.fault = _unfinished({"done": False}, spoken) if not state.openai else Fault(
            "server",
            f"The stream ended without a finish_reason{_sample(spoken.text)}, so the reply is not whole."
            " Nothing of it was run; the turn is asked once more.",
        )  # fmt: skip
    if state.finish == "error":
        spoken.fault = Fault(
            "server",
            "The server ended the stream with an error. Nothing was run; the turn is asked once more.",
        )
    return spoken
