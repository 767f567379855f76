"""A sealed process from its start to its end: output, limits, killing, cancelling."""

# ruff: noqa: ASYNC110

from __future__ import annotations

import asyncio
import os
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from regreen.errors import RegreenError
from regreen.testing.seal.door import Limits
from unit.seal.places import Place

# Starts a child, one in a new session, a double-forked daemon and one that ignores every polite signal; each
# holds the output pipe open. Its name in the process list carries a mark by which survivors are found.
SPREAD = """
import os, signal, subprocess, sys, time
nap = [sys.executable, "-I", "-c", "import time; time.sleep(600)", MARK]
subprocess.Popen(nap)
subprocess.Popen(nap, start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        os.execv(sys.executable, nap)
    os._exit(0)
time.sleep(0.3)
print("spread", flush=True)
"""


def alive(mark: str) -> list[str]:
    """Command lines of living processes that carry the mark."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                line = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in line:
                found.append(line.decode("utf-8", "replace"))
    return found


async def all_gone(mark: str, within: float = 2.0) -> list[str]:
    """Survivors after at most `within` seconds; [] as soon as there are none."""
    end = time.monotonic() + within
    while (left := alive(mark)) and time.monotonic() < end:
        await asyncio.sleep(0.02)
    return left


@pytest.fixture
def mark() -> str:
    return f"mark-{os.urandom(6).hex()}"


async def test_output_and_exit_code_come_back(place: Place):
    ended = await place.run("import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)")
    assert (ended.status, ended.returncode) == ("exited", 7)
    assert sorted(ended.output.split()) == [b"err", b"out"]
    assert not ended.cut


async def test_the_command_starts_in_the_trial_and_writes_there_only(place: Place):
    ended = await place.run("import os; open('made', 'w').write('x'); print(os.getcwd())")
    seen = place.access.workspace if place.seal.mounts else place.access.tree
    assert ended.output.decode().strip() == str(seen), ended
    assert (place.access.tree / "made").read_bytes() == b"x"
    assert list(place.access.workspace.iterdir()) == []


async def test_standard_input_is_empty(place: Place):
    ended = await place.run("import sys; print(repr(sys.stdin.read()))")
    assert ended.output.strip() == b"''"


async def test_a_signal_is_told_in_the_shells_way(place: Place):
    ended = await place.run("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert (ended.status, ended.returncode) == ("exited", 128 + 11)


async def test_nothing_of_the_persons_environment_gets_in(place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SHOP_TOKEN", "hush")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    ended = await place.run(
        "import os; print(sorted(os.environ)); print(os.environ['TZ'], os.environ['EXTRA'])",
        env={"EXTRA": "yes"},
    )
    assert b"SHOP_TOKEN" not in ended.output
    assert b"Asia/Tokyo yes" in ended.output


async def test_an_inherited_descriptor_is_the_only_one_that_passes(place: Place, tmp_path: Path):
    ours, theirs = socket.socketpair()
    other = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(other, True)
    try:
        running = await place.start(
            "import os, socket\n"
            f"s = socket.socket(fileno={theirs.fileno()}); s.sendall(b'hello')\n"
            "def open_(fd):\n"
            "    try: os.fstat(fd); return True\n"
            "    except OSError: return False\n"
            "print([fd for fd in range(256) if open_(fd)])",
            inherit=[theirs.fileno()],
        )
        ended = await running.wait()
        assert ours.recv(16) == b"hello", ended
        assert ended.output.strip() == f"[0, 1, 2, {theirs.fileno()}]".encode()
    finally:
        ours.close()
        theirs.close()
        os.close(other)


async def test_a_missing_command_is_an_exit_code_with_a_message(place: Place):
    running = await place.seal.start(["/no/such/command"], place.access, Limits(wall=20))
    ended = await running.wait()
    assert ended.returncode in (126, 127)
    assert b"o such file" in ended.output or b"not found" in ended.output


async def test_a_missing_interpreter_is_an_error_that_names_it(place: Place):
    access = replace(place.access, python=Path("/no/such/python"))
    if place.seal.name == "none":  # nothing is mounted, so nothing is looked for before the start
        ended = await (await place.seal.start(["/no/such/python"], access, Limits())).wait()
        assert ended.returncode in (126, 127)
        return
    with pytest.raises(RegreenError, match=r"no Python to run at /no/such/python"):
        await place.seal.start(["/no/such/python"], access, Limits())


async def test_a_normal_end_leaves_no_daemon_and_does_not_wait_for_it(place: Place, mark: str):
    begun = time.monotonic()
    ended = await place.run(f"MARK={mark!r}\n{SPREAD}")
    assert (ended.status, ended.returncode) == ("exited", 0), ended
    assert ended.output.strip() == b"spread"
    assert time.monotonic() - begun < 10
    assert await all_gone(mark) == []


async def test_a_time_out_ends_everything(place: Place, mark: str):
    ended = await place.run(f"MARK={mark!r}\n{SPREAD}\ntime.sleep(600)", Limits(wall=1.2))
    assert (ended.status, ended.returncode) == ("timeout", None)
    assert ended.output.strip() == b"spread"
    assert await all_gone(mark) == []


async def test_endless_output_is_stopped_and_head_and_tail_are_kept(place: Place):
    ended = await place.run(
        "print('first line')\ni = 0\nwhile True:\n    i += 1\n    print(i, 'x' * 200)",
        Limits(wall=30, output=1 << 16),
    )
    assert ended.status == "output_limit"
    assert ended.cut
    assert ended.output.startswith(b"first line\n")
    assert b"bytes left out" in ended.output
    assert len(ended.output) < (1 << 16) + 100


async def test_a_tree_that_eats_memory_is_stopped(place: Place):
    eat = "import os, time\nfor _ in range(4): os.fork()\nx = bytearray(60 << 20)\nprint(len(x))\ntime.sleep(60)"
    ended = await place.run(eat, Limits(wall=30, memory=300 << 20))
    assert ended.status == "memory_limit", ended


async def test_memory_in_files_without_a_name_counts(place: Place):
    eat = (
        "import os, time\nheld = [os.memfd_create('x') for _ in range(8)]\n"
        "for fd in held: os.write(fd, b'x' * (60 << 20))\ntime.sleep(60)"
    )
    ended = await place.run(eat, Limits(wall=30, memory=300 << 20))
    assert ended.status == "memory_limit", ended


@pytest.mark.parametrize("where", ["made", "SCRATCH/made"])
@pytest.mark.parametrize("then", ["", "os.unlink(name)"])
async def test_what_fills_the_disk_is_stopped_wherever_it_lies(place: Place, where: str, then: str):
    name = where.replace("SCRATCH", str(place.access.scratch))
    fill = f"""
