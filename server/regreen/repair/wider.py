"""Tests of other files that reach a changed one: an edit that breaks them is put behind those that do not."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from regreen.repair.ground import SearchGround
from regreen.repair.patch import Findings, Patch, parts_of
from regreen.repair.related import test_files
from regreen.repair.texts import Texts
from regreen.repair.warm import Answer, WarmRunner


class Wider:
    """Runs the other test files once as things are, beside the search, and then with the survivors."""

    def __init__(
        self,
        ground: SearchGround,
        runner: WarmRunner,
        texts: Texts,
        limit: float,
        put_right: Callable[[Answer], None],
    ) -> None:
        self._ground = ground
        self._runner = runner
        self._texts = texts
        self._limit = max(1.0, limit)
        self._put_right = put_right
        self._paths: tuple[str, ...] = ()
        self._before: asyncio.Task[frozenset[str]] | None = None

    def begin(self, patch: Patch) -> None:
        """Start the run of what reaches the files that `patch` changes."""
        self._before = asyncio.create_task(self._passing(patch))

    def cancel(self) -> None:
        """Give up the run that was begun."""
        if self._before is not None:
            self._before.cancel()

    async def look(self, found: Findings, until: float) -> None:
        """Put behind the survivors that break tests of other files; stop at the first that breaks none."""
        before = await self._before if self._before is not None else frozenset[str]()
        if not before:
            return
        good: list[Patch] = []
        bad: list[Patch] = []
        for index, patch in enumerate(found.survivors):
            if time.monotonic() > until:
                good += found.survivors[index:]
                break
            if before <= await self._run(parts_of(patch.edits)):
                good += [replace(patch, wider=len(before)), *found.survivors[index + 1 :]]
                break
            bad.append(patch)
        found.breaking = len(bad)
        found.survivors = good

    async def _passing(self, patch: Patch) -> frozenset[str]:
        changed = {edit.path for edit in patch.edits}
        paths = test_files(changed, self._ground.files(), self._texts.text, self._ground.target.path)
        self._paths = tuple(paths)
        return await self._run({}) if paths else frozenset()

    async def _run(self, edits: Mapping[str, Any]) -> frozenset[str]:
        answer = await self._runner.ask(
            "run", edits=edits, paths=self._paths, limit=self._limit, wall=4.0, about=False
        )
        self._put_right(answer)
        if not answer.first("end"):
            return frozenset()
        return frozenset(str(f["test"]) for f in answer.facts if f.get("outcome") == "passed")
