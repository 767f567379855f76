"""A busy machine does not make a candidate late; a test that sleeps is."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from regreen_worker.jobs import MOST_WAIT, Job, starved

LINUX = sys.platform == "linux"


@pytest.fixture
def busy() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"], stdin=subprocess.DEVNULL)
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def asleep() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-c", "print(flush=True); input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    process.kill()
    process.communicate()


def late(pid: int, wall: float, share: float) -> bool:
    """Whether a job of `wall` seconds is overdue when `share` of them are gone."""
    job = Job([{"wall": wall}], pid, -1)
    return job.overdue(job.begun + share * wall)


def test_a_process_that_waits_for_a_processor_gets_more_time(busy: subprocess.Popen[bytes]) -> None:
    assert starved(busy.pid, 1e9) == LINUX
    assert late(busy.pid, 1e9, 1.5) != LINUX
    assert late(busy.pid, 1e9, MOST_WAIT + 0.5)
    assert not late(busy.pid, 1e9, 0.5)


def test_a_process_that_had_its_time_is_late(busy: subprocess.Popen[bytes]) -> None:
    assert not starved(busy.pid, 0.0)


def test_a_process_that_sleeps_is_late(asleep: subprocess.Popen[bytes]) -> None:
    for _ in range(200):
        if not starved(asleep.pid, 1e9):
            break
        time.sleep(0.05)
    assert late(asleep.pid, 1e9, 1.5)


def test_a_process_that_is_gone_is_late() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.DEVNULL)
    process.wait()
    assert late(process.pid, 1.0, 1.5)
