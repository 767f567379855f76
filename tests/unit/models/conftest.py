"""What the tests of the models share: the scripted server and a model that talks to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from regreen.models.ollama import OllamaModel
from scripted import ScriptedServer
from scripted.fixtures import StartScripted
from scripted.fixtures import scripted as scripted
from scripted.talk import Chat

Talk = Callable[..., Awaitable[tuple[ScriptedServer, Chat]]]


@pytest.fixture
async def talk(scripted: StartScripted) -> AsyncIterator[Talk]:
    """Start a scripted server and an Ollama model that talks to it, without pauses between tries."""
    models: list[OllamaModel] = []

    async def start(policy: Any, cache: Path | None = None, **more: Any) -> tuple[ScriptedServer, Chat]:
        server = scripted(policy)
        model = OllamaModel("qwen2.5:3b", server.url, cache=cache, **{"patience": 0.01, **more})
        models.append(model)
        return server, Chat(model)

    yield start
    for model in models:
        await model.aclose()
