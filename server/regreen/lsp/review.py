"""What happens to a proposal: shown, applied by the editor, and judged by what the files hold afterwards.

Our own client gets the edit annotated, shows it as a diff, and says what was decided by `regreen/decision`
before it answers. It opens every file it edits, and saves those that had no unsaved changes.

Every other client is asked first (`window/showMessageRequest`), then gets a plain edit: an annotation asks
a second time in some editors and never in others. That edit names open files only. Neovim loads a file that
is not open into a hidden, unsaved buffer and sends no `didOpen`, Emacs visits it unsaved, and no client can
be told to save: the tests would go on seeing the old text, and nobody would know that there is something to
save. So the run itself writes accepted changes of files that are not open ("write" in the decision), bound
to the text they were made from. Files that are open are changed in the editor alone, never on disk behind
it; the outcome says which of them are left to be saved.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, cast

from lsprotocol import types as lsp

from regreen.lsp.documents import Document, file_path, on_disk
from regreen.lsp.editor import Editor, Payload, text_map
from regreen.lsp.edits import text_edits
from regreen.lsp.progress import caution, verdict_text
from regreen.workspace.changes import sha256

SETTLE_SECONDS = 2.0
QUIET_SECONDS = 0.4
DIFF_LINES = 24
APPLY, REJECT = "Apply", "Reject"


@dataclass(frozen=True, slots=True)
class ProposedFile:
    """One file of a proposal: `text` is what it shall hold, `path` is relative to the run's folder."""

    path: str
    real: Path
    text: str
    diff: str
    base_sha256: str | None


@dataclass(frozen=True, slots=True)
class Decision:
    """What goes back to the run; `write` are the paths that the run has to write itself."""

    kind: str
    reason: str = ""
    files: Mapping[str, str] = field(default_factory=lambda: dict[str, str]())
    write: Sequence[str] = ()

    def to_json(self, proposal: str) -> dict[str, Any]:
        """The line of input for the run."""
        message: dict[str, Any] = {"decision": self.kind, "proposal": proposal, "reason": self.reason}
        if self.kind != "reject":
            message["files"] = dict(self.files)
            if self.write:
                message["write"] = list(self.write)
        return message


def proposed_files(folder: Path, event: Mapping[str, Any]) -> list[ProposedFile]:
    """The files of a `proposal` event. Raises ValueError for a path that leaves the folder."""
    found: list[ProposedFile] = []
    for entry in cast("Sequence[Mapping[str, Any]]", event.get("files") or ()):
        path = PurePosixPath(str(entry["path"]))
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise ValueError(f"a path outside the folder: {path}")
        base = entry.get("base_sha256")
        found.append(
            ProposedFile(
                str(path),
                folder.joinpath(*path.parts),
                str(entry["text"]),
                str(entry.get("diff", "")),
                base if isinstance(base, str) else None,
            )
        )
    return found


