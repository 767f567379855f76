"""Servers and scenarios for the tests over the wire."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lsp.wire_client import Client

FAKE = Path(__file__).parent / "fake_run.py"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Where the fake run writes what it read."""
    return tmp_path / "fake.log"


@pytest.fixture
def serve(tmp_path: Path, log: Path) -> Iterator[Callable[..., Client]]:
    """Start servers whose runs play a scenario; they are gone when the test ends."""
    started: list[Client] = []

    def start(scenario: str = "one_edit", process_id: int | None = None) -> Client:
        command = json.dumps([sys.executable, str(FAKE), scenario, str(log)])
        client = Client(
            env={"REGREEN_RUN_COMMAND": command, "REGREEN_STATE_DIR": str(tmp_path / "state")},
            stderr=tmp_path / f"stderr-{len(started)}",
            process_id=process_id,
        )
        started.append(client)
        return client

    yield start
    for client in started:
        client.kill()


@pytest.fixture
def cart(toy_shop: Path) -> Path:
    """The file of the toy shop that the scenarios edit first."""
    return toy_shop / "shop" / "cart.py"


@pytest.fixture
def test_cart(toy_shop: Path) -> Path:
    """The file with the failing test."""
    return toy_shop / "tests" / "test_cart.py"
