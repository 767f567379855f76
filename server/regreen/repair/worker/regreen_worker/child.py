"""What a forked child does: put a candidate in, run tests, write one JSON line for each thing it saw."""

from __future__ import annotations

import json
import os
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List

import pytest

from regreen_worker import code, guard
from regreen_worker.lines import Lines
from regreen_worker.tests import Runner, mark


def matches(nodeid: str, name: str) -> bool:
    """True when a collected test is the named one, or one of its parametrizations or members."""
    return nodeid == name or nodeid.startswith((name + "[", name + "::"))


if TYPE_CHECKING:
    from regreen_worker.code import Parts, Swaps
    from regreen_worker.jobs import Request
    from regreen_worker.serve import Warm
    from regreen_worker.tests import Fact

Edits = Dict[str, "Parts"]
Work = Callable[[List[Any]], None]


class Nested:
    """A pytest plugin for a session inside a child, after the project's modules were dropped."""

    def __init__(self, work: Work) -> None:
        self.work = work

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        """Do the work with the fresh items instead of pytest's own loop."""
        self.work(session.items)
        return True


class Child:
    """One job in a forked process. `warm` holds what the parent prepared; `out` is the pipe's writing end."""

    def __init__(self, warm: Warm, out: int) -> None:
        self.warm = warm
        self.out = out
        self.compared = warm.compared
        self.root = warm.root
        self.effects: guard.Effects | None = None
        self.work = {"run": self.run_all, "trace": self.trace, "try": self.attempt, "probe": self.probe}

    def say(self, **fact: Any) -> None:
        """Write one line; what was said before a kill is not lost."""
        os.write(self.out, (json.dumps(fact) + "\n").encode())

    def enter(self, closed: Iterable[str]) -> guard.Effects:
        """Leave the parent's group, watch side effects and refuse those in `closed`. Returns the watcher."""
        if self.effects is not None:
            self.effects.closed = frozenset(closed)
            return self.effects
        os.setpgid(0, 0)
        self.effects = guard.Effects(self.root, self.warm.free, frozenset(closed))
        self.effects.install()
        return self.effects

    def place(self, edits: Edits) -> Swaps | None:
        """Put edits {path: parts} in by swapping; None when the modules must be imported anew."""
        done: Swaps = []
        for path, parts in edits.items():
            new = self.warm.swappable(path, parts)
            base = self.warm.files[path]
            bound = base.region(parts)
            swapped = None
            if new is not None and bound is not None:
                swapped = self.warm.functions.swap(base.path, base.old_region(bound), new)
            if swapped is None:
                code.swap_back(done)
                return None
            done += swapped
        return done

    def with_items(self, edits: Edits, paths: list[str], work: Work, fresh: bool = False) -> str:
        """Call `work` with the items that run against the edits."""
        if not fresh and self.place(edits) is not None:
            work(self.warm.items)
            return "swap"
        for path, parts in edits.items():
            base = self.warm.files[path]
            code.OVERRIDE[base.path] = base.apply(parts)
        code.forget_modules(self.root)
        items = self._collect_again(paths)
        if items is not None:
            work(items)
            return "import"
        code.forget_modules(self.root)
        pytest.main([*self.warm.options, *paths], plugins=[Nested(work), self.compared])
        return "session"

    def _collect_again(self, paths: list[str]) -> list[Any] | None:
        """Items of the same session, from modules imported anew; None where that is not safe.

        A conftest.py of the project stays as it was imported first: when it holds on to project modules, only
        a session of its own sees the edit everywhere.
        """
        session = self.warm.session
        if session is None or self.warm.conftest:
            return None
        try:
            return list(session.perform_collect(list(paths), genitems=True))
        except (Exception, SystemExit):
            return None

    # what is asked for

    def run_all(self, request: Request) -> None:
        """Run every test (those of `first` before the others), each with its time and its failure."""
        effects = self.enter(())
        first = set(request.get("first", ()))

        def work(items: list[Any]) -> None:
            limit, slowest, endless = request["limit"], 0.0, 0
            ordered = sorted(items, key=lambda item: item.nodeid not in first)
            runner = Runner(self.root, self.compared)
            for item, after in zip(ordered, [*ordered[1:], None]):
                begun, used = time.perf_counter(), time.process_time()
                outcome, error = runner.run(item, after, limit)
                if outcome == "timeout":  # it will not be the only one
                    endless += 1
                    limit = min(limit, max(0.25 if endless < 3 else 0.1, 20 * slowest))
                else:
                    slowest = max(slowest, time.process_time() - used)
                fact = {"test": item.nodeid, "outcome": outcome, "seconds": time.perf_counter() - begun}
                fact["cpu"] = time.process_time() - used
                if any(item.iter_markers("xfail")):
                    fact["outcome"] = "xfail"
                if outcome in ("failed", "timeout") and request.get("about", True):
                    fact["about"] = runner.describe(item, error)
                self.say(**fact)

        edits = request.get("edits", {})
        paths = request.get("paths") or self.warm.paths
        mode = self.with_items(edits, paths, work, fresh=bool(request.get("paths")))
        self.say(end=True, mode=mode, effects=sorted(effects.seen))

    def trace(self, request: Request) -> None:
        """Run the named tests and say which project lines each executed."""
        effects = self.enter(())
        wanted = request["tests"]

        def work(items: list[Any]) -> None:
            by_id = {item.nodeid: item for item in items}
            chosen = [by_id[name] for name in wanted if name in by_id]
            runner = Runner(self.root, self.compared)
            lines = Lines(self.root)
            for item, after in zip(chosen, [*chosen[1:], None]):
                lines.start()
                runner.run(item, after, request["limit"])
                self.say(test=item.nodeid, lines=lines.stop())

        self.with_items(request.get("edits", {}), self.warm.paths, work)
        self.say(end=True, effects=sorted(effects.seen))

    def attempt(self, request: Request) -> None:
        """Run the target, then what passed before; stop at the first failure among either."""
        effects = self.enter(request.get("closed", ()))
        plan = self.warm.plan

        def work(items: list[Any]) -> None:
            by_id = {item.nodeid: item for item in items}
            target = [item for name in plan["target"] for item in items if matches(item.nodeid, name)]
            keep = [by_id[name] for name in plan["keep"] if name in by_id]
            if len(target) < len(plan["target"]) or len(keep) < len(plan["keep"]):
                self.say(target="missing")
                return
            if plan["also"] == "*":
                also = [item for item in items if item not in target]
            else:
                also = [by_id[name] for name in plan["also"] if name in by_id]
            self._attempt(target, keep, also, request)

        mode = self.with_items(request["edits"], self.warm.paths, work)
        self.say(end=True, mode=mode, effects=sorted(effects.seen))

    def probe(self, request: Request) -> None:
        """Compare edits that pass by what they give for inputs like those of the tests."""
        from regreen_worker.probe import Probe

        effects = self.enter(request.get("closed", ()))
        Probe(self, request).run()
        self.say(end=True, effects=sorted(effects.seen))

    def _attempt(self, target: list[Any], keep: list[Any], also: list[Any], request: Request) -> None:
        runner = Runner(self.root, self.compared)
        order = [*target, *keep]
        following = [*order[1:], *(also[:1] or [None])]
        for index, (item, after) in enumerate(zip(order, following)):
            outcome, error = runner.run(item, after, request["limit"])
            if outcome != "passed":
                if index >= len(target):
                    self.say(target="passed", broken=item.nodeid, kept=index - len(target))
                    return
                about = runner.describe(item, error)
                self.say(target=outcome, passed=index, about=about)
                rest = request.get("rest")
                if rest is not None and outcome == "failed" and [index, about["line"]] > rest:
                    self._rest(keep, request)
                return
        green: list[str] = []
        for item, after in zip(also, [*also[1:], None]):
            if runner.run(item, after, request["limit"])[0] == "passed":
                green.append(item.nodeid)
        self.say(target="passed", green=green, kept=len(keep))

    def screen(self, requests: list[Request]) -> None:
        """Run only the target against several candidates, one after the other, in this one process.

        The code is put back between them; that nothing else was changed is checked by a last run of the code
        as it was. A candidate that looks promising is tried once more in a process of its own.
        """
        effects = self.enter(requests[0].get("closed", ()))
        by_id = {item.nodeid: item for item in self.warm.items}
        target = [by_id[name] for name in self.warm.plan["target"]]
        runner = Runner(self.root, self.compared)
        for index, request in enumerate(requests):
            self.say(start=index)
            done = self.place(request["edits"])
            if done is None:
                self.say(index=index, promising=True)
                continue
            fact = self._screened(runner, target, request)
            code.swap_back(done)
            self.say(index=index, **fact)
        usual = self.warm.marks.get(target[0].nodeid)
        if usual is None or usual[0] == "timeout":
            self.say(end=True, check=None)
            return
        outcome, error = runner.run(target[0], None, requests[0]["limit"])
        check = mark(outcome, runner.describe(target[0], error) if error else {})
        clean = check == usual and not effects.seen and threading.active_count() == 1
        self.say(end=True, check=check, clean=clean)

    def _screened(self, runner: Runner, target: list[Any], request: Request) -> Fact:
        rest = request.get("rest") or [0, 0]
        for index, item in enumerate(target):
            outcome, error = runner.run(item, None, request["limit"])
            if outcome != "passed":
                about = runner.describe(item, error)
                promising = outcome == "failed" and [index, about["line"]] > rest
                return {"target": outcome, "passed": index, "about": about, "promising": promising}
        return {"target": "passed", "promising": True}

    def _rest(self, items: list[Any], request: Request) -> None:
        """Does what passed before still pass, though the target does not pass yet?"""
        runner = Runner(self.root, self.compared)
        for item in items:
            if runner.run(item, None, request["limit"])[0] != "passed":
                self.say(broken=item.nodeid)
                return
        self.say(unbroken=True)
