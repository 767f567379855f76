"""Streams of OpenAI-compatible servers in every odd form that is known, over the real wire."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import pytest

from regreen.errors import RegreenError
from regreen.models.openai import OpenAIModel
from scripted import POLICIES, Fault, ScriptedServer
from scripted.fixtures import StartScripted
from scripted.policies import Policy
from scripted.talk import Chat

Play = Callable[..., Awaitable[tuple[ScriptedServer, Chat]]]
READ = '{"path": "shop/cart.py"}'
EDIT = json.dumps({"path": "shop/cart.py", "find": "a = 1", "replace": "a = 2"})


@pytest.fixture
async def play(scripted: StartScripted) -> AsyncIterator[Play]:
    """A server whose first reply is a given body, and a model to ask."""
    models: list[OpenAIModel] = []

    async def start(
        body: str, kind: str = "text/event-stream", times: int | None = 1, **more: Any
    ) -> tuple[ScriptedServer, Chat]:
        fault = Fault("raw", 200, body, {"Content-Type": kind})
        server = scripted(Policy(POLICIES["direct"].decide, fault=fault, times=times))
        models.append(OpenAIModel("qwen2.5:3b", f"{server.url}/v1", **{"patience": 0.01, **more}))
        return server, Chat(models[-1])

    yield start
    for model in models:
        await model.aclose()


def sse(*chunks: Any, end: str = "data: [DONE]\n\n") -> str:
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + end


def delta(content: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {
        "id": "c",
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": content, "finish_reason": finish}],
    }


def part(name: str | None = None, arguments: Any = None, **head: Any) -> dict[str, Any]:
    """One fragment of a call."""
    function = {"name": name, "arguments": arguments}
    return {**head, "function": {key: value for key, value in function.items() if value is not None}}


def calls(*fragments: dict[str, Any] | Sequence[dict[str, Any]], finish: str | None = "tool_calls") -> str:
    """A stream with one event for each fragment, or for each list of them."""
    lists = [list(f) if isinstance(f, (list, tuple)) else [f] for f in fragments]
    return sse(*(delta({"tool_calls": each}) for each in lists), delta({}, finish))


ONE = [("read_file", {"path": "shop/cart.py"})]
TWO = [("read_file", {"path": "shop/cart.py"}), ("run_tests", {})]
HALF, REST = READ[:9], READ[9:]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(calls(part("read_file", "", index=0, id="1"), part(None, HALF, index=0), part(None, REST, index=0)), ONE, id="as documented"),
        pytest.param(calls(part("read_file", HALF, id="1"), part(None, REST)), ONE, id="no index"),
        pytest.param(calls(part("read_file", READ), part("run_tests", "{}")), TWO, id="two calls, no index, no ids"),
        pytest.param(calls(part("read_file", HALF, id="1"), part("run_tests", "{", id="2"), part(None, REST, id="1"), part(None, "}", id="2")), TWO, id="interleaved by id alone"),
        pytest.param(calls(part("read_file", HALF, index=0, id="1"), part("run_tests", "{", index=1, id="2"), part(None, REST, index=0), part(None, "}", index=1)), TWO, id="interleaved by index"),
        pytest.param(calls([part("read_file", HALF, index=0, id="1"), part("run_tests", "{}", index=1, id="2")], part(None, REST, index=0)), TWO, id="two in one event"),
        pytest.param(calls(part("read_file", READ, index=0, id="1"), part("run_tests", "{}", index=0, id="2")), TWO, id="every call on index 0"),
        pytest.param(calls(part("read_file", READ, index=0, id="1"), part("run_tests", "", index=0, id="2")), TWO, id="every call on index 0, no arguments"),
        pytest.param(calls(part("run_tests", "", index=0, id="2"), part("read_file", READ, index=0, id="1")), TWO[::-1], id="no arguments first"),
        pytest.param(calls(part("read_file", READ, index=1, id="1"), part("run_tests", "{}", index=2, id="2")), TWO, id="index from 1"),
        pytest.param(calls(part("read_file", READ, index=7, id="1"), part("run_tests", "{}", index=3, id="2")), TWO, id="index out of order"),
        pytest.param(calls(part("read_file", "", index=0, id="a"), part(None, HALF, index=0, id="b"), part(None, REST, index=0, id="c"), part(None, "", index=0, id="d")), ONE, id="another id with each fragment"),
        pytest.param(calls(part("read_file", HALF, index=0, id="1"), part("read_file", REST, index=0, id="1")), ONE, id="name with each fragment"),
        pytest.param(calls(part("read_", "", index=0, id="1"), part("file", "", index=0), part(None, READ, index=0)), ONE, id="name in fragments"),
        pytest.param(calls(part("read", "", index=0, id="1"), part("read_file", "", index=0), part(None, READ, index=0)), ONE, id="name that grows"),
        pytest.param(calls(part("read_file", READ, index=0, id=""), part("", "", index=0, id=None)), ONE, id="empty id, empty and null later"),
        pytest.param(calls(part("read_file", READ, index=0), part(None, "", index=0, id="late")), ONE, id="id comes late"),
        pytest.param(calls(part("read_file", {"path": "shop/cart.py"}, index=0, id="1")), ONE, id="arguments as an object"),
        pytest.param(calls(part("read_file", {"path": "shop/cart.py"}, index=0, id="1"), part(None, {}, index=0, id="1")), ONE, id="arguments as an object, then an empty one"),
        pytest.param(calls(part("read_file", json.dumps(READ), index=0, id="1")), ONE, id="arguments encoded twice"),
        pytest.param(calls(part("read_file", READ, index=0, id="1"), part("read_file", READ, index=0, id="1")), ONE, id="the whole call once more"),
        pytest.param(calls({}, {"index": 0}, part("read_file", READ, index=0, id="1"), {"index": 1, "function": {}}), ONE, id="empty fragments"),
        pytest.param(calls(part("read_file", READ, index=0, id="1"), finish="stop"), ONE, id="finish says stop"),
        pytest.param(calls(part("read_file", READ, index=0, id="1"), finish=None), ONE, id="finish never comes"),
        pytest.param(sse(delta({"tool_calls": [part("read_file", READ, index=0, id="1")]}), end=""), ONE, id="no finish and no end mark"),
        pytest.param(sse(delta({"function_call": {"name": "read_file", "arguments": HALF}}), delta({"function_call": {"arguments": REST}}), delta({}, "function_call")), ONE, id="function_call of old"),
        pytest.param(sse(delta({"tool_calls": [{"name": "read_file", "arguments": READ, "index": 0}]}, "tool_calls")), ONE, id="name beside the fragment"),
        pytest.param(sse(delta({"content": None, "reasoning_content": "Look first."}), delta({"content": None, "tool_calls": [part("read_file", READ, index=0, id="1")]}, "tool_calls")), ONE, id="null content, reasoning"),
        pytest.param(sse({"choices": []}, {"choices": None}, {"id": "x"}, delta({"tool_calls": [part("read_file", READ, index=0, id="1")]}), delta({}, "tool_calls"), {"choices": [], "usage": {"prompt_tokens": 500, "completion_tokens": 9}}), ONE, id="events without choices"),
        pytest.param(sse(delta({"content": [{"type": "text", "text": "Look."}]}), delta({"tool_calls": [part("read_file", READ, index=0, id="1")]}, "tool_calls")), ONE, id="content as parts"),
        pytest.param(": ping\r\n\r\nevent: message\r\ndata: " + json.dumps(delta({"tool_calls": [part("read_file", READ, index=0, id="1")]}, "tool_calls")) + "\r\n\r\ndata: [DONE]\r\n\r\n", ONE, id="CRLF, comments, event names"),
        pytest.param(sse(delta({"tool_calls": [part("read_file", HALF, index=0, id="1")]}), delta({"tool_calls": [part(None, REST, index=0)]}), {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": "", "tool_calls": [part("read_file", READ, index=0, id="1")]}}]}), ONE, id="the whole message at the end"),
        pytest.param(sse(delta({"content": "I look."}), {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": "I look.", "tool_calls": [part("read_file", READ, id="1")]}}]}), ONE, id="text in pieces, the calls in a message at the end"),
        pytest.param(calls(part("read_file", HALF, index="0", id="1"), part("run_tests", "{", index="1", id="2"), part(None, REST, index="0"), part(None, "}", index="1")), TWO, id="index as text"),
        pytest.param(calls(part("read_file", HALF, index=0.0, id="1"), part("run_tests", "{}", index=1.0, id="2"), part(None, REST, index=0.0)), TWO, id="index as a float"),
        pytest.param(sse(delta({"tool_calls": part("read_file", READ, index=0, id="1")}, "tool_calls")), ONE, id="the one call without a list"),
        pytest.param(calls(part("read_file", READ[:3], index=0, id="1"), part("read_file", HALF, index=0, id="1"), part("read_file", READ, index=0, id="1")), ONE, id="all arguments so far with each fragment"),
        pytest.param(calls(part("read_file", "{}", index=0, id="1"), part(None, HALF, index=0), part(None, REST, index=0)), ONE, id="an empty object first"),
        pytest.param(calls({"index": 0, "id": "1", "function": {"name": "read_file", "arguments": None}}, part(None, HALF, index=0), {"index": 0, "id": None, "function": {"name": None, "arguments": REST}}), ONE, id="null arguments first, null name and id later"),
        pytest.param(calls(part("read_file", READ, id="1"), {"id": "1", "function": {"name": "read_file", "arguments": None}}), ONE, id="null arguments last"),
    ],
)  # fmt: skip
async def test_calls_arrive_whole_whatever_their_fragments(
    play: Play, body: str, expected: list[tuple[str, dict[str, Any]]]
) -> None:
    server, chat = await play(body)
    reply = await chat.ask()
    assert [(call.name, dict(call.arguments)) for call in reply.calls] == expected
    assert len({call.id for call in reply.calls}) == len(expected)
    assert len(server.turns) == 1


WHOLE = {"id": "c", "choices": [{"index": 0, "message": {"role": "assistant", "content": None, "tool_calls": [part("read_file", READ, id="1")]}, "finish_reason": "tool_calls"}]}  # fmt: skip


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (json.dumps(WHOLE), "application/json"),
        (json.dumps(WHOLE), "text/plain; charset=utf-8"),
        (calls(part("read_file", READ, index=0, id="1")), "text/plain"),
        (": OPENROUTER PROCESSING\n\n" + calls(part("read_file", READ, index=0, id="1")), "application/octet-stream"),
    ],
)  # fmt: skip
async def test_a_server_that_does_not_stream_or_names_its_stream_otherwise(
    play: Play, body: str, kind: str
) -> None:
    _, chat = await play(body, kind)
    assert [call.name for call in (await chat.ask()).calls] == ["read_file"]


async def test_thinking_under_any_name_is_not_the_reply(play: Play) -> None:
    for thought in (
        {"reasoning_content": "Hm."},
        {"reasoning": "Hm."},
        {"thinking": "Hm."},
        {"reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]},
    ):
        _, chat = await play(sse(delta(thought), delta({"content": "It is off by one."}, "stop")))
        reply = await chat.ask()
        assert (reply.text, reply.thinking) == ("It is off by one.", "Hm.")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(sse({"error": {"message": "Provider returned error", "code": 502}}), id="error event first"),
        pytest.param(sse(delta({"content": "It"}), {"error": {"message": "upstream", "code": 502}}), id="error event later"),
        pytest.param(sse(delta({"content": "It"}), {"error": "upstream failed"}), id="error is a text"),
        pytest.param(sse({"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error", "error": {"code": 502, "message": "upstream"}}]}), id="error in the choice"),
        pytest.param(sse(delta({"content": "It"}), end="event: error\ndata: {\"error\": {\"message\": \"boom\"}}\n\n"), id="event named error"),
        pytest.param(sse(delta({"content": "It is"}), end=""), id="ends early"),
        pytest.param(sse(delta({"content": "It is"}), end="data: {\"choi"), id="ends in the middle of an event"),
        pytest.param(sse(delta({"content": "It is"}), end="data: upstream connect error\n\n"), id="words instead of JSON"),
        pytest.param(sse(delta({}, "stop")), id="empty reply"),
        pytest.param("", id="nothing at all"),
        pytest.param(sse(delta({"content": "It is", "tool_calls": None}, None)), id="no finish"),
    ],
)  # fmt: skip
async def test_a_stream_that_fails_is_asked_for_again(play: Play, body: str) -> None:
    server, chat = await play(body)
    assert [call.name for call in (await chat.ask()).calls] == ["edit_file"]
    assert len(server.turns) == 2
    assert len(chat.ear.waits) == 1


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        (json.dumps({"error": {"message": "No such key", "code": 401}}), "application/json", "refuses the key"),
        (json.dumps({"object": "error", "message": "The model `x` does not exist", "code": 404}), "application/json", "has no model"),
        (json.dumps({"detail": "Not allowed here"}), "application/json", "Not allowed here"),
        (json.dumps({"error": "the prompt is longer than the context length currently available"}), "application/json", "longer than"),
        ("<!DOCTYPE html><html><body>Sign in to the Wi-Fi</body></html>", "text/html", "some other server"),
        ("<html>proxy</html>", "text/event-stream", "gives empty replies|some other server"),
        ('"a text"', "application/json", "some other server"),
        ("[]", "application/json", "some other server"),
        (sse({"error": {"message": "Insufficient credits", "code": 402}}), "text/event-stream", "no credit left"),
        (sse({"error": {"message": "Rate limit exceeded: free-models-per-day", "code": 429}}), "text/event-stream", "daily quota"),
    ],
)  # fmt: skip
async def test_an_error_inside_a_200_has_its_own_words(play: Play, body: str, kind: str, words: str) -> None:
    _, chat = await play(body, kind, times=None)
    with pytest.raises(RegreenError, match=words) as raised:
        await chat.ask()
    assert "\n" not in str(raised.value)


async def test_a_call_that_the_servers_parser_dropped_is_asked_for_as_text(play: Play) -> None:
    notes: list[str] = []
    lost = sse(delta({"content": ""}), delta({}, "tool_calls"), {"choices": [], "usage": {"prompt_tokens": 300, "completion_tokens": 40}})  # fmt: skip
    server, chat = await play(lost, notes=notes.append)
    assert (await chat.ask()).calls
    assert ["tools" in turn.body for turn in server.turns] == [True, False]
    assert "dropped a call" in notes[0]


async def test_a_reply_cut_for_repeating_itself_is_no_reason_to_doubt_the_counts(play: Play) -> None:
    told: list[str] = []
    _, chat = await play(
        sse(*[delta({"content": "I look at it again.\n"})] * 40, delta({}, "stop")), warn=told.append
    )
    reply = await chat.ask()
    assert (reply.finish, told) == ("cut", [])


async def test_a_reply_that_was_cut_has_the_counts_that_came_with_its_tokens(play: Play) -> None:
    timings = {"cache_n": 200, "prompt_n": 90, "predicted_ms": 500.0, "predicted_per_second": 16.0}
    piece = delta({"content": "I look at it again.\n"})
    chunks = [{**piece, "timings": {**timings, "predicted_n": n}} for n in range(1, 41)]
    _, chat = await play(sse(*chunks, delta({}, "stop")))
    reply = await chat.ask()
    assert reply.finish == "cut"
    came = reply.text.count("I look")
    assert came < 40
    assert (reply.usage.prompt, reply.usage.cached, reply.usage.generated) == (290, 200, came)
    assert (reply.speed.cached, reply.speed.read, reply.speed.written_per_second) == (200, 90, 16.0)
    assert reply.seconds == 0.5


async def test_broken_json_that_repeats_is_cut_too(play: Play) -> None:
    for piece in ('{"a": 1},', '"items": [1, 2, 3],\n  "items": [1, 2, 3],\n  ', "[[[[[[[[", "\\n", "\n"):
        _, chat = await play(sse(*[delta({"content": piece})] * 400, delta({}, "length")))
        assert (await chat.ask()).finish == "cut", piece


async def test_arguments_that_repeat_for_ever_are_cut(play: Play) -> None:
    pieces = [part("edit_file", '{"path": "shop/cart.py", "find": "', index=0, id="1")]
    pieces += [part(None, "quantity, ", index=0)] * 300
    _, chat = await play(calls(*pieces, finish="length"))
    reply = await chat.ask()
    assert (reply.finish, reply.calls) == ("cut", ())