class Review:
    """One proposal on its way through the editor. `ident` is its id on the wire."""

    def __init__(
        self,
        editor: Editor,
        ident: str,
        event: Mapping[str, Any],
        files: Sequence[ProposedFile],
        own_write: bool,
    ) -> None:
        self._editor = editor
        self._ident = ident
        self._event = event
        self._files = files
        self._own_write = own_write

    async def decide(self) -> Decision:
        """Show the proposal and carry out what is decided."""
        if stale := self._stale():
            return Decision("reject", stale)
        if self._own_write:
            return await self._ask()
        if self._editor.preview:
            return await self._preview()
        asked = await self._ask()
        return asked if asked.kind == "reject" else await self._apply_plain()

    # --- our own client --------------------------------------------------------------------------------

    async def _preview(self) -> Decision:
        self._editor.expect_decision(self._ident)
        try:
            before = self._contents(self._files)
            claimed, why = await self._editor.apply(self._edit(self._files, self._ident), self._label())
        finally:
            said = self._editor.take_decision(self._ident)
        if said is None:
            return await self._judged(self._files, before, claimed, why)
        reason = str(said.get("reason") or "")
        if said.get("decision") not in ("accept", "partly"):
            return Decision("reject", reason)
        texts = self._told(said)
        now = await self._settled(self._files, before, texts)
        return self._weighed(self._files, before, now, reason or why)

    def _told(self, said: Payload) -> dict[str, str]:
        """The texts that the client says the files hold, by path."""
        by_real = {
            path.resolve(): text
            for uri, text in text_map(said.get("files")).items()
            if (path := file_path(uri))
        }
        return {file.path: by_real.get(file.real.resolve(), self._wanted(file)) for file in self._files}

    # --- every other client ----------------------------------------------------------------------------

    async def _ask(self) -> Decision:
        answer = await self._editor.choose(question_text(self._event, self._files), (APPLY, REJECT))
        if answer != APPLY:
            return Decision("reject")
        if stale := self._stale():
            return Decision("reject", stale)
        return Decision("accept")

    async def _apply_plain(self) -> Decision:
        shown = [file for file in self._files if self._editor.document(file.real)]
        unseen = tuple(file.path for file in self._files if file not in shown)
        if not shown:
            return Decision("accept", write=unseen)
        before = self._contents(shown)
        claimed, why = await self._editor.apply(self._edit(shown, None), self._label())
        judged = await self._judged(shown, before, claimed, why)
        if judged.kind == "reject":
            return judged
        return Decision(judged.kind, judged.reason, judged.files, unseen)

    # --- judging by content ----------------------------------------------------------------------------

    async def _judged(
        self, files: Sequence[ProposedFile], before: Mapping[str, str | None], claimed: bool, why: str
    ) -> Decision:
        wanted = {file.path: self._wanted(file) for file in files}
        now = await self._settled(files, before, wanted) if claimed else self._contents(files)
        if claimed and now == before:
            why = "the editor did not change the file; it may have been edited meanwhile"
        return self._weighed(files, before, now, why)

    def _weighed(
        self,
        files: Sequence[ProposedFile],
        before: Mapping[str, str | None],
        now: Mapping[str, str | None],
        reason: str,
    ) -> Decision:
        if now == before and any(now[file.path] != self._wanted(file) for file in files):
            return Decision("reject", reason)
        whole = all(now[file.path] == self._wanted(file) for file in files)
        texts = {file.path: text for file in files if (text := self._saved_text(file)) is not None}
        return Decision("accept" if whole else "partly", reason, texts)

    async def _settled(
        self,
        files: Sequence[ProposedFile],
        before: Mapping[str, str | None],
        wanted: Mapping[str, str],
    ) -> dict[str, str | None]:
        """The contents once they are as wanted, or changed and stay so; Neovim answers before it sends didChange."""
        loop = asyncio.get_running_loop()
        started = changed = loop.time()
        last = self._contents(files)
        while last != wanted and (now_time := loop.time()) - started < SETTLE_SECONDS:
            if last != before and now_time - changed > QUIET_SECONDS:
                break
            await asyncio.sleep(0.02)
            if (now := self._contents(files)) != last:
                last, changed = now, loop.time()
        return last

    def _contents(self, files: Sequence[ProposedFile]) -> dict[str, str | None]:
        return {file.path: self._content(file) for file in files}

    def _content(self, file: ProposedFile) -> str | None:
        """What the editor, or else the disk, holds; None when there is no such file."""
        document = self._editor.document(file.real)
        if document is not None:
            return document.text
        disk = on_disk(file.real)
        return disk.text if disk else None

    def _wanted(self, file: ProposedFile) -> str:
        """The proposed text with the line ends of the open document."""
        document = self._editor.document(file.real)
        return document.fitted(file.text) if document else file.text

    def _saved_text(self, file: ProposedFile) -> str | None:
        document = self._editor.document(file.real)
        return document.as_saved(on_disk(file.real)) if document else self._content(file)

    def _stale(self) -> str:
        """Why the proposal does not fit the files any more, or ""."""
        for file in self._files:
            document = self._editor.document(file.real)
            if not _based_on_now(document, file):
                return f"{file.path} was changed while this proposal was made; look at it again"
        return ""

    # --- the edit --------------------------------------------------------------------------------------

    def _edit(self, files: Sequence[ProposedFile], annotation: str | None) -> lsp.WorkspaceEdit:
        changes: list[Any] = []
        for file in files:
            document = self._editor.document(file.real)
            uri = self._editor.uri(file.real)
            before = self._content(file)
            if before is None and self._editor.can_create_files():
                changes.append(lsp.CreateFile(uri=uri, annotation_id=annotation))
            edits = text_edits(before or "", self._wanted(file), self._editor.units, annotation)
            version = document.version if document else None
            changes.append(
                lsp.TextDocumentEdit(
                    text_document=lsp.OptionalVersionedTextDocumentIdentifier(uri=uri, version=version),
                    edits=edits,
                )
            )
        if annotation is None:
            return lsp.WorkspaceEdit(document_changes=changes)
        note = lsp.ChangeAnnotation(
            label=self._label(), needs_confirmation=True, description=str(self._event.get("why") or "")
        )
        return lsp.WorkspaceEdit(document_changes=changes, change_annotations={annotation: note})

    def _label(self) -> str:
        names = ", ".join(PurePosixPath(file.path).name for file in self._files)
        return f"Regreen: edit {names}"


def _based_on_now(document: Document | None, file: ProposedFile) -> bool:
    """Whether the file, as the person has it, is the text that the proposal was made from."""
    if document is None:
        try:
            return sha256(file.real.read_bytes()) == file.base_sha256
        except FileNotFoundError:
            return file.base_sha256 is None
        except OSError:
            return False
    disk = on_disk(file.real)
    if file.base_sha256 is None:
        return disk is None and not document.text
    return file.base_sha256 in document.digests(disk)


def question_text(event: Mapping[str, Any], files: Sequence[ProposedFile], whole: bool = False) -> str:
    """The question for clients without a preview: why, what the trial saw, and the head of the diff.

    `whole` gives the text for the log: all of the diff, and no question.
    """
    confidence = f", confidence {event['confidence']}" if event.get("confidence") else ""
    lines = [
        f"Regreen: {event.get('why') or 'a proposed edit'} ({verdict_text(event.get('verdict'))}{confidence})",
        *caution(event),
    ]
    diff = "\n".join(file.diff.rstrip("\n") for file in files).split("\n")
    if whole:
        return "\n".join([*lines, *diff])
    lines += ["", *diff[:DIFF_LINES]]
    if len(diff) > DIFF_LINES:
        lines.append(f"… {len(diff) - DIFF_LINES} more lines; the whole diff is in the log")
    return "\n".join([*lines, "", "Apply this edit?"])