import os, time
held = []
for number in range(200):
    name = {name!r} + str(number)
    held.append(open(name, "wb", buffering=0))
    {then or "pass"}
    held[-1].write(b"x" * (1 << 20))
    os.fsync(held[-1].fileno())
time.sleep(60)
"""
    ended = await place.run(fill, Limits(wall=30, disk=40 << 20))
    assert ended.status == "memory_limit", ended
    assert "to the disk" in ended.detail


async def test_one_process_gets_a_memory_error_at_the_limit(place: Place):
    code = "try:\n    bytearray(3 << 30)\nexcept MemoryError:\n    print('refused')"
    ended = await place.run(code, Limits(wall=30, memory=1 << 30))
    assert ended.output.strip() == b"refused", ended


async def test_kill_ends_everything_and_can_be_called_again(place: Place, mark: str):
    running = await place.start(f"MARK={mark!r}\n{SPREAD}\ntime.sleep(600)")
    await asyncio.sleep(0.6)
    begun = time.monotonic()
    await running.kill()
    await running.kill()
    assert time.monotonic() - begun < 2
    assert (await running.wait()).status == "cancelled"
    assert await all_gone(mark) == []


@pytest.mark.parametrize("delay_ms", [0, 1, 2, 3, 4, 6, 8, 12, 20, 40, 80])
async def test_cancelling_at_any_moment_leaves_nothing(place: Place, mark: str, delay_ms: int):
    task = asyncio.create_task(place.run(f"MARK={mark!r}\n{SPREAD}\ntime.sleep(600)"))
    await asyncio.sleep(delay_ms / 1000)
    begun = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - begun < 2
    assert await all_gone(mark) == []


def test_it_lives_on_when_threads_of_its_owner_end(place: Place):
    """The kernel's "die with parent" means the thread that started a process, not its program."""

    async def run() -> bytes:
        running = await place.start("import time; time.sleep(0.4); print('lived')")
        await asyncio.get_running_loop().shutdown_default_executor()
        return (await running.wait()).output.strip()

    with ThreadPoolExecutor(1) as owner:
        assert owner.submit(asyncio.run, run()).result() == b"lived"


async def test_many_run_at_once_without_mixing(place: Place):
    async def one(number: int) -> bytes:
        return (await place.run(f"print({number})")).output.strip()

    assert await asyncio.gather(*(one(number) for number in range(6))) == [b"%d" % n for n in range(6)]
