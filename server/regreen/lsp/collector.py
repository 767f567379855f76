"""Has pytest say in the background which tests the open files hold, for those that their syntax trees cannot know.

A process does it, `regreen tests FILE --for-editor`: one at a time, some time after a file was opened or saved, with
less priority than anything a person waits for, and never beside a run. It is sealed, or there is a kept answer of the
person that the folder's tests may run unsealed; nothing is asked for it. Where it fails, the log has a line, and what
the syntax tree knows is shown as ever.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from regreen.errors import RegreenError
from regreen.lsp.collected import Collected
from regreen.lsp.documents import Document
from regreen.lsp.editor import Editor
from regreen.lsp.order import workspace_folder
from regreen.lsp.process import Event, RunProcess, run_command
from regreen.lsp.progress import one_line
from regreen.lsp.settings import Settings
from regreen.lsp.targets import TestIndex

QUIET_SECONDS = 1.0
"""From the last file that was opened or saved to the start."""
MOST_SECONDS = 60.0
BUSY_SECONDS = 0.5
KEPT = 300
"""Files of which it is known what pytest collected."""


class Collector:
    """The collecting of one server. `busy` tells whether a run works, `index` finds the tests of an open document."""

    def __init__(
        self,
        editor: Editor,
        settings: Callable[[], Settings],
        folders: Callable[[], list[Path]],
        busy: Callable[[], bool],
        index: Callable[[str], TestIndex | None],
    ) -> None:
        self._editor = editor
        self._settings = settings
        self._folders = folders
        self._busy = busy
        self._index = index
        self._known: dict[str, Collected] = {}
        self._wanted: dict[str, None] = {}
        self._due = 0.0
        self._work: asyncio.Task[None] | None = None
        self._current: tuple[str, asyncio.Task[None]] | None = None
        self._told = ""

    def opened(self, index: TestIndex) -> None:
        """A Python file was opened: what is known of it is there at once, and looked at again."""
        index.collected = self._known.get(index.document.real)
        self._want([index.document])

    def saved(self, document: Document) -> None:
        """A Python file was saved: it is looked at again, and so are open files with tests that may come from it."""
        others = [one for one in self._editor.documents if one is not document and self._known.get(one.real)]
        self._want([*others, document])

    def closed(self, document: Document) -> None:
        """A file was closed; nobody looks at it any more."""
        self._wanted.pop(document.uri, None)
        if self._current and self._current[0] == document.uri:
            self._current[1].cancel()

    def pause(self) -> None:
        """A run begins: it gets the machine. What was under way is done once more after it."""
        if self._current:
            uri, task = self._current
            self._wanted.setdefault(uri)
            task.cancel()

    async def close(self, seconds: float) -> None:
        """End what is under way, and wait for that."""
        self._wanted.clear()
        tasks = [task for task in (self._work, self._current and self._current[1]) if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)

    def _want(self, documents: Sequence[Document]) -> None:
        if not self._settings().collect:
            return
        for document in documents:
            if document.path is not None:
                self._wanted.pop(document.uri, None)
                self._wanted[document.uri] = None  # the last one is the first to be looked at
                if self._current and self._current[0] == document.uri:
                    self._current[1].cancel()
        self._due = asyncio.get_running_loop().time() + QUIET_SECONDS
        if self._wanted and (self._work is None or self._work.done()):
            self._work = asyncio.ensure_future(self._go())

    async def _go(self) -> None:
        clock = asyncio.get_running_loop().time
        while self._wanted:
            if (left := self._due - clock()) > 0:
                await asyncio.sleep(left)
                continue
            if self._busy():
                await asyncio.sleep(BUSY_SECONDS)
                continue
            uri, _ = self._wanted.popitem()
            task = asyncio.ensure_future(self._collect(uri))
            self._current = (uri, task)
            try:
                await asyncio.wait({task})
            finally:
                self._current = None

    async def _collect(self, uri: str) -> None:
        """Look at one file; nothing is raised but that this was cancelled."""
        index = self._index(uri)
        if index is None or index.document.path is None or not self._settings().collect:
            return
        path = index.document.path
        try:
            event = await self._ask(path)
        except asyncio.TimeoutError:
            self._tell(f"pytest did not say within {MOST_SECONDS:.0f} s which tests {path.name} holds")
            return
        except (OSError, ValueError, RegreenError) as error:
            self._tell(f"pytest cannot be asked which tests {path.name} holds: {one_line(str(error), 300)}")
            return
        places = event.get("places")
        found = cast("list[Any]", places) if isinstance(places, list) else []
        if problem := str(event.get("problem") or ""):
            self._tell(f"pytest says of {path.name}: {one_line(problem, 300)}")
        if found or not problem:  # the last good answer stays while a file cannot be imported
            await self._show(index, Collected(found))

    async def _show(self, index: TestIndex, collected: Collected) -> None:
        self._known.pop(index.document.real, None)
        self._known[index.document.real] = collected
        while len(self._known) > KEPT:
            self._known.pop(next(iter(self._known)))
        before = list(await index.soon())
        index.collected = collected
        if list(await index.soon()) != before and self._editor.can("workspace.code_lens.refresh_support"):
            with contextlib.suppress(JsonRpcException):
                await self._editor.ask(lsp.WORKSPACE_CODE_LENS_REFRESH, None)

    async def _ask(self, path: Path) -> Event:
        """What the process says. Raises RegreenError with its last words when that is nothing, OSError, TimeoutError."""
        folder = workspace_folder(path, self._folders())
        settings = self._settings()
        command = [*run_command(settings.run_python), "tests", str(path), "--for-editor"]
        command += ["--workspace", str(folder), *settings.collecting()]
        events: list[Event] = []
        process = await RunProcess.start(command, folder, os.environ)
        try:
            with contextlib.suppress(OSError, AttributeError):  # no such thing on Windows; or gone already
                os.setpriority(os.PRIO_PROCESS, process.pid, 10)
            code = await asyncio.wait_for(process.follow(events.append), MOST_SECONDS)
        finally:
            if process.returncode is None:
                await asyncio.shield(process.stop())
        found = next((event for event in events if event["event"] == "tests"), None)
        if found is None:
            if code == 0:
                return {"event": "tests", "problem": "nothing was told"}
            raise RegreenError(process.last_words() or f"it ended with code {code}")
        return found

    def _tell(self, text: str) -> None:
        if text != self._told:
            self._told = text
            self._editor.log(text)
