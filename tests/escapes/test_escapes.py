"""Hostile code under both seals, run by root and by an ordinary user: nothing leaks, nothing changes, nothing stays."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from escapes.cases import CANCELLED, CASES, FILES, OWN_FILES, SOCKETS
from regreen.testing.seal import bubblewrap, landlock

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the seals of Linux")

SERVER = Path(__file__).resolve().parents[2] / "server"
SYSTEM_PYTHON = Path("/usr/bin/python3")
ORDINARY = 12345


def users() -> list[str]:
    """Root and an ordinary user when we are root; else only the user we are."""
    return ["root", "ordinary user"] if os.geteuid() == 0 else ["ordinary user"]


def missing(seal: str, user: str) -> str:
    """Why a combination cannot be played here, "" when it can."""
    if seal == "bubblewrap" and bubblewrap.find()[0] is None:
        return bubblewrap.find()[1]
    if seal == "landlock" and landlock.usable():
        return landlock.usable()
    if user == "ordinary user" and os.geteuid() == 0:
        asked = "import sys; sys.exit(sys.version_info < (3, 10))"
        if not SYSTEM_PYTHON.exists() or subprocess.run([SYSTEM_PYTHON, "-c", asked], check=False).returncode:
            return "an ordinary user needs a system Python of 3.10 or newer"
    return ""


@functools.cache
def played(seal: str, user: str) -> dict[str, list[str]]:
    """Problems by case. All cases of a combination are played at once, by one process that is the host."""
    with tempfile.TemporaryDirectory(prefix="regreen-escapes-") as folder:
        base = Path(folder)
        command = [sys.executable]
        python, server, host = Path(sys.executable), SERVER, Path(__file__).parent
        if user == "ordinary user" and os.geteuid() == 0:
            server, host = base / "server", base / "escapes"
            shutil.copytree(
                SERVER / "regreen", server / "regreen", ignore=shutil.ignore_patterns("__pycache__")
            )
            shutil.copytree(Path(__file__).parent, host)
            subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
            python = SYSTEM_PYTHON
            command = [
                "setpriv",
                "--reuid",
                str(ORDINARY),
                "--regid",
                str(ORDINARY),
                "--clear-groups",
                str(python),
            ]
        stage = base / "stage"
        stage.mkdir()
        if user == "ordinary user" and os.geteuid() == 0:
            os.chown(stage, ORDINARY, ORDINARY)
            base.chmod(0o755)
        command += ["-B", str(host / "host.py"), seal, str(stage), str(server), str(python)]
        ended = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, check=False, timeout=240
        )
        if ended.returncode:
            raise AssertionError(ended.stderr.decode()[-3000:])
        results = [json.loads(line) for line in ended.stdout.splitlines()]
        return {result["name"]: result["problems"] for result in results}


def promised() -> Iterator[tuple[str, str]]:
    """Each kind of attack under each seal that promises to stop it (docs/security.md says which does not)."""
    for seal in ("bubblewrap", "landlock"):
        yield from ((case.name, seal) for case in CASES if seal in case.seals)
        yield from ((name, seal) for name in (CANCELLED, OWN_FILES, FILES, SOCKETS))


@pytest.mark.parametrize("user", ["root", "ordinary user"])
@pytest.mark.parametrize(("name", "seal"), list(promised()))
def test_hostile_code(name: str, seal: str, user: str):
    if user not in users():
        pytest.skip("only root can play root")
    if why := missing(seal, user):
        pytest.skip(why)
    assert played(seal, user)[name] == [], "\n".join(played(seal, user)[name])
