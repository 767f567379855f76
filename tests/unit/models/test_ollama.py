"""Ollama over its real wire: what is sent, what comes back, and what every fault of the server looks like."""

from __future__ import annotations

import asyncio
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from regreen.agent.conversation import Message
from regreen.agent.trace import reply_event
from regreen.errors import RegreenError
from regreen.models.faults import ContextCut, ContextTooLong, MissingModel, ServerDown
from regreen.models.ollama import OllamaModel
from regreen.tools import menu
from scripted import ScriptedServer
from scripted.answers import Fault
from scripted.policies import POLICIES, Policy
from scripted.talk import OPENING, SYSTEM, Chat

Talk = Callable[..., Awaitable[tuple[ScriptedServer, Chat]]]


async def test_a_reply_streams_and_brings_the_call(talk: Talk) -> None:
    _, chat = await talk("twopart")
    reply = await chat.ask()
    assert [call.name for call in reply.calls] == ["edit_file"]
    assert reply.calls[0].arguments["path"] == "shop/cart.py"
    assert reply.calls[0].id
    assert "".join(chat.ear.heard).strip() == reply.text.strip() != ""
    assert len(chat.ear.heard) > 3
    assert reply.finish == "stop"
    assert reply.seconds > 0


async def test_two_calls_in_one_reply_both_arrive_with_ids_of_their_own(talk: Talk) -> None:
    _, chat = await talk("several")
    reply = await chat.ask()
    assert [call.arguments["path"] for call in reply.calls] == ["shop/cart.py", "shop/discounts.py"]
    assert len({call.id for call in reply.calls}) == 2


async def test_every_request_carries_the_same_settings_and_the_context_is_never_cut(talk: Talk) -> None:
    server, chat = await talk("twopart")
    await chat.model.warm((SYSTEM,), chat.tools, chat.ear)
    for _ in range(3):
        chat.answer(await chat.ask(), "E   assert 350 == 400")
    bodies = [r.body for r in server.records if r.path == "/api/chat"]
    assert {body["options"]["num_ctx"] for body in bodies} == {8192}
    assert {body["keep_alive"] for body in bodies} == {"30m"}
    assert all(body["truncate"] is False and body["shift"] is False for body in bodies)
    turns = [turn.body for turn in server.turns]
    assert turns[0]["options"] == turns[1]["options"] == turns[2]["options"]
    assert turns[0]["options"]["num_predict"] == 1024
    assert turns[0]["options"]["temperature"] == 0.1
    assert server.state.reloads == 0


async def test_the_prompt_only_grows_so_that_the_servers_cache_holds(talk: Talk) -> None:
    server, chat = await talk("twopart")
    await chat.model.warm((SYSTEM,), chat.tools, chat.ear)
    for failure in ("E   assert 350 == 400", "E   assert 400 == 360", "done"):
        chat.answer(await chat.ask(), failure)
    for turn in server.turns[1:]:
        assert turn.new_tokens <= 0.05 * turn.prompt_tokens


async def test_cached_tokens_are_estimated_as_the_server_counts_them(talk: Talk) -> None:
    server, chat = await talk("twopart")
    charged = 0
    for failure in ("E   assert 350 == 400", "E   assert 400 == 360", "done"):
        reply = await chat.ask()
        charged += reply.usage.charged
        chat.answer(reply, failure)
    spent = sum(turn.new_tokens + turn.generated_tokens for turn in server.turns)
    assert reply.usage.prompt == server.turns[-1].prompt_tokens
    assert spent * 0.9 <= charged <= spent * 1.1


async def test_a_question_put_again_gets_another_seed_and_a_higher_temperature(talk: Talk) -> None:
    server, chat = await talk("weak")
    await chat.ask()
    await chat.ask(attempt=1)
    first, second = (turn.body["options"] for turn in server.turns)
    assert second["seed"] != first["seed"]
    assert second["temperature"] == 0.5
    assert second["num_ctx"] == first["num_ctx"]


