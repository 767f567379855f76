"""Systems without fork: processes of their own that have collected ahead and wait for work, instead of forks.

A hand has imported pytest and the project as they are and takes one batch of candidates. It is used again only
where nothing can be left of a batch: the code was put back, its last run of the code as it is failed just as
before, and no write, no process, no connection and no thread was seen. Every other hand ends with its batch.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, List

import pytest

from regreen_worker import code
from regreen_worker.child import Child

if TYPE_CHECKING:
    from regreen_worker.jobs import Fact, Request
    from regreen_worker.serve import Warm

START = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "start.py")
REUSED = 40
"""Batches after which a hand is replaced even so."""
READY_SECONDS = 60.0


def must_spawn() -> bool:
    """True where a fork would not be a copy of this process: there is none, or threads of the project run."""
    return not hasattr(os, "fork") or threading.active_count() > 1


class Hand:
    """One waiting process, as the worker sees it: `pid`, the pipe to read its facts from, the pipe to it."""

    def __init__(self, opening: Fact) -> None:
        its_in, self.to = os.pipe()
        self.pipe, its_out = os.pipe()
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-B", START, "hand", str(its_in), str(its_out)],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                pass_fds=(its_in, its_out),
            )  # fmt: skip
        finally:
            os.close(its_in)
            os.close(its_out)
        self.pid = self.process.pid
        self.batches = 0
        self._ready = False
        self._write(opening)

    def _write(self, message: Fact) -> None:
        data = memoryview((json.dumps(message) + "\n").encode())
        with contextlib.suppress(BrokenPipeError):
            while data:
                data = data[os.write(self.to, data) :]

    def ready(self) -> bool:
        """Wait until the tests are collected; False when the process ended instead."""
        end, data = time.monotonic() + READY_SECONDS, b""
        while not self._ready and time.monotonic() < end:
            if select.select([self.pipe], [], [], 0.5)[0]:
                more = os.read(self.pipe, 4096)
                if not more:
                    return False
                data += more
                self._ready = data.endswith(b"\n")
        return self._ready

    def give(self, message: Fact) -> None:
        """Hand over a batch."""
        self.batches += 1
        self._write(message)

    def end(self) -> None:
        """Kill it with what it started, and close the pipes."""
        for kill, who in ((os.killpg, self.pid), (os.kill, self.pid)):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(who, signal.SIGKILL)
        self.process.wait()
        os.close(self.pipe)
        os.close(self.to)


class Hands:
    """As many waiting hands as jobs may run side by side, started ahead of need."""

    def __init__(self, warm: Warm) -> None:
        self.warm = warm
        self.opening = {"paths": warm.paths, "options": warm.options, "target": warm.named.target}
        self.idle: List[Hand] = []
        self.ahead()

    def ahead(self) -> None:
        """Start hands until as many wait as there are jobs at a time."""
        while len(self.idle) < self.warm.jobs:
            self.idle.append(Hand(self.opening))

    def take(self, batch: list[Request]) -> Hand:
        """A ready hand that has been given the batch. Raises RuntimeError when none gets ready."""
        for _ in range(3):
            self.idle.sort(key=lambda hand: -hand.batches)
            hand = self.idle.pop(0)
            self.ahead()
            if hand.ready():
                hand.give(self._message(batch))
                return hand
            hand.end()
        raise RuntimeError("no process of the test runner gets ready")

    def _message(self, batch: list[Request]) -> Fact:
        warm = self.warm
        edits = [e for request in batch for e in (request.get("edits", {}), *request.get("candidates", ()))]
        paths = {path for edit in edits for path in edit}
        texts = {path: warm.files[path].text for path in paths if path in warm.files}
        target = warm.plan["target"][:1]
        marks = {name: warm.marks[name] for name in target if name in warm.marks}
        return {"batch": batch, "texts": texts, "plan": warm.plan, "marks": marks}

    def back(self, hand: Hand, clean: bool) -> None:
        """What becomes of a hand whose batch is done: it waits again where nothing was left, else it ends."""
        if clean and hand.batches < REUSED and len(self.idle) <= self.warm.jobs:
            self.idle.append(hand)
        else:
            hand.end()
            self.ahead()

    def close(self) -> None:
        """End them all."""
        for hand in self.idle:
            hand.end()
        self.idle = []


class Serving:
    """A pytest plugin: the hand's own side. It needs what `Child` needs of the worker, and collects the same."""

    def __init__(self, warm: Warm, inside: Any, out: int) -> None:
        self.warm = warm
        self.inside = inside
        self.out = out

    def pytest_runtestloop(self, session: Any) -> bool:
        """Do batches instead of running tests."""
        self.serve(session)
        return True

    def serve(self, session: Any) -> None:
        """One batch, and further ones as long as the other side sends them."""
        warm = self.warm
        warm.settle(session)
        os.setpgid(0, 0)
        os.write(self.out, b'{"ready": true}\n')
        child = Child(warm, self.out)
        for line in self.inside:
            message = json.loads(line)
            warm.plan, warm.marks = message["plan"], message["marks"]
            for path, text in message["texts"].items():
                if path not in warm.files:
                    warm.files[path] = code.BaseFile(path, text)
            warm.note_module_paths()
            warm.work(child, message["batch"])


def main(inside: int, out: int) -> None:
    """A hand's whole life."""
    from regreen_worker.serve import Warm

    for descriptor in (inside, out):
        os.set_inheritable(descriptor, False)
    with os.fdopen(inside, "r") as stream:
        opening = json.loads(stream.readline())
        warm = Warm(None, opening)
        code.patch_loader()
        serving = Serving(warm, stream, out)
        pytest.main([*warm.options, *warm.paths], plugins=[serving, warm.compared, warm.named])
        if not warm.served:
            serving.serve(None)
