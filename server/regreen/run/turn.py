"""One run a folder at a time: the others wait, and say so."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from regreen.settings import state_folder
from regreen.workspace.changes import sha256

EVERY_SECONDS = 0.2


@asynccontextmanager
async def turn(workspace: Path, say: Callable[[str], None]) -> AsyncGenerator[None]:
    """Hold the folder for the time of the block. The lock is the system's own, so a killed run lets go of it."""
    if os.name == "nt":
        yield
        return
    import fcntl

    locks = state_folder() / "turns"
    locks.mkdir(exist_ok=True, mode=0o700)
    lock = os.open(locks / sha256(os.fsencode(workspace))[:32], os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        told = False
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not told:
                    say(f"Another run is at work in {workspace}; this one waits for its turn.")
                told = True
                await asyncio.sleep(EVERY_SECONDS)
        yield
    finally:
        os.close(lock)
