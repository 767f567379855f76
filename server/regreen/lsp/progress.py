"""Work-done progress of one run, and the short texts in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from regreen.lsp.editor import Editor


class Progress:
    """Shown with a Cancel button, where the client can show it; else all calls do nothing.

    Messages come without a percentage: VS Code drops reports that mix both kinds.
    """

    def __init__(self, editor: Editor, token: str) -> None:
        self._editor = editor
        self.token = token
        self._shown = False
        self._ended = False
        self._message = ""

    async def begin(self, title: str, message: str) -> None:
        """Create the progress and show it. The latest message wins while the client makes up its mind."""
        self._message = message
        if not self._editor.can("window.work_done_progress"):
            return
        try:
            await self._editor.ask(
                lsp.WINDOW_WORK_DONE_PROGRESS_CREATE, lsp.WorkDoneProgressCreateParams(token=self.token)
            )
        except JsonRpcException:
            return
        if not self._ended:
            self._shown = True
            self._send(lsp.WorkDoneProgressBegin(title=title, cancellable=True, message=self._message))

    def report(self, message: str) -> None:
        """Replace the message."""
        if message != self._message and not self._ended:
            self._message = message
            if self._shown:
                self._send(lsp.WorkDoneProgressReport(message=message, cancellable=True))

    def end(self, message: str) -> None:
        """Take it away."""
        if self._shown and not self._ended:
            self._send(lsp.WorkDoneProgressEnd(message=message))
        self._ended = True

    def _send(self, value: Any) -> None:
        self._editor.notify(lsp.PROGRESS, lsp.ProgressParams(token=self.token, value=value))


def budget_text(event: Mapping[str, Any]) -> str:
    """ "step 3 of 12 · 41k tokens · 35 s" """
    parts: list[str] = []
    if event.get("max_steps"):
        parts.append(f"step {event.get('steps', 0)} of {event['max_steps']}")
    tokens = event.get("tokens")
    if isinstance(tokens, (int, float)) and tokens > 0:
        parts.append(f"{tokens / 1000:.0f}k tokens" if tokens >= 1000 else f"{tokens:.0f} tokens")
    if isinstance(cost := event.get("cost"), (int, float)) and cost > 0:
        parts.append(f"${cost:.2f}" if cost >= 0.005 else "under 1 cent")
    if isinstance(seconds := event.get("seconds"), (int, float)):
        parts.append(f"{seconds:.0f} s")
    return " · ".join(parts)


def step_text(event: Mapping[str, Any]) -> str:
    """One line of the log for an event, or "" when it has nothing to say by itself."""
    kind = event.get("event")
    if kind == "started":
        return f"started: {event.get('target')} with {event.get('model')}, seal {event.get('seal')}"
    if kind == "evidence":
        failure = part(event.get("failure"))
        what = f"{failure.get('type', '')}: {failure.get('message', '')}"
        return f"the test fails: {one_line(what)}"
    if kind == "step":
        return f"step {event.get('n')}"
    if kind == "call":
        return f"call {event.get('name')} {one_line(event.get('arguments'))}"
    if kind == "result":
        return f"result {event.get('name')}: {one_line(event.get('summary'))}"
    if kind == "trial":
        return f"trial: {verdict_text(event.get('verdict'))}"
    if kind in ("note", "progress"):
        return one_line(event.get("text"))
    if kind == "question":
        return f"question: {one_line(event.get('text'), 400)}"
    if kind == "decision":
        reason = f": {event['reason']}" if event.get("reason") else ""
        return f"decision: {event.get('decision')}{reason}"
    return ""


def verdict_text(verdict: object) -> str:
    """What the trial saw, in a few words."""
    saw = part(verdict)
    if not saw:
        return "not tried"
    passed, failed = saw.get("passed", 0), saw.get("failed", 0)
    if saw.get("fixed"):
        said = f"target passes, {passed} of {passed + failed} tests pass"
        said += f", {failed} failed before too" if failed else ""
        said += f" ({one_line(saw['scope'])})" if saw.get("scope") else ""
        return f"{said}; look closely: {one_line(saw['doubt'])}" if saw.get("doubt") else said
    reason = f": {one_line(saw['reason'])}" if saw.get("reason") else ""
    if saw.get("decides") is False and saw.get("progress") != "worse":
        return f"not verified{reason}"
    if saw.get("progress") == "forward":
        return f"the failure moves forward{reason}"
    return f"not fixed yet{reason}"


LOW_CONFIDENCE = "Confidence is low: the tests pin this change down badly. Read it before you keep it."


def caution(event: Mapping[str, Any]) -> list[str]:
    """What a person should know before deciding on a proposal: low confidence, and how many more there are."""
    lines = [LOW_CONFIDENCE] if event.get("confidence") == "low" else []
    asks = event.get("asks")
    if isinstance(asks, list) and asks:
        names = ", ".join(str(path) for path in cast("list[Any]", asks))
        lines.append(f"It changes how the project is built, checked or tested: {names}.")
    more = event.get("alternatives")
    if isinstance(more, int) and not isinstance(more, bool) and more > 0:
        what = "1 more possibility" if more == 1 else f"{more} more possibilities"
        lines.append(f"There {'is' if more == 1 else 'are'} {what}: reject this one to see the next.")
    return lines


def part(value: object) -> Mapping[str, Any]:
    """An object inside an event; empty when it is missing or something else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def one_line(value: object, longest: int = 200) -> str:
    """A value as one line of text, cut where it is long, saying so."""
    text = " ".join(str(value).split())
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text) - longest} more characters)"


def outcome_line(outcome: Mapping[str, Any], name: str, to_save: set[str]) -> str:
    """The outcome in one line for people."""
    kind = str(outcome.get("outcome"))
    why = one_line(outcome.get("explanation") or "", 300).rstrip(".")
    said = f": {why}" if why else ""
    if kind == "fixed":
        line = f"Fixed {name}{said} ({verdict_text(outcome.get('verdict'))})."
        line += f" {LOW_CONFIDENCE}" if outcome.get("confidence") == "low" else ""
    elif kind == "already_passing":
        line = f"{name} passes already; nothing was changed."
    else:
        line = f"{_HEADS.get(kind, kind)} {name}{said}."
    if part(outcome.get("write_test")) and outcome.get("edits"):
        line += " To have a test written, choose the code action for it in a file that was changed."
    if to_save:
        line += f" Save {', '.join(sorted(to_save))} to keep the edit."
    return line


_HEADS = {
    "test_looks_wrong": "The test looks wrong,",
    "setup_problem": "Not a bug in the code,",
    "not_verified": "Not verified,",
    "budget": "Budget used up for",
    "stuck": "Stuck on",
    "rejected": "Rejected,",
    "cancelled": "Cancelled,",
    "error": "Error in the run on",
}
