"""The runs of this server: one at a time in a workspace folder, the others in a queue that says so."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from regreen.lsp.editor import Editor
from regreen.lsp.order import order_of_a_test
from regreen.lsp.progress import Progress, part
from regreen.lsp.run import Order, Run

KEPT = 100
"""Ended runs whose names and offers are kept."""


class Runs:
    """All runs, by id, and the queue of each folder."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._runs: dict[str, Run] = {}
        self._queues: dict[str, list[Run]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._records: dict[str, tuple[str, Path]] = {}
        self._tests: dict[str, tuple[Order, frozenset[str]]] = {}

    def start(self, order: Order) -> tuple[str, bool]:
        """Start a run, or queue it behind the one that works on the same folder: its id, and which it was."""
        ident = secrets.token_hex(4)
        self._tests.pop(order.resume, None)
        progress = Progress(self._editor, f"regreen-{ident}")
        run = Run(ident, order, self._editor, progress, on_end=self._note_offer)
        queue = self._queues.setdefault(os.path.realpath(order.folder), [])
        queue.append(run)
        self._runs[ident] = run
        queued = len(queue) > 1
        if queued:
            run.progress.report(f"{order.name}: waiting for another run")
            if not self._editor.preview:
                self._editor.show(f"Regreen: {order.name} waits until the run on {queue[0].order.name} ends.")
            self._announce(queue)
        else:
            run.turn.set()
        self._background(self._play(run, queue))
        return ident, queued

    @property
    def busy(self) -> bool:
        """Whether a run works or waits."""
        return bool(self._runs)

    async def _play(self, run: Run, queue: list[Run]) -> None:
        try:
            await run.go()
        finally:
            self._runs.pop(run.ident, None)
            self._records[run.ident] = (run.record, run.order.folder)
            while len(self._records) > KEPT:
                self._records.pop(next(iter(self._records)))
            first = queue[0] is run
            queue.remove(run)
            if queue and first:
                queue[0].turn.set()
            self._announce(queue)
            key = os.path.realpath(run.order.folder)
            if not queue and self._queues.get(key) is queue:
                del self._queues[key]

    def _note_offer(self, run: Run) -> None:
        """Keep what a run that no test could decide offers: that a test is written for what it changed."""
        outcome = run.outcome or {}
        order = order_of_a_test(run.order, outcome)
        edits = cast("Sequence[object]", outcome.get("edits") or ())
        if order is not None and order.resume and edits:
            changed = (run.order.folder / str(part(edit).get("path")) for edit in edits)
            self._tests[order.resume] = (order, frozenset(map(os.path.realpath, changed)))
            while len(self._tests) > KEPT:
                self._tests.pop(next(iter(self._tests)))

    def test_wanted(self, path: Path) -> Order | None:
        """The run that writes a test for the latest one that changed this file; None where none offers it (any more)."""
        real = os.path.realpath(path)
        return next((order for order, files in reversed(self._tests.values()) if real in files), None)

    def _announce(self, queue: list[Run]) -> None:
        """Tell where everyone stands; 0 is the run that works."""
        for position, run in enumerate(queue):
            self._editor.notify(
                "regreen/queue", {"run": run.ident, "target": run.order.target, "position": position}
            )
            if position:
                run.progress.report(f"{run.order.name}: waiting, {position} before it")

    def _background(self, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def cancel(self, ident: str | None) -> list[str]:
        """Cancel one run, or all; the ids of those that were there."""
        chosen = [run for run in self._runs.values() if ident in (None, run.ident)]
        for run in chosen:
            self._background(run.cancel())
        return [run.ident for run in chosen]

    def cancel_token(self, token: int | str) -> None:
        """Cancel the run whose progress the person dismissed."""
        for run in list(self._runs.values()):
            if run.progress.token == token:
                self._background(run.cancel())

    def extend(self, ident: str, steps: int) -> bool:
        """Allow a run more steps; False when there is no such run."""
        run = self._runs.get(ident)
        if run is None or run.process is None or run.reported:
            return False
        run.process.send({"extend": {"steps": steps}})
        return True

    def record(self, ident: str) -> tuple[str, Path | None]:
        """The name under which a run is recorded, and its folder; an unknown id is taken for such a name."""
        if run := self._runs.get(ident):
            return run.record, run.order.folder
        return self._records.get(ident, (ident, None))

    def documents_changed(self) -> None:
        """An open document was typed in, saved or closed."""
        for run in self._runs.values():
            run.documents_changed()

    async def close(self, seconds: float) -> None:
        """Cancel everything and wait for it; what is still there after `seconds` is killed."""
        self.cancel(None)
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=seconds)
        self.kill_now()

    def kill_now(self) -> None:
        """End every process at once."""
        for run in self._runs.values():
            if run.process is not None:
                run.process.kill_now()
