"""Loads a slow module beside the event loop, and holds nobody up who no longer wants it."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import threading


async def load(name: str) -> None:
    """Import a module. A cancelled run does not wait for it, as it would for a thread of the loop's own pool."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def settle(error: Exception | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)

    def work() -> None:
        error: Exception | None = None
        try:
            importlib.import_module(name)
        except Exception as raised:  # told where it is waited for
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, error)

    threading.Thread(target=work, daemon=True, name=f"load {name}").start()
    await done
