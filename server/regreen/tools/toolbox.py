"""Carrying out what a model asks for: every call gets a result, in order; edits become proposals."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from regreen.agent.conversation import ToolCall
from regreen.agent.search import Option
from regreen.agent.stops import Stop
from regreen.testing.verdict import Verdict
from regreen.tools import menu
from regreen.tools.checks import refusal
from regreen.tools.edits import EditRefused, keeping_ends, replace_once
from regreen.tools.text_search import TooSlow, matching_lines
from regreen.workspace.changes import FileChange, sha256
from regreen.workspace.draft import Draft
from regreen.workspace.names import PathRefused
from regreen.workspace.root import Workspace
from regreen.workspace.text import decode

SHOWN_LINES = 250
SHOWN_MATCHES = 40
SHOWN_FILES = 200
READS_OF_ONE_TEXT = 2
_EDITS = {menu.EDIT_FILE.name, menu.WRITE_FILE.name}


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What one call led to: `text` is for the model, `summary` one line for the person."""

    call: ToolCall
    text: str
    ok: bool
    summary: str


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of a proposal. `stop` is set when the run is over with it; `shown` is False for an offer dropped."""

    text: str
    summary: str
    verdict: Verdict | None = None
    stop: Stop | None = None
    shown: bool = True

    @property
    def failed(self) -> bool:
        """True when an accepted edit could not be written."""
        return self.summary.startswith("not written")


class Desk(Protocol):
    """Where proposals go: a trial, the person's decision, the write."""

    async def submit(
        self, changes: Sequence[FileChange], why: str, confidence: str, alternatives: int = 0
    ) -> Settled:
        """Settle one proposal. The draft holds whatever was kept of it afterwards."""
        ...

    async def offer(self, changes: Sequence[FileChange], why: str, confidence: str) -> Settled:
        """Settle a proposal that no model made: it is dropped, unseen, unless the trial says that it is the fix."""
        ...


Settle = Callable[[Sequence[FileChange], str, str], Awaitable[Settled]]


class Tests(Protocol):
    """Running things on the draft, sealed."""

    async def run(self, path: str | None) -> str:
        """Run the target, or the tests of a path; the failure as text for the model."""
        ...

    async def python(self, code: str) -> str:
        """Run a snippet in the project; what it printed and how it ended."""
        ...


class _Refused(Exception):
    """The call is not carried out; `str(error)` is what the model is told."""


