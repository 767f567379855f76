"""The limits of a reply and of a prompt: how long, how much context, and when a stream only repeats itself."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from regreen.models.dialects.circles import circle

NUM_PREDICT = 1024
"""Tokens a reply may have: an edit of one function with its reason is 60 to 300."""

TEMPERATURE = 0.1
RETRY_TEMPERATURES = (TEMPERATURE, 0.5, 0.7)
"""By how often the same question was put: the same prompt and seed make the same mistake again."""

SEED = 7
KEEP_ALIVE = "30m"

FIRST_BYTE_SECONDS = 3600.0
"""A slow machine may read a prompt for many minutes and Ollama sends nothing meanwhile, not even a header. The
run's own budget and the person's Cancel end a wait; this bound only ends the wait for a dead server."""

BETWEEN_CHUNKS_SECONDS = 300.0
"""Before 0.13.3 Ollama sends nothing while its parser holds back a call, which a slow machine writes for minutes."""

CONNECT_SECONDS = 5.0

CHARS_PER_TOKEN = 4.0
"""A rough middle for English and code with the vocabularies of today's models."""

MOST_CHARS_PER_TOKEN = 8.0
"""No real prompt has fewer tokens than its characters divided by this: fewer counted means a cut prompt."""

WINDOWS = (8192, 16384, 32768)
SMALL_WINDOWS = (4096, 8192)
ROOM_FOR_STEPS = 3000
"""Tokens kept free for the tool results and replies of a usual run."""

MOST_SAME_CALLS = 12
"""So many calls in a row that differ in nothing but a number, and the reply is cut."""

_LOOK_EVERY = 80
_REPLY_CHARS = NUM_PREDICT * 12
"""No reply that obeys NUM_PREDICT is longer; a server that ignores it is cut here."""


def temperature(attempt: int) -> float:
    """Higher when the same question was put before."""
    return RETRY_TEMPERATURES[min(attempt, len(RETRY_TEMPERATURES) - 1)]


def estimate(characters: int, chars_per_token: float = CHARS_PER_TOKEN) -> int:
    """About how many tokens a text of so many characters has."""
    return int(characters / chars_per_token) + 1


def choose_window(
    needed: int,
    model_max: int | None,
    bytes_per_token: int = 36864,
    weights: int = 0,
    memory: int | None = None,
) -> int:
    """The context length in tokens for a whole run: it never changes later, since a change reloads the model.

    needed: estimated tokens of the first prompt. bytes_per_token: of the key-value cache (36 KiB for qwen2.5:3b
    at f16). memory: bytes of the machine; the model may take 60 % of it. Falls back to 4096 where memory is short,
    and never goes beyond what the model was trained for.
    """
    wanted = needed + ROOM_FOR_STEPS + NUM_PREDICT
    window = next((size for size in WINDOWS if size >= wanted), WINDOWS[-1])
    if memory is not None:
        room = int((memory * 0.6 - weights) / max(1, bytes_per_token))
        sizes = [size for size in (*SMALL_WINDOWS, *WINDOWS[1:]) if size <= room] or [SMALL_WINDOWS[0]]
        window = min(window, sizes[-1])
    return min(window, model_max) if model_max else window


def machine_memory() -> int | None:
    """Bytes of memory in this machine; None where that cannot be told."""
    if sys.platform == "win32":
        return _windows_memory()
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return None


def _windows_memory() -> int | None:
    import ctypes

    class _Status(ctypes.Structure):
        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *((name, ctypes.c_ulonglong) for name in ("total", "free", "a", "b", "c", "d", "e")),
        )

    status = _Status()
    status.length = ctypes.sizeof(status)
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 (no such name elsewhere)
    return int(status.total) if kernel.GlobalMemoryStatusEx(ctypes.byref(status)) else None


def size_words(size: int) -> str:
    """Bytes as a person reads them: 1929912432 -> "1.9 GB"."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{max(1, round(size / 1e6))} MB"


class Repetition:
    """Watches a reply as it streams, and tells when it only goes round in circles or is longer than any limit."""

    def __init__(self, most_chars: int = _REPLY_CHARS) -> None:
        self._most = most_chars
        self._kind = ""
        self._text = ""
        self._unseen = 0
        self._count = 0

    def feed(self, delta: str, kind: str = "text") -> str:
        """Add a piece; returns why the stream should be cut, or "". `kind`: "text", "thinking", or "call" for arguments."""
        self._count += len(delta)
        if self._count > self._most:
            return "the reply has no end"
        if kind != self._kind:
            self._kind, self._text = kind, ""
        self._text += delta
        self._unseen += len(delta)
        if self._unseen < _LOOK_EVERY:
            return ""
        self._unseen = 0
        found = circle(self._text, code=kind == "call")
        if found is None:
            return ""
        return "the reply repeats the same words" + (" and only counts on" if found.counts else "")


def same_calls(calls: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a reply's latest calls are the same again and again, but for a number in them."""
    latest = calls[-MOST_SAME_CALLS:]
    if len(latest) < MOST_SAME_CALLS:
        return False
    shapes = {
        re.sub(r"\d+", "#", json.dumps(call.get("function", call), sort_keys=True, default=str))
        for call in latest
    }
    return len(shapes) == 1