async def test_loading_is_announced_and_is_not_counted_as_work(talk: Talk) -> None:
    server, chat = await talk("slow_load")
    reply = await chat.ask()
    assert chat.ear.waits == ["loading 1.9 GB"]
    assert reply.seconds < 0.3
    assert [r.kind for r in server.records if r.path == "/api/chat"] == ["load", "turn"]


async def test_how_fast_the_server_was_by_its_own_clock_comes_with_the_reply(talk: Talk) -> None:
    server, chat = await talk("slow_load")
    reply = await chat.ask()
    speed = reply.speed
    # the scripted server takes a microsecond a token
    assert speed.read_per_second == pytest.approx(1e6, rel=0.05)
    assert speed.written_per_second == pytest.approx(1e6)
    assert reply.seconds == pytest.approx(1e-6 * (server.turns[0].new_tokens + reply.usage.generated))
    event = reply_event(1, reply)
    assert event["speed"]["written_per_second"] == pytest.approx(1e6)
    assert "cost" not in event["usage"]


async def test_a_long_prompt_gets_a_larger_context_once(talk: Talk) -> None:
    server, chat = await talk("prose")
    chat.messages[1] = type(chat.messages[1])("user", "x = 1\n" * 6000)
    await chat.ask()
    await chat.ask()
    assert {turn.body["options"]["num_ctx"] for turn in server.turns} == {16384}


@pytest.mark.parametrize("policy", ["text", "hermes", "json_fence"])
async def test_a_call_that_comes_as_text_is_a_call(talk: Talk, policy: str) -> None:
    _, chat = await talk(policy)
    reply = await chat.ask()
    assert [call.name for call in reply.calls] == ["edit_file"]
    assert "max(" in reply.calls[0].arguments["replace"]


async def test_a_call_that_ollamas_parser_swallowed_is_read_from_the_logprobs(talk: Talk) -> None:
    _, chat = await talk("swallowed")
    reply = await chat.ask()
    assert [call.name for call in reply.calls] == ["edit_file"]


async def test_a_swallowed_call_without_logprobs_is_asked_for_as_text(talk: Talk) -> None:
    server, chat = await talk("swallowed_unseen")
    reply = await chat.ask()
    assert [call.name for call in reply.calls] == ["edit_file"]
    assert "tools" not in server.turns[-1].body


async def test_a_model_without_tools_gets_them_in_the_prompt(talk: Talk) -> None:
    said: list[str] = []
    server, chat = await talk("no_tools", notes=said.append)
    reply = await chat.ask()
    assert [call.name for call in reply.calls] == ["edit_file"]
    assert "tools" not in server.turns[-1].body
    assert "edit_file" in server.turns[-1].body["messages"][0]["content"]
    assert any("does not take tools" in note for note in said)
    chat.answer(reply, "E   assert 350 == 400")
    await chat.ask()
    assert server.turns[-1].body["messages"][-1]["content"].startswith("<tool_response>")


async def test_text_tools_end_a_reply_where_the_model_makes_up_a_result(talk: Talk) -> None:
    server, chat = await talk("no_tools")
    chat.answer(await chat.ask(), "E   assert 350 == 400")
    assert server.turns[-1].body["options"]["stop"] == ["<|im_end|>", "<tool_response>"]
    chat.messages.append(Message("user", "The file holds the text <tool_response> itself."))
    await chat.ask()
    assert "stop" not in server.turns[-1].body["options"]


async def test_a_server_that_learns_of_missing_tools_only_when_asked(talk: Talk) -> None:
    server, chat = await talk("no_tools")
    shown = server.state.shown
    server.state.shown = lambda name: {**shown(name), "capabilities": ["completion", "tools"]}
    reply = await chat.ask()
    assert reply.calls
    assert "tools" not in server.turns[-1].body


async def test_a_model_that_runs_elsewhere_is_announced(talk: Talk) -> None:
    said: list[str] = []
    server, chat = await talk("twopart", notes=said.append)
    shown = server.state.shown
    server.state.shown = lambda name: {**shown(name), "remote_host": "https://ollama.com"}
    await chat.ask()
    await chat.ask()
    assert said == [
        "qwen2.5:3b runs at https://ollama.com: parts of your code are sent there, off this machine."
    ]


