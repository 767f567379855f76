"""Writing an accepted change: exactly these bytes, over exactly the content it was computed from, or nothing.

A new file beside the old one gets content, mode, owner and extended attributes; then the two change places in
one step (renameat2(2), RENAME_EXCHANGE), and what was displaced is looked at. If it is not the content the
change was computed from, they change back. So a program that wrote in between loses nothing, and every displaced
file is kept in the journal. Nothing is ever truncated.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import secrets
import shlex
import stat
import sys
from collections.abc import Callable
from typing import Any

from regreen.workspace.changes import FileChange, sha256
from regreen.workspace.confine import Root, libc, read_leaf
from regreen.workspace.journal import Journal
from regreen.workspace.names import PathRefused, split
from regreen.workspace.root import Workspace
from regreen.workspace.text import decode

LIMIT = 64 << 20
_NEW = 1  # RENAME_NOREPLACE
_SWAP = 2  # RENAME_EXCHANGE
_SWAP_MAC, _NEW_MAC = 2, 4  # RENAME_SWAP, RENAME_EXCL in <sys/stdio.h>

Hook = Callable[[str], None]


class Conflict(Exception):
    """The file no longer holds what the change was computed from. Nothing was lost; `str(error)` says what is."""


class CannotWrite(PathRefused):
    """The file is not written because of what it is, or of the disk. `str(error)` is for the person: it says what
    to do. Nothing was lost."""


class Unsupported(Exception):
    """This file system cannot exchange two files in one step."""


class Writer:
    """Writes the changes of one run. `hook`, for tests, is called with the name of each step."""

    def __init__(self, workspace: Workspace, journal: Journal, hook: Hook = lambda step: None) -> None:
        self._workspace = workspace
        self._journal = journal
        self._hook = hook
        self._own: dict[str, tuple[int, list[str]]] = {}

    def write(self, change: FileChange) -> None:
        """Write one file.

        Raises Conflict when the file no longer holds `change.base`, PathRefused when the rules forbid it,
        CannotWrite when the file's rights or the disk do, UndecodableFile when the text cannot be encoded, OSError
        when the disk fails. In every case the file holds either its old content or the whole new one.
        """
        ruling = self._workspace.may_write(change.path, change.after)
        if ruling.permission in ("locked", "refused"):
            raise PathRefused(ruling.reason)
        data = encoded(change)
        if len(data) > LIMIT:
            raise PathRefused(f"too large: '{change.path}' would have {len(data)} bytes, {LIMIT} are allowed")
        self._own[change.path] = self._put(change.path, change.base, data)

    def note(self, change: FileChange) -> None:
        """Take note of a change that the editor wrote, so that it can be taken back."""
        data = encoded(change)
        entry = {"path": change.path, "before": digest(change.base), "after": sha256(data)}
        self._journal.note(
            self._workspace.folder, entry, [data] if change.base is None else [change.base, data]
        )

    def take_back(self, change: FileChange) -> bool:
        """Undo one `write` of this writer, when a later file of the same proposal could not be written. What the
        person changed since, and what the editor wrote, is left alone. False when the disk does not allow it."""
        if change.path not in self._own:
            return True
        number, made = self._own.pop(change.path)
        with contextlib.suppress(Conflict, FileNotFoundError):
            try:
                self._put(change.path, encoded(change), change.base, number)
            except PathRefused:
                return False
            remove_empty(self._workspace.folder, made)
        return True

    def _put(
        self, path: str, before: bytes | None, after: bytes | None, undoes: int = 0
    ) -> tuple[int, list[str]]:
        folder = self._workspace.folder
        folder.check()
        try:
            return put(folder, self._journal, path, before, after, self._hook, undoes)
        except FileNotFoundError as error:
            raise Conflict(f"the folder of '{path}' is gone by now; somebody else removed it.") from error
        except OSError as error:
            raise CannotWrite(disk_words(error, path)) from error


def encoded(change: FileChange) -> bytes:
    """The bytes of a change's text: in the encoding of its base, UTF-8 for a new file. Raises UndecodableFile."""
    return decode(b"" if change.base is None else change.base).encode(change.after)


def digest(data: bytes | None) -> str | None:
    """What the journal writes down for a content; None for "no such file"."""
    return None if data is None else sha256(data)


