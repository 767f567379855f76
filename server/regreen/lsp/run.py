"""One run as the editor sees it: a process, its events passed on, its proposals and questions answered."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp

from regreen.lsp.documents import Document, on_disk
from regreen.lsp.editor import Editor
from regreen.lsp.process import RunProcess, run_command
from regreen.lsp.progress import Progress, budget_text, one_line, outcome_line, step_text
from regreen.lsp.review import Decision, Review, proposed_files, question_text
from regreen.lsp.settings import Settings

log = logging.getLogger(__name__)

TEXT_SECONDS = 0.05
BUFFER_SECONDS = 0.1
ECHO_SECONDS = 0.3
EXIT_SECONDS = 5.0
SAID_KEPT = 2_000


@dataclass(frozen=True, slots=True)
class Order:
    """What one run is asked to do in `folder`, its workspace.

    `target` is a test, its path relative to the folder, or with `ask` a task in words, without space around it.
    `unlock_tests` lets this one run change tests, as the person just allowed. `resume` is the record of an
    earlier run from whose best state it goes on, or "".
    """

    folder: Path
    target: str
    settings: Settings
    ask: bool = False
    unlock_tests: bool = False
    resume: str = ""

    def arguments(self) -> list[str]:
        """The command line behind the program's name."""
        # Without approval the run writes by itself: all at once, bound to the base, journaled.
        writes = "self" if self.settings.approval == "never" else "editor"
        # A space in front keeps a task like "-1 is not handled" from being read as an option.
        asked = ["ask", f" {self.target}" if self.target.startswith("-") else self.target]
        fixed = [
            *(asked if self.ask else ("fix", self.target)),
            "--json",
            "--writes",
            writes,
            "--interactive",
        ]
        more = ["--unlock-tests"] if self.unlock_tests else []
        more += ["--resume", self.resume] if self.resume else []
        return [*fixed, *more, "--workspace", str(self.folder), *self.settings.arguments()]

    @property
    def name(self) -> str:
        """The target, short, for people."""
        return f"“{one_line(self.target, 60)}”" if self.ask else self.target.rpartition("::")[2]

    @property
    def title(self) -> str:
        """The heading of its progress."""
        return "Work on a task" if self.ask else "Fix failing test"


