"""Files that a test looks for, the person has, and no run sees: which they are, and what lets them be read."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from regreen.errors import UsageError
from regreen.testing.host import Host
from regreen.testing.lack import Lack, Permission
from regreen.testing.report import Failure
from regreen.testing.seal.allowed import readable_path
from regreen.workspace.listed import KEY_FOLDERS

SOCKET_FILE = re.compile(r"/[\w./-]*(?:\.s\.PGSQL\.\d+|\.sock(?:et)?)\b")
_PATH = re.compile(r"'([^'\n]+)'|\"([^\"\n]+)\"")
_HOME = "/home/sealed/"
_SECRET = re.compile(r"\.env\b|\.env\.|secret|credential|id_|netrc|pypirc|npmrc")
_NOT_KEPT = tuple(map(Path, ("/tmp", "/proc", "/dev", "/sys")))


def missing_file(failure: Failure, host: Host) -> Lack | None:
    """What a failure says about a file that could not be opened."""
    if failure.type not in ("FileNotFoundError", "PermissionError", "OSError", "NotADirectoryError"):
        return None
    for path in _paths(failure.message):
        if found := _program(path, failure) or kept_file(path, host):
            return found
    place = failure.frames[-1].source if failure.frames else ""
    socket_file = SOCKET_FILE.search(place)
    return socket_lack(socket_file[0]) if socket_file and ".connect(" in place else None


def socket_lack(path: str) -> Lack:
    """What to do about a service behind a socket file."""
    return Lack(
        f"the test needs the service behind {path}, which no sealed run can reach: --seal off allows it"
    )


def kept_file(text: str, host: Host) -> Lack | None:
    """What to do about a path that a run could not read, as the run wrote it; None when the person has it no more."""
    path = Path(text)
    if text.startswith(_HOME):
        rest = text.removeprefix(_HOME)
        return Lack(
            f"the test looks for ~/{rest}, and the home folder is empty in every run: let it take the path from "
            "a setting of the tests"
        )
    for root in (host.tree, host.workspace):
        if path.is_absolute() and path.is_relative_to(root):
            path = path.relative_to(root)
    if not path.is_absolute():
        return _in_workspace(path, host)
    if path.exists() and not any(path.is_relative_to(place) for place in _NOT_KEPT):
        return readable_lack(
            f"the test reads {path}, which lies outside the workspace and is kept out of runs: "
            f"{Permission('readable', str(path)).option} allows it",
            path,
        )
    return None


def readable_lack(text: str, path: Path) -> Lack:
    """A lack that being allowed to read a path would end. Keys are never offered: code that wants them only has to look
    for them to be asked about."""
    if any(part.lower() in KEY_FOLDERS for part in (*path.parts, *path.resolve().parts)):
        return Lack(text)
    try:
        readable_path(str(path), Path("/"))
    except UsageError:
        return Lack(text)
    return Lack(
        text, f"the {'folder' if path.is_dir() else 'file'} {path}", Permission("readable", str(path))
    )


def link_out(workspace: Path, path: Path) -> Lack | None:
    """What to do about a file or folder that is there only by a link which leads out of the workspace."""
    place = workspace
    for part in path.parts:
        place = place / part
        if place.is_symlink():
            target = place.resolve()
            if target.exists() and not target.is_relative_to(workspace.resolve()):
                return readable_lack(
                    f"{place.relative_to(workspace).as_posix()} is a link to {target}, outside the workspace, and not "
                    f"followed: {Permission('readable', str(target)).option} allows it",
                    target,
                )
    return None


def _program(name: str, failure: Failure) -> Lack | None:
    """A program that a test starts and this machine has not."""
    starts = "_execute_child" in failure.text or re.search(r"\bsubprocess\.py\b", failure.text)
    if not starts or "/" in name or shutil.which(name):
        return None
    return Lack(f"the test starts the program {name}, which is not installed on this machine")


def _paths(message: str) -> Iterator[str]:
    for single, double in _PATH.findall(message):
        yield single or double


def _in_workspace(path: Path, host: Host) -> Lack | None:
    """A file that the person has and the copy has not: a secret, a link that leads out, or a folder that is left out."""
    own = host.workspace / path
    if ".." in path.parts:
        outside = own.resolve()
        return kept_file(str(outside), host) if outside.exists() and outside.is_absolute() else None
    if not own.exists() or (host.tree / path).exists():
        program = shutil.which(str(path)) if len(path.parts) == 1 else None
        if program and not own.exists():
            return Lack(
                f"the test starts the program {path}, which lies in {Path(program).parent} and is kept out of runs: "
                "put it into /usr/local/bin, or beside the project's Python"
            )
        return None
    if linked := link_out(host.workspace, path):
        return linked
    what = "holds secrets and is kept out of runs" if _SECRET.search(path.name) else "is not copied for runs"
    return readable_lack(f"the test reads {path}, which {what}: --readable {path} allows it", own)
