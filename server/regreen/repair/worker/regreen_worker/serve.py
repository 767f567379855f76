"""The worker's own process: collect once, then fork one child for each request (see `hands` where there is no fork).

Requests and answers are JSON lines on the inherited descriptor. A request has "do" and "id"; every answer
carries the "id". Children run side by side, `jobs` at most; a child past its wall limit is killed with all
its descendants.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
import time
from types import CodeType
from typing import Any, Optional

import pytest

from regreen_worker import code, guard
from regreen_worker.child import Child
from regreen_worker.hands import Hands, must_spawn
from regreen_worker.jobs import Fact, Job, Request
from regreen_worker.named import Named, options
from regreen_worker.tests import Compared, mark

MEMORY = 3 << 30
"""Bytes of address space of one candidate."""
BATCH = 10
"""Candidates that share one process while only the target is run against them."""


class Warm:
    """A pytest plugin that keeps the collected session and answers requests."""

    def __init__(self, connection: socket.socket | None, opening: Fact) -> None:
        self.connection = connection
        self.spawn = bool(opening.get("spawn"))
        self.hands: Optional[Hands] = None
        self.root = os.path.realpath(os.getcwd())
        self.paths: list[str] = opening["paths"]
        self.jobs = opening.get("jobs", 1)
        self.options: list[str] = opening.get("options") or options(self.root)
        self.compared = Compared()
        self.named = Named(opening["target"], self.root)
        self.items: list[Any] = []
        self.session: Any = None
        self.conftest = False
        self.errors: list[Fact] = []
        self.files: dict[str, code.BaseFile] = {}
        self.functions = code.Functions(self.root)
        self.plan: Fact = {"target": [], "keep": [], "also": []}
        self.served = False
        self.batch = BATCH
        self.marks: dict[str, Any] = {}
        self.free: tuple[str, ...] = ()
        self.seen: set[Any] = set()
        self.cache: dict[Any, CodeType | None] = {}
        self.incoming = b""

    # pytest's side

    def pytest_collectreport(self, report: Any) -> None:
        """Remember what could not be collected."""
        if report.failed:
            self.errors.append({"node": report.nodeid, "text": str(report.longrepr)[-4000:]})

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        """Serve instead of running tests."""
        self.settle(session)
        self.serve("")
        return True

    def settle(self, session: Any) -> None:
        """Take over from pytest: what was collected, what exists now, the limits; nothing is printed any more."""
        self.served = True
        if session is not None:
            self.items = list(session.items)
            self.session = session
            self.conftest = self.has_conftest()
        self.functions = code.Functions(self.root)
        self.free = guard.free_places()
        guard.limit(MEMORY)
        guard.quiet()
        gc.collect()
        gc.freeze()

    def has_conftest(self) -> bool:
        """True when a conftest.py of the project was imported."""
        paths = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
        return any(
            os.path.basename(path) == "conftest.py" and os.path.realpath(path).startswith(self.root + os.sep)
            for path in paths
        )

    # the conversation

    def send(self, request: Request, **facts: Any) -> None:
        """Answer a request."""
        facts["id"] = request.get("id", 0)
        assert self.connection is not None
        self.connection.sendall((json.dumps(facts) + "\n").encode())

    def serve(self, problem: str) -> None:
        """Answer requests until the connection ends."""
        if not self.served:
            self.settle(None)
        if self.spawn or must_spawn():
            self.hands = Hands(self)
        collected = [item.nodeid for item in self.items]
        version = [*sys.version_info[:2], sys.implementation.name]
        self.send(
            {},
            ready=True,
            collected=collected,
            errors=self.errors,
            problem=problem,
            version=version,
            forks=self.hands is None,
        )
        waiting: list[Request] = []
        running: list[Job] = []
        try:
            going = True
            while going:
                while waiting and len(running) < self.jobs:
                    job = self.begin(waiting)
                    if job is not None:
                        running.append(job)
                going = self.pump(waiting, running)
        except Exception as error:  # pytest would swallow it, and the other side should know
            self.send({}, died="%s: %s" % (type(error).__name__, error))
        for job in running:
            self.end(job, "killed", [])
        if self.hands is not None:
            self.hands.close()

    def pump(self, waiting: list[Request], running: list[Job]) -> bool:
        """Wait for a request or a child; False when the other side has gone."""
        assert self.connection is not None
        sources = [self.connection, *[job.pipe for job in running]]
        pause = None
        if running:
            pause = max(0.05, min(j.begun + j.wall for j in running) - time.monotonic())
        ready = select.select(sources, [], [], pause)[0]
        if self.connection in ready:
            data = self.connection.recv(1 << 20)
            if not data:
                return False
            *lines, self.incoming = (self.incoming + data).split(b"\n")
            for line in lines:
                self.take(json.loads(line), waiting, running)
        now = time.monotonic()
        for job in list(running):
            if job.pipe in ready:
                data = os.read(job.pipe, 1 << 20)
                job.data += data
                if not data or job.finished:
                    running.remove(job)
                    self.end(job, "", waiting)
            elif job.overdue(now):
                running.remove(job)
                self.end(job, "killed", waiting)
        return True

    def take(self, request: Request, waiting: list[Request], running: list[Job]) -> None:
        """A request that needs no child is answered at once, others wait for their turn."""
        what = request["do"]
        if what == "files":
            for path, text in request["texts"].items():
                self.files[path] = code.BaseFile(path, text)
                self.cache.clear()
                self.seen.clear()
            self.note_module_paths()
            self.send(request, ok=True)
        elif what == "plan":
            self.plan = {name: request[name] for name in ("target", "keep", "also")}
            self.send(request, ok=True)
        elif what == "drop":
            waiting[:] = [r for r in waiting if r["do"] != "try"]
            self.send(request, ok=True)
        else:
            waiting.append(request)

    def note_module_paths(self) -> None:
        """Code objects name their file as the import system did."""
        for module in list(sys.modules.values()):
            path = getattr(module, "__file__", None)
            if isinstance(path, str):
                real = os.path.realpath(path)
                for base in self.files.values():
                    if base.path == real:
                        base.module_path = path

    def compiled(self, path: str, parts: code.Parts) -> CodeType | None:
        """Code of the region with the parts put in, or None when it is not valid Python."""
        key = (path, tuple(map(tuple, parts)))
        if key not in self.cache:
            base = self.files[path]
            bound = base.region(parts)
            try:
                if bound is None:
                    self.cache[key] = compile(base.apply(parts), base.path, "exec", dont_inherit=True)
                else:
                    self.cache[key] = base.compile_region(bound, parts)
            except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
                self.cache[key] = None
        return self.cache[key]

    def swappable(self, path: str, parts: code.Parts) -> CodeType | None:
        """Code of the region with the parts put in when only function bodies change, else None."""
        base = self.files[path]
        bound = base.region(parts)
        if bound is None or not self.items or base.path not in self.functions.loaded:
            return None
        new = self.compiled(path, parts)
        if new is None or code.frame_of(base.old_region(bound)) != code.frame_of(new):
            return None
        return new

    def known(self, request: Request) -> str:
        """Why a candidate needs no run: "invalid", "same" (as the file, or as one tried before), or ""."""
        marks: set[Any] = set()
        for path, parts in request["edits"].items():
            new = self.compiled(path, parts)
            if new is None:
                return "invalid"
            bound = self.files[path].region(parts)
            mark = code.fingerprint(new)
            if bound is None or mark != code.fingerprint(self.files[path].old_region(bound)):
                marks.add((path, bound, hash(mark)))
        if not marks:
            return "same"
        key = (frozenset(marks), request.get("limit"), bool(request.get("rest")))
        if key in self.seen and not request.get("again"):
            return "same"
        self.seen.add(key)
        return ""

    def begin(self, waiting: list[Request]) -> Job | None:
        """Fork a child for what waits longest, with others like it; None when that was answered without one."""
        request = waiting.pop(0)
        batch = [request]
        if request["do"] == "try" and request.get("solo") and not self.new(request):
            return None
        if request["do"] == "try" and not request.get("solo"):
            if len(self.cache) > 1000:
                self.cache.clear()
            batch = [request] if self.new(request) else []
            while (
                waiting
                and len(batch) < self.batch
                and waiting[0]["do"] == "try"
                and not waiting[0].get("solo")
            ):
                if not self.new(waiting[0]):
                    waiting.pop(0)
                elif batch and not self.all_swappable([*batch[-1:], waiting[0]]):
                    break
                else:
                    batch.append(waiting.pop(0))
            if not batch:
                return None
        return self.start(batch)

    def start(self, batch: list[Request]) -> Job:
        """A process of its own for a batch: a hand that waits, or a fork of this one."""
        if self.hands is not None:
            hand = self.hands.take(batch)
            return Job(batch, hand.pid, hand.pipe, hand)
        mine, its = os.pipe()
        pid = os.fork()
        if pid == 0:
            self.child(batch, mine, its)
        os.close(its)
        return Job(batch, pid, mine)

    def all_swappable(self, requests: list[Request]) -> bool:
        """True when none of the requests needs the modules imported anew."""
        return all(self.swappable(path, parts) for r in requests for path, parts in r["edits"].items())

    def new(self, request: Request) -> bool:
        """True when a candidate has to be run; else it is answered here."""
        if request.get("seen"):
            return True
        why = self.known(request)
        if why:
            self.send(request, facts=[{"target": why}], seconds=0.0)
            return False
        request["seen"] = True
        return True

    def child(self, batch: list[Request], mine: int, its: int) -> None:
        """The child's whole life."""
        try:
            os.close(mine)
            if self.connection is not None:
                self.connection.close()
            self.work(Child(self, its), batch)
        finally:
            os._exit(0)

    def work(self, child: Child, batch: list[Request]) -> None:
        """Do a batch in this process."""
        try:
            if len(batch) > 1:
                child.screen(batch)
            else:
                child.work[batch[0]["do"]](batch[0])
        except BaseException as error:
            child.say(error="%s: %s" % (type(error).__name__, str(error)[:300]), end=True)

    def end(self, job: Job, how: str, waiting: list[Request]) -> None:
        """Kill what is left of a child and answer its requests."""
        if job.hand is None:
            for kill, who in ((os.killpg, job.pid), (os.kill, job.pid)):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    kill(who, signal.SIGKILL)
            os.waitpid(job.pid, 0)
        while how and select.select([job.pipe], [], [], 0)[0]:
            data = os.read(job.pipe, 1 << 20)
            if not data:
                break
            job.data += data
        facts: list[Fact] = []
        for line in job.data.split(b"\n"):
            try:
                facts.append(json.loads(line))
            except ValueError:
                continue
        seconds = time.monotonic() - job.begun
        if job.hand is None:
            os.close(job.pipe)
        elif self.hands is not None:
            self.hands.back(job.hand, not how and any(fact.get("clean") for fact in facts))
        if len(job.batch) > 1:
            self.end_batch(job, facts, bool(how), seconds, waiting)
            return
        if how:
            facts.append({"killed": True})
        if job.batch[0]["do"] == "run" and not self.marks:
            self.marks = {f["test"]: mark(f["outcome"], f["about"]) for f in facts if "about" in f}
        self.send(job.batch[0], facts=facts, seconds=seconds)

    def end_batch(
        self, job: Job, facts: list[Fact], killed: bool, seconds: float, waiting: list[Request]
    ) -> None:
        """Answer the plain failures of a batch; promising candidates and those not reached wait once more."""
        heard = {fact["index"]: fact for fact in facts if "index" in fact}
        begun = max([fact["start"] for fact in facts if "start" in fact], default=-1)
        check = next((fact["check"] for fact in facts if "check" in fact), None)
        usual = self.marks.get(self.plan["target"][0])
        spoilt = check is not None and usual is not None and check != usual
        if spoilt:
            self.batch = max(1, self.batch // 2)
        again: list[Request] = []
        for index, request in enumerate(job.batch):
            fact = heard.get(index)
            if fact is None and index == begun and killed:
                self.send(request, facts=[{"target": "timeout"}, {"killed": True}], seconds=seconds)
            elif fact is None:
                again.append(dict(request, solo=index == begun))
            elif fact["promising"] or spoilt:
                again.append(dict(request, solo=True))
            else:
                self.send(request, facts=[fact, {"end": True}], seconds=seconds / len(job.batch))
        waiting[:0] = again


def main(descriptor: int) -> None:
    """Read the opening request, collect, serve."""
    connection = socket.socket(fileno=descriptor)
    os.set_inheritable(descriptor, False)
    data = b""
    while not data.endswith(b"\n"):
        more = connection.recv(1 << 16)
        if not more:
            return
        data += more
    warm = Warm(connection, json.loads(data))
    code.patch_loader()
    status = pytest.main([*warm.options, *warm.paths], plugins=[warm, warm.compared, warm.named])
    if not warm.served:
        warm.serve("pytest ended with status %s before it ran a test" % int(status))
