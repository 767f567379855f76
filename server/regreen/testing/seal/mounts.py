"""What a sealed process sees as its files: an allow-list of mounts, as arguments for bubblewrap."""

from __future__ import annotations

import contextlib
import functools
import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from regreen.errors import RegreenError
from regreen.testing.seal.door import Access, Limits
from regreen.testing.seal.libraries import CERTIFICATES, interpreter_paths, user_site, within
from regreen.testing.seal.privileges import is_root, nobody

# "ca-certificates": where it holds certificates (Arch, for one), not where it only says how to gather them.
_ETC_PLACES = ("alternatives", "ca-certificates/extracted", "crypto-policies", "fonts", *CERTIFICATES)
_ETC_FILES = ("ld.so.cache", "localtime", "timezone", "mime.types", "protocols", "services")
_ETC_FILES_NETWORK = ("resolv.conf", "hosts", "nsswitch.conf", "gai.conf")
_LARGEST_FILE = 1 << 20
_STORES = ("/nix/store", "/gnu/store")


Step = tuple[str | bytes, ...]
"""Arguments that belong together; bytes stand for a file that holds them."""


@dataclass(slots=True)
class Plan:
    """Mounts in the order they are made, and what the environment must say about them."""

    steps: list[Step] = field(default_factory=list[Step])
    env: dict[str, str] = field(default_factory=dict[str, str])

    def arguments(self, memory_file: Callable[[bytes], int]) -> list[str]:
        """The steps as arguments; file contents go through descriptors made by `memory_file`."""
        return [
            str(memory_file(word)) if isinstance(word, bytes) else word
            for step in self.steps
            for word in step
        ]


def plan(access: Access, limits: Limits, home: Path, temp: Path, sizes: bool) -> Plan:
    """The file system for one sealed process. `sizes`: whether this bubblewrap can limit a memory disk.

    Raises RegreenError when the interpreter does not exist or a mount would go through a link in the trial.
    """
    planned = _layout if not access.network else _layout.__wrapped__  # A laptop changes its name servers.
    size = ("--size", str(limits.temp)) if sizes else ()
    layout = planned(access, home, temp, size, (*_stamp(access.python), os.environ.get("HOME")))
    made = Plan(list(layout.before), dict(layout.env))
    for mount in layout.mounts:
        if mount.inside is not None:
            if mount.own and os.path.lexists(access.tree / mount.inside):
                continue  # The trial has its own copy of it, which is the one that counts.
            if mount.step[0] == "--ro-bind":
                mount_point(access.tree, mount.inside, mount.folder)
        made.steps += [*mount.parents, mount.step]
    made.steps += [("--remount-ro", "/"), ("--remount-ro", "/dev"), ("--chdir", str(access.workspace))]
    return made


@dataclass(frozen=True, slots=True)
class _Mount:
    """One mount, the folders on the way to it, and where in the workspace it lies, if it does. `own`: the copy
    there, if the trial has one, goes before it."""

    step: Step
    parents: tuple[Step, ...]
    inside: Path | None
    folder: bool
    own: bool


@dataclass(frozen=True, slots=True)
class _Layout:
    """Everything of a plan that does not depend on what the trial holds at the moment."""

    before: tuple[Step, ...]
    mounts: tuple[_Mount, ...]
    env: dict[str, str]


def _stamp(python: Path) -> tuple[object, ...]:
    """Changes when an interpreter is replaced or its environment made anew."""
    found: list[object] = []
    for path, links in ((python, False), (python, True), (python.parent.parent / "pyvenv.cfg", True)):
        try:
            status = path.stat(follow_symlinks=links)
        except OSError:
            found.append(None)
        else:
            found.append((status.st_dev, status.st_ino, status.st_mtime_ns))
    return tuple(found)


