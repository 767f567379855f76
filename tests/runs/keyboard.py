"""A real `regreen` on a real terminal: a pseudo-terminal with somebody at its keyboard."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
CTRL_C = "\x03"
CTRL_D = "\x04"
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Keyboard:
    """A command on a terminal of `columns`. `screen` is all it has shown so far."""

    def __init__(
        self, folder: Path, *arguments: str, environ: Mapping[str, str] | None = None, columns: int = 100
    ) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("LC_", "LANG", "COLUMNS"))
        }
        kept |= {"TERM": "xterm-256color", "LANG": "C.UTF-8", "PYTHONPATH": str(PROJECT / "server")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "regreen", *arguments],
            cwd=folder,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env=kept | dict(environ or {}),
        )
        os.close(theirs)
        self.raw = b""

    @property
    def screen(self) -> str:
        """What was shown, without colours."""
        return _COLOURS.sub("", self.raw.decode("utf-8", "replace")).replace("\r\n", "\n")

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._ours], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self._ours, 65536)
        except OSError:  # the last one at the other end is gone
            return False
        self.raw += data
        return bool(data)

    def see(self, text: str, count: int = 1, timeout: float = 60) -> None:
        """Wait until a text was shown so often."""
        end = time.monotonic() + timeout
        while self.screen.count(text) < count:
            assert time.monotonic() < end, f"{text!r} was not shown {count} times:\n{self.screen}"
            assert self._read(0.1) or self.screen.count(text) >= count, (
                f"ended without {text!r}:\n{self.screen}"
            )

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._ours, text.encode())

    def end(self, timeout: float = 60) -> int:
        """Wait for the end and return the exit code."""
        end = time.monotonic() + timeout
        while self._read(0.1):
            assert time.monotonic() < end, f"it did not end:\n{self.screen}"
            if self.process.poll() is not None and not select.select([self._ours], [], [], 0)[0]:
                break
        code = self.process.wait(5)
        os.close(self._ours)
        return code
