"""The trial: a private copy of the workspace in which a change is tested. The workspace itself is only read.

Code under test may write anything into the trial, links out of it included. So every name in it is opened
relative to an open folder and without following links, and whatever a run left behind is put right by the next
`prepare`.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import stat
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from regreen.testing.seal.privileges import is_root, nobody
from regreen.workspace.changes import sha256
from regreen.workspace.memory_folder import MemoryFolder, remove_tree

SKIPPED_FOLDERS = frozenset(
    (".git", ".hg", ".svn", ".venv", "venv", ".conda", ".pixi", ".direnv", "node_modules", "__pycache__",
     ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".pyre", ".pytype", ".ipynb_checkpoints",
     ".ssh", ".aws", ".gnupg", ".azure", ".kube")
)  # fmt: skip
"""Folders that are never copied: histories, environments, caches, and folders that hold keys."""

MASKED_FILES = (
    ".env", ".env.*", "*.env", ".envrc", ".netrc", "_netrc", ".pypirc", ".npmrc", ".git-credentials", ".pgpass",
    "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519",
)  # fmt: skip
"""Files that hold secrets by custom. Their examples (`.env.example`) are copied."""

_EXAMPLES = (".example", ".sample", ".template", ".dist", ".defaults")
_CHUNK = 1 << 20
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW

Signature = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a place in the trial should hold: a file's state in the workspace, a link's target, or given bytes."""

    kind: str
    signature: Signature = ()
    link: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class _Held:
    """What was put there last, and the state of the file that came of it."""

    wanted: _Wanted
    state: Signature


class Trial:
    """A copy of `workspace`, brought up to date by `prepare` in time proportional to what changed.

    It lies in memory when there is plenty (`memory`), else in `folder`, which the caller provides and removes.
    `reveal` names files (relative, forward slashes) that are copied although they look like secrets, for a
    person who allowed that. Calls from several threads wait for each other.
    """

    def __init__(
        self, workspace: Path, folder: Path, reveal: frozenset[str] = frozenset(), *, memory: bool = True
    ) -> None:
        self._workspace = workspace
        self._folder = folder
        self._in_memory: MemoryFolder | None = None
        self._use_memory = memory
        self._reveal = reveal
        self._held: dict[str, _Held] = {}
        self._seen: tuple[dict[str, _Wanted], set[str]] | None = None
        self._mount_points: set[str] = set()
        self._owner = nobody() if is_root() else None
        self._lock = threading.Lock()
        self.copied = 0
        """Files written by the last `prepare`."""

    @property
    def tree(self) -> Path:
        """Where the copy is; known after the first `prepare`."""
        return (self._in_memory.path if self._in_memory else self._folder) / "tree"

    def sibling(self, name: str) -> Trial:
        """A second copy of the same workspace, for runs that go on at the same time."""
        folder = self._folder.with_name(f"{self._folder.name}-{name}")
        return Trial(self._workspace, folder, self._reveal, memory=self._use_memory)

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
            files: dict[str, _Wanted] = {}
            folders: set[str] = set()
            self._mount_points.clear()
            self._scan_workspace(self._workspace, "", files, folders)
            self._seen = files, folders
        if not self.tree.is_dir():
            self._settle(sum(wanted.signature[0] for wanted in self._seen[0].values() if wanted.signature))
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

    def _scan_workspace(
        self, folder: Path, prefix: str, files: dict[str, _Wanted], folders: set[str]
    ) -> None:
        try:
            entries = list(os.scandir(folder))
        except OSError:
            return
        for entry in entries:
            relative = prefix + entry.name
            try:
                if entry.is_symlink():
                    link = self._link(entry.path)
                    if link:
                        files[relative] = _Wanted("link", link=link)
                elif entry.is_dir(follow_symlinks=False):
                    if _skipped(entry):
                        self._mount_points.add(relative)
                    else:
                        folders.add(relative)
                        self._scan_workspace(Path(entry.path), relative + "/", files, folders)
                elif entry.is_file(follow_symlinks=False) and not self._masked(relative, entry.name):
                    found = entry.stat(follow_symlinks=False)
                    state = (found.st_size, found.st_mtime_ns, found.st_ino, found.st_mode & 0o777)
                    files[relative] = _Wanted("file", state)
            except OSError:
                continue

    def _masked(self, relative: str, name: str) -> bool:
        if relative in self._reveal or name.endswith(_EXAMPLES):
            return False
        return any(fnmatch.fnmatch(name, pattern) for pattern in MASKED_FILES)

    def _link(self, path: str) -> str:
        """A link's target made relative, "" when it leads out of the workspace or into what is not copied."""
        root = os.path.realpath(self._workspace)
        target = os.path.realpath(path)
        if not target.startswith(root + os.sep):
            return ""
        inside = Path(target).relative_to(root).parts
        if any(part in SKIPPED_FOLDERS for part in inside) or self._masked("/".join(inside), inside[-1]):
            return ""
        return os.path.relpath(target, os.path.realpath(Path(path).parent))

    def _lay_over(
        self, overlay: Mapping[str, bytes | None], wanted: dict[str, _Wanted], folders: set[str]
    ) -> dict[str, bytes]:
        contents: dict[str, bytes] = {}
        for path, data in overlay.items():
            parts = path.split("/")
            if path.startswith("/") or any(part in ("", ".", "..") for part in parts) or "\\" in path:
                raise ValueError(f"not a path inside the workspace: {path!r}")
            if data is None:
                wanted.pop(path, None)
                continue
            mode = wanted[path].signature[3] if path in wanted and wanted[path].signature else 0o644
            wanted[path] = _Wanted("given", (len(data), mode), digest=sha256(data))
            contents[path] = data
            for depth in range(1, len(parts)):
                folder = "/".join(parts[:depth])
                wanted.pop(folder, None)
                folders.add(folder)
        return contents

    # --- making it so --------------------------------------------------------------------------------------

    def _bring_up_to_date(
        self, wanted: Mapping[str, _Wanted], folders: set[str], contents: Mapping[str, bytes]
    ) -> None:
        missing = set(wanted)
        todo = set(folders)
        root = os.open(self.tree, _FOLDER)
        try:
            for relative, name, folder, found in _walk(root, ""):
                if stat.S_ISDIR(found.st_mode):
                    if relative in folders:
                        todo.discard(relative)
                    elif relative not in self._mount_points:
                        _remove_entry(name, folder, found)
                    # Else a running seal may have mounted an environment here, which removing would undo: only
                    # what lies in it is removed, as any other stray file.
                    continue
                held = self._held.get(relative)
                if (
                    relative in wanted
                    and held
                    and held.wanted == wanted[relative]
                    and held.state == _state(found)
                ):
                    missing.discard(relative)
                else:
                    _remove_entry(name, folder, found)
            for relative in sorted(todo):
                self._make_folder(root, relative)
            self._held = {path: held for path, held in self._held.items() if path in wanted}
            self.copied = 0
            for relative in sorted(missing):
                self._put(root, relative, wanted[relative], contents.get(relative))
        finally:
            os.close(root)

    def _make_folder(self, root: int, relative: str) -> None:
        parent, name = self._open_parent(root, relative)
        try:
            os.mkdir(name, 0o755, dir_fd=parent)
            if self._owner is not None:
                os.chown(name, self._owner, self._owner, dir_fd=parent, follow_symlinks=False)
        finally:
            os.close(parent)

    def _put(self, root: int, relative: str, wanted: _Wanted, data: bytes | None) -> None:
        parent, name = self._open_parent(root, relative)
        try:
            if wanted.kind == "link":
                os.symlink(wanted.link, name, dir_fd=parent)
                if self._owner is not None:
                    os.chown(name, self._owner, self._owner, dir_fd=parent, follow_symlinks=False)
            elif not self._write(parent, name, relative, wanted, data):
                self._held.pop(relative, None)
                return
            found = os.stat(name, dir_fd=parent, follow_symlinks=False)
            self._held[relative] = _Held(wanted, _state(found))
            self.copied += 1
        finally:
            os.close(parent)

    def _write(self, parent: int, name: str, relative: str, wanted: _Wanted, data: bytes | None) -> bool:
        """Write one file; False when the workspace's file has gone meanwhile."""
        source = -1
        if data is None:
            try:
                source = os.open(self._workspace / relative, os.O_RDONLY | _NOFOLLOW)
            except OSError:
                return False
        try:
            target = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW, 0o600, dir_fd=parent)
            try:
                if data is not None:
                    _write_all(target, data)
                else:
                    _copy(source, target)
                mode = wanted.signature[1] if data is not None else wanted.signature[3]
                os.fchmod(target, mode | 0o600)
                if self._owner is not None:
                    os.fchown(target, self._owner, self._owner)
                if data is None:
                    os.utime(target, ns=(wanted.signature[1], wanted.signature[1]))
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