@dataclass
class Run:
    """One run, from the click to its outcome. `on_end` hears of the outcome before the client does."""

    ident: str
    order: Order
    editor: Editor
    progress: Progress
    on_end: Callable[[Run], None] = lambda run: None
    turn: asyncio.Event = field(default_factory=asyncio.Event)
    process: RunProcess | None = None
    cancelled: bool = False
    record: str = ""
    outcome: dict[str, Any] | None = None
    reported: bool = False
    to_save: set[str] = field(default_factory=lambda: set[str]())
    _sent: dict[str, str] = field(default_factory=lambda: dict[str, str]())
    _text: list[str] = field(default_factory=lambda: list[str]())
    _said: str = ""
    _timers: dict[str, asyncio.TimerHandle] = field(default_factory=lambda: dict[str, asyncio.TimerHandle]())
    _talks: dict[str, asyncio.Task[None]] = field(default_factory=lambda: dict[str, asyncio.Task[None]]())

    # --- life ------------------------------------------------------------------------------------------

    async def go(self) -> None:
        """Wait for the turn, start the process, and report until it ended."""
        beginning = asyncio.ensure_future(
            self.progress.begin(self.order.title, f"{self.order.name}: starting")
        )
        try:
            await self.turn.wait()
            if not self.cancelled:
                await self._follow()
        except OSError as error:
            self._fail(f"The run could not be started: {error}")
        except ValueError as error:
            self._fail(str(error))
        finally:
            beginning.cancel()
            self._end_talks()
            for timer in self._timers.values():
                timer.cancel()
            self._flush_text()
            self._report_outcome()

    async def _follow(self) -> None:
        command = [*run_command(self.order.settings.run_python), *self.order.arguments()]
        self.process = process = await RunProcess.start(command, self.order.folder, os.environ)
        self.progress.report(f"{self.order.name}: running the test")
        self.send_buffers(always=True)
        code = await process.follow(self.on_event)
        if self.outcome is None and not self.cancelled:
            words = process.last_words() or "it said nothing"
            self._fail(f"The run ended without a result (exit code {code}): {one_line(words, 400)}")

    def _fail(self, text: str) -> None:
        self.outcome = self._own_outcome("error", text)

    def _own_outcome(self, name: str, text: str) -> dict[str, Any]:
        """An outcome for a run that could not give one itself."""
        return {
            "event": "outcome",
            "outcome": name,
            "target": self.order.target,
            "explanation": text,
            "summary": text,
            "confidence": "",
            "steps": 0,
            "tokens": {"prompt": 0, "cached": 0, "generated": 0},
            "seconds": {},
            "edits": [],
            "verdict": None,
            "model": self.order.settings.model,
            "seal": "",
            "trace": "",
        }

    async def cancel(self) -> None:
        """End the run, and what it started, within two seconds."""
        self.cancelled = True
        self.turn.set()
        self._end_talks()
        if self.process is not None:
            self.progress.report(f"{self.order.name}: cancelling")
            await self.process.stop()

    def _end_talks(self) -> None:
        for task in self._talks.values():
            task.cancel()

    # --- events ----------------------------------------------------------------------------------------

    def on_event(self, event: dict[str, Any]) -> None:
        """One event of the process. Text is passed on some times a second, everything else at once."""
        if self.reported:
            return
        kind = event["event"]
        if kind == "text":
            self._text.append(str(event.get("delta", "")))
            self._later("text", TEXT_SECONDS, self._flush_text)
            return
        self._flush_text()
        if kind == "outcome":
            self._on_outcome(event)
            return
        if self.outcome is not None:  # a target of several tests: that outcome was of one of them
            earlier, self.outcome = self.outcome, None
            self._step(earlier)
        if kind == "budget":
            self._send("regreen/budget", event)
            self.progress.report(f"{self.order.name}: {budget_text(event)}")
            return
        self._step(event)
        if line := step_text(event):
            self._log_said()
            self.editor.log(f"[{self.ident}] {line}")
        self._act(kind, event)

    def _act(self, kind: str, event: dict[str, Any]) -> None:
        if kind == "started":
            self.record = str(event.get("run", ""))
        elif kind in ("note", "progress") and event.get("text"):
            self.progress.report(f"{self.order.name}: {one_line(event['text'], 80)}")
        elif kind == "proposal":
            self._talk(f"proposal {event.get('id')}", self._review(event))
        elif kind == "question":
            self._talk(f"question {event.get('id')}", self._question(event))
        elif kind == "decision" and (task := self._talks.get(f"proposal {event.get('proposal')}")):
            task.cancel()

    def _on_outcome(self, event: dict[str, Any]) -> None:
        if self.outcome is not None:
            self._step(self.outcome)
        self.outcome = event
        self._end_talks()
        if event.get("target") == self.order.target:
            self._report_outcome()
        if self.process is not None:
            self._later("exit", EXIT_SECONDS, self.process.kill_now)

    def _send(self, method: str, event: Mapping[str, Any]) -> None:
        """Pass an event on. The run's own id, the name of its record, becomes `record`."""
        payload = {**event, "run": self.ident}
        if "run" in event:
            payload["record"] = event["run"]
        self.editor.notify(method, payload)

    def _step(self, event: Mapping[str, Any]) -> None:
        self._send("regreen/step", event)

    def _flush_text(self) -> None:
        if self._text:
            delta = "".join(self._text)
            self._text.clear()
            self._said += delta if len(self._said) < SAID_KEPT else ""
            self._step({"event": "text", "delta": delta})

    def _log_said(self) -> None:
        if self._said:
            self.editor.log(f"[{self.ident}] model: {one_line(self._said, 500)}")
            self._said = ""

    def _later(self, name: str, seconds: float, action: Callable[[], None]) -> None:
        """Do something once, soon, however often it is asked for until then."""
        waiting = self._timers.get(name)
        if waiting is not None and not waiting.cancelled() and name != "exit":
            return
        if waiting is not None:
            waiting.cancel()

        def due() -> None:
            self._timers.pop(name, None)
            action()

        self._timers[name] = asyncio.get_running_loop().call_later(seconds, due)

    def _report_outcome(self) -> None:
        if self.reported:
            return
        self.reported = True
        if self.outcome is None:
            text = "Cancelled." if self.cancelled else "The run ended without a result."
            self.outcome = self._own_outcome("cancelled" if self.cancelled else "error", text)
        self._log_said()
        self.on_end(self)
        self._send("regreen/outcome", self.outcome)
        line = outcome_line(self.outcome, self.order.name, self.to_save)
        self.progress.end(line)
        bad = self.outcome.get("outcome") in ("error", "setup_problem")
        kind = lsp.MessageType.Error if bad else lsp.MessageType.Info
        self.editor.log(f"[{self.ident}] {self.outcome.get('summary') or line}", kind)
        if not self.editor.preview:
            self.editor.show(line, kind)

    # --- talks with the person -------------------------------------------------------------------------

    def _talk(self, name: str, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self._talks[name] = task
        task.add_done_callback(lambda _: self._talks.pop(name, None))

    async def _review(self, event: dict[str, Any]) -> None:
        """Get a decision on a proposal. A proposal that fails on our side is rejected, with the reason."""
        ident = str(event.get("id"))
        unattended = self.order.settings.approval == "never"
        if unattended:  # the run decides, and says so at once; it asks about configuration files only
            await asyncio.sleep(ECHO_SECONDS)
        try:
            decision = await self._decide(event, ident, unattended)
        except Exception as error:  # the run waits for an answer, whatever went wrong here
            log.exception("proposal %s", ident)
            decision = Decision("reject", f"the proposal could not be shown: {error}")
        if self.process is not None:
            self.process.send(decision.to_json(ident))

    async def _decide(self, event: dict[str, Any], ident: str, own_write: bool) -> Decision:
        files = proposed_files(self.order.folder, event)
        shown = f"{self.ident}.{ident}" if self.editor.is_expected(ident) else ident
        self.progress.report(f"{self.order.name}: waiting for your decision")
        self.editor.log(f"[{self.ident}] {question_text(event, files, whole=True)}")
        described = [
            {
                "path": file.path,
                "uri": self.editor.uri(file.real),
                "diff": file.diff,
                "text": file.text,
                "base_sha256": file.base_sha256,
            }
            for file in files
        ]
        told = ("why", "confidence", "verdict", "alternatives", "asks")
        proposal = {key: event.get(key) for key in told}
        self.editor.notify(
            "regreen/proposal", {"run": self.ident, "proposal": {"id": shown, **proposal, "files": described}}
        )
        clean = {file.path for file in files if not self._is_unsaved(file.real)}
        decision = await Review(self.editor, shown, event, files, own_write).decide()
        if decision.kind != "reject":
            self.to_save |= {
                file.path for file in files if file.path in clean and self._is_unsaved(file.real)
            }
        return decision

    def _is_unsaved(self, path: Path) -> bool:
        document = self.editor.document(path)
        return document is not None and document.unsaved(on_disk(path))

    async def _question(self, event: dict[str, Any]) -> None:
        choices = [str(choice) for choice in event.get("choices") or ()]
        default = str(event.get("default", ""))
        text = f"Regreen: {event.get('text', '')}"
        self.progress.report(f"{self.order.name}: waiting for your answer")
        answer = await self.editor.choose(text, choices, lsp.MessageType.Warning) or default
        if self.process is not None:
            self.process.send({"answer": answer, "question": event.get("id")})

    # --- unsaved text ----------------------------------------------------------------------------------

    def relative(self, document: Document) -> str | None:
        """The document's path inside the run's folder, or None when it lies elsewhere."""
        if document.path is None:
            return None
        for path, folder in (
            (document.path, self.order.folder),
            (Path(document.real), self.order.folder.resolve()),
        ):
            if path.is_relative_to(folder):
                return path.relative_to(folder).as_posix()
        return None

    def documents_changed(self) -> None:
        """Something was typed, saved or closed: tell the run, a little later."""
        if self.process is not None and self.outcome is None:
            self._later("buffers", BUFFER_SECONDS, self.send_buffers)

    def send_buffers(self, always: bool = False) -> None:
        """Send the unsaved texts that changed since the last time; null for a file that is saved again."""
        unsaved: dict[str, str] = {}
        for document in self.editor.documents:
            path = self.relative(document)
            if path is None or document.path is None:
                continue
            disk = on_disk(document.path)
            if document.unsaved(disk):
                unsaved[path] = document.as_saved(disk)
        changed: dict[str, str | None] = {p: text for p, text in unsaved.items() if self._sent.get(p) != text}
        changed.update({path: None for path in self._sent if path not in unsaved})
        self._sent = unsaved
        self.to_save &= set(unsaved)
        if self.process is not None and (changed or always):
            self.process.send({"buffers": changed})
