"""Which model a person gets for `--model SPEC`, and what they are told."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from regreen.agent.conversation import Request
from regreen.agent.model import Model
from regreen.errors import RegreenError, UsageError
from regreen.models.choose import choose, look_for_ollama
from scripted.fixtures import StartScripted
from scripted.talk import OPENING, Ear

SERVER = Path(__file__).parents[3] / "server"
NOBODY = "http://127.0.0.1:9"


class Builtin:
    name = "builtin"


async def _choose(spec: str, base_url: str | None = None, **environ: str) -> tuple[Model, list[str]]:
    notes: list[str] = []
    model = await choose(
        spec,
        base_url=base_url,
        make_builtin=lambda: cast(Model, Builtin()),
        notes=notes.append,
        environ=environ,
    )
    return model, notes


async def test_auto_takes_ollama_when_the_default_model_is_there(scripted: StartScripted) -> None:
    model, notes = await _choose("auto", scripted("twopart").url)
    assert model.name == "ollama:qwen2.5:3b"
    assert notes == []


async def test_auto_follows_ollama_host(scripted: StartScripted) -> None:
    model, _ = await _choose("auto", OLLAMA_HOST=f"127.0.0.1:{scripted('twopart').port}")
    assert model.name == "ollama:qwen2.5:3b"


async def test_auto_takes_another_model_that_calls_tools_and_says_which(scripted: StartScripted) -> None:
    server = scripted("twopart", models=["nomic-embed-text:latest", "mistral:7b", "qwen2.5-coder:7b"])
    model, notes = await _choose("auto", server.url)
    assert model.name == "ollama:qwen2.5-coder:7b"
    assert notes == ["qwen2.5:3b is not pulled, so qwen2.5-coder:7b is used."]


async def test_auto_never_takes_a_model_that_runs_elsewhere(scripted: StartScripted) -> None:
    model, notes = await _choose("auto", scripted("twopart", models=["qwen3-coder:480b-cloud"]).url)
    assert model.name == "builtin"
    assert "no model that can call tools" in notes[0]


async def test_auto_without_a_usable_model_says_how_to_get_one(scripted: StartScripted) -> None:
    model, notes = await _choose("auto", scripted("no_tools", models=["gemma2:2b"]).url)
    assert model.name == "builtin"
    assert notes == [
        "Ollama has no model that can call tools (`ollama pull qwen2.5:3b` gets one), "
        "so the built-in search is used."
    ]


async def test_auto_without_ollama_uses_the_built_in_search_and_says_why() -> None:
    model, notes = await _choose("auto", NOBODY)
    assert model.name == "builtin"
    assert notes == [f"Ollama does not answer at {NOBODY}, so the built-in search is used."]


async def test_auto_without_the_package_says_so(
    scripted: StartScripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "ollama" else real(name))
    server = scripted("twopart")
    model, notes = await _choose("auto", server.url)
    assert model.name == "builtin"
    assert "the Python package `ollama` is not installed" in notes[0]
    with pytest.raises(RegreenError, match="pip install ollama"):
        await _choose("ollama:qwen2.5:3b", server.url)


async def test_a_server_that_does_not_answer_in_time_is_not_waited_for() -> None:
    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(hang, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    assert await asyncio.wait_for(look_for_ollama(url, {}, 0.05), 5) is None
    server.close()


async def test_specs_name_models_without_asking_anybody(tmp_path: Path) -> None:
    assert (await _choose("builtin"))[0].name == "builtin"
    assert (await _choose("ollama:llama3.2", NOBODY))[0].name == "ollama:llama3.2"
    assert (await _choose("ollama", NOBODY))[0].name == "ollama:qwen2.5:3b"
    assert (await _choose("openai:any", "http://localhost:8080/v1"))[0].name == "openai:any"


@pytest.mark.parametrize("spec", ["gpt-4", "openai:", "openai", "replay:", "llama:3"])
async def test_an_unknown_spec_is_wrong_usage(spec: str) -> None:
    with pytest.raises(UsageError, match="--model takes auto, builtin, ollama:NAME"):
        await _choose(spec)


@pytest.mark.parametrize("address", ["ftp://x", "http://host:port", "file:///etc"])
async def test_an_address_that_is_none_is_wrong_usage(address: str) -> None:
    with pytest.raises(UsageError, match="is not the address of a server"):
        await _choose("auto", address)


async def test_openai_needs_a_key_or_a_server_of_ones_own() -> None:
    with pytest.raises(RegreenError, match="set OPENAI_API_KEY or OPENROUTER_API_KEY"):
        await _choose("openai:gpt-4o-mini")


async def test_code_that_leaves_the_machine_is_announced_once() -> None:
    _, notes = await _choose("openai:small", OPENROUTER_API_KEY="k")
    assert notes == ["This run sends parts of your code to https://openrouter.ai/api/v1, off this machine."]
    _, notes = await _choose("ollama:x", "http://192.0.2.7:11434")
    assert len(notes) == 1
    _, notes = await _choose("openai:small", "http://127.0.0.1:8080/v1")
    assert notes == []


def test_choosing_imports_no_http_library() -> None:
    code = (
        "import sys, asyncio; from regreen.models.choose import choose\n"
        f"asyncio.run(choose('auto', base_url={NOBODY!r}, make_builtin=lambda: None, notes=lambda t: None))\n"
        "print(sorted({'ollama', 'openai', 'httpx', 'httpx2', 'pydantic', 'anyio', 'json_repair', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=SERVER, check=True
    )
    assert done.stdout == "[]\n"


# -- replay ------------------------------------------------------------------------------------------


def _trace(path: Path, *events: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(event) + "\n" for event in ({"event": "started"}, *events)))
    return path


async def test_a_trace_gives_its_replies_back_in_order_and_then_says_that_it_ended(tmp_path: Path) -> None:
    call = {"name": "edit_file", "arguments": {"path": "a.py", "find": "x", "replace": "y"}}
    usage = {"prompt": 100, "cached": 40, "generated": 7}
    trace = _trace(
        tmp_path / "trace.jsonl",
        {"event": "reply", "n": 1, "text": "One.", "calls": [call], "usage": usage},
        {"event": "trial"},
        {"event": "reply", "n": 2, "text": "", "calls": [], "corrective": "Say more.", "finish": "cut"},
    )
    model, _ = await _choose(f"replay:{trace}")
    request, ear = Request(OPENING, ()), Ear()
    first, second = await model.reply(request, ear), await model.reply(request, ear)
    assert (first.text, first.calls[0].name, first.calls[0].arguments["find"]) == ("One.", "edit_file", "x")
    assert first.usage.charged == 67
    assert ear.heard == ["One."]
    assert (second.corrective, second.finish) == ("Say more.", "cut")
    with pytest.raises(RegreenError, match="ends after 2 replies, and this run asks for another one"):
        await model.reply(request, ear)


@pytest.mark.parametrize("content", ["", "not json\n", '{"event":"started"}\n'])
async def test_a_file_that_is_no_trace_is_wrong_usage(tmp_path: Path, content: str) -> None:
    (tmp_path / "t.jsonl").write_text(content)
    with pytest.raises(UsageError):
        await _choose(f"replay:{tmp_path / 't.jsonl'}")
    with pytest.raises(UsageError):
        await _choose(f"replay:{tmp_path / 'absent.jsonl'}")
