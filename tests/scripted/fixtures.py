"""The scripted server as a pytest fixture: `from scripted.fixtures import scripted` in a conftest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scripted.server import ScriptedServer

StartScripted = Callable[..., ScriptedServer]
"""`scripted("twopart", models=[…])` starts a server that ends with the test."""


@pytest.fixture
def scripted() -> Iterator[StartScripted]:
    """Start scripted servers; all of them are closed when the test ends."""
    servers: list[ScriptedServer] = []

    def start(policy: Any = "twopart", **options: Any) -> ScriptedServer:
        server = ScriptedServer(policy, **options)
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.close()
