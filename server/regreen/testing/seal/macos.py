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
# Of folders that programs keep data in, only what they run: /Library has keychains, Homebrew the files of servers.
_SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/System",
    "/Library/Apple",
    "/Library/Developer",
    "/Library/Frameworks",
    "/private/etc/ssl",
    "/private/var/db/dyld",
    "/private/var/db/timezone",
    *(f"/opt/homebrew/{part}" for part in ("bin", "lib", "opt", "Cellar", "Frameworks", "share")),
)
_FILES = (
    "/private/etc/passwd",
    "/private/etc/group",
    "/private/etc/localtime",
    "/dev/urandom",
    "/dev/random",
    "/dev/zero",
)
_WITH_NETWORK = ("/private/etc/hosts", "/private/etc/resolv.conf", "/private/var/run/resolv.conf")
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
        # By address only: UNIX sockets, and with them Docker and the like, stay out of reach. Names are looked up
        # through one socket of the system's.
        lines += [
            "(allow system-socket)",
            '(allow network-outbound (remote ip "*:*") (literal "/private/var/run/mDNSResponder"))',
            '(allow network-inbound (local ip "*:*"))',
            '(allow network-bind (local ip "*:*"))',
            '(allow mach-lookup (global-name "com.apple.SystemConfiguration.configd"))',
            f"(allow file-read* {_exactly(_WITH_NETWORK)})",
        ]
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
