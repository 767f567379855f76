"""Starting a command through launcher.py, and killing what came of it: shared by Landlock and by no seal at all."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from regreen.errors import RegreenError
from regreen.testing.seal.door import Access, Limits
from regreen.testing.seal.process import SealedProcess, rlimits
from regreen.testing.seal.usage import is_dead

LAUNCHER = Path(__file__).with_name("launcher.py")


def private_folders(scratch: Path) -> tuple[Path, Path]:
    """An empty home and a temporary folder inside `scratch`, where nothing can be mounted."""
    home, temp = scratch / "home", scratch / "tmp"
    for folder in (home, temp):
        folder.mkdir(mode=0o700, exist_ok=True)
    return home, temp


async def launch(
    argv: Sequence[str],
    access: Access,
    limits: Limits,
    env: Mapping[str, str],
    inherit: Sequence[int],
    config: dict[str, Any],
    sweeps: bool,
) -> SealedProcess:
    """Start `argv` with its working directory at the trial. `config` holds what the launcher confines;
    `sweeps` says that the launcher needs time to find runaways, instead of one signal to its group."""
    token = f"regreen-{os.urandom(8).hex()}"
    told, tell = os.pipe()
    config = {
        **config,
        "cwd": str(access.tree),
        "limits": rlimits(limits, shared=True),
        "keep": list(inherit),
        "status": tell,
        "token": token,
    }
    try:
        popen = subprocess.Popen(  # noqa: ASYNC220 - a few ms, and nothing to cancel into
            [sys.executable, "-I", "-S", "-B", str(LAUNCHER), json.dumps(config), *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(env),
            cwd="/",
            pass_fds=[tell, *inherit],
            start_new_session=True,
            bufsize=0,
        )
    except OSError as error:
        os.close(told)
        raise RegreenError(f"The test process could not be started: {error}") from error
    finally:
        os.close(tell)
    hold = _Group(popen, told, sweeps)
    running = SealedProcess(popen, hold, token.encode(), limits, (access.tree, access.scratch))
    hold.say_go()
    await running.up()
    return running


class _Group:
    """Implements `process.Hold` for the launcher's process group."""

    def __init__(self, popen: subprocess.Popen[bytes], told: int, sweeps: bool) -> None:
        self._popen, self._told, self._sweeps = popen, told, sweeps
        self.root = popen.pid

    def say_go(self) -> None:
        """Let the command start. The pipe stays open: its end, also by our death, ends the command."""
        assert self._popen.stdin is not None
        with contextlib.suppress(OSError):
            self._popen.stdin.write(b"go\n")

    def kill(self) -> None:
        if self._popen.stdin is not None:
            with contextlib.suppress(OSError):
                self._popen.stdin.close()
        if not self._sweeps:
            self._kill_group()

    def insist(self) -> None:
        """A launcher that sweeps was given its second. Then see the group end: usually less than 1 ms."""
        self._kill_group()
        if self._popen.returncode is None and is_dead(self._popen.pid):
            end = time.monotonic() + 0.3
            while time.monotonic() < end and not _only_leader_left(self._popen.pid):
                time.sleep(0.001)

    def _kill_group(self) -> None:
        """The launcher is not reaped before `process` is through with us, so its id cannot be another's."""
        if self._popen.returncode is None:
            with contextlib.suppress(OSError):
                os.killpg(self._popen.pid, signal.SIGKILL)

    def returncode(self, launcher: int) -> int | None:
        """The command's own code, in a shell's way for signals (128 + n), as bubblewrap gives it."""
        try:
            text = os.read(self._told, 64)
        except OSError:
            text = b""
        if not text.strip():
            return launcher if launcher >= 0 else None
        code = int(text)
        return code if code >= 0 else 128 - code

    def release(self) -> None:
        os.close(self._told)


def _only_leader_left(group: int) -> bool:
    """True when no living process of the group is left (the dead leader waits to be reaped by us)."""
    for name in os.listdir("/proc") if os.path.isdir("/proc") else []:  # noqa: PTH112, PTH208
        if not name.isdigit() or int(name) == group:
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as stat:
                text = stat.read()
        except OSError:
            continue
        fields = text[text.rindex(b")") + 2 :].split()
        if int(fields[2]) == group and fields[0] != b"Z":
            return False
    return True
