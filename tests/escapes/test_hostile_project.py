"""A project whose tests are hostile, run as Regreen runs tests: every test ends in its verdict, nothing leaks."""

# ruff: noqa: ASYNC110

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from regreen.testing.runner import TestRunner
from regreen.testing.seal import bubblewrap, landlock
from regreen.testing.seal.door import Limits, Seal
from regreen.workspace.trial import Trial

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the seals of Linux")

SECRET = "hush-" + os.urandom(8).hex()
MARK = "hostile-" + os.urandom(6).hex()

TESTS = {
    "reads_keys": ("failed", "def test_it():\n    assert open({secret!r}).read() == ''\n"),
    "posts_to_the_network": (
        "failed",
        "import socket\ndef test_it():\n"
        "    socket.create_connection(('127.0.0.1', {port}), timeout=2).sendall(b'leak')\n",
    ),
    "waits_on_stdin": ("passed", "import sys\ndef test_it():\n    assert sys.__stdin__.read() == ''\n"),
    "prints_without_end": (
        "failed",  # pytest catches it in a file, which must not grow for ever
        "import os\ndef test_it():\n    while True:\n        os.write(2, b'x' * 65536)\n",
    ),
    "fills_memory": ("failed", "def test_it():\n    held = bytearray(8 << 30)\n"),
    "sleeps_for_ever": ("timeout", "import time\ndef test_it():\n    time.sleep(600)\n"),
    "forks_a_hydra": (
        "timeout",
        "import os, time\ndef test_it():\n"
        "    if os.fork() == 0:\n"
        "        while True:\n"
        "            if os.fork():\n"
        "                time.sleep(0.01)\n"
        "                os._exit(0)\n"
        "            os.setsid()\n"
        "    time.sleep(600)\n",
    ),
    "leaves_a_daemon": (
        "passed",
        "import subprocess, sys\ndef test_it():\n"
        "    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', {mark!r}], start_new_session=True)\n",
    ),
    "ends_the_process": ("crashed", "import os\ndef test_it():\n    os._exit(0)\n"),
    "patches_pytest": (
        "crashed",
        "import _pytest.runner, os\ndef test_it():\n"
        "    _pytest.runner.call_runtest_hook = lambda *a, **k: None\n"
        "    os.kill(os.getpid(), 9)\n",
    ),
    "plants_links_and_hooks": (
        "passed",
        "import os\ndef test_it():\n"
        "    os.makedirs('.git/hooks', exist_ok=True)\n"
        "    open('.git/hooks/post-commit', 'w').write('evil')\n"
        "    open('conftest.py', 'w').write('raise SystemExit')\n"
        "    open('cart.py', 'w').write('x = 2')\n"
        "    os.symlink({home!r}, 'home-link')\n"
        "    os.mkfifo('pipe')\n",
    ),
    "is_honest": ("failed", "from cart import x\ndef test_it():\n    assert x == 2\n"),
}


def seals() -> dict[str, Seal]:
    program, _ = bubblewrap.find()
    found: dict[str, Seal] = {} if program is None else {"bubblewrap": bubblewrap.Bubblewrap(program)}
    return found if landlock.usable() else {**found, "landlock": landlock.Landlock()}


@pytest.fixture(params=["bubblewrap", "landlock"])
def seal(request: pytest.FixtureRequest) -> Seal:
    if request.param not in seals():
        pytest.skip(f"{request.param} does not work on this machine")
    return seals()[request.param]


@pytest.fixture
def heard() -> Iterator[tuple[int, list[str]]]:
    listening = socket.create_server(("127.0.0.1", 0))
    found: list[str] = []

    def accept() -> None:
        while True:
            try:
                listening.accept()[0].close()
            except OSError:
                return
            found.append("somebody connected")

    threading.Thread(target=accept, daemon=True).start()
    yield listening.getsockname()[1], found
    listening.close()


async def test_every_hostile_test_ends_in_its_verdict(
    seal: Seal, heard: tuple[int, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    port, connections = heard
    home = tmp_path / "home"
    workspace = home / "shop"
    (workspace / "tests").mkdir(parents=True)
    key = home / "id_rsa"
    key.write_text(SECRET)
    monkeypatch.setenv("SHOP_TOKEN", SECRET)
    monkeypatch.setenv("HOME", str(home))
    (workspace / "cart.py").write_text("x = 1\n")
    (workspace / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    for name, (_, code) in TESTS.items():
        text = code.format(secret=str(key), port=port, home=str(home), mark=MARK)
        (workspace / "tests" / f"test_{name}.py").write_text(text)
    before = {p: p.read_bytes() for p in home.rglob("*") if p.is_file()}
    limits = Limits(wall=30, memory=1 << 30, output=1 << 18, file_size=16 << 20)
    runner = TestRunner(Path(sys.executable), workspace, seal, tmp_path / "scratch", limits)
    turn = asyncio.Semaphore(2)

    async def run(name: str) -> tuple[str, str]:
        async with turn:
            trial = Trial(workspace, tmp_path / "trials" / name)
            wanted, target = TESTS[name][0], f"tests/test_{name}.py::test_it"
            wall = 4.0 if wanted == "timeout" else None
            report = await runner.run(trial.prepare(), [target], wall=wall)
            assert SECRET not in repr(report)
            trial.close()
            assert not (tmp_path / "trials" / name).exists()
            record = report.tests.get(target)
            return name, record.outcome if record else f"no record: {report.problem}"

    ended = dict(await asyncio.gather(*(run(name) for name in TESTS)))
    await runner.aclose()
    for name in ("sleeps_for_ever", "forks_a_hydra"):
        if ended[name] == "missing":  # On a busy machine the time is over before pytest has come to the test.
            ended[name] = "timeout"
    assert ended == {name: wanted for name, (wanted, _) in TESTS.items()}
    assert {p: p.read_bytes() for p in home.rglob("*") if p.is_file()} == before
    assert connections == []
    assert not (tmp_path / "scratch").exists()
    end = time.monotonic() + 2
    while (left := survivors(tmp_path)) and time.monotonic() < end:
        await asyncio.sleep(0.05)
    assert left == []


def survivors(place: Path) -> list[str]:
    """Living processes of this test: by the daemon's mark, or by a path below `place`."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                line = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if MARK.encode() in line or os.fsencode(place) in line:
                found.append(line.decode("utf-8", "replace"))
    return found
