"""After a kill, and for undo: what a journal says, what the disk holds, and how to bring the two together.

Decisions go by content alone, so that everything here can be interrupted and started again.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

from regreen.errors import UsageError
from regreen.workspace.changes import sha256
from regreen.workspace.confine import Root, read_leaf
from regreen.workspace.journal import Journal, WorkspaceGone, blob, in_use, read_entries, writes
from regreen.workspace.names import PathRefused, split
from regreen.workspace.writer import LIMIT, Conflict, disk_words, exchange, put, remove_empty

_GONE = "left alone: it cannot be reached any more"
_CHANGED = "left alone: it was changed since"


def recover(folder: Path) -> list[tuple[str, str]]:
    """Finish or drop the writes of a journal that have no end; (path, status) for each.

    A write whose files had changed places is finished: it was accepted, and can be taken back. One that had not
    got so far is dropped, with its temporary file. Content that is not ours is never deleted.
    """
    entries = read_entries(folder)
    ended = {entry["id"] for entry in entries if entry.get("op") in ("done", "void")}
    open_ones = [entry for entry in entries if entry.get("op") == "intent" and entry["id"] not in ended]
    if not open_ones:
        (folder / "unfinished").unlink(missing_ok=True)
        return []
    root, journal = _opened(folder, entries)
    try:
        return [(entry["path"], _settle(folder, root, journal, entry)) for entry in open_ones]
    finally:
        journal.close()
        root.close()


def recover_all(runs: Path) -> list[tuple[str, str]]:
    """At a start: put in order every journal below `runs` (`RUN/journal`) that a killed run left unfinished.
    (path, status) for each file concerned; [] nearly always, and then it costs one look at the folder."""
    found: list[tuple[str, str]] = []
    for mark in sorted(runs.glob("*/journal/unfinished")):
        try:
            if not in_use(mark.parent):
                found += recover(mark.parent)
        except WorkspaceGone:
            continue  # It may come back: a disk that is not there at the moment.
        except (UsageError, PathRefused, OSError) as error:
            # Another project's damage must not keep this run from starting. Told once.
            mark.unlink(missing_ok=True)
            found.append((str(mark.parent), f"cannot be put in order: {error}"))
    return found


def undo(folder: Path, run: str, only: Collection[str] | None = None) -> list[tuple[str, str]]:
    """Take back what a run wrote, also after a crash; (path, status) for each file, in the order of writing. `only`
    names the files to take back, when it is not all of them.

    Status: "restored", "removed" (a new file, now in the journal), "as before" (nothing to do), or "left
    alone: …" when the file holds something else by now, which is never touched. Can be called again.
    """
    if in_use(folder):
        raise UsageError(f"The run {run} is still going. Cancel it first, then take it back.")
    recover(folder)
    entries = read_entries(folder)
    if not entries:
        return []
    ours = [entry for entry in writes(entries) if only is None or entry["path"] in only]
    status: dict[str, str] = {entry["path"]: "" for entry in ours}
    root, journal = _opened(folder, entries)
    try:
        for entry in reversed(ours):
            path = entry["path"]
            if status[path].startswith("left alone"):
                continue
            found = _undo_one(folder, root, journal, entry)
            if found != "as before" or not status[path]:
                status[path] = found
    finally:
        journal.close()
        root.close()
    return list(status.items())


def _opened(folder: Path, entries: list[dict[str, Any]]) -> tuple[Root, Journal]:
    first = next((entry for entry in entries if entry.get("op") == "run"), None)
    if first is None:
        raise UsageError(f"The journal {folder} is damaged: it does not say which workspace it belongs to.")
    try:
        root = Root(Path(first["root"]))
    except OSError as error:
        raise WorkspaceGone(
            f"The workspace {first['root']} is gone; there is nothing to take back in it."
        ) from error
    journal = Journal(folder, first["run"])
    journal.open(root)
    return root, journal


def _undo_one(folder: Path, root: Root, journal: Journal, entry: dict[str, Any]) -> str:
    path = entry["path"]
    try:
        now = _now(root, path)
        if _same(now, entry["before"]):
            return "as before"
        if not _same(now, entry["after"]):
            return _CHANGED
        before = None if entry["before"] is None else blob(folder, entry["before"])
        put(root, journal, path, now, before, lambda step: None, undoes=entry["id"])
    except Conflict:
        return _CHANGED
    except PathRefused as error:
        return f"left alone: {error}"
    except OSError as error:
        return f"left alone: {disk_words(error, path)}"
    if before is None:
        remove_empty(root, entry.get("made", []))
        return "removed"
    return "restored"


def _settle(folder: Path, root: Root, journal: Journal, entry: dict[str, Any]) -> str:
    """End one interrupted write. `temp` is the name its new file had, and after the exchange its old one."""
    names, temp, number = split(entry["path"]), entry["temp"], entry["id"]
    try:
        with root.folder(names[:-1]) as place:
            now = _leaf(place, names[-1])
            aside = _leaf(place, temp)
            for left in (temp, f"{temp}.old"):
                _clear(folder, place, left, names[-1], now, entry, journal)
            now = _leaf(place, names[-1])
    except (FileNotFoundError, PathRefused):
        journal.end(number, "void", why="the folder cannot be reached")
        remove_empty(root, entry.get("made", []))
        return "as before" if entry["before"] is None else _GONE
    written = _same(now, entry["after"]) or (aside is not None and _same(aside, entry["before"]))
    journal.end(number, "done" if written else "void", why="recovered after a sudden end")
    if not written:
        remove_empty(root, entry.get("made", []))
    return "finished" if written else "as before"


def _clear(
    folder: Path,
    place: int,
    temp: str,
    name: str,
    now: bytes | None,
    entry: dict[str, Any],
    journal: Journal,
) -> None:
    """Take a file of an interrupted write away: delete what is ours alone, keep everything else."""
    aside = _leaf(place, temp)
    if aside is None:
        return
    if _one_file(place, temp, name):
        os.unlink(
            temp, dir_fd=place
        )  # A second name for a moment, where nothing can be renamed without replacing.
        return
    after = None if entry["after"] is None else blob(folder, entry["after"])
    ours = after is not None and after.startswith(aside) and not _same(aside, entry["before"])
    if ours and not _same(now, entry["after"]):
        os.unlink(temp, dir_fd=place)
        return
    if _same(now, entry["after"]) and not _same(aside, entry["before"]) and not ours:
        # Somebody's content was displaced in the same instant: it goes back into its place.
        if now is None:
            os.rename(temp, name, src_dir_fd=place, dst_dir_fd=place)
            return
        exchange(place, temp, name)
    journal.keep(place, temp, entry["path"])


def _one_file(place: int, first: str, second: str) -> bool:
    try:
        one, two = (os.stat(name, dir_fd=place, follow_symlinks=False) for name in (first, second))
    except FileNotFoundError:
        return False
    return (one.st_dev, one.st_ino) == (two.st_dev, two.st_ino)


def _now(root: Root, path: str) -> bytes | None:
    """What the file holds; None when it, or a folder on the way, does not exist."""
    with contextlib.suppress(FileNotFoundError):
        return root.read(split(path), LIMIT)[0]
    return None


def _leaf(place: int, name: str) -> bytes | None:
    with contextlib.suppress(FileNotFoundError):
        return read_leaf(place, name, LIMIT, several_links=True)[0]
    return None


def _same(content: bytes | None, digest: str | None) -> bool:
    return (content is None) == (digest is None) and (content is None or sha256(content) == digest)
