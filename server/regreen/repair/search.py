"""The search: try small edits where the failing test went, in the order of likelihood, until one passes."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from regreen.repair.candidates import generate, import_repairs
from regreen.repair.choice import in_order
from regreen.repair.examine import examine
from regreen.repair.frontier import Edits, Frontier
from regreen.repair.ground import SearchGround
from regreen.repair.learned import PASSES_NOW, ended_how, hints_of, limits
from regreen.repair.localise import near, ochiai, ranked, with_frames
from regreen.repair.patch import Failure, Findings, Patch, pairs, parts_of
from regreen.repair.texts import Texts
from regreen.repair.warm import Answer, Opened, WarmRunner
from regreen.repair.wider import Wider

FIRST_LIMIT = 1.5
"""Seconds on the processor for one test of the first run."""
GRACE = 0.35
"""Seconds the search goes on after its first survivor, to see how many there are."""
LONG_GRACE = 2.0
"""The same while another failing test of the file is not mended by any survivor: likely it is the same bug."""
LOOKED_AT = 40
"""Candidates that are heard of before that time counts, on busy machines too, in four times as long at most: five times
as many while the same bug seems to fail another test."""
UNLIKELY = 0.3
"""When no edit that passes is likelier than this, three times as many others are heard of."""
MOST_SURVIVORS = 12
MOST_BASES = 8
"""Edits that move the failure and get a second edit tried on top."""
WINDOW = 16
"""Candidates under way for each process: enough for a batch that runs and one that waits."""
LATE = 0.55
"""Share of the time after which pairs of edits are tried that no progress speaks for."""
NEARER = 1.6
"""How much likelier an edit that brings the compared values nearer is to be one of two."""
MOST_PAIRED = 60
"""So many edits that change the failure, the likeliest, are tried two by two."""
FOR_TRYING = 0.5
"""Share of the time that is left for trying edits, however long the tests took to learn from."""
MANY_SLOW = 6
"""So many edits that run without end, and the others get less time; `_rescue` gives them more when nothing else is left."""
SHORT_LIMIT = 0.02
"""Seconds on the processor that a test gets then at the least."""
TRACED = 30
"""Passing tests that are traced, the quickest."""


class Search:
    """One search over one state of the workspace, with a worker that has collected the target's file."""

    def __init__(
        self,
        ground: SearchGround,
        runner: WarmRunner,
        opened: Opened,
        jobs: int,
        restore: Callable[[], object] = lambda: None,
    ) -> None:
        self.ground = ground
        self.runner = runner
        self.opened = opened
        self.jobs = jobs
        self.restore = restore
        self._alone = False
        self.begun = time.monotonic()
        self.texts = Texts(ground)
        self.found = Findings()
        self.frontier = Frontier()
        self.limit = 0.5
        self.wall = 5.0
        self.closed: tuple[str, ...] = ()
        self._slow: list[tuple[float, Edits]] = []
        self._bases: dict[tuple[object, ...], int] = {}
        self._grown = 0
        self._later: list[tuple[float, Patch]] = []
        self._changing: list[Patch] = []
        self._paired = False
        self._first_survivor = 0.0
        self._tried_before = 0
        self._also = 0
        self._sent: set[str] = set()

        self._wider: Wider | None = None
        self._failing: list[str] = []
        self._keep: list[str] = []

    # outline

    async def run(self, seconds: float) -> Findings:
        """Search for at most `seconds`; what was learned is in the findings whatever happens."""
        until = self.begun + seconds
        try:
            if await self._learn():
                until = max(until, time.monotonic() + seconds * FOR_TRYING)
                await self._explore(until)
                await self._examine()
                self.found.survivors = in_order(self.found.survivors, self.found.asked)
                if self._wider is not None:
                    await self._wider.look(self.found, until + 3.0)
        finally:
            if self._wider is not None:
                self._wider.cancel()
            self.found.seconds = time.monotonic() - self.begun
            self.found.left = len(self.frontier)
        self.found.forward.sort(
            key=lambda p: (p.failure.place if p.failure else (0, 0), p.score), reverse=True
        )
        return self.found

    # what is there before any edit

    async def _learn(self) -> bool:
        """Run and trace the tests as they are. False when there is nothing to search for."""
        target = self.ground.target.nodeid
        mine = [name for name in self.opened.collected if _is(name, target)]
        if not mine:
            return await self._learn_uncollected()
        answer = await self.runner.ask("run", first=mine, limit=FIRST_LIMIT, wall=20.0)
        outcome: dict[str, dict[str, Any]] = {str(f["test"]): f for f in answer.facts if "test" in f}
        failing = [name for name in mine if outcome.get(name, {}).get("outcome") in ("failed", "timeout")]
        if answer.first("killed") and not failing:
            self.found.reason = "the failing test does not end by itself"
            failing = [name for name in mine if name not in outcome]
        if not failing:
            self.found.reason = ended_how(self.ground.baseline()) or PASSES_NOW
            return False
        keep = [name for name, fact in outcome.items() if fact["outcome"] == "passed"]
        also = [n for n, f in outcome.items() if f["outcome"] in ("failed", "timeout") and n not in mine]
        keep = [name for name in keep if name not in mine or name not in failing]
        keep.sort(key=lambda name: float(outcome[name]["cpu"]))
        first = next((outcome[name] for name in failing if name in outcome), dict[str, Any]())
        self.found.failure = Failure.read(first.get("about", {}))
        self.found.tests, self.found.failing = len(outcome), len(failing) + len(also)
        self._learn_limits(outcome, keep, failing, answer)
        self._also = self.found.also = len(also)
        await self.runner.ask_plain("plan", target=failing, keep=keep, also=also)
        self._failing, self._keep = [*failing, *also], keep
        endless = [name for name in also if outcome[name]["outcome"] == "timeout"]
        beside = [name for name in also if name not in endless[1:]]
        scores = await self._trace([*failing, *beside[:6]], keep)
        await self._fill(scores, ())
        return True

    def _learn_limits(
        self, outcome: Mapping[str, Any], keep: Sequence[str], failing: Sequence[str], answer: Answer
    ) -> None:
        self.limit, self.wall = limits(outcome, keep, failing)
        effects = {str(effect) for effect in answer.first("effects") or ()}
        self.closed = tuple({"write", "spawn", "connect"} - effects)
        self._alone = "write" in effects
        self._put_right(answer)

    def _put_right(self, answer: Answer) -> None:
        """Tests that write or delete in the copy must not spoil it for the next ones."""
        effects = [str(effect) for effect in answer.first("effects") or ()]
        if "write" in effects or (self._alone and answer.first("killed")):
            self.restore()

    async def _learn_uncollected(self) -> bool:
        """The test file cannot be imported: repair what stands in the way."""
        if not self.opened.errors and not self.opened.problem:
            self.found.reason = "the test was not found"
            return False
        message = "\n".join([*self.opened.errors, self.opened.problem])
        self.limit, self.wall = 1.0, 8.0
        self.found.failure = Failure(type="CollectionError", message=message[-2000:])
        await self.runner.ask_plain("plan", target=[self.ground.target.nodeid], keep=[], also="*")
        broken = import_repairs(self.texts, message)
        await self._send(sorted({edit.path for _, (edit,) in broken}))
        self.frontier.push(broken)
        self.found.places = ranked({(edit.path, edit.line): score for score, (edit,) in reversed(broken)})
        self.found.reason = "" if broken else "the test file cannot be imported"
        return bool(broken)

    async def _trace(
        self, failing: Sequence[str], keep: Sequence[str], edits: Mapping[str, Any] | None = None
    ) -> dict[tuple[str, int], float]:
        """Suspicion by line, from the failing tests and the quickest passing ones."""
        names = [*failing, *keep[:TRACED]]
        base = self.found.failure
        endless = base is not None and base.type == "OutOfTime"
        limit = min(1.5, max(0.15 if endless else 0.3, self.limit * 5))
        answer = await self.runner.ask("trace", tests=names, limit=limit, wall=8.0, edits=edits or {})
        self._put_right(answer)
        lines = {str(f["test"]): f["lines"] for f in answer.facts if "lines" in f}
        bad = [lines[n] for n in failing if n in lines]
        good = [lines[n] for n in keep[:TRACED] if n in lines]
        if answer.first("killed") and not bad:
            self.found.reason = "the failing test is too slow to be traced"
        scores = ochiai(bad, good)
        scores = {place: score for place, score in scores.items() if self.texts.allowed(place[0])}
        return near(scores, self.ground.near)

    async def _fill(self, scores: Mapping[tuple[str, int], float], base: Edits, share: float = 1.0) -> None:
        """Put the candidates for these lines into the queue, on top of the edits of `base`."""
        failure = self.found.failure if not base else None
        if failure is not None:
            frames = [(path, line) for path, line, _ in failure.frames]
            scores = with_frames(scores, frames)
            self.found.places = ranked(self.texts.with_readers(scores))
        hints = hints_of(self.found.failure)
        made = await generate(self.texts, scores, hints)
        await self._send(sorted({edit.path for _, edit in made}))
        if not base:
            self.frontier.push((score, (edit,)) for score, edit in made)
            return
        taken = [part for edit in base for part in edit.parts]
        paths = {edit.path for edit in base}
        seconds: list[tuple[float, Edits]] = []
        for score, edit in made[:400]:
            if edit.path not in paths or not any(p.meets(q) for p in edit.parts for q in taken):
                seconds.append((score * share, (*base, edit)))
        self.frontier.push(seconds)

    async def _send(self, paths: Sequence[str]) -> None:
        fresh = [path for path in paths if path not in self._sent]
        if fresh:
            self._sent.update(fresh)
            await self.runner.ask_plain("files", texts={path: self.texts.text(path) or "" for path in fresh})

    # trying

    async def _explore(self, until: float) -> None:
        running: set[asyncio.Task[tuple[float, Edits, Answer]]] = set()
        done: set[asyncio.Task[tuple[float, Edits, Answer]]] = set()
        window = 1 if self._alone else self.jobs * WINDOW
        try:
            while True:
                while len(running) < window and not self._done(until):
                    if not len(self.frontier) or time.monotonic() > self.begun + LATE * (until - self.begun):
                        await self._grow_later()
                    following = self.frontier.pop() or self._rescue()
                    if following is None:
                        break
                    running.add(asyncio.create_task(self._try(*following)))
                if not running:
                    break
                done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    await self._hear(*task.result())
                if self._done(until) and self._first_survivor:
                    break
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, *done, return_exceptions=True)
        self.found.finished = not self._done(until) or bool(self.found.survivors)

    async def _examine(self) -> None:
        """See how the edits that pass differ on inputs that no test gives."""
        if self.found.survivors and self._failing and not self._alone:
            made, self.found.asked, answer = await examine(
                self.runner, self.found.survivors, self._failing, self._keep, self.limit, self.closed
            )
            self.found.survivors = made
            self._put_right(answer)

    def _rescue(self) -> tuple[float, Edits] | None:
        """When the queue is empty: candidates that ran out of a short time get a long one."""
        if self._slow and self.limit < 2.0 and not self.found.survivors:
            self.limit, self.wall = 3.0, self.wall + 6.0
            self.frontier.push(self._slow)
            self._slow = []
            return self.frontier.pop()
        return None

    def _done(self, until: float) -> bool:
        now = time.monotonic()
        if (
            now > until
            or len([p for p in self.found.survivors if len(p.green) == self._also]) >= MOST_SURVIVORS
        ):
            return True
        if not self._first_survivor:
            return False
        best = max(self.found.survivors, key=lambda patch: (len(patch.green), patch.score))
        whole = len(best.green) == self._also
        wanted = LOOKED_AT * (5 if not whole else 1 if best.score >= UNLIKELY else 3)
        enough = self.found.tried - self._tried_before >= wanted
        grace = GRACE if whole else LONG_GRACE
        most = 4 * grace if wanted == LOOKED_AT else 4 * LONG_GRACE
        return now > self._first_survivor + (grace if enough else most)

    async def _try(self, score: float, edits: Edits) -> tuple[float, Edits, Answer]:
        base = self.found.failure
        rest = [base.passed, base.line] if base is not None else [0, 0]
        answer = await self.runner.ask(
            "try",
            edits=parts_of(edits),
            limit=self.limit,
            wall=self.wall,
            closed=self.closed,
            rest=rest,
            solo=self._alone,
        )
        self._put_right(answer)
        return score, edits, answer

    async def _hear(self, score: float, edits: Edits, answer: Answer) -> None:
        target = answer.first("target")
        if target in ("invalid", "same"):
            return
        self.found.tried += 1
        if target == "timeout" or (answer.first("killed") and target is None):
            self._slow.append((score, edits))
            if len(self._slow) == MANY_SLOW and not self.found.survivors:
                self.limit = min(self.limit, max(SHORT_LIMIT, self.limit / 4))
            endless = self.found.failure is not None and self.found.failure.type == "OutOfTime"
            self.frontier.heard(edits, moved=not endless, nearer=False)
            return
        if target == "passed":
            if answer.first("broken") is None and answer.first("end"):
                green = tuple(str(name) for name in answer.first("green") or ())
                self._survived(Patch(edits, score, green, int(answer.first("kept") or 0)))
            else:
                self.frontier.heard(edits, moved=True, nearer=True)
            return
        if target != "failed":
            return
        failure = Failure.read(answer.first("about") or {}, int(answer.first("passed") or 0))
        await self._failed(Patch(edits, score, failure=failure), unbroken=bool(answer.first("unbroken")))

    def _survived(self, patch: Patch) -> None:
        if not self._first_survivor:
            self._first_survivor = time.monotonic()
            self._tried_before = self.found.tried
            self.frontier.favour(patch.edits)
            self._wider = Wider(self.ground, self.runner, self.texts, self.limit, self._put_right)
            self._wider.begin(patch)
        self.found.survivors.append(patch)
        self.frontier.heard(patch.edits, moved=True, nearer=True)

    async def _failed(self, patch: Patch, unbroken: bool) -> None:
        base, now = self.found.failure, patch.failure
        if base is None or now is None:
            return
        moved = now.signature != base.signature
        nearer = (
            now.distance is not None and base.distance is not None and now.distance < base.distance - 1e-9
        )
        forward = now.place > base.place
        self.frontier.heard(patch.edits, moved=moved, nearer=forward or (nearer and now.place == base.place))
        if len(patch.edits) > 1 or self._first_survivor:
            return
        if moved:
            self._changing.append(replace(patch, score=patch.score * NEARER) if nearer else patch)
        if forward and unbroken:
            self.found.forward.append(patch)
            await self._grow(patch, 0.6)
        elif now.place == base.place and (nearer or (now.distance is not None and base.crashed)):
            self._later.append((float(now.distance or 0.0), patch))

    async def _grow_later(self) -> None:
        """Second edits on top of those that brought the compared values nearer; then any two that change them."""
        if self.found.survivors or (self._paired and not self._later):
            return
        self._later.sort(key=lambda pair: (pair[0], -pair[1].score))
        chosen, self._later = self._later[:4], []
        for _, patch in chosen:
            await self._grow(patch, 0.8)
        if not self._paired:
            self._paired = True
            self._changing.sort(key=lambda patch: -patch.score)
            self.frontier.push(pairs(self._changing[:MOST_PAIRED]))

    async def _grow(self, patch: Patch, share: float) -> None:
        """Try second edits on top of one that moved the failure."""
        assert patch.failure is not None
        same = self._bases.get(patch.failure.signature, 0)
        self._bases[patch.failure.signature] = same + 1
        if self._grown >= MOST_BASES or same >= 2:
            return
        self._grown += 1
        names = [name for name in self.opened.collected if _is(name, self.ground.target.nodeid)]
        scores = await self._trace(names, (), edits=parts_of(patch.edits))
        frames = [(path, line) for path, line, _ in patch.failure.frames]
        await self._fill(
            with_frames(scores, frames), patch.edits, share * min(1.0, 0.5 + patch.score) / (1 + same)
        )


def _is(nodeid: str, target: str) -> bool:
    return nodeid == target or nodeid.startswith((target + "[", target + "::"))


def default_jobs() -> int:
    """Children side by side: as many as there are processors, four at most."""
    return max(1, min(4, os.cpu_count() or 1))
