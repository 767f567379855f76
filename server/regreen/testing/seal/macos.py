"""The seal of macOS: sandbox-exec with an allow-list profile. Written from its documentation, not tried on a Mac.

sandbox-exec(1) is marked deprecated and is what other tools of this kind use all the same. It cannot mount, so
commands use the trial's own path; it has no process space, so killing is the launcher's best effort.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from regreen.testing.seal import environment
from regreen.testing.seal.door import Access, Limits
from regreen.testing.seal.launching import launch, private_folders
from regreen.testing.seal.libraries import interpreter_paths, user_site
from regreen.testing.seal.process import SealedProcess

PROGRAM = Path("/usr/bin/sandbox-exec")
_SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/System",
    "/Library",
    "/private/etc/ssl",
    "/private/var/db/timezone",
    "/opt/homebrew",
)
_FILES = (
    "/private/etc/passwd",
    "/private/etc/group",
    "/private/etc/localtime",
    "/dev/urandom",
    "/dev/random",
    "/dev/zero",
)
_BOTH_WAYS = ("/dev/null", "/dev/dtracehelper")


class SandboxExec:
    """Implements `door.Seal` with sandbox-exec; `mounts` is False."""

    name = "sandbox-exec"
    mounts = False

    async def start(
        self,
        argv: Sequence[str],
        access: Access,
        limits: Limits,
        env: Mapping[str, str] | None = None,
        inherit: Sequence[int] = (),
    ) -> SealedProcess:
        """See `door.Seal.start`."""
        home, temp = private_folders(access.scratch)
        clean = environment.clean(access.python, home, temp, env)
        config: dict[str, Any] = {"confine": False, "user": None}
        command = [str(PROGRAM), "-p", profile(access), *argv]
        return await launch(command, access, limits, clean, inherit, config, sweeps=True)


def profile(access: Access) -> str:
    """The rules, in the profile language of sandbox(7). Everything not named is denied, the network and messages
    to other programs with it. The kernel compares real paths, so links on the way are resolved here."""
    readable = [
        *interpreter_paths(access.python, access.workspace),
        *user_site(access.python),
        *access.readable,
    ]
    writable = [access.tree, access.scratch]
    lines = [
        "(version 1)",
        "(deny default)",
        "(allow process-fork)",
        "(allow signal (target same-sandbox))",
        "(allow sysctl-read)",
        f"(allow process-exec {_below([*_SYSTEM, *readable, *writable])})",
        f"(allow file-read-metadata {_exactly(_parents([*readable, *writable]))})",
        f"(allow file-read* {_below([*_SYSTEM, *readable, *writable])} {_exactly([*_FILES, *_BOTH_WAYS])})",
        f"(allow file-write* {_below(writable)} {_exactly(_BOTH_WAYS)})",
    ]
    if access.network:
        lines += ["(allow network*)", "(allow mach-lookup)", "(system-socket)"]
    return "\n".join(lines)


def _below(paths: Sequence[str | Path]) -> str:
    return " ".join(f"(subpath {_quoted(path)})" for path in dict.fromkeys(map(_real, paths)))


def _exactly(paths: Sequence[str | Path]) -> str:
    return " ".join(f"(literal {_quoted(path)})" for path in dict.fromkeys(map(_real, paths)))


def _parents(paths: Sequence[Path]) -> list[Path]:
    """Folders on the way: Python looks at each of them when it starts."""
    return sorted({parent for path in paths for parent in Path(_real(path)).parents})


def _real(path: str | Path) -> str:
    return os.path.realpath(path)


def _quoted(path: str) -> str:
    """A string of the profile language: only quotes and backslashes are special in it."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
