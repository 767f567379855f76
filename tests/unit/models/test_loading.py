"""A slow module is loaded beside the loop; who stops waiting for it is free at once."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

import pytest

from regreen.models.loading import load


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


async def test_it_is_there_when_the_wait_is_over(place: Path) -> None:
    (place / "quick_to_load.py").write_text("X = 1\n")
    await load("quick_to_load")
    assert sys.modules["quick_to_load"].X == 1
    await load("quick_to_load")


async def test_what_is_wrong_with_it_is_raised_where_it_is_waited_for(place: Path) -> None:
    (place / "wrong_to_load.py").write_text("raise ValueError('no native part for this system')\n")
    with pytest.raises(ValueError, match="no native part"):
        await load("wrong_to_load")


def test_nobody_waits_for_it_after_a_cancel(place: Path) -> None:
    (place / "slow_to_load.py").write_text("import time\ntime.sleep(4)\n")

    async def cancelled() -> None:
        task = asyncio.ensure_future(load("slow_to_load"))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    start = time.monotonic()
    asyncio.run(cancelled())
    assert time.monotonic() - start < 2
