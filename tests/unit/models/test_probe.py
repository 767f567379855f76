"""How Regreen finds out once how a model calls tools, and remembers it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from regreen.models import probe
from regreen.models.ollama import OllamaModel
from scripted import ScriptedServer
from scripted.talk import OPENING, SYSTEM, Chat

Talk = Callable[..., Awaitable[tuple[ScriptedServer, Chat]]]


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
        from regreen.agent.conversation import Reply, ToolCall

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
