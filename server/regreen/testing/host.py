"""The person's own side, beside that of a run: their variables, files and listening ports, and their last pytest run.

Nothing is run or connected to for it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from regreen.testing.lack import Missed

ENV_FILES = (".env", ".env.local", ".env.test", ".envrc")
_LINES = 200
_NAME = re.compile(r"^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=")

Saw = Literal["passed", "failed", ""]


@dataclass(frozen=True, slots=True)
class Host:
    """The person's own side. `tree` is the copy that the tests ran in; `network` says that they may use it. `missed` is what the run looked for in vain (None: nobody listened),
    `given` which of their variables it had."""

    workspace: Path
    tree: Path
    network: bool = False
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    missed: tuple[Missed, ...] | None = None
    given: frozenset[str] = frozenset()

    def listens(self, port: int) -> bool:
        """Whether some program of this machine waits for connections on a TCP port (Linux; else False)."""
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            try:
                rows = Path(table).read_text(encoding="ascii", errors="replace").splitlines()[1:]
            except OSError:
                continue
            for row in rows:
                fields = row.split()
                if len(fields) > 3 and fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                    return True
        return False

    def env_file(self, name: str) -> str:
        """The file of secrets in the workspace that sets a variable, "" when there is none."""
        return next((file for file in ENV_FILES if env_value(self.workspace / file, name) is not None), "")

    def names(self) -> set[str]:
        """The names of all variables that the person has, in their environment or a file of secrets."""
        found = set(self.environ)
        for file in ENV_FILES:
            found |= {name for line in _lines(self.workspace / file) for name in _NAME.findall(line)}
        return found

    def reads(self, file: str) -> bool:
        """Whether the run looked for a file of that name itself, in vain; True where nobody listened."""
        return self.missed is None or any(
            missed.kind == "file" and Path(missed.name).name == file for missed in self.missed
        )

    def value(self, name: str) -> str:
        """The person's value of a variable, from their environment or a file of secrets; "" when there is none."""
        file = "" if name in self.environ else self.env_file(name)
        return (env_value(self.workspace / file, name) if file else self.environ.get(name)) or ""


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()[:_LINES]
    except OSError:
        return []


def env_value(file: Path, name: str) -> str | None:
    """What a file of lines like `export NAME="value"  # note` sets a variable to; None when it does not."""
    for line in reversed(_lines(file)):
        if found := re.match(rf"\s*(?:export\s+)?{re.escape(name)}\s*=\s*(.*)", line):
            text = found[1].strip()
            quoted = re.match(r"'([^']*)'|\"((?:[^\"\\]|\\.)*)\"", text)
            if quoted is None:
                return re.sub(r"\s+#.*", "", text)
            return quoted[1] if quoted[1] is not None else re.sub(r"\\(.)", r"\1", quoted[2])
    return None


def person_saw(nodeid: str, host: Host, ran: Iterable[str] = ()) -> Saw:
    """How the test ended when the person last ran pytest, by the cache it left; "" when nothing current is known.

    A pass is only current when the test's file, and the files that it `ran`, are as they were then, and as they are in
    the copy.
    """
    path, _, names = nodeid.partition("::")
    folder = (host.workspace / path).parent
    while True:
        cache = folder / ".pytest_cache" / "v" / "cache"
        try:
            known = set(json.loads((cache / "nodeids").read_text(encoding="utf-8")))
            when = (cache / "nodeids").stat().st_mtime
            file = cache / "lastfailed"
            failed: set[str] = set(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else set()
            mine = f"{(host.workspace / path).relative_to(folder).as_posix()}::{names}"
            if mine in failed:
                return "failed"
            current = all(_as_it_was(each, when, host) for each in (path, *ran))
            return "passed" if mine in known and current else ""
        except (OSError, ValueError, TypeError):
            pass
        if folder == host.workspace or host.workspace not in folder.parents:
            return ""
        folder = folder.parent


def _as_it_was(path: str, when: float, host: Host) -> bool:
    own = host.workspace / path
    return own.stat().st_mtime <= when and own.read_bytes() == (host.tree / path).read_bytes()
