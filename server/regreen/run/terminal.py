"""The live view on a terminal: steps, calls, diffs in colour, and the question whether to apply an edit."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.syntax import Syntax
from rich.text import Text

from regreen.agent.stops import dollars
from regreen.run.lines import read_lines
from regreen.run.protocol import NOBODY, Decision, Event, Hearing
from regreen.run.visible import visible, writable

_VERDICT_STYLE = {
    "fixed": "bold green",
    "forward": "yellow",
    "changed": "yellow",
    "same": "red",
    "worse": "red",
}
_KEYS = "y yes · n no · r no, with a reason · a yes to all · d show the diff again"
_ASK = f"Apply this edit?  {_KEYS} (then Enter; Ctrl-C ends the run): "


class TerminalChannel:
    """Shows events as they come; asks on the same terminal. Without one, piped lines answer, and their end rejects."""

    def __init__(self, console: Console | None = None, source: int = 0) -> None:
        self._console = console or Console(highlight=False, soft_wrap=True)
        self._source = source
        self._lines: asyncio.Queue[str | None] | None = None
        self._ended = False
        self._all = False
        self._streaming = False
        self._budget = ""
        self._trial = ""
        self._drawing = False
        self._said = ""

    # -- showing ---------------------------------------------------------------------------------------

    def emit(self, event: Event) -> None:
        """Show one event; kinds without a view of their own are left out."""
        kind = str(event.get("event"))
        if self._drawing and not (kind == "progress" and event.get("percent") is not None):
            self._drawing = False
            self._console.print()
        show = getattr(self, f"_show_{kind}", None)
        if show is None:
            return
        if kind != "text":
            self._end_stream()
        show(event)

    def _shown(self, text: str) -> str:
        return writable(visible(text), self._console.encoding)

    def _print(self, text: str, style: str = "") -> None:
        self._console.print(Text(self._shown(text), style=style))

    def _end_stream(self) -> None:
        if self._streaming:
            self._streaming = False
            self._console.print()

    def _show_started(self, event: Event) -> None:
        task = str(event["target"])
        named = event.get("command", "fix" if "::" in task or task.endswith(".py") else "ask") == "fix"
        self._print(f"Fixing {task}" if named else f"Task: {task}", "bold")
        self._print(f"model {event['model']} · seal {event['seal']} · approval {event['approval']}", "dim")

    def _show_note(self, event: Event) -> None:
        self._print(str(event["text"]), "yellow" if event.get("level") == "warning" else "dim")

    def _show_progress(self, event: Event) -> None:
        percent = event.get("percent")
        if percent is None or not self._console.is_terminal:
            self._print(f"{event['text']}" + (f" {percent:.0f} %" if percent is not None else ""), "dim")
            return
        self._console.control(Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2)))
        line = f"{event['text']} {percent:.0f} %"[: max(10, self._console.width - 1)]
        self._console.print(Text(self._shown(line), style="dim"), end="")
        self._drawing = True

    def _show_evidence(self, event: Event) -> None:
        failure: Mapping[str, Any] = event.get("failure") or {}
        self._print(f"It fails: {failure.get('type', '')}: {_first_line(failure.get('message', ''))}", "red")

    def _show_step(self, event: Event) -> None:
        self._print(f"Step {event['n']}", "bold cyan")

    def _show_text(self, event: Event) -> None:
        self._said = f"{self._said}{event['delta']}" if self._streaming else str(event["delta"])
        self._streaming = True
        self._console.print(Text(self._shown(str(event["delta"])), style="dim"), end="")

    def _show_call(self, event: Event) -> None:
        arguments = ", ".join(f"{k}={_short(v)}" for k, v in event["arguments"].items())
        self._print(f"  → {event['name']}({arguments})")

    def _show_result(self, event: Event) -> None:
        summary = str(event["summary"])
        if self._trial and summary.endswith(self._trial):  # said a line or two before
            summary = summary.removesuffix(self._trial).rstrip("; ")
        if summary and not summary.startswith("rejected"):  # that was shown as the decision
            self._print(f"  {'✓' if event['ok'] else '✗'} {summary}", "" if event["ok"] else "red")

    def _show_trial(self, event: Event) -> None:
        verdict: Mapping[str, Any] = event["verdict"]
        summary = event.get("summary") or verdict.get("reason") or ""
        self._trial = str(summary)
        self._print(f"  trial: {summary}", _VERDICT_STYLE.get(str(verdict.get("progress")), ""))

    def _show_proposal(self, event: Event) -> None:
        if str(event["why"]).strip() != self._said.strip():  # else it was said just before
            self._print(f"  {event['why']}", "bold")
        self._diff(event)
        if event.get("confidence"):
            low = event["confidence"] == "low"
            words = "confidence: low; the tests pin this change down badly, read it before you keep it"
            self._print(
                f"  {words}" if low else f"  confidence: {event['confidence']}", "yellow" if low else "dim"
            )
        if more := event.get("alternatives"):
            what = "1 more possibility passes" if more == 1 else f"{more} more possibilities pass"
            self._print(f"  {what}: n shows the next", "dim")

    def _show_decision(self, event: Event) -> None:
        if event["decision"] == "reject":
            reason = f": {event['reason']}" if event.get("reason") else ""
            self._print(f"  rejected{reason}", "yellow")
        elif event["decision"] == "partly":
            self._print("  kept partly", "yellow")

    def _show_budget(self, event: Event) -> None:
        line = (
            f"  step {event['steps']} of {event['max_steps']} · {_thousands(event['tokens'])} tokens · "
            f"{event['seconds']:.1f} s{_money(event)}"
        )
        steps = f"{event['steps']}/{event['tokens']}"
        if steps != self._budget and event["steps"]:
            self._budget = steps
            self._print(line, "dim")

    def _show_outcome(self, event: Event) -> None:
        good = event["outcome"] in ("fixed", "already_passing")
        self._print("")
        first, _, rest = str(event.get("summary") or event["explanation"]).partition("\n")
        self._print(first, "bold green" if good else "bold red")
        if rest:
            self._print(rest)
        undo = f"regreen undo {event.get('run')}"
        if event.get("run") and event.get("edits") and undo not in rest:
            self._print(f"Take it back with: {undo}", "dim")

    def close_with(self, lines: Sequence[str], warning: str) -> None:
        """Lines below a whole run, and what is wrong with it, if anything."""
        self._end_stream()
        self._print("")
        if warning:
            self._print(warning, "bold yellow")
        for line in lines:
            self._print(line, "dim")

    def _diff(self, event: Event) -> None:
        for file in event["files"]:
            diff = self._shown(file["diff"].replace("\r\n", "\n").rstrip("\n"))
            self._console.print(Syntax(diff, "diff", background_color="default"))

    # -- asking ----------------------------------------------------------------------------------------

    def listen(self, hearing: Hearing) -> None:
        """Start reading the terminal, once."""
        if self._lines is None:
            self._lines = asyncio.Queue()
            read_lines(
                self._source, self._lines.put_nowait, lambda: self._lines and self._lines.put_nowait(None)
            )

    async def _line(self, question: str) -> str | None:
        """A line typed after the question was shown: what was typed before could not be meant for it."""
        if self._lines is not None and os.isatty(self._source):
            while not self._lines.empty():
                if self._lines.get_nowait() is None:
                    self._ended = True
        self._console.print(Text(self._shown(question), style="bold"), end="")
        if self._ended or self._lines is None:
            return None
        line = await self._lines.get()
        if line is None:
            self._ended = True
            self._console.print()
        elif not os.isatty(self._source):
            self._console.print(line.strip())
        return line

    async def decide(self, proposal: Event) -> Decision:
        """Ask until there is an answer; the end of input is a rejection."""
        if self._all:
            return Decision("accept")
        while True:
            line = await self._line(_ASK)
            if line is None:
                return NOBODY
            answer, _, reason = line.strip().partition(" ")
            key = answer.lower()
            if key in ("y", "yes", "accept"):
                return Decision("accept")
            if key in ("a", "all"):
                self._all = True
                return Decision("accept")
            if key in ("n", "no", "reject"):
                return Decision("reject", reason.strip())
            if key in ("r", "reason"):
                said = reason.strip() or (await self._line("What is wrong with it? ") or "").strip()
                return Decision("reject", said)
            if key in ("d", "diff"):
                self._diff(proposal)
            else:
                self._print(f"Please answer: {_KEYS}.", "yellow")

    async def ask(self, question: Event) -> str:
        """Put a question with numbered choices; an empty line or the end of input takes the default."""
        choices = list(question["choices"])
        self._all = False  # a yes to all was for what went on until now
        self._print(str(question["text"]))
        listed = " · ".join(f"{i} {choice}" for i, choice in enumerate(choices, 1))
        if choices == ["yes", "no"]:
            listed = "y/n"
        line = await self._line(f"{listed} [{question['default']}]: ")
        answer = (line or "").strip().lower()
        if answer.isdigit() and 1 <= int(answer) <= len(choices):
            return choices[int(answer) - 1]
        matching = [choice for choice in choices if answer and choice.lower().startswith(answer)]
        return matching[0] if matching else str(question["default"])


def _short(value: object) -> str:
    text = str(value).strip().replace("\n", "⏎")
    return text if len(text) <= 60 else text[:57] + "…"


def _first_line(text: object) -> str:
    return str(text).strip().split("\n", 1)[0]


def _money(event: Event) -> str:
    """What a run costs so far, where that is known and not nothing."""
    if not event.get("cost"):
        return ""
    return f" · {dollars(event['cost'])} of {dollars(event['max_cost'])}"


def _thousands(count: int) -> str:
    return f"{count / 1000:.1f}k" if count >= 1000 else str(count)
