"""The second seal: Landlock and seccomp, set up by our own Python, for machines where bubblewrap cannot work.

It stops reading outside the listed paths, writing outside the trial, every socket but pairs, tracing, new
namespaces, memory shared by key, limits and priorities of other processes. It does not stop changing modes and times of the person's other files, nor seeing that they exist;
tests that need local servers, pseudo-terminals or `multiprocessing` managers fail in it. docs/security.md.
"""

from __future__ import annotations

import asyncio
import importlib.util
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from regreen.errors import RegreenError
from regreen.testing.seal import environment, seccomp
from regreen.testing.seal.door import Access, Limits
from regreen.testing.seal.launching import LAUNCHER, launch, private_folders
from regreen.testing.seal.libraries import CERTIFICATES, interpreter_paths, user_site
from regreen.testing.seal.privileges import give, is_root, nobody
from regreen.testing.seal.process import SealedProcess

# 3 is the first version that also guards truncation. Its TCP rules (version 4) are not needed: sockets of
# those families cannot be made at all.
NEEDED_VERSION = 3
_READABLE = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store",
    "/etc/ld.so.cache", "/etc/localtime", "/etc/timezone", "/etc/alternatives", "/etc/ca-certificates",
    *(f"/etc/{name}" for name in CERTIFICATES), "/etc/crypto-policies", "/etc/mime.types", "/etc/fonts", "/etc/protocols", "/etc/services",
    "/etc/passwd", "/etc/group", "/etc/hosts", "/etc/nsswitch.conf",
    "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/filesystems",
    "/dev/urandom", "/dev/random", "/dev/zero",
)  # fmt: skip
_WITH_NETWORK = ("/etc/resolv.conf", "/etc/gai.conf", "/run/systemd/resolve")


class Landlock:
    """Implements `door.Seal` with Landlock and seccomp; `mounts` is False."""

    name = "landlock"
    mounts = False

    async def start(
        self,
        argv: Sequence[str],
        access: Access,
        limits: Limits,
        env: Mapping[str, str] | None = None,
        inherit: Sequence[int] = (),
    ) -> SealedProcess:
        """See `door.Seal.start`. Started as root, the command runs as an id of nobody's (`privileges.nobody`)."""
        home, temp = private_folders(access.scratch)
        site = user_site(access.python)
        readable = [*interpreter_paths(access.python, access.workspace), *site, *access.readable]
        extra = {"PYTHONUSERBASE": str(site[0].parent.parent)} if site else {}
        families: tuple[int, ...] = (seccomp.AF_INET, seccomp.AF_INET6) if access.network else ()
        system = (*_READABLE, *(_WITH_NETWORK if access.network else ()))
        writable = [access.tree, access.scratch, Path("/dev/null")]
        config: dict[str, Any] = {
            "confine": True,
            "landlock": NEEDED_VERSION,
            "writable": [str(path) for path in writable],
            "readable": [*system, *(str(path) for path in readable)],
            "seccomp": seccomp.program(families, pin_group=True, among_others=True).hex(),
            "user": None,
            "search": False,
        }
        if is_root():
            config["user"] = nobody()
            config["search"] = not all(
                _open_to_all(path) for path in (access.tree, access.scratch, *readable)
            )
            await asyncio.to_thread(give, access.tree, access.scratch)
        clean = environment.clean(access.python, home, temp, {**extra, **(env or {})})
        return await launch(argv, access, limits, clean, inherit, config, sweeps=False)


def _open_to_all(path: Path) -> bool:
    """True when any user can reach `path`: every folder above lets others pass."""
    try:
        return all(parent.stat().st_mode & stat.S_IXOTH for parent in path.resolve().parents)
    except OSError:
        return False


def version() -> int:
    """The kernel's Landlock version; 0 when there is none, or this is not Linux."""
    try:
        return int(_launcher().landlock_version())
    except (AttributeError, OSError, TypeError):
        return 0


def _launcher() -> ModuleType:
    """The launcher file as a module. It is a file of its own, and stays one, so that it runs with -I -S."""
    spec = importlib.util.spec_from_file_location("regreen_seal_launcher", LAUNCHER)
    if spec is None or spec.loader is None:
        raise RegreenError(f"Regreen's installation is incomplete: {LAUNCHER} is missing. Install it again.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def usable() -> str:
    """Why Landlock cannot be used here, "" when it looks as if it can; only a launch shows that it does."""
    found = version()
    if not found:
        return "this kernel has no Landlock, or it is turned off"
    if found < NEEDED_VERSION:
        return f"this kernel's Landlock is version {found}, needed {NEEDED_VERSION} (Linux 6.2)"
    if not seccomp.supported():
        return "system calls cannot be filtered on this machine"
    return ""
