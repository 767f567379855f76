"""The wire to the editor: private pipes, framing in threads of their own, and the death of the editor.

Nothing here blocks the event loop: an editor that stops reading cannot hold up a cancel.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import queue
import re
import sys
import threading
import time
from collections.abc import Callable

Read = Callable[[int], bytes]
Write = Callable[[bytes], object]

_LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)
_LARGEST = 1 << 28


def private_stdio() -> tuple[Read, Write]:
    """Take the pipes away from fd 0 and fd 1, and return functions that read and write them.

    Afterwards fd 0 is the null device and fd 1 is stderr: a child that inherits them cannot eat our
    messages (or freeze on Windows, CPython gh-78961), and a stray `print` cannot break the stream.
    """
    wire_in, wire_out = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    sys.stdin = open(os.devnull)  # noqa: SIM115

    def write(data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(wire_out, view) :]

    return lambda size: os.read(wire_in, size), write


def read_messages(read: Read, deliver: Callable[[bytes], None], ended: Callable[[], None]) -> None:
    """Start a thread that cuts the stream into message bodies. `ended` is called once, at its end."""

    def loop() -> None:
        buffer = bytearray()
        with contextlib.suppress(OSError, ValueError):
            while chunk := read(1 << 16):
                buffer += chunk
                while (body := _take(buffer)) is not None:
                    deliver(body)
        ended()

    threading.Thread(target=loop, name="wire-in", daemon=True).start()


def _take(buffer: bytearray) -> bytes | None:
    """Remove one message from the front of the buffer; ValueError when its length is absurd."""
    while (head := buffer.find(b"\r\n\r\n")) >= 0:
        match = _LENGTH.search(buffer, 0, head)
        if match is None:  # no message: skip to the next header
            del buffer[: head + 4]
            continue
        size = int(match.group(1))
        if size > _LARGEST:
            raise ValueError(f"message of {size} bytes")
        end = head + 4 + size
        if len(buffer) < end:
            return None
        body = bytes(buffer[head + 4 : end])
        del buffer[:end]
        return body
    return None


class Writer:
    """Sends in order from a thread of its own. After the pipe broke or `close`, writing does nothing."""

    def __init__(self, write: Write, lost: Callable[[], None]) -> None:
        self._write = write
        self._lost = lost
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._open = True
        self._thread = threading.Thread(target=self._loop, name="wire-out", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        """Queue some bytes."""
        if self._open:
            self._queue.put(data)

    def close(self, timeout: float = 1.0) -> None:
        """Send what is queued, for at most `timeout` seconds, and stop."""
        self._open = False
        self._queue.put(None)
        self._thread.join(timeout)

    def _loop(self) -> None:
        try:
            while (data := self._queue.get()) is not None:
                self._write(data)
        except (OSError, ValueError):
            self._open = False
            self._lost()


def alive(pid: int) -> bool:
    """Whether a process with this id exists. On Windows `os.kill(pid, 0)` would end it."""
    if sys.platform == "win32":
        handle = ctypes.windll.kernel32.OpenProcess(0x00100000, False, pid)
        if not handle:
            return False
        try:
            return ctypes.windll.kernel32.WaitForSingleObject(handle, 0) == 0x102
        finally:
            ctypes.windll.kernel32.CloseHandle(handle)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def watch_parent(pid: int, died: Callable[[], None], every: float = 0.5, grace: float = 3.0) -> None:
    """Call `died` when the editor is gone, and end this process `grace` seconds later at the latest.

    The end of stdin tells the same, but not while somebody else holds the pipe. A pid that does not exist
    to begin with is another machine's or another container's: then there is nothing to watch.
    """
    if not alive(pid):
        return

    def loop() -> None:
        while alive(pid):
            time.sleep(every)
        died()
        time.sleep(grace)
        os._exit(1)

    threading.Thread(target=loop, name="parent-watch", daemon=True).start()
