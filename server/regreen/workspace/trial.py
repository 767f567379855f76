"""The trial: a private copy of the workspace in which a change is tested. The workspace itself is only read.

Code under test may write anything into the trial, links out of it included. So every name in it is opened
relative to an open folder and without following links, and whatever a run left behind is put right by the next
`prepare`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from regreen.testing.seal.privileges import is_root, nobody
from regreen.workspace.changes import sha256
from regreen.workspace.memory_folder import MemoryFolder
from regreen.workspace.names import DEEPEST
from regreen.workspace.policy import Policy
from regreen.workspace.remove import open_folder, remove_entry, remove_tree

SKIPPED_FOLDERS = frozenset(
    (".git", ".hg", ".svn", ".venv", "venv", ".conda", ".pixi", ".direnv", "node_modules", "__pycache__",
     ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".pyre", ".pytype", ".ipynb_checkpoints",
     ".ssh", ".aws", ".gnupg", ".azure", ".kube")
)  # fmt: skip
"""Folders that are never copied: histories, environments, caches, and folders that hold keys."""

_ENVIRONMENT_MARKS = frozenset(("pyvenv.cfg", "conda-meta", "CACHEDIR.TAG"))
_HEAD = 1 << 18
_CHUNK = 1 << 20
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW

Wanted = tuple[str | int, ...]
"""What a place in the copy should hold: ("file", size, time, inode, mode) of a file in the workspace, ("link", target)
or ("given", mode, digest) of bytes from an overlay. Plain tuples, since there is one for each file, every time."""

State = tuple[int, ...]
"""A file in the copy as it was put there; see `_state`."""


class Trial:
    """A copy of `workspace`, brought up to date by `prepare` in time proportional to what changed.

    It lies in memory when there is plenty (`memory`), else in `folder`, which the caller provides and removes.
    `reveal` names files (relative, forward slashes) that are copied although they look like secrets, for a
    person who allowed that; so are links into, and files in, the `readable` places, whole paths. Calls from several threads wait for each other.
    """

    def __init__(
        self,
        workspace: Path,
        folder: Path,
        reveal: frozenset[str] = frozenset(),
        *,
        memory: bool = True,
        readable: Sequence[Path] = (),
    ) -> None:
        self._workspace = workspace
        self._folder = folder
        self._in_memory: MemoryFolder | None = None
        self._use_memory = memory
        self._reveal = reveal
        self._readable = tuple(os.path.realpath(path) for path in readable)
        self._policy = Policy()
        self._held: dict[str, tuple[Wanted, State]] = {}
        self._seen: tuple[dict[str, Wanted], set[str]] | None = None
        self._mount_points: set[str] = set()
        self._owner = nobody() if is_root() else None
        self._lock = threading.Lock()
        self.copied = 0
        """Files written by the last `prepare`."""

    @property
    def tree(self) -> Path:
        """Where the copy is; known after the first `prepare`."""
        return (self._in_memory.path if self._in_memory else self._folder) / "tree"

    def allow(self, path: Path) -> None:
        """Copy what lies at a place, a whole path, from the next `prepare` on."""
        self._readable = tuple(dict.fromkeys((*self._readable, os.path.realpath(path))))

    def sibling(self, name: str) -> Trial:
        """A second copy of the same workspace, for runs that go on at the same time."""
        folder = self._folder.with_name(f"{self._folder.name}-{name}")
        return Trial(
            self._workspace,
            folder,
            self._reveal,
            memory=self._use_memory,
            readable=tuple(map(Path, self._readable)),
        )

    def prepare(self, overlay: Mapping[str, bytes | None] | None = None, *, fresh: bool = True) -> Path:
        """Make the trial equal to the workspace with `overlay` on it; returns the copy's folder.

        `overlay` maps relative paths to contents, None for a file that should not be there. With `fresh` false
        the workspace is taken as it was at the last call; the copy is checked all the same. Raises ValueError
        for a path in the overlay that is absolute or leads out.
        """
        with self._lock:
            return self._prepare(overlay or {}, fresh)

    def _prepare(self, overlay: Mapping[str, bytes | None], fresh: bool) -> Path:
        if fresh or self._seen is None:
            files: dict[str, Wanted] = {}
            folders: set[str] = set()
            self._mount_points.clear()
            self._scan_workspace(str(self._workspace), "", files, folders)
            self._seen = files, folders
        if not self.tree.is_dir():
            self._settle(sum(int(wanted[1]) for wanted in self._seen[0].values() if wanted[0] == "file"))
        wanted, folders = dict(self._seen[0]), set(self._seen[1])
        contents = self._lay_over(overlay, wanted, folders)
        self._bring_up_to_date(wanted, folders, contents)
        return self.tree

    def _settle(self, size: int) -> None:
        """Choose the place and make it: private, though the copy itself can be entered by whoever gets so far."""
        self._held.clear()
        if self._use_memory and self._in_memory is None:
            self._in_memory = MemoryFolder.with_room_for(3 * size)
        self.tree.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # A seal started by root enters the copy without any rights; its parent keeps everybody else out.
        self.tree.mkdir(mode=0o755)

    def close(self) -> None:
        """Remove the copy, with folders that code under test made unreadable."""
        with self._lock:
            if self._in_memory:
                self._in_memory.remove()
                self._in_memory = None
            remove_tree(self._folder)
            self._held.clear()
            self._seen = None

    # --- what should be there ------------------------------------------------------------------------------

    def _scan_workspace(self, folder: str, prefix: str, files: dict[str, Wanted], folders: set[str]) -> bool:
        """Take in one folder; False, and nothing taken in, when it marks itself as an environment or a cache, or lies too
        deep."""
        try:
            with os.scandir(folder) as opened:
                entries = list(opened)
        except OSError:
            return True
        marked = any(entry.name in _ENVIRONMENT_MARKS for entry in entries)
        if (prefix and marked) or prefix.count("/") > DEEPEST:
            return False
        for entry in entries:
            name = entry.name
            relative = prefix + name
            try:
                if entry.is_symlink():
                    link = self._link(entry.path)
                    if link:
                        files[relative] = ("link", link)
                elif entry.is_dir():
                    if name.lower() not in SKIPPED_FOLDERS and self._scan_workspace(
                        entry.path, relative + "/", files, folders
                    ):
                        folders.add(relative)
                    else:
                        self._mount_points.add(relative)
                elif entry.is_file() and not self._masked(relative):
                    found = entry.stat(follow_symlinks=False)
                    mode = found.st_mode & 0o777
                    files[relative] = ("file", found.st_size, found.st_mtime_ns, found.st_ino, mode)
            except OSError:
                continue
        return True

    def _masked(self, relative: str) -> bool:
        if relative in self._reveal:
            return False
        if self._readable and self._may_be_read(os.path.realpath(self._workspace / relative)):
            return False
        return self._policy.left_out_of_trials(relative, lambda: self._beginning(relative))

    def _beginning(self, relative: str) -> bytes:
        with contextlib.suppress(OSError):
            source = self._open_source(relative)
            try:
                return os.read(source, _HEAD)
            finally:
                os.close(source)
        return b""

    def _open_source(self, relative: str) -> int:
        """A file of the workspace, to read. OSError when it is no plain file any more; a pipe does not block."""
        source = os.open(self._workspace / relative, os.O_RDONLY | _NOFOLLOW | _NONBLOCK)
        if not stat.S_ISREG(os.fstat(source).st_mode):
            os.close(source)
            raise OSError(errno.ENXIO, "not a regular file", relative)
        return source

    def _link(self, path: str) -> str:
        """A link's target made relative, "" when it leads out of the workspace or into what is not copied."""
        root = os.path.realpath(self._workspace)
        target = os.path.realpath(path)
        if not target.startswith(root + os.sep):
            return target if self._may_be_read(target) else ""
        inside = Path(target).relative_to(root).parts
        if any(part.lower() in SKIPPED_FOLDERS for part in inside) or self._masked("/".join(inside)):
            return ""
        return os.path.relpath(target, os.path.realpath(Path(path).parent))

    def _may_be_read(self, path: str) -> bool:
        return any((path + os.sep).startswith(allowed + os.sep) for allowed in self._readable)

    def _lay_over(
        self, overlay: Mapping[str, bytes | None], wanted: dict[str, Wanted], folders: set[str]
    ) -> dict[str, bytes]:
        contents: dict[str, bytes] = {}
        for path, data in overlay.items():
            parts = path.split("/")
            if any(part in ("", ".", "..") for part in parts) or "\\" in path:
                raise ValueError(f"not a path inside the workspace: {path!r}")
            if data is None:
                wanted.pop(path, None)
                continue
            known = wanted.get(path, ())
            mode = known[4] if known and known[0] == "file" else 0o644
            wanted[path] = ("given", mode, sha256(data))
            contents[path] = data
            for depth in range(1, len(parts)):
                folder = "/".join(parts[:depth])
                wanted.pop(folder, None)
                folders.add(folder)
        return contents

    # --- making it so --------------------------------------------------------------------------------------

    def _bring_up_to_date(
        self, wanted: Mapping[str, Wanted], folders: set[str], contents: Mapping[str, bytes]
    ) -> None:
        missing = set(wanted)
        lacking = set(folders)
        root = os.open(self.tree, _FOLDER)
        try:
            self._look_through(root, "", wanted, folders, missing, lacking)
            for relative in sorted(lacking):
                self._make_folder(root, relative)
            self._held = {path: held for path, held in self._held.items() if path in wanted}
            self.copied = 0
            for relative in sorted(missing):
                self._put(root, relative, wanted[relative], contents.get(relative))
        finally:
            os.close(root)

    def _look_through(
        self,
        folder: int,
        prefix: str,
        wanted: Mapping[str, Wanted],
        folders: set[str],
        missing: set[str],
        lacking: set[str],
    ) -> None:
        """Strike out what is there already, and remove what should not be, in one folder of the copy and below."""
        with os.scandir(folder) as opened:
            entries = list(opened)
        for entry in entries:
            name = entry.name
            relative = prefix + name
            if entry.is_dir(follow_symlinks=False):
                if relative in folders:
                    lacking.discard(relative)
                elif relative not in self._mount_points:
                    remove_entry(name, folder)
                    continue
                # Where a running seal may have mounted an environment, removing the folder would undo that: only
                # what lies in it goes.
                inner = open_folder(name, folder)
                try:
                    self._look_through(inner, relative + "/", wanted, folders, missing, lacking)
                finally:
                    os.close(inner)
                continue
            held = self._held.get(relative)
            if (
                held is not None
                and wanted.get(relative) == held[0]
                and held[1] == _state(entry.stat(follow_symlinks=False))
            ):
                missing.discard(relative)
            else:
                os.unlink(name, dir_fd=folder)

    def _make_folder(self, root: int, relative: str) -> None:
        parent, name = self._open_parent(root, relative)
        try:
            os.mkdir(name, 0o755, dir_fd=parent)
            if self._owner is not None:
                os.chown(name, self._owner, self._owner, dir_fd=parent, follow_symlinks=False)
        finally:
            os.close(parent)

    def _put(self, root: int, relative: str, wanted: Wanted, data: bytes | None) -> None:
        parent, name = self._open_parent(root, relative)
        try:
            if wanted[0] == "link":
                os.symlink(str(wanted[1]), name, dir_fd=parent)
                if self._owner is not None:
                    os.chown(name, self._owner, self._owner, dir_fd=parent, follow_symlinks=False)
            elif not self._write(parent, name, relative, wanted, data):
                self._held.pop(relative, None)
                return
            found = os.stat(name, dir_fd=parent, follow_symlinks=False)
            self._held[relative] = (wanted, _state(found))
            self.copied += 1
        finally:
            os.close(parent)

    def _write(self, parent: int, name: str, relative: str, wanted: Wanted, data: bytes | None) -> bool:
        """Write one file; False when the workspace's file has gone meanwhile."""
        source = -1
        if data is None:
            try:
                source = self._open_source(relative)
            except OSError:
                return False
        try:
            target = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW, 0o600, dir_fd=parent)
            try:
                if data is not None:
                    _write_all(target, data)
                else:
                    _copy(source, target)
                mode = int(wanted[1] if data is not None else wanted[4])
                os.fchmod(target, mode | 0o600)
                if self._owner is not None:
                    os.fchown(target, self._owner, self._owner)
                if data is None:
                    os.utime(target, ns=(int(wanted[2]), int(wanted[2])))
            finally:
                os.close(target)
        finally:
            if source >= 0:
                os.close(source)
        return True

    def _open_parent(self, root: int, relative: str) -> tuple[int, str]:
        *folders, name = relative.split("/")
        here = os.dup(root)
        for folder in folders:
            inner = os.open(folder, _FOLDER, dir_fd=here)
            os.close(here)
            here = inner
        return here, name


def _state(found: os.stat_result) -> State:
    """Changes with every write, whatever is done to the times: code cannot set a file's change time."""
    return (found.st_size, found.st_mtime_ns, found.st_ino, found.st_mode, found.st_ctime_ns)


def _copy(source: int, target: int) -> None:
    """Copy a file; holes stay holes, or a file that takes no room would fill the disk."""
    found = os.fstat(source)
    if found.st_blocks * 512 >= found.st_size or not hasattr(os, "SEEK_DATA"):
        while block := os.read(source, _CHUNK):
            _write_all(target, block)
        return
    at = 0
    while at < found.st_size:
        try:
            at = os.lseek(source, at, os.SEEK_DATA)
            end = os.lseek(source, at, os.SEEK_HOLE)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            break  # The rest is one hole.
        os.lseek(target, at, os.SEEK_SET)
        while at < end and (block := os.pread(source, min(_CHUNK, end - at), at)):
            _write_all(target, block)
            at += len(block)
        if at < end:
            break  # It became shorter meanwhile.
    os.ftruncate(target, found.st_size)


def _write_all(target: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]
