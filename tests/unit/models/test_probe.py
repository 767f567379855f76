"""How Regreen finds out once how a model calls tools, and remembers it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from regreen.agent.conversation import Reply, ToolCall
from regreen.models import probe
from regreen.models.ollama import OllamaModel
from regreen.models.openai import OpenAIModel, digest_of
from scripted import ScriptedServer
from scripted.fixtures import StartScripted
from scripted.talk import OPENING, SYSTEM, Chat

Talk = Callable[..., Awaitable[tuple[ScriptedServer, Chat]]]
StartOpenAI = Callable[..., tuple[ScriptedServer, Chat]]


async def _warmed(talk: Talk, policy: str, cache: Path, **more: Any) -> tuple[ScriptedServer, Chat]:
    server, chat = await talk(policy, cache=cache, **more)
    await chat.model.warm((SYSTEM,), chat.tools, chat.ear)
    return server, chat


def _probes(server: ScriptedServer) -> int:
    return sum(record.kind == "probe" for record in server.records)


async def test_a_model_that_calls_natively_is_asked_once_and_remembered(talk: Talk, tmp_path: Path) -> None:
    said: list[str] = []
    server, _ = await _warmed(talk, "twopart", tmp_path, notes=said.append)
    assert said == ["qwen2.5:3b: native tool calls."]
    assert _probes(server) == 2
    again = Chat(OllamaModel("qwen2.5:3b", server.url, cache=tmp_path))
    await again.model.warm((SYSTEM,), again.tools, again.ear)
    assert _probes(server) == 2
    assert again.model.mode == "native"
    await again.model.aclose()
    known = probe.remembered(tmp_path)
    assert [(k.model, k.version, k.finding.words) for k in known] == [
        ("qwen2.5:3b", "0.32.15", "native tool calls")
    ]
    assert len(known[0].digest) == 64


@pytest.fixture
async def openai(scripted: StartScripted, tmp_path: Path) -> AsyncIterator[StartOpenAI]:
    """A server of one's own on the OpenAI wire, and a model that talks to it and remembers."""
    models: list[OpenAIModel] = []

    def start(policy: Any, server: ScriptedServer | None = None, **more: Any) -> tuple[ScriptedServer, Chat]:
        server = server or scripted(policy)
        models.append(OpenAIModel("qwen2.5:3b", f"{server.url}/v1", cache=tmp_path, patience=0.01, **more))
        return server, Chat(models[-1])

    yield start
    for model in models:
        await model.aclose()


@pytest.mark.parametrize(
    ("policy", "mode", "asked"),
    [("twopart", "native", 1), ("json_fence", "native", 1), ("no_tools", "text", 1)],
)
async def test_a_server_of_ones_own_on_the_openai_wire_is_asked_once_too(
    openai: StartOpenAI, policy: str, mode: str, asked: int
) -> None:
    said: list[str] = []
    server, chat = openai(policy, notes=said.append)
    await chat.model.warm((SYSTEM,), chat.tools, chat.ear)
    assert chat.model.mode == mode
    assert _probes(server) == asked
    assert all(r.body["max_tokens"] == probe.NUM_PREDICT for r in server.records if r.kind == "probe")
    assert len(said) == 1
    _, again = openai(policy, server)
    await again.model.warm((SYSTEM,), again.tools, again.ear)
    assert (again.model.mode, _probes(server)) == (mode, asked)
    assert (await again.ask()).calls


async def test_on_the_openai_wire_constrained_output_is_a_response_format(
    openai: StartOpenAI, tmp_path: Path
) -> None:
    server, chat = openai("twopart")
    entry = {"id": "qwen2.5:3b", "object": "model", "created": 0, "owned_by": "library"}
    digest = digest_of(f"{server.url}/v1", "qwen2.5:3b", entry)
    probe.remember(tmp_path, digest, "openai", "qwen2.5:3b", probe.Finding("constrained"))
    await chat.ask()
    body = server.turns[0].body
    assert "tools" not in body
    shapes = body["response_format"]["json_schema"]["schema"]["anyOf"]
    assert {shape["properties"]["name"]["const"] for shape in shapes} == {tool.name for tool in chat.tools}
    assert all(shape["properties"]["reason"]["maxLength"] < 300 for shape in shapes)


