"""Reading lines from a descriptor without blocking the loop, on every system."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable


def read_lines(source: int, take: Callable[[str], None], end: Callable[[], None]) -> None:
    """Call `take` on the running loop for each line of a descriptor, and `end` once at its end.

    A daemon thread with plain `os.read`: a thread inside a buffered stream would hold its lock at exit.
    """
    loop = asyncio.get_running_loop()

    def call(function: Callable[..., None], *arguments: str) -> bool:
        try:
            loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:  # the loop is closed: the run ended first
            return False
        return True

    def read() -> None:
        waiting = b""
        while True:
            try:
                chunk = os.read(source, 65536)
            except OSError:
                chunk = b""
            if not chunk:
                break
            *lines, waiting = (waiting + chunk).split(b"\n")
            for line in lines:
                if not call(take, line.decode("utf-8", "replace")):
                    return
        if waiting:
            call(take, waiting.decode("utf-8", "replace"))
        call(end)

    threading.Thread(target=read, name="input", daemon=True).start()