class Toolbox:
    """The tools over one draft."""

    def __init__(
        self,
        workspace: Workspace,
        draft: Draft,
        desk: Desk,
        tests: Tests,
        emit: Callable[[Mapping[str, Any]], None],
    ) -> None:
        self._workspace = workspace
        self._draft = draft
        self._desk = desk
        self._tests = tests
        self._emit = emit
        self._reads: dict[tuple[object, ...], int] = {}
        self._ran: dict[tuple[str, str], str] = {}

    async def carry_out(
        self, calls: Sequence[ToolCall], why: str, confidence: str = "", alternatives: int = 0
    ) -> list[ToolResult]:
        """Carry out the calls of one reply, in order. Edits that follow each other make one proposal.

        Raises the Stop that a proposal led to, after every result was reported.
        """
        results: list[ToolResult] = []
        submit = partial(self._desk.submit, alternatives=alternatives)
        index = 0
        while index < len(calls):
            group = self._edits_from(calls, index)
            if group:
                settled, done = await self._propose(group, why, confidence, submit)
                index += len(group)
            else:
                settled, done = None, [await self._one(calls[index])]
                index += 1
            results += done
            if settled and settled.stop:
                raise settled.stop
        return results

    async def offer(self, option: Option, why: str) -> ToolResult:
        """Propose what a search found; `ok` when it was shown. Raises the Stop that the proposal led to."""
        settled, results = await self._propose(option.calls, why, option.confidence, self._desk.offer)
        if settled and settled.stop:
            raise settled.stop
        return replace(results[-1], ok=settled is not None and settled.shown)

    def forget(self) -> None:
        """What was read may be read again: the conversation no longer holds it."""
        self._reads.clear()

    def _edits_from(self, calls: Sequence[ToolCall], start: int) -> list[ToolCall]:
        end = start
        while end < len(calls) and calls[end].name in _EDITS:
            end += 1
        return list(calls[start:end])

    # -- edits ---------------------------------------------------------------------------------------

    async def _propose(
        self, calls: Sequence[ToolCall], why: str, confidence: str, settle: Settle
    ) -> tuple[Settled | None, list[ToolResult]]:
        """All edits of a group on top of each other, as one proposal; a refused edit stays out of it."""
        texts: dict[str, str] = {}
        results: list[ToolResult | None] = []
        for call in calls:
            self._announce(call)
            try:
                path = self._path(call)
                self._check_writable(path, None)
                after = self._edited(call, path, texts)
                self._check_writable(path, after)
                texts[path] = after
                results.append(None)
            except (_Refused, EditRefused, PathRefused) as error:
                results.append(self._report(call, str(error), False, f"refused: {_first_line(str(error))}"))
        changes = [self._draft.change(path, text) for path, text in texts.items()]
        if not changes:
            return None, [result for result in results if result is not None]
        settled = await settle(changes, why, confidence)
        taken = [i for i, result in enumerate(results) if result is None]
        for i in taken:
            last = i == taken[-1]
            text = settled.text if last else "Taken; tried together with your next edit."
            summary = settled.summary if last else f"edit of {calls[i].arguments['path']} taken"
            results[i] = self._report(calls[i], text, not settled.failed, summary)
        return settled, [result for result in results if result is not None]

    def _check_writable(self, path: str, after: str | None) -> None:
        ruling = self._workspace.may_write(path, after)
        if ruling.permission in ("locked", "refused"):
            raise _Refused(ruling.reason)

    def _edited(self, call: ToolCall, path: str, texts: Mapping[str, str]) -> str:
        """The new text of one file, checked. Edits may fit the draft or a text that was tried before."""
        now = texts[path] if path in texts else self._draft.text(path)
        if call.name == menu.WRITE_FILE.name:
            after = str(call.arguments.get("content", ""))
            raw = self._draft.current(path)
            return self._checked(
                path,
                after if raw is None else keeping_ends(now or "", after, decode(raw).newline),
                rewrite=True,
            )
        find, replace = str(call.arguments.get("find", "")), str(call.arguments.get("replace", ""))
        if now is None:
            if not find.strip():
                return self._checked(path, replace, rewrite=True)
            raise _Refused(f"There is no file {path}.{self._nearest(path)}")
        try:
            return self._checked(path, replace_once(now, find, replace, path), rewrite=False)
        except EditRefused as refused:
            for text in self._draft.earlier(path) if path not in texts else []:
                try:
                    return self._checked(path, replace_once(text, find, replace, path), rewrite=False)
                except (EditRefused, _Refused):
                    continue
            raise refused from None

    def _checked(self, path: str, after: str, rewrite: bool) -> str:
        change = self._draft.change(path, after)
        reason = refusal(change, rewrite)
        if reason:
            raise _Refused(reason)
        self._draft.encode(change)
        return after

    # -- looking and running -------------------------------------------------------------------------

    async def _one(self, call: ToolCall) -> ToolResult:
        self._announce(call)
        actions = {
            menu.READ_FILE.name: self._read_file,
            menu.LIST_FILES.name: self._list_files,
            menu.SEARCH_FILES.name: self._search_files,
        }
        try:
            if call.name == menu.RUN_TESTS.name:
                text = await self._run_tests(call)
            elif call.name == menu.RUN_PYTHON.name:
                text = await self._tests.python(str(call.arguments.get("code", "")))
            elif call.name in actions:
                text = actions[call.name](call)
            else:
                names = ", ".join(tool.name for tool in menu.ALL)
                raise _Refused(f"There is no tool {call.name!r}. The tools are: {names}.")
        except FileNotFoundError:
            text = f"There is no {call.arguments.get('path')}. Use list_files to see what there is."
            return self._report(call, text, False, text)
        except (_Refused, PathRefused) as error:
            return self._report(call, str(error), False, f"refused: {_first_line(str(error))}")
        return self._report(call, text, True, _first_line(text))

    def _read_file(self, call: ToolCall) -> str:
        path = self._path(call)
        self._workspace.may_read(path)
        raw = self._draft.current(path)
        if raw is None:
            raise _Refused(f"There is no file {path}.{self._nearest(path)}")
        text = self._draft.text(path) or ""
        lines = text.split("\n")
        if lines and not lines[-1]:
            lines.pop()
        first = max(1, _integer(call.arguments.get("start_line"), 1))
        last = min(len(lines), _integer(call.arguments.get("end_line"), len(lines)))
        key = (path, first, last, sha256(raw))
        self._reads[key] = self._reads.get(key, 0) + 1
        if self._reads[key] > READS_OF_ONE_TEXT:
            raise _Refused(
                f"{path} is unchanged and its text is above, read {self._reads[key] - 1} times. "
                'Make the edit now: edit_file {"path": "'
                + path
                + '", "find": "…", "replace": "…"}, or run_tests.'
            )
        shown = lines[first - 1 : last][:SHOWN_LINES]
        if lines and not shown:
            raise _Refused(
                f"{path} has {len(lines)} lines: there is nothing from line {first} to line {last}."
                " Leave out start_line and end_line to read it all."
            )
        head = f"{path}, lines {first}-{first - 1 + len(shown)} of {len(lines)}:\n"
        rest = last - first + 1 - len(shown)
        tail = f"\n[{rest} more lines: read them with start_line {first + len(shown)}]" if rest > 0 else ""
        return head + "\n".join(line.rstrip("\r") for line in shown) + tail

    def _list_files(self, call: ToolCall) -> str:
        under = str(call.arguments.get("path") or "").strip().strip("/")
        under = "" if under in (".", "./") else self._clean(under) if under else ""
        files = self._workspace.files(under)
        if not files:
            raise _Refused(f"There are no files in {under or 'the project'}.")
        more = f"\n[{len(files) - SHOWN_FILES} more files: name a folder]" if len(files) > SHOWN_FILES else ""
        return "\n".join(files[:SHOWN_FILES]) + more

    def _search_files(self, call: ToolCall) -> str:
        pattern = str(call.arguments.get("pattern", ""))
        under = str(call.arguments.get("path") or "").strip("/")
        paths = self._workspace.files("" if under in ("", ".") else self._clean(under))
        try:
            found = matching_lines(pattern, ((path, self._lines_of(path)) for path in paths))
        except TooSlow as slow:
            raise _Refused(str(slow)) from slow
        if not found:
            return f"Nothing matches {pattern!r}."
        shown = [f"{path}:{number}: {line.strip()[:200]}" for path, number, line in found[:SHOWN_MATCHES]]
        left_out = len(found) - len(shown)
        return "\n".join(shown) + (f"\n[{left_out} more matches]" if left_out else "")

    def _lines_of(self, path: str) -> list[str]:
        try:
            self._workspace.may_read(path)
            return (self._draft.text(path) or "").splitlines()
        except (PathRefused, OSError):
            return []

    async def _run_tests(self, call: ToolCall) -> str:
        raw = call.arguments.get("path")
        path = self._clean(str(raw)) if raw and str(raw).strip() not in (".", "./") else ""
        files = sha256(repr(sorted(self._draft.overlay().items())).encode())
        if (path, files) in self._ran:
            return (
                "Nothing changed since these tests ran, and the result is the same. Make an edit first.\n"
                + self._ran[path, files]
            )
        text = await self._tests.run(path or None)
        self._ran[path, files] = text
        return text

    # -- paths and reports ---------------------------------------------------------------------------

    def _path(self, call: ToolCall) -> str:
        raw = str(call.arguments.get("path") or "").strip()
        if not raw:
            raise _Refused(f'{call.name} needs a path, for instance {{"path": "{self._example()}"}}.')
        return self._clean(raw)

    def _clean(self, raw: str) -> str:
        """A model's spelling of a path as a relative one; what leaves the folder is refused by the workspace."""
        path = raw.strip().strip("'\"`").replace("\\", "/") if not re.match(r"^[A-Za-z]:", raw) else raw
        root = self._workspace.root.as_posix().rstrip("/") + "/"
        if path.startswith(root):
            path = path[len(root) :]
        if path and not path.startswith(("/", "~")) and "\0" not in path:
            path = posixpath.normpath(path)
        return path.partition("::")[0] if path.endswith(".py") or ".py::" in path else path

    def _nearest(self, path: str) -> str:
        name = posixpath.basename(path)
        files = self._workspace.files()
        same = [f for f in files if posixpath.basename(f) == name][:3]
        close = same or [f for f in files if name.split(".")[0].lower() in f.lower()][:3]
        return f" Did you mean {' or '.join(close)}?" if close else " Use list_files to see what there is."

    def _example(self) -> str:
        return next((f for f in self._workspace.files() if f.endswith(".py")), "module.py")

    def _announce(self, call: ToolCall) -> None:
        self._emit({"event": "call", "id": call.id, "name": call.name, "arguments": dict(call.arguments)})

    def _report(self, call: ToolCall, text: str, ok: bool, summary: str) -> ToolResult:
        self._emit({"event": "result", "id": call.id, "name": call.name, "ok": ok, "summary": summary})
        return ToolResult(call, text, ok, summary)


def _integer(value: object, default: int) -> int:
    try:
        return int(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return default


def _first_line(text: str) -> str:
    line = text.strip().split("\n", 1)[0]
    return line if len(line) <= 160 else line[:157] + "…"
