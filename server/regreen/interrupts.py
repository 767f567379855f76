"""Ctrl-C and a polite kill during a run: each ends it with an outcome, whatever the run is at.

While our own modules are being loaded, `__main__` answers by itself. From there on a signal is only noted, until there is
a run that can be cancelled: what lies in between takes milliseconds, and a second signal does not wait for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable
from types import FrameType


class Interrupts:
    """Who is told of SIGINT and SIGTERM. One for a process, since its signals are."""

    def __init__(self) -> None:
        self._asked = 0
        self._cancel: Callable[[], None] | None = None
        self._leave: Callable[[], None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def take(self) -> None:
        """Hear the signals from now on."""
        self._asked = 0
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(ValueError):  # only the main thread may
                signal.signal(number, self._hear)

    def insist(self, leave: Callable[[], None]) -> None:
        """How to end the process when a second signal comes before there is anything to cancel."""
        self._leave = leave

    def reach(self, cancel: Callable[[], None]) -> None:
        """Let a signal cancel what the running event loop is at; one that came before does so at once."""
        self._leave, self._cancel, self._loop = None, cancel, asyncio.get_running_loop()
        if self._asked:
            self._pass_on()

    def over(self) -> None:
        """The outcome is said: what comes now changes nothing."""
        self._cancel = self._leave = self._loop = None

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self._asked += 1  # that nobody acted on
        if self._cancel is not None:
            self._pass_on()
        elif self._leave is not None and self._asked > 1:
            self._leave()

    def _pass_on(self) -> None:
        self._asked = 0
        if self._loop is not None and self._cancel is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: the run is over
                self._loop.call_soon_threadsafe(self._cancel)


INTERRUPTS = Interrupts()