def put(
    root: Root,
    journal: Journal,
    path: str,
    before: bytes | None,
    after: bytes | None,
    hook: Hook,
    undoes: int = 0,
) -> tuple[int, list[str]]:
    """Replace `before` by `after` (None: no file) at `path`. Errors as in `Writer.write`.

    `undoes` is the number of the journal entry that this takes back, 0 for a change of its own. Returns the
    entry's number, and the folders that were made.
    """
    names = split(path)
    made = root.missing(names[:-1])
    if made and before is not None:
        raise Conflict(f"'{path}' is gone by now; somebody else removed it.")
    if not made:
        with root.folder(names[:-1]) as folder:
            _check(before, _found(folder, names[-1], path), path)
    temp = f".{names[-1][:60]}.{secrets.token_hex(6)}.regreen"
    entry: dict[str, Any] = {"path": path, "before": digest(before), "after": digest(after), "temp": temp}
    entry.update({"made": made} if made else {}, **({"undoes": undoes} if undoes else {}))
    number = journal.begin(root, entry, [data for data in (before, after) if data is not None])
    hook("intent")
    try:
        with root.folder(names[:-1], made=[] if made else None) as folder:
            hook("folders")
            try:
                _carry_out(folder, names[-1], temp, before, after, journal, path, hook)
            except Exception:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(temp, dir_fd=folder)
                raise
            hook("renamed")
            _sync(folder)
    except Exception as error:
        remove_empty(root, made)
        with contextlib.suppress(OSError):
            journal.end(number, "void", why=str(error))
        raise
    hook("synced")
    journal.end(number, "done")
    hook("done")
    return number, made


def _carry_out(
    folder: int,
    name: str,
    temp: str,
    before: bytes | None,
    after: bytes | None,
    journal: Journal,
    path: str,
    hook: Hook,
) -> None:
    found = _found(folder, name, path)
    _check(before, found, path)
    if after is None:
        assert before is not None
        return _remove(folder, name, temp, before, journal, path, hook)
    _prepare(folder, temp, name, after, found[1] if found else None, path, hook)
    if before is None:
        return _add(folder, temp, name, path)
    return _replace(folder, temp, name, before, journal, path, hook)


def _found(folder: int, name: str, path: str) -> tuple[bytes, os.stat_result] | None:
    try:
        return read_leaf(folder, name, LIMIT)
    except FileNotFoundError:
        return None
    except PathRefused as error:
        raise PathRefused(str(error).replace(f"'{name}'", f"'{path}'")) from error


def _check(before: bytes | None, found: tuple[bytes, os.stat_result] | None, path: str) -> None:
    if before is None and found is not None:
        raise Conflict(f"'{path}' exists by now; somebody else made it.")
    if before is not None and found is None:
        raise Conflict(f"'{path}' is gone by now; somebody else removed it.")
    if found is not None and found[0] != before:
        raise Conflict(f"'{path}' was changed by somebody else since it was read.")
    if found is not None:
        _check_rights(found[1], path)


def _check_rights(found: os.stat_result, path: str) -> None:
    if not found.st_mode & stat.S_IWUSR:
        command = f"chmod u+w {shlex.quote(path)}"
        raise CannotWrite(
            f"{path} is read-only. To allow it, run `{command}` in the workspace, then start again"
        )
    if found.st_mode & (stat.S_ISUID | stat.S_ISGID):
        raise CannotWrite(
            f"{path} runs with the rights of its owner or group (setuid or setgid), which must not go over to new "
            "content. Make the change yourself"
        )


def disk_words(error: OSError, path: str) -> str:
    """A failed write in a person's words."""
    known = {
        errno.ENOSPC: "the disk is full, this one or the one with Regreen's own folder. Make room, then start again",
        errno.EDQUOT: "your share of the disk is used up. Make room, then start again",
        errno.EROFS: "the file system is read-only. Make it writable, then start again",
        errno.EACCES: "its folder cannot be written to with your rights. Change them, then start again",
        errno.EPERM: "the system does not allow it (is the file marked as immutable?). Change that, then start again",
    }
    words = known.get(error.errno or 0, error.strerror or str(error))
    return f"{path}: {words}"