async def test_of_a_model_that_fails_the_task_the_way_that_gave_a_call_at_all_is_taken() -> None:
    async def ask(mode: Any, messages: Any, tools: Any) -> Reply:
        call = ToolCall("read_file", {"path": "another.txt"})
        return Reply(calls=(call,) if mode == "constrained" else ())

    async def rendered(messages: Any, tools: Any) -> str:
        return ""

    assert await probe.find_out(ask, rendered) == probe.Finding("constrained", known=True)


async def test_another_server_version_is_probed_anew(talk: Talk, tmp_path: Path) -> None:
    await _warmed(talk, "twopart", tmp_path)
    server, chat = await talk("twopart", cache=tmp_path)
    server.state.version = "0.40.0"
    await chat.model.warm((SYSTEM,), chat.tools, chat.ear)
    assert _probes(server) == 2
    assert len(probe.remembered(tmp_path)) == 2


async def test_tools_that_the_template_garbles_are_described_in_the_prompt(
    talk: Talk, tmp_path: Path
) -> None:
    server, chat = await _warmed(talk, "garbled", tmp_path)
    assert chat.model.mode == "text"
    assert (await chat.ask()).calls
    body = server.turns[0].body
    assert "tools" not in body
    assert "edit_file" in body["messages"][0]["content"]


async def test_the_mode_never_changes_once_the_run_has_begun(talk: Talk, tmp_path: Path) -> None:
    server, chat = await talk("garbled", cache=tmp_path)
    await chat.ask()
    await chat.model.warm((SYSTEM,), chat.tools, chat.ear)
    assert chat.model.mode == "native"
    assert _probes(server) == 0


async def test_constrained_output_is_tried_last() -> None:
    asked: list[str] = []

    async def ask(mode: Any, messages: Any, tools: Any) -> Any:
        asked.append(mode)
        call = ToolCall("read_file", {"path": probe.FILE})
        return Reply(calls=(call,) if mode == "constrained" else ())

    async def rendered(messages: Any, tools: Any) -> str:
        return ""

    finding = await probe.find_out(ask, rendered)
    assert asked == ["native", "text", "constrained"]
    assert (finding.mode, finding.known) == ("constrained", True)


async def test_constrained_output_sends_a_schema_instead_of_tools(talk: Talk, tmp_path: Path) -> None:
    server, chat = await talk("text", cache=tmp_path)
    digest = server.state.described("qwen2.5:3b")["digest"]
    probe.remember(tmp_path, digest, "0.32.15", "qwen2.5:3b", probe.Finding("constrained"))
    assert (await chat.ask()).calls
    body = server.turns[0].body
    assert "tools" not in body
    assert {shape["properties"]["name"]["const"] for shape in body["format"]["anyOf"]} == {
        tool.name for tool in chat.tools
    }


async def test_garbled_native_tools_are_restated_in_one_line_each(talk: Talk, tmp_path: Path) -> None:
    server, chat = await talk("garbled", cache=tmp_path)
    digest = server.state.described("qwen2.5:3b")["digest"]
    probe.remember(tmp_path, digest, "0.32.15", "qwen2.5:3b", probe.Finding("native", garbled=True))
    await chat.ask()
    system = server.turns[0].body["messages"][0]["content"]
    assert system.startswith(OPENING[0].content)
    assert "\nedit_file(path, find, replace): Replace a text" in system
    assert "\nread_file(path, start_line?, end_line?): Read a file" in system
    assert server.turns[0].body["tools"]


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a@b": 1}', '{"a@b": {"mode": "odd"}}'])
def test_a_damaged_memory_is_no_memory(tmp_path: Path, content: str) -> None:
    (tmp_path / "models.json").write_text(content)
    assert not probe.recall(tmp_path, "a", "b").known
    probe.remember(tmp_path, "a", "b", "m", probe.Finding("text"))
    assert probe.recall(tmp_path, "a", "b") == probe.Finding("text", known=True)


def test_a_cache_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    probe.remember(tmp_path / "file" / "cache", "a", "b", "m", probe.Finding("text"))
    assert probe.remembered(tmp_path / "file" / "cache") == []
