"""The documents that are open in the editor, as the editor sees them.

pygls splits lines with `str.splitlines`, which also cuts at form feeds and U+2028: an edit behind such a
character hit the wrong place. Here only LF, CR LF and CR end a line (LSP 3.17, "Text Documents").
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from lsprotocol import types as lsp
from pygls.uris import to_fs_path

if TYPE_CHECKING:
    from regreen.workspace.text import Text

from regreen.errors import RegreenError
from regreen.workspace.changes import sha256

_LINE_END = re.compile(r"\r\n|\r|\n")

Units = Callable[[str], int]
"""Counts the client's code units in a string."""


def unit_counter(encoding: str | None) -> Units:
    """How long a string is for a client that counts in `encoding` (utf-8, utf-16 or utf-32)."""
    if encoding == "utf-8":
        return lambda text: len(text.encode("utf-8", "surrogatepass"))
    if encoding == "utf-32":
        return len
    return lambda text: len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def file_path(uri: str) -> Path | None:
    """The local path of a `file:` address, or None for anything else (untitled, notebook cells, remote)."""
    if urlsplit(uri).scheme != "file":
        return None
    path = to_fs_path(uri)
    return Path(path) if path else None


def on_disk(path: Path) -> Text | None:
    """The file as it is saved; None when there is none, or none that can be read as text."""
    from regreen.workspace.text import decode

    try:
        return decode(path.read_bytes())
    except (OSError, ValueError, RegreenError):
        return None


@dataclass
class Document:
    """One open document. `path` is None when it is no file; `edits` counts the changes seen so far."""

    uri: str
    text: str
    version: int | None
    language: str = "python"
    path: Path | None = None
    real: str = ""
    edits: int = 0
    on_edit: Callable[[int, int, int], None] | None = None
    _starts: list[int] | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The file's name, for people; "" when it is no file."""
        return self.path.name if self.path else ""

    def starts(self) -> list[int]:
        """The offset at which each line begins; a text that ends with a line end has one empty line more."""
        if self._starts is None and "\r" in self.text:
            self._starts = [0, *(match.end() for match in _LINE_END.finditer(self.text))]
        elif self._starts is None:  # the same in a third of the time
            ends = accumulate(len(line) + 1 for line in self.text.split("\n"))
            self._starts = [0, *ends][:-1]
        return self._starts

    def offset(self, position: lsp.Position, units: Units) -> int:
        """The index into `text`; a position behind the end of a line or of the document is pulled back."""
        starts = self.starts()
        if position.line >= len(starts):
            return len(self.text)
        begin = starts[position.line]
        end = starts[position.line + 1] if position.line + 1 < len(starts) else len(self.text)
        line = self.text[begin:end].rstrip("\r\n")
        if line.isascii():
            return begin + min(max(position.character, 0), len(line))
        used = 0
        for index, character in enumerate(line):
            if used >= position.character:
                return begin + index
            used += units(character)
        return begin + len(line)

    def apply(self, change: lsp.TextDocumentContentChangeEvent, units: Units) -> None:
        """Carry out one change of the editor: a part of the text, or all of it."""
        self.edits += 1
        if not isinstance(change, lsp.TextDocumentContentChangePartial):
            self.text, self._starts = change.text, None
            return
        start, end = self.offset(change.range.start, units), self.offset(change.range.end, units)
        if end < start:
            start, end = end, start
        if self.on_edit is not None:
            added = len(_LINE_END.findall(change.text))
            self.on_edit(change.range.start.line, change.range.end.line, added)
        self.text = self.text[:start] + change.text + self.text[end:]
        self._starts = None

    def as_saved(self, disk: Text | None) -> str:
        """The text with the line ends that saving would write.

        Some editors (Emacs, old Neovim) show a CR LF file with bare LF.
        """
        if disk is not None and disk.newline == "\r\n" and "\r" not in self.text:
            return self.text.replace("\n", "\r\n")
        return self.text

    def unsaved(self, disk: Text | None) -> bool:
        """Whether the editor holds something else than the file."""
        return disk is None or self.as_saved(disk) != disk.text

    def digests(self, disk: Text | None) -> set[str]:
        """The digests a proposal's base may have when it was made from what the editor holds now."""
        if disk is None:
            return {sha256(self.text.encode("utf-8", "surrogatepass"))}
        try:
            digests = {sha256(disk.encode(self.as_saved(disk)))}
        except UnicodeEncodeError:
            digests = set[str]()
        return digests if self.unsaved(disk) else digests | {sha256(disk.raw)}

    def fitted(self, text: str) -> str:
        """`text` with the line ends this document uses: the reverse of `as_saved`."""
        return text if "\r" in self.text else text.replace("\r\n", "\n")


class Documents:
    """All open documents, by address and by the real path of the file."""

    def __init__(self) -> None:
        self._by_uri: dict[str, Document] = {}
        self.units: Units = unit_counter(None)

    def all(self) -> list[Document]:
        """Every open document."""
        return list(self._by_uri.values())

    def get(self, uri: str) -> Document | None:
        """The open document with this address; differently quoted addresses are the same."""
        return self._by_uri.get(unquote(uri))

    def at(self, path: Path) -> Document | None:
        """The open document that shows the file at `path`, whatever links lead to it."""
        real = os.path.realpath(path)
        return next((document for document in self._by_uri.values() if document.real == real), None)

    def open(self, item: lsp.TextDocumentItem) -> Document:
        """The editor opened a document."""
        path = file_path(item.uri)
        document = Document(item.uri, item.text, item.version, item.language_id, path)
        document.real = os.path.realpath(path) if path else ""
        self._by_uri[unquote(item.uri)] = document
        return document

    def change(self, params: lsp.DidChangeTextDocumentParams) -> Document | None:
        """The editor changed a document; None when it was never opened."""
        document = self.get(params.text_document.uri)
        if document is not None:
            for change in params.content_changes:
                document.apply(change, self.units)
            document.version = params.text_document.version
        return document

    def close(self, uri: str) -> Document | None:
        """The editor closed a document."""
        return self._by_uri.pop(unquote(uri), None)
