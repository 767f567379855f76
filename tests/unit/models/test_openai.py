"""An OpenAI-compatible server over its real wire."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from regreen.agent.conversation import Message
from regreen.errors import RegreenError
from regreen.models.canary import Canary, forgotten
from regreen.models.faults import ContextCut, ContextTooLong, MissingModel, QuotaReached
from regreen.models.openai import OpenAIModel
from regreen.tools import menu
from scripted import POLICIES, Fault, ScriptedServer
from scripted.fixtures import StartScripted
from scripted.policies import Policy
from scripted.talk import SYSTEM, Chat, Ear

Talk = Callable[..., Awaitable[tuple[ScriptedServer, Chat]]]


@pytest.fixture
async def talk(scripted: StartScripted) -> AsyncIterator[Talk]:
    models: list[OpenAIModel] = []

    async def start(policy: Any, **more: Any) -> tuple[ScriptedServer, Chat]:
        server = scripted(policy)
        model = OpenAIModel("qwen2.5:3b", f"{server.url}/v1", **{"patience": 0.01, **more})
        models.append(model)
        return server, Chat(model)

    yield start
    for model in models:
        await model.aclose()


async def test_a_call_in_fragments_is_put_together(talk: Talk) -> None:
    server, chat = await talk("twopart")
    reply = await chat.ask()
    assert [call.name for call in reply.calls] == ["edit_file"]
    assert reply.calls[0].arguments["path"] == "shop/cart.py"
    assert "".join(chat.ear.heard).strip() == reply.text.strip() != ""
    assert reply.usage.prompt == server.turns[0].prompt_tokens
    assert reply.usage.generated == server.turns[0].generated_tokens


async def test_several_calls_keep_their_order_and_results_go_back_by_id(talk: Talk) -> None:
    server, chat = await talk("several")
    reply = await chat.ask()
    assert [call.arguments["path"] for call in reply.calls] == ["shop/cart.py", "shop/discounts.py"]
    chat.answer(reply, "done")
    await chat.ask()
    sent = server.turns[-1].body["messages"]
    ids = [call["id"] for call in sent[2]["tool_calls"]]
    assert len(set(ids)) == 2
    assert [message["tool_call_id"] for message in sent[3:]] == ids
    assert sent[2]["content"] is not None


async def test_cached_tokens_are_those_the_server_tells(talk: Talk) -> None:
    server, chat = await talk("twopart")
    chat.answer(await chat.ask(), "E   assert 350 == 400")
    reply = await chat.ask()
    assert reply.usage.cached == reply.usage.prompt - server.turns[-1].new_tokens > 0


@pytest.mark.parametrize(("key", "sent"), [("", "Bearer none"), ("k-123", "Bearer k-123")])
async def test_a_key_is_sent_only_when_there_is_one(talk: Talk, key: str, sent: str) -> None:
    server, chat = await talk("twopart", key=key)
    await chat.ask()
    assert server.turns[0].headers["authorization"] == sent


async def test_a_server_without_tools_gets_them_in_the_prompt(talk: Talk) -> None:
    server, chat = await talk("no_tools")
    reply = await chat.ask()
    assert reply.calls
    assert "tools" not in server.turns[-1].body
    assert server.turns[-1].body["stop"] == ["<tool_response>"]
    assert "stop" not in server.turns[0].body


@pytest.mark.parametrize(
    ("policy", "tries"), [("busy503", 3), ("reset", 2), ("error_line", 2), ("no_done", 2), ("rate_limit", 2)]
)
async def test_a_passing_fault_is_tried_again(talk: Talk, policy: str, tries: int) -> None:
    server, chat = await talk(policy)
    assert (await chat.ask()).calls
    assert len(server.turns) == tries
    assert len(chat.ear.waits) == tries - 1


async def test_the_servers_own_pause_is_kept(talk: Talk) -> None:
    _, chat = await talk("rate_limit", patience=1.0)
    started = time.monotonic()
    await chat.ask()
    assert time.monotonic() - started >= 0.05


async def test_a_used_up_daily_quota_is_not_asked_again(talk: Talk) -> None:
    server, chat = await talk("daily_quota")
    with pytest.raises(QuotaReached, match="daily quota"):
        await chat.ask()
    assert len(server.turns) == 1


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("error500", "failed: 500 llama-server process has terminated"),
        ("error_lines", "an error was encountered while running the model"),
        ("resets", "broke in the middle of a reply"),
        ("html", "does not answer as a model server does"),
        ("html200", "does not answer as a model server does"),
        ("unauthorized", "refuses the key"),
        ("empty", "gives empty replies"),
    ],
)
async def test_a_lasting_fault_has_its_own_words(talk: Talk, policy: str, words: str) -> None:
    _, chat = await talk(policy)
    with pytest.raises(RegreenError, match=words) as raised:
        await chat.ask()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ("Unsupported parameter: 'max_tokens' is not supported with this model.", "max_tokens"),
        ("Unrecognized request argument supplied: seed", "seed"),
        ("[{'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted'}]", "stream_options"),
    ],
)
async def test_a_field_that_the_server_does_not_take_is_left_out(talk: Talk, words: str, field: str) -> None:
    server, chat = await talk(Policy(POLICIES["twopart"].decide, fault=Fault("status", 400, words)))
    assert (await chat.ask()).calls
    first, second = (turn.body for turn in server.turns)
    assert field in first
    assert field not in second
    if field == "max_tokens":
        assert second["max_completion_tokens"] == 1024


async def test_no_server_says_so() -> None:
    model = OpenAIModel("x", "http://127.0.0.1:9/v1")
    with pytest.raises(RegreenError, match=r"No model server answers at http://127\.0\.0\.1:9/v1"):
        await Chat(model).ask()
    await model.aclose()


async def test_an_unknown_model_is_named(talk: Talk) -> None:
    _, chat = await talk("not_pulled")
    with pytest.raises(MissingModel, match=r"has no model qwen2\.5:3b") as raised:
        await chat.ask()
    assert not raised.value.can_pull


async def test_prompts_that_are_too_long_or_were_cut_are_errors(talk: Talk) -> None:
    _, refused = await talk("short_context")
    with pytest.raises(ContextTooLong):
        await refused.ask()
    _, cut = await talk("cut_context")
    with pytest.raises(ContextCut, match="read only 200 tokens"):
        await cut.ask()


@pytest.mark.parametrize(("policy", "warnings"), [("uncounted", 1), ("cut_uncounted", 2)])
async def test_where_nobody_counts_the_model_is_asked_whether_it_still_sees_the_start(
    talk: Talk, policy: str, warnings: int
) -> None:
    told: list[str] = []
    server, chat = await talk(policy, warn=told.append)
    chat.answer(await chat.ask(), "short")
    assert not [record for record in server.records if record.kind == "canary"]
    chat.messages.append(Message("user", "a line of text\n" * 500))
    for _ in range(3):
        chat.answer(await chat.ask(), "short")
    assert len([record for record in server.records if record.kind == "canary"]) == 1
    assert len(told) == warnings
    assert "tells no token counts" in told[0]
    assert all("no longer sees the start" in text for text in told[1:])
    asked = next(record for record in server.records if record.kind == "canary")
    assert asked.new_tokens < 200
    assert "first line of my first message" not in str(server.turns[-1].body)


def test_a_prompt_that_doubled_is_checked_again() -> None:
    checks = Canary()
    assert [checks.due(n) for n in (100, 1_799, 1_800, 3_000, 3_600, 3_700, 8_000)] == [
        False,
        False,
        True,
        False,
        True,
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("answer", "gone"),
    [
        ("Failing test: tests/test_cart.py::test_total", False),
        ('The line is "failing test: tests/test_cart.py::test_total".', False),
        ("I cannot see a first message.", True),
        ("", False),
    ],
)
def test_what_an_answer_shows(answer: str, gone: bool) -> None:
    messages = (SYSTEM, Message("user", "\nFailing test: tests/test_cart.py::test_total\nmore"))
    assert forgotten(messages, answer) is gone


@pytest.mark.parametrize("policy", ["loop", "endless", "counting", "paragraphs", "calling"])
async def test_a_reply_without_end_is_cut(talk: Talk, policy: str) -> None:
    server, chat = await talk(policy)
    reply = await chat.ask()
    assert reply.finish == "cut"
    assert reply.corrective
    await _until(lambda: server.turns[0].ended == "aborted")


async def test_the_stream_is_closed_once_a_model_makes_up_the_answer_to_its_own_call(talk: Talk) -> None:
    server, chat = await talk("imagines")
    reply = await chat.ask()
    assert [call.name for call in reply.calls] == ["edit_file"]
    assert "Thought 3" not in "".join(chat.ear.heard)
    await _until(lambda: server.turns[-1].ended == "aborted")


@pytest.mark.parametrize("policy", ["silent", "stall"])
async def test_cancelling_closes_the_stream_at_once(talk: Talk, policy: str) -> None:
    server, chat = await talk(policy)
    task = asyncio.create_task(chat.ask())
    await _until(lambda: len(server.turns) == 1)
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await _until(lambda: server.turns[0].ended == "aborted")


async def test_warming_a_server_of_ones_own_evaluates_the_start_of_the_prompt(talk: Talk) -> None:
    server, chat = await talk("twopart")
    await chat.model.warm((SYSTEM,), chat.tools, chat.ear)
    assert [record.kind for record in server.records] == ["warm"]


async def test_a_server_that_is_not_there_is_told_while_warming() -> None:
    model = OpenAIModel("x", "http://127.0.0.1:9/v1")
    with pytest.raises(RegreenError, match="No model server answers"):
        await model.warm((SYSTEM,), menu.FIX, Ear())
    await model.aclose()


@pytest.mark.parametrize(
    ("usage", "timings", "cached"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 120}}, {"cache_n": 7}, 120),
        ({"prompt_cache_hit_tokens": 90}, {}, 90),
        (
            {},
            {"cache_n": 110, "prompt_n": 190, "prompt_per_second": 81.25, "predicted_per_second": 12.5},
            110,
        ),
        ({"prompt_tokens_details": {"cached_tokens": None}}, {}, 0),
        ({"prompt_tokens_details": {"cached_tokens": 5000}}, {}, 300),
    ],
)
async def test_what_was_cached_and_how_fast_it_went_is_what_the_server_tells(
    scripted: StartScripted, usage: dict[str, Any], timings: dict[str, float], cached: int
) -> None:
    last = {
        "choices": [],
        "usage": {"prompt_tokens": 300, "completion_tokens": 9, **usage},
        "timings": timings,
    }
    said = {"choices": [{"index": 0, "delta": {"content": "It is off by one."}, "finish_reason": "stop"}]}
    body = f"data: {json.dumps(said)}\n\ndata: {json.dumps(last)}\n\ndata: [DONE]\n\n"
    server = scripted(Policy(POLICIES["direct"].decide, fault=Fault("raw", 200, body)))
    model = OpenAIModel("qwen2.5:3b", f"{server.url}/v1")
    reply = await Chat(model).ask()
    await model.aclose()
    assert (reply.usage.prompt, reply.usage.cached, reply.usage.generated) == (300, cached, 9)
    if timings.get("prompt_n"):
        assert reply.speed.to_json() == {
            "cached": 110,
            "read": 190,
            "read_per_second": 81.2,
            "written_per_second": 12.5,
            "load_seconds": 0,
        }


async def _until(true: Any) -> None:
    for _ in range(500):
        if true():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never happened")