async def test_nothing_of_a_reply_that_was_cut_off_is_carried_out(talk: Talk) -> None:
    _, chat = await talk("cut_reply")
    reply = await chat.ask()
    assert reply.finish == "length"
    assert not reply.calls
    assert reply.corrective


# -- faults ------------------------------------------------------------------------------------------


async def test_no_server_says_how_to_start_it() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    model = OllamaModel("qwen2.5:3b", url)
    with pytest.raises(ServerDown) as raised:
        await Chat(model).ask()
    assert str(raised.value) == (
        f"Ollama does not answer at {url}: start it with `ollama serve`, or use --model builtin."
    )
    await model.aclose()


@pytest.mark.parametrize("how", ["warm", "reply"])
async def test_a_model_that_was_not_pulled_can_be_pulled_and_used(talk: Talk, how: str) -> None:
    _, chat = await talk("not_pulled")
    with pytest.raises(MissingModel) as raised:
        await (chat.ask() if how == "reply" else chat.model.warm(OPENING, chat.tools, chat.ear))
    assert raised.value.model == "qwen2.5:3b"
    assert "ollama pull qwen2.5:3b" in str(raised.value)
    parts: list[tuple[str, float | None]] = []
    await chat.model.pull(lambda text, share: parts.append((text, share)))
    assert ("pulling 5ee4f07cdb9b", 25.0) in [(t, s and round(s, 1)) for t, s in parts]
    assert parts[-1] == ("success", None)
    assert (await chat.ask()).calls


async def test_a_pull_that_fails_says_why(talk: Talk) -> None:
    _, chat = await talk("pull_fails")
    with pytest.raises(RegreenError, match=r"file does not exist.*Check the name"):
        await chat.model.pull(lambda text, share: None)


@pytest.mark.parametrize(
    ("policy", "tries", "waits"),
    [
        ("busy503", 3, ["Ollama is busy; trying again"] * 2),
        ("reset", 2, ["the connection to Ollama broke; trying again"]),
        ("error_line", 2, ["Ollama failed; trying again"]),
        ("no_done", 2, ["Ollama ended its reply unfinished; trying again"]),
        ("repeat_guard", 2, ["Ollama ended its reply unfinished; trying again"]),
        ("runner_stopped", 2, ["the model process stopped; trying again"]),
        ("xml_error", 2, ["the reply could not be read by Ollama; trying again"]),
    ],
)
async def test_a_passing_fault_is_tried_again_and_nothing_is_lost(
    talk: Talk, policy: str, tries: int, waits: list[str]
) -> None:
    server, chat = await talk(policy)
    await chat.model.warm((SYSTEM,), chat.tools, chat.ear)
    chat.ear.waits.clear()
    reply = await chat.ask()
    assert [call.name for call in reply.calls] == ["edit_file"]
    assert len(server.turns) == tries
    assert chat.ear.waits == waits
    assert all(turn.body["messages"] == server.turns[0].body["messages"] for turn in server.turns)


async def test_another_seed_is_used_after_a_degenerate_reply(talk: Talk) -> None:
    server, chat = await talk("repeat_guard")
    await chat.ask()
    assert server.turns[0].body["options"]["seed"] != server.turns[1].body["options"]["seed"]


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("error500", "Ollama could not load qwen2.5:3b: llama-server process has terminated"),
        ("error_lines", "an error was encountered while running the model. Look at its log"),
        ("resets", "broke in the middle of a reply"),
        ("no_dones", "ended its reply without finishing it"),
        ("busy_for_ever", "is busy with other requests"),
        ("html", "does not answer as Ollama does.*proxy"),
        ("html200", "does not answer as Ollama does.*proxy"),
        ("unauthorized", "refuses the request .401."),
    ],
)
async def test_a_lasting_fault_has_its_own_words(talk: Talk, policy: str, words: str) -> None:
    _, chat = await talk(policy)
    with pytest.raises(RegreenError, match=words) as raised:
        await chat.ask()
    assert "\n" not in str(raised.value)


