"""Searching the lines of files for a pattern that a model wrote, which may be a pattern that never ends."""

from __future__ import annotations

import contextlib
import re
import signal
import threading
import time
from collections.abc import Generator, Iterable
from types import FrameType

PATIENCE_SECONDS = 1.0
"""So long may one search match, reading aside: `re` holds up everything else, the answer to a cancel as well."""
LONGEST_LINE = 2000
"""Characters; longer lines are data, not code."""


class TooSlow(Exception):
    """The pattern takes too long to match; the message is for the model."""


Match = tuple[str, int, str]


def matching_lines(pattern: str, files: Iterable[tuple[str, list[str]]]) -> list[Match]:
    """(path, line number from 1, line) for every line that holds the pattern.

    `files` are (path, lines). A pattern that is no regular expression is searched for as plain text. Raises TooSlow
    after PATIENCE_SECONDS: some patterns take exponential time (https://docs.python.org/3/library/re.html has no
    limit of its own, but looks for signals while it matches).
    """
    try:
        wanted = re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        wanted = re.compile(re.escape(pattern))
    found: list[Match] = []
    left = PATIENCE_SECONDS
    for path, lines in files:
        begun = time.monotonic()
        with _patience(pattern, left):
            found += [
                (path, number, line)
                for number, line in enumerate(lines, 1)
                if len(line) <= LONGEST_LINE and wanted.search(line)
            ]
        left = max(0.001, left - (time.monotonic() - begun))
    return found


@contextlib.contextmanager
def _patience(pattern: str, seconds: float) -> Generator[None]:
    """Raise TooSlow inside the block when it takes too long. Only the main thread can be interrupted so."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def give_up(_number: int, _frame: FrameType | None) -> None:
        raise TooSlow(
            f"The pattern {pattern!r} takes too long to match. Search for a plain word, or for a simpler pattern."
        )

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