def _prepare(
    folder: int, temp: str, name: str, data: bytes, like: os.stat_result | None, path: str, hook: Hook
) -> None:
    """Make the new file, complete and on the disk, with everything but its content as the old one has it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(temp, flags, 0o600 if like else 0o666, dir_fd=folder)
    try:
        hook("temp")
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        hook("filled")
        if like is not None:
            _dress(fd, folder, name, like, path)
        os.fsync(fd)
        hook("dressed")
    finally:
        os.close(fd)


def _dress(fd: int, folder: int, name: str, like: os.stat_result, path: str) -> None:
    made = os.fstat(fd)
    if (made.st_uid, made.st_gid) != (like.st_uid, like.st_gid):
        try:
            os.fchown(fd, like.st_uid, like.st_gid)
        except PermissionError as error:
            raise PathRefused(
                f"the file belongs to another user or group, which could not be kept: '{path}'"
            ) from error
    if hasattr(os, "listxattr"):
        old = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        try:
            kept = os.listxattr(old)
            for attribute in kept:
                _copy_attribute(old, fd, attribute, path)
            for given in set(os.listxattr(fd)) - {*kept}:
                if not given.startswith("security."):  # Rights that the folder gives to every new file.
                    os.removexattr(fd, given)
        finally:
            os.close(old)
    os.fchmod(fd, stat.S_IMODE(like.st_mode))


def _copy_attribute(old: int, new: int, name: str, path: str) -> None:
    if name == "security.capability":
        raise CannotWrite(
            f"{path} has capabilities, which must not go over to new content. Make the change yourself"
        )
    try:
        os.setxattr(new, name, os.getxattr(old, name))
    except OSError as error:
        if not name.startswith("security."):  # Set by the system itself for a new file.
            raise PathRefused(f"the file's attribute {name} could not be kept: '{path}'") from error


def _add(folder: int, temp: str, name: str, path: str) -> None:
    try:
        _rename_new(folder, temp, name)
    except FileExistsError as error:
        raise Conflict(f"'{path}' was made by somebody else at the same moment.") from error


def _replace(
    folder: int, temp: str, name: str, before: bytes, journal: Journal, path: str, hook: Hook
) -> None:
    try:
        exchange(folder, temp, name)
    except Unsupported:
        return _replace_in_two_steps(folder, temp, name, before, journal, path)
    except FileNotFoundError as error:
        raise Conflict(f"'{path}' is gone by now; somebody else removed it.") from error
    hook("swapped")
    if not _is(folder, temp, before):
        exchange(folder, temp, name)
        hook("swapped back")
        journal.keep(folder, temp, path)
        raise Conflict(f"'{path}' was changed by somebody else during the write; their content is in place.")
    journal.keep(folder, temp, path)


def _replace_in_two_steps(
    folder: int, temp: str, name: str, before: bytes, journal: Journal, path: str
) -> None:
    """For file systems without an exchange: the old file gets a second name, is looked at there and kept; then the
    new one takes its place. A program that replaces the file in the microseconds between loses its version."""
    kept = f"{temp}.old"
    os.link(name, kept, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    try:
        if not _is(folder, kept, before, several_links=True):
            raise Conflict(
                f"'{path}' was changed by somebody else during the write; their content is in place."
            )
        os.rename(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
        journal.keep(folder, kept, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(kept, dir_fd=folder)


def _remove(
    folder: int, name: str, temp: str, before: bytes, journal: Journal, path: str, hook: Hook
) -> None:
    """Take a file away that this run made: moved aside, looked at, kept."""
    try:
        _rename_new(folder, name, temp)
    except FileNotFoundError as error:
        raise Conflict(f"'{path}' is gone by now; somebody else removed it.") from error
    hook("swapped")
    if not _is(folder, temp, before):
        _rename_new(folder, temp, name)
        raise Conflict(f"'{path}' was changed by somebody else since; their content is in place.")
    journal.keep(folder, temp, path)


def _is(folder: int, name: str, content: bytes, several_links: bool = False) -> bool:
    try:
        return read_leaf(folder, name, LIMIT, several_links)[0] == content
    except (PathRefused, FileNotFoundError):
        return False  # Somebody put a link, a pipe or something too large there.


def exchange(folder: int, first: str, second: str) -> None:
    """Let two names in a folder change places in one step. Raises Unsupported."""
    _rename(folder, first, second, _SWAP_MAC if sys.platform == "darwin" else _SWAP)


def _rename_new(folder: int, old: str, new: str) -> None:
    """Rename without replacing anything. FileExistsError when the new name is taken."""
    try:
        _rename(folder, old, new, _NEW_MAC if sys.platform == "darwin" else _NEW)
    except Unsupported:
        os.link(old, new, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        os.unlink(old, dir_fd=folder)


def _rename(folder: int, old: str, new: str, flags: int) -> None:
    call = getattr(libc(), "renameatx_np" if sys.platform == "darwin" else "renameat2", None)
    if call is None:
        raise Unsupported
    if call(folder, os.fsencode(old), folder, os.fsencode(new), ctypes.c_uint(flags)) == 0:
        return
    number = ctypes.get_errno()
    # EINVAL and ENOTSUP: this file system. ENOSYS and EPERM: an old kernel, or a filter.
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM):
        raise Unsupported
    raise OSError(number, os.strerror(number), new)


def _sync(folder: int) -> None:
    """Bring the folder's names to the disk. Some file systems cannot, and do not need to."""
    with contextlib.suppress(OSError):
        os.fsync(folder)


def remove_empty(root: Root, made: list[str]) -> None:
    """Remove folders that were made for a file, as far as they are empty."""
    for path in reversed(made):
        names = split(path)
        with contextlib.suppress(OSError, PathRefused), root.folder(names[:-1]) as above:
            os.rmdir(names[-1], dir_fd=above)