async def test_a_parser_that_fails_twice_is_gone_around(talk: Talk) -> None:
    policy = Policy(
        POLICIES["twopart"].decide,
        fault=Fault("error_line", message="error parsing tool call: raw='{'"),
        times=2,
    )
    server, chat = await talk(policy)
    assert (await chat.ask()).calls
    assert ["tools" in turn.body for turn in server.turns] == [True, True, False]


async def test_a_prompt_that_is_too_long_is_refused_aloud(talk: Talk) -> None:
    _, chat = await talk("short_context")
    with pytest.raises(ContextTooLong, match="longer than"):
        await chat.ask()


async def test_a_prompt_cut_in_silence_is_an_error(talk: Talk) -> None:
    _, chat = await talk("cut_context")
    with pytest.raises(ContextCut, match="read only 200 tokens of a prompt of about"):
        await chat.ask()


@pytest.mark.parametrize("policy", ["loop", "endless", "text_loop", "counting", "paragraphs", "calling"])
async def test_a_reply_without_end_is_cut_and_the_stream_closed(talk: Talk, policy: str) -> None:
    server, chat = await talk(policy)
    reply = await chat.ask()
    assert reply.finish == "cut"
    assert not reply.calls
    assert "stopped" in reply.corrective
    assert len(reply.text) < 400
    assert sum(map(len, chat.ear.heard)) < (20_000 if policy in ("endless", "text_loop") else 3_000)
    await _until(lambda: server.turns[0].ended in ("aborted", "done"))


async def test_the_stream_is_closed_once_a_model_makes_up_the_answer_to_its_own_call(talk: Talk) -> None:
    server, chat = await talk("imagines")
    reply = await chat.ask()
    assert [call.name for call in reply.calls] == ["edit_file"]
    assert (reply.finish, reply.corrective) == ("stop", "")
    assert "Thought 3" not in "".join(chat.ear.heard)
    assert reply.usage.prompt > 100 < len(reply.text) + reply.usage.generated
    await _until(lambda: server.turns[-1].ended == "aborted")
    chat.answer(reply, "The test fails as before.")
    assert [call.name for call in (await chat.ask()).calls] == ["edit_file"]
    assert "tool_response" not in server.turns[-1].body["messages"][2]["content"]


async def test_a_stalled_reply_is_given_up_after_one_more_try(talk: Talk) -> None:
    server, chat = await talk("stall", between_chunks=0.05)
    with pytest.raises(RegreenError, match="stopped in the middle of a reply"):
        await chat.ask()
    assert len(server.turns) == 2


@pytest.mark.parametrize("policy", ["silent", "stall", "endless"])
async def test_cancelling_closes_the_stream_at_once(talk: Talk, policy: str, monkeypatch: Any) -> None:
    monkeypatch.setattr("regreen.models.limits.Repetition.feed", lambda self, *_: "")
    server, chat = await talk(policy)
    task = asyncio.create_task(chat.ask())
    await _until(lambda: len(server.turns) == 1)
    await asyncio.sleep(0.02)
    started = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - started < 1
    await _until(lambda: server.turns[0].ended == "aborted")


async def test_a_slow_server_is_waited_for(talk: Talk) -> None:
    _, chat = await talk("slow", between_chunks=0.1)
    assert (await chat.ask()).calls


async def test_a_fault_while_warming_leaves_the_run_alone(talk: Talk) -> None:
    server, chat = await talk("short_context")
    await chat.model.warm(OPENING, chat.tools, chat.ear)
    assert server.turns


# -- nothing else ------------------------------------------------------------------------------------

_connected: list[Any] = []


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect":
        _connected.append(arguments[1])
    elif event == "socket.getaddrinfo":
        _connected.append(arguments[:2])


sys.addaudithook(_watch)


async def test_no_connection_is_opened_but_to_the_server(
    talk: Talk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    server, chat = await talk("twopart", cache=tmp_path)
    _connected.clear()
    await chat.model.warm((SYSTEM,), menu.FIX, chat.ear)
    assert (await chat.ask()).calls
    assert _connected
    assert {(host, int(port)) for host, port, *_ in _connected} == {("127.0.0.1", server.port)}


async def _until(true: Any) -> None:
    for _ in range(500):
        if true():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never happened")
