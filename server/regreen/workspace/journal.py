"""What a run wrote, so that it can be taken back, and so that a kill at any instant loses nothing.

One folder for each run, outside the workspace, made at the first write and readable by its owner only:
`log.jsonl` (one line for each intent and each end, on the disk before the next step), `blobs/` (contents by
digest), `kept/` (files that were displaced: moved here, never deleted, since another program may still write
into one), `unfinished` (there while a write is under way).
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from regreen.errors import UsageError
from regreen.workspace.changes import sha256
from regreen.workspace.confine import Root, read_all
from regreen.workspace.names import PathRefused, split

_LIMIT = 1 << 30
_DIGEST = re.compile("[0-9a-f]{64}")
_TEMP = re.compile(r"\.[^/\0]+\.[0-9a-f]{12}\.regreen")


class WorkspaceGone(UsageError):
    """The folder that a journal belongs to is not there."""


class Journal:
    """The journal of one run, in `folder`. Nothing is created before the first write."""

    def __init__(self, folder: Path, run: str) -> None:
        self._folder = folder
        self._run = run
        self._log = -1
        self._count = 0
        self._held: list[tuple[str, int, str, Path]] = []

    # -- writing down

    def begin(self, root: Root, entry: dict[str, Any], blobs: Iterable[bytes]) -> int:
        """Note what is about to be written, with every content it may need again; returns the entry's number."""
        self.open(root)
        for blob in blobs:
            self._put(blob)
        (self._folder / "unfinished").touch(mode=0o600)
        self._count += 1
        self._note({"op": "intent", "id": self._count, **entry})
        return self._count

    def end(self, number: int, op: str, **more: Any) -> None:
        """Note how an intent ended: "done", or "void" when the file is as it was before."""
        self._note({"op": op, "id": number, **more})
        (self._folder / "unfinished").unlink(missing_ok=True)

    def note(self, root: Root, entry: dict[str, Any], blobs: Iterable[bytes]) -> None:
        """Note what another program (the editor) has written."""
        self.open(root)
        for blob in blobs:
            self._put(blob)
        self._count += 1
        self._note({"op": "noted", "id": self._count, **entry})

    def keep(self, folder: int, name: str, path: str) -> None:
        """Take a displaced file out of the workspace, its inode too where one file system holds both. It is held
        open until `close`, which then finds what other programs wrote into it later."""
        place = self._place()
        with contextlib.suppress(OSError, PathRefused):
            fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
            try:
                data, _ = read_all(fd, path, _LIMIT, several_links=True)
            except Exception:
                os.close(fd)
                raise
            self._held.append((path, fd, sha256(data), place))
        try:
            os.rename(name, place, src_dir_fd=folder)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            self._copy(folder, name, place)
            os.unlink(name, dir_fd=folder)

    def close(self) -> list[tuple[str, Path]]:
        """Let go of everything. Returns the files into whose old content another program wrote after it was
        displaced, each with the place where those bytes now are."""
        late: list[tuple[str, Path]] = []
        for path, fd, digest, place in self._held:
            try:
                os.lseek(fd, 0, os.SEEK_SET)
                data, _ = read_all(fd, path, _LIMIT, several_links=True)
                if sha256(data) != digest:
                    _write_file(place, data)
                    self._note({"op": "late", "path": path, "kept": place.name})
                    late.append((path, place))
            finally:
                os.close(fd)
        self._held.clear()
        if self._log >= 0:
            os.close(self._log)
            self._log = -1
        return late

    # -- files of the journal

    def open(self, root: Root) -> None:
        """Make the journal's files, or take up an earlier journal; done by the first write otherwise. Raises
        UsageError when its folder is not ours alone."""
        if self._log >= 0:
            return
        for folder in (self._folder, self._folder / "blobs", self._folder / "kept"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        own = self._folder.lstat()
        if os.name != "nt" and (own.st_uid != os.geteuid() or own.st_mode & 0o077):
            raise UsageError(
                f"The folder {self._folder} belongs to somebody else or is open to others. Remove it."
            )
        flags = (
            os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
        )
        self._log = os.open(self._folder / "log.jsonl", flags, 0o600)
        _lock(self._log)
        entries = read_entries(self._folder)
        self._count = max((int(entry.get("id", 0)) for entry in entries), default=0)
        size = os.fstat(self._log).st_size
        if size and os.pread(self._log, 1, size - 1) != b"\n":
            os.write(self._log, b"\n")  # The last line of a run that was killed while it wrote.
        if not entries:
            self._note(
                {"op": "run", "run": self._run, "root": str(root.path), "identity": list(root.identity)}
            )

    def _note(self, entry: dict[str, Any]) -> None:
        if self._log < 0:
            return
        data = (json.dumps(entry, ensure_ascii=True) + "\n").encode()
        while data:
            data = data[os.write(self._log, data) :]
        os.fsync(self._log)

    def _put(self, data: bytes) -> None:
        place = self._folder / "blobs" / sha256(data)
        if not place.exists():
            _write_file(place, data)

    def _place(self) -> Path:
        kept = self._folder / "kept"
        return kept / f"{len(os.listdir(kept)) + 1:06d}"  # noqa: PTH208

    @staticmethod
    def _copy(folder: int, name: str, place: Path) -> None:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        try:
            data, _ = read_all(fd, name, _LIMIT, several_links=True)
        finally:
            os.close(fd)
        _write_file(place, data)


def _write_file(place: Path, data: bytes) -> None:
    """A file of the journal, complete or not there at all."""
    temp = place.with_name(f".{place.name}.{os.getpid()}")
    with open(temp, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temp.replace(place)


def read_entries(folder: Path) -> list[dict[str, Any]]:
    """The lines of a journal. What is no line of ours is left out: one that was torn by a kill, or damaged, so that
    nobody acts on a name that no run has written down. Raises UsageError when the file cannot be read."""
    try:
        lines = (folder / "log.jsonl").read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UsageError(f"The journal {folder} cannot be read: {error.strerror}.") from error
    entries: list[dict[str, Any]] = []
    for line in lines:
        with contextlib.suppress(ValueError, RecursionError):
            entry: Any = json.loads(line)
            if isinstance(entry, dict) and _is_ours(cast("dict[str, Any]", entry)):
                entries.append(cast("dict[str, Any]", entry))
    return entries


def _is_ours(entry: dict[str, Any]) -> bool:
    """Whether a line has the form in which it is written here and in `writer`."""
    kind = entry.get("op")
    if kind == "run":
        return isinstance(entry.get("run"), str) and Path(str(entry.get("root"))).is_absolute()
    if kind == "late":
        return True
    if kind not in ("intent", "done", "void", "noted") or type(entry.get("id")) is not int:
        return False
    if kind in ("done", "void"):
        return True
    made, temp = entry.get("made", []), entry.get("temp", "")
    if not isinstance(made, list) or (kind == "intent" and not _TEMP.fullmatch(str(temp))):
        return False
    try:
        for path in (entry.get("path"), *cast("list[Any]", made)):
            split(path if isinstance(path, str) else "")
    except PathRefused:
        return False
    return all(
        side in entry and (entry[side] is None or _DIGEST.fullmatch(str(entry[side])))
        for side in ("before", "after")
    )


def blob(folder: Path, digest: str) -> bytes:
    """A content the journal holds. Raises UsageError when it is missing or damaged."""
    try:
        data = (folder / "blobs" / digest).read_bytes()
    except OSError as error:
        raise UsageError(
            f"The journal {folder} is damaged: a content is missing. Nothing more was changed."
        ) from error
    if sha256(data) != digest:
        raise UsageError(
            f"The journal {folder} is damaged: a content is not what it was. Nothing more was changed."
        )
    return data


def in_use(folder: Path) -> bool:
    """True while a living process has the journal open."""
    try:
        fd = os.open(folder / "log.jsonl", os.O_RDONLY)
    except OSError:
        return False
    try:
        return not _lock(fd)
    finally:
        os.close(fd)


def _lock(fd: int) -> bool:
    """Take the lock of a journal, which ends with the process; False when another has it."""
    try:
        import fcntl
    except ImportError:  # Windows: no lock, so no recovery while a run of the same journal goes on.
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def writes(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries of a run's own writes, in their order; those that were dropped or take something back are left out."""
    void = {entry["id"] for entry in entries if entry.get("op") == "void"}
    return [
        entry
        for entry in entries
        if entry.get("op") in ("intent", "noted") and entry["id"] not in void and "undoes" not in entry
    ]


def written(folder: Path) -> list[str]:
    """The paths a run wrote, each once, in the order of writing."""
    return list(dict.fromkeys(entry["path"] for entry in writes(read_entries(folder))))


def forget(folder: Path) -> None:
    """Delete a journal; its run cannot be taken back after that."""
    shutil.rmtree(folder, ignore_errors=True)
