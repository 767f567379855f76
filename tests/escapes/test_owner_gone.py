"""The editor dies, or a run is told to end, while a hostile test runs: no process and no folder stays."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from regreen.testing.seal import bubblewrap, landlock

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

SERVER = Path(__file__).resolve().parents[2] / "server"
TEST = """
import os, signal, subprocess, time
def test_it():
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    subprocess.Popen(["/bin/sh", "-c", "trap '' TERM HUP; sleep 600; : {mark}"], start_new_session=True)
    time.sleep(600)
"""
EDITOR = """
import subprocess, sys, time
run = subprocess.Popen(sys.argv[2:], cwd=sys.argv[1], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
time.sleep(600)
"""
PATIENCE = 30.0
"""Seconds on a busy machine. On a quiet one everything is gone in less than one."""


def alive(mark: str) -> dict[int, str]:
    """Command lines of living processes in which the mark stands, by process id."""
    found: dict[int, str] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                if mark in line:
                    found[int(folder.name)] = line
    return found


def wait_for(true: Callable[[], bool]) -> bool:
    """Whether it came true before patience ended."""
    end = time.monotonic() + PATIENCE
    while not true() and time.monotonic() < end:
        time.sleep(0.05)
    return true()


@pytest.mark.parametrize("seal", ["require", "off"])
@pytest.mark.parametrize("end", ["the editor is killed", "the run is told to end", "the run is interrupted"])
def test_nothing_stays(tmp_path: Path, end: str, seal: str):
    if seal == "require" and bubblewrap.find()[0] is None and landlock.usable():
        pytest.skip("no seal here")
    mark = f"mark-{secrets.token_hex(6)}"
    workspace = tmp_path / mark
    workspace.mkdir()
    (workspace / "pytest.ini").write_text("[pytest]\n")
    (workspace / "test_it.py").write_text(TEST.format(mark=mark))
    home = tmp_path / "home"
    home.mkdir()
    folders = {f"XDG_{kind}_HOME": str(tmp_path / kind.lower()) for kind in ("STATE", "CACHE", "CONFIG")}
    run = [sys.executable, str(SERVER / "regreen" / "__main__.py"), "fix", "test_it.py::test_it", "--json"]
    run += ["--model", "builtin", "--workspace", str(workspace), "--python", sys.executable, "--seal", seal]
    editor = subprocess.Popen(
        [sys.executable, "-c", EDITOR, str(workspace), *run],
        env={**os.environ, "HOME": str(home), **folders},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert wait_for(lambda: any("sleep 600" in line for line in alive(mark).values()))
        runs = [pid for pid, line in alive(mark).items() if "__main__.py fix" in line and pid != editor.pid]
        if end == "the editor is killed":
            editor.kill()
            editor.wait()
        else:
            os.kill(runs[0], signal.SIGTERM if end == "the run is told to end" else signal.SIGINT)
        assert wait_for(lambda: not set(alive(mark)) - {editor.pid}), alive(mark)
        assert [str(path) for path in (tmp_path / "cache").rglob("working/*")] == []
        assert sorted(path.name for path in workspace.iterdir()) == ["pytest.ini", "test_it.py"]
    finally:
        editor.kill()
        editor.wait()
        for pid in alive(mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
