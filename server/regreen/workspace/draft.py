"""The draft: what the files would hold now. Disk, under unsaved buffers, under edits that wait to be written."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from regreen.workspace.changes import FileChange
from regreen.workspace.policy import check_size
from regreen.workspace.text import decode


class Draft:
    """One run's view of the files. Reads through `read`, which raises FileNotFoundError or a refusal."""

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        self._buffers: dict[str, bytes] = {}
        self._pending: dict[str, bytes] = {}
        self._tried: dict[str, list[str]] = {}

    def set_buffer(self, path: str, text: str | None) -> None:
        """Take note of unsaved text in the editor; None when the file is as on disk again."""
        if text is None:
            self._buffers.pop(path, None)
            return
        self._buffers[path] = self._encode(path, text)

    def holds_unsaved(self, path: str) -> bool:
        """Whether the editor holds a text of this file that is not on disk."""
        return path in self._buffers and self._buffers[path] != self._on_disk(path)

    def _on_disk(self, path: str) -> bytes | None:
        try:
            return self._read(path)
        except FileNotFoundError:
            return None

    def person(self, path: str) -> bytes | None:
        """The file as the person has it: the buffer if there is one, else the disk; None when there is none."""
        if path in self._buffers:
            return self._buffers[path]
        return self._on_disk(path)

    def current(self, path: str) -> bytes | None:
        """The file with the edits that wait to be written."""
        return self._pending[path] if path in self._pending else self.person(path)

    def text(self, path: str) -> str | None:
        """The current text, line ends kept; None when there is no such file. Raises UndecodableFile."""
        raw = self.current(path)
        return None if raw is None else decode(raw).text

    def change(self, path: str, after: str) -> FileChange:
        """The change that brings the person's file to `after`, whatever waits to be written. Raises PathRefused
        when that is more than an edit may be."""
        base = self.person(path)
        check_size(path, len(base or b""), after)
        return self._change(path, base, after)

    @staticmethod
    def _change(path: str, base: bytes | None, after: str) -> FileChange:
        return FileChange(path, None if base is None else decode(base).text, after, base)

    def encode(self, change: FileChange) -> bytes:
        """The bytes of a change, in the encoding of its base."""
        return self._encode_as(change.base, change.after)

    def earlier(self, path: str) -> list[str]:
        """Texts of a file that a model may still have in mind: tried and taken back, or the person's own."""
        own = self.person(path)
        texts = [decode(own).text] if own is not None else []
        return [*reversed(self._tried.get(path, [])), *texts]

    def remember(self, changes: Iterable[FileChange]) -> None:
        """Keep the texts of changes that were tried, so that later edits may build on them."""
        for change in changes:
            self._tried.setdefault(change.path, []).append(change.after)

    def keep(self, changes: Iterable[FileChange]) -> None:
        """Let changes wait to be written; later edits build on them."""
        for change in changes:
            self._pending[change.path] = self.encode(change)

    def written(self, changes: Iterable[FileChange]) -> None:
        """The person's files hold these changes now."""
        for change in changes:
            self._pending.pop(change.path, None)

    def pending(self) -> list[FileChange]:
        """All edits that wait to be written, each against the person's file."""
        changes = [
            self._change(path, self.person(path), decode(raw).text)
            for path, raw in sorted(self._pending.items())
        ]
        return [change for change in changes if change.after != change.before]

    def snapshot(self) -> dict[str, bytes]:
        """The waiting edits, to go back to with `restore`."""
        return dict(self._pending)

    def restore(self, snapshot: dict[str, bytes]) -> None:
        """Go back to the waiting edits of a snapshot."""
        self._pending = dict(snapshot)

    def overlay(self, changes: Iterable[FileChange] = ()) -> dict[str, bytes | None]:
        """What a trial must lay over the disk: buffers, waiting edits, and the changes to be tried."""
        over: dict[str, bytes | None] = {**self._buffers, **self._pending}
        for change in changes:
            over[change.path] = self.encode(change)
        return over

    def _encode(self, path: str, text: str) -> bytes:
        try:
            base: bytes | None = self._read(path)
        except FileNotFoundError:
            base = None
        return self._encode_as(base, text)

    @staticmethod
    def _encode_as(base: bytes | None, text: str) -> bytes:
        return text.encode("utf-8") if base is None else decode(base).encode(text)