def _skipped(entry: os.DirEntry[str]) -> bool:
    """Histories, caches and environments; an environment by its own mark, whatever it is called."""
    if entry.name in SKIPPED_FOLDERS:
        return True
    marks = ("pyvenv.cfg", "conda-meta", "CACHEDIR.TAG")
    return any(os.path.lexists(f"{entry.path}/{mark}") for mark in marks)


def _walk(folder: int, prefix: str) -> Iterator[tuple[str, str, int, os.stat_result]]:
    """Every entry below an open folder: relative path, name, the open folder it is in, its state.

    A folder comes before what is in it, so that the caller may remove it instead.
    """
    for entry in list(_entries(folder)):
        found = entry.stat(follow_symlinks=False)
        relative = prefix + entry.name
        yield relative, entry.name, folder, found
        if stat.S_ISDIR(found.st_mode):
            try:
                inner = os.open(entry.name, _FOLDER, dir_fd=folder)
            except FileNotFoundError:
                continue
            except PermissionError:
                os.chmod(entry.name, 0o700, dir_fd=folder)
                inner = os.open(entry.name, _FOLDER, dir_fd=folder)
            try:
                yield from _walk(inner, relative + "/")
            finally:
                os.close(inner)


def _entries(folder: int) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        yield from entries


def _state(found: os.stat_result) -> Signature:
    """Changes with every write, whatever is done to the times: code cannot set a file's change time."""
    return (found.st_size, found.st_mtime_ns, found.st_ino, found.st_mode, found.st_ctime_ns)


def _remove_entry(name: str, folder: int, found: os.stat_result) -> None:
    if not stat.S_ISDIR(found.st_mode):
        os.unlink(name, dir_fd=folder)
        return
    with contextlib.suppress(OSError):
        os.chmod(name, 0o700, dir_fd=folder)
    inner = os.open(name, _FOLDER, dir_fd=folder)
    try:
        for entry in list(_entries(inner)):
            _remove_entry(entry.name, inner, entry.stat(follow_symlinks=False))
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=folder)


def _copy(source: int, target: int) -> None:
    while block := os.read(source, _CHUNK):
        _write_all(target, block)


def _write_all(target: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]
