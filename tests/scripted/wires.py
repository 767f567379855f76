"""An answer as the chunks of each wire."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

from scripted.answers import Answer, pieces
from scripted.state import Plan

_WHEN = "2026-01-01T00:00:00Z"


def _deltas(answer: Answer) -> Iterator[str]:
    if answer.endless is not None:
        yield from answer.endless()
    else:
        yield from pieces(answer.text)


def _finish(answer: Answer) -> str:
    return answer.finish or "stop"


# -- Ollama -----------------------------------------------------------------------------------------


def ollama_line(model: str, message: dict[str, Any], **more: Any) -> dict[str, Any]:
    """One object of a stream of /api/chat."""
    return {
        "model": model,
        "created_at": _WHEN,
        "message": {"role": "assistant", **message},
        "done": False,
        **more,
    }


def ollama_loaded(model: str, reason: str = "load") -> dict[str, Any]:
    """What a chat without messages is answered with."""
    return ollama_line(model, {"content": ""}, done=True, done_reason=reason)


def ollama_calls(answer: Answer) -> list[dict[str, Any]]:
    """Native calls with whole arguments, as Ollama sends them."""
    return [
        {
            "id": "call_" + uuid.uuid4().hex[:8],
            "function": {"index": i, "name": call.name, "arguments": call.arguments},
        }
        for i, call in enumerate(answer.calls)
    ]


def ollama_end(plan: Plan, model: str) -> dict[str, Any]:
    """The last object, with the counts; zeros are left out, as Go's omitempty does."""
    record, new = plan.record, max(1, plan.record.new_tokens)
    load = int(plan.load_seconds * 1e9) or 1_000_000
    counts = {
        "total_duration": load + 1000 * new,
        "load_duration": load,
        "prompt_eval_count": plan.prompt_count,
        "prompt_eval_duration": 1000 * new,
        "eval_count": record.generated_tokens,
        "eval_duration": 1000 * record.generated_tokens,
    }
    counts = {name: value for name, value in counts.items() if value}
    return ollama_line(model, {"content": ""}, done=True, done_reason=_finish(plan.answer), **counts)


def ollama_stream(plan: Plan, model: str, logprobs: bool) -> Iterator[dict[str, Any]]:
    """Every object of a streamed reply. With logprobs, tokens of withheld text and of calls show too."""
    answer = plan.answer

    def piece(text: str, **message: str) -> dict[str, Any]:
        more = (
            {"logprobs": [{"token": text, "logprob": -0.1, "bytes": list(text.encode())}]} if logprobs else {}
        )
        return ollama_line(model, {"content": "", **message}, **more)

    for text in pieces(answer.thinking):
        yield piece(text, thinking=text)
    for text in _deltas(answer):
        yield piece(text, content=text)
    hidden = answer.withheld + Answer(calls=answer.calls).raw
    if logprobs:
        for text in pieces(hidden):
            yield piece(text)
    if answer.calls:
        yield ollama_line(model, {"content": "", "tool_calls": ollama_calls(answer)})
    yield ollama_end(plan, model)


def ollama_whole(plan: Plan, model: str) -> dict[str, Any]:
    """The reply in one object, for stream=false."""
    message: dict[str, Any] = {"content": plan.answer.text}
    if plan.answer.thinking:
        message["thinking"] = plan.answer.thinking
    if plan.answer.calls:
        message["tool_calls"] = ollama_calls(plan.answer)
    body = {**ollama_end(plan, model), "message": {"role": "assistant", **message}}
    if plan.record.body.get("logprobs"):
        hidden = plan.answer.raw + plan.answer.withheld
        body["logprobs"] = [{"token": text, "logprob": -0.1} for text in pieces(hidden)]
    return body


PULL = (
    {"status": "pulling manifest"},
    {"status": "pulling 5ee4f07cdb9b", "digest": "sha256:5ee4f07cdb9b", "total": 1_929_912_432},
    {
        "status": "pulling 5ee4f07cdb9b",
        "digest": "sha256:5ee4f07cdb9b",
        "total": 1_929_912_432,
        "completed": 482_478_108,
    },
    {
        "status": "pulling 5ee4f07cdb9b",
        "digest": "sha256:5ee4f07cdb9b",
        "total": 1_929_912_432,
        "completed": 1_929_912_432,
    },
    {"status": "verifying sha256 digest"},
    {"status": "writing manifest"},
    {"status": "success"},
)
"""The progress of /api/pull."""

PULL_ERROR = {"error": "pull model manifest: file does not exist"}
"""How a pull ends when the registry has no such model."""


# -- OpenAI -----------------------------------------------------------------------------------------


def openai_usage(plan: Plan) -> dict[str, Any]:
    """Token counts, the cached ones included."""
    record = plan.record
    return {
        "prompt_tokens": plan.prompt_count,
        "completion_tokens": record.generated_tokens,
        "total_tokens": plan.prompt_count + record.generated_tokens,
        "prompt_tokens_details": {"cached_tokens": max(0, plan.prompt_count - record.new_tokens)},
        **({} if plan.cost is None else {"cost": plan.cost}),
    }


def openai_stream(plan: Plan, model: str) -> Iterator[dict[str, Any]]:
    """Every event of a streamed completion; arguments arrive in fragments."""
    answer = plan.answer
    base = {
        "id": "chatcmpl-" + uuid.uuid4().hex[:8],
        "object": "chat.completion.chunk",
        "created": 1_767_225_600,
    }
    base["model"] = model

    def event(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield event({"role": "assistant", "content": ""})
    for text in pieces(answer.thinking):
        yield event({"reasoning_content": text})
    for text in _deltas(answer):
        yield event({"content": text})
    for text in pieces(answer.withheld):
        yield event({"content": text})
    for index, call in enumerate(answer.calls):
        head = {"name": call.name, "arguments": ""}
        yield event({"tool_calls": [_fragment(index, head, "call_" + uuid.uuid4().hex[:8])]})
        arguments = json.dumps(call.arguments)
        for at in range(0, len(arguments), 7):
            yield event({"tool_calls": [_fragment(index, {"arguments": arguments[at : at + 7]})]})
    yield event({}, answer.finish or ("tool_calls" if answer.calls else "stop"))
    if plan.counts and (plan.record.body.get("stream_options") or {}).get("include_usage"):
        yield {**base, "choices": [], "usage": openai_usage(plan)}


def _fragment(index: int, function: dict[str, str], call_id: str = "") -> dict[str, Any]:
    head = {"id": call_id, "type": "function"} if call_id else {}
    return {"index": index, **head, "function": function}


def openai_whole(plan: Plan, model: str) -> dict[str, Any]:
    """The completion in one object."""
    answer = plan.answer
    message: dict[str, Any] = {"role": "assistant", "content": answer.text + answer.withheld}
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": "call_" + uuid.uuid4().hex[:8],
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for call in answer.calls
        ]
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": "tool_calls" if answer.calls else _finish(answer),
    }
    return {
        "id": "chatcmpl-" + uuid.uuid4().hex[:8],
        "object": "chat.completion",
        "created": 1_767_225_600,
        "model": model,
        "choices": [choice],
        "usage": openai_usage(plan),
    }
