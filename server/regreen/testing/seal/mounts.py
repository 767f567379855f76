"""What a sealed process sees as its files: an allow-list of mounts, as arguments for bubblewrap."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from regreen.errors import RegreenError
from regreen.testing.seal.door import Access, Limits
from regreen.testing.seal.libraries import interpreter_paths, user_site, within
from regreen.testing.seal.privileges import is_root, nobody

_ETC_FOLDERS = ("alternatives", "ssl", "ca-certificates", "pki", "crypto-policies", "fonts")
_ETC_FILES = ("ld.so.cache", "localtime", "timezone", "mime.types", "protocols", "services")
_ETC_FILES_NETWORK = ("resolv.conf", "hosts", "nsswitch.conf", "gai.conf")
_LARGEST_FILE = 1 << 20
_STORES = ("/nix/store", "/gnu/store")


@dataclass(slots=True)
class Plan:
    """Mounts in the order they are made, and what the environment must say about them."""

    steps: list[tuple[str | bytes, ...]] = field(default_factory=list[tuple[str | bytes, ...]])
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
    made = Plan()
    made.steps += _system(access.network)
    made.steps += [("--proc", "/proc"), ("--ro-bind", "/proc/sys", "/proc/sys"), ("--dev", "/dev")]
    for folder in (Path("/dev/shm"), temp, home):
        size = ("--size", str(limits.temp)) if sizes else ()
        made.steps += [("--perms", "1777", *size, "--tmpfs", str(folder))]
    covered = [Path("/usr"), Path("/dev"), Path("/proc"), temp, home]
    site = user_site(access.python)
    if site:
        made.env["PYTHONUSERBASE"] = str(site[0].parent.parent)
    wanted: dict[Path, tuple[str, Path]] = {}
    for path in (*interpreter_paths(access.python, access.workspace), *site, *access.readable):
        wanted[path] = ("--ro-bind", path)
    wanted[access.workspace] = ("--bind", access.tree)
    wanted[access.scratch] = ("--bind", access.scratch)
    for path, (kind, source) in sorted(wanted.items(), key=lambda item: len(item[0].parts)):
        if path != access.workspace and within(path, access.workspace):
            if os.path.lexists(access.tree / path.relative_to(access.workspace)) and path in access.readable:
                continue  # The trial has its own copy of it, which is the one that counts.
            if kind == "--ro-bind":
                mount_point(access.tree, path.relative_to(access.workspace), source.is_dir())
        else:
            made.steps += _parents(path, covered, (temp, home))
        made.steps.append((kind, str(source), str(path)))
        covered.append(path)
    made.steps += [("--remount-ro", "/"), ("--remount-ro", "/dev"), ("--chdir", str(access.workspace))]
    return made


def _system(network: bool) -> Iterable[tuple[str | bytes, ...]]:
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
    for name in _ETC_FOLDERS:
        if Path("/etc", name).is_dir():
            yield ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")


def _parents(path: Path, covered: list[Path], memory: tuple[Path, ...]) -> list[tuple[str | bytes, ...]]:
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