@functools.lru_cache(maxsize=16)
def _layout(access: Access, home: Path, temp: Path, size: tuple[str, ...], stamp: object) -> _Layout:
    """Worked out once for each kind of start: it takes longer than bubblewrap needs for its mounts."""
    before = [*_system(access.network), ("--proc", "/proc"), ("--ro-bind", "/proc/sys", "/proc/sys")]
    before.append(("--dev", "/dev"))
    before += [
        ("--perms", "1777", *size, "--tmpfs", str(folder)) for folder in (Path("/dev/shm"), temp, home)
    ]
    covered = [Path("/usr"), Path("/dev"), Path("/proc"), temp, home]
    site = user_site(access.python)
    wanted: dict[Path, tuple[str, Path]] = {}
    for path in (*interpreter_paths(access.python, access.workspace), *site, *access.readable):
        wanted[path] = ("--ro-bind", path)
    wanted[access.workspace] = ("--bind", access.tree)
    wanted[access.scratch] = ("--bind", access.scratch)
    mounts: list[_Mount] = []
    for path, (kind, source) in sorted(wanted.items(), key=lambda item: len(item[0].parts)):
        inside = path != access.workspace and within(path, access.workspace)
        mounts.append(
            _Mount(
                (kind, str(source), str(path)),
                () if inside else tuple(_parents(path, covered, (temp, home))),
                path.relative_to(access.workspace) if inside else None,
                source.is_dir(),
                path in access.readable,
            )
        )
        covered.append(path)
    env = {"PYTHONUSERBASE": str(site[0].parent.parent)} if site else {}
    return _Layout(tuple(before), tuple(mounts), env)


def _system(network: bool) -> Iterable[Step]:
    """System folders read-only, and an /etc with nobody's accounts in it."""
    yield ("--ro-bind", "/usr", "/usr")
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        path = Path("/", name)
        if path.is_symlink():
            yield ("--symlink", str(path.readlink()), str(path))
        elif path.is_dir():
            yield ("--ro-bind", str(path), str(path))
    for store in _STORES:
        if Path(store).is_dir():
            yield ("--ro-bind", store, store)
    user = nobody() if is_root() else os.getuid()
    group = nobody() if is_root() else os.getgid()
    account = f"sealed:x:{user}:{group}:sealed:/home/sealed:/bin/sh\n"
    files = {
        "passwd": ("" if user == 0 else "root:x:0:0:root:/root:/bin/sh\n") + account,
        "group": ("" if group == 0 else "root:x:0:\n") + f"sealed:x:{group}:\n",
    }
    if not network:
        files["hosts"] = "127.0.0.1 localhost sealed\n::1 localhost\n"
        files["nsswitch.conf"] = "passwd: files\ngroup: files\nhosts: files\n"
    contents = {name: text.encode() for name, text in files.items()}
    for name in (*_ETC_FILES, *(_ETC_FILES_NETWORK if network else ())):
        with contextlib.suppress(OSError):
            contents[name] = Path("/etc", name).read_bytes()
    # Copied, not mounted: every mount costs bubblewrap a look through all of them. The root becomes read-only.
    for name, content in contents.items():
        if len(content) <= _LARGEST_FILE:
            yield ("--perms", "0644", "--file", content, f"/etc/{name}")
    for name in _ETC_PLACES:
        path = Path("/etc", name)
        if path.exists():
            for parent in list(reversed(path.parents))[2:]:
                yield ("--perms", "0755", "--dir", str(parent))
            yield ("--ro-bind-try", str(path), str(path))


def _parents(path: Path, covered: list[Path], memory: tuple[Path, ...]) -> list[Step]:
    """Folders on the way to a mount, readable by everyone: bubblewrap run by root would close them.

    That goes for folders on the memory disks (`memory`) too: a workspace or scratch folder below /tmp.
    """
    missing = [
        parent
        for parent in reversed(path.parents)
        if parent not in (Path("/"), *memory)
        and not any(within(parent, done) for done in covered if done not in memory)
    ]
    return [("--perms", "0755", "--dir", str(parent)) for parent in missing]


def mount_point(tree: Path, relative: Path, folder: bool) -> None:
    """Make the place in the trial on which something of the workspace's own (its .venv) is mounted.

    Every name on the way is opened without following links. bubblewrap before 0.12 would otherwise create files
    on the host through a link in the trial (CVE-2026-87766). RegreenError when there is a link.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(tree, flags)
    try:
        *folders, last = relative.parts
        for name in [*folders, last] if folder else folders:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, 0o755, dir_fd=fd)
            inner = os.open(name, flags, dir_fd=fd)
            os.close(fd)
            fd = inner
        if not folder:
            with contextlib.suppress(FileExistsError):
                os.close(
                    os.open(last, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=fd)
                )
            if not stat.S_ISREG(os.stat(last, dir_fd=fd, follow_symlinks=False).st_mode):
                raise NotADirectoryError(last)
    except NotADirectoryError as error:
        raise RegreenError(
            f"'{relative.as_posix()}' goes through a link inside the workspace, so that it cannot be mounted in a "
            "sealed run. Choose an interpreter outside the workspace with --python PATH."
        ) from error
    finally:
        os.close(fd)
