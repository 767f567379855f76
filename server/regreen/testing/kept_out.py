"""Failures that a seal can cause, told from bugs by what is known outside it, and the permission that matches each.

Outside means: the person's environment, files and listening ports, and what their own last pytest run noted. Nothing
is run or connected to for it. A test that sets its own variables or starts its own server is left to the code.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from regreen.testing.report import Failure

NETWORK = "--allow-network (in VS Code regreen.allowNetwork)"
_NO_SERVICE = re.compile(
    r"(?i)connection refused|network is unreachable|name or service not known|failure in name resolution|"
    r"nodename nor servname|could not connect to server|no route to host|getaddrinfo failed|"
    r"no address associated with hostname|connect call failed|failed to establish a new connection|"
    r"all connection attempts failed|cannot connect to host|can't connect to|cannot assign requested address|"
    r"could not translate host name|connection to server at|could not contact dns|max retries exceeded"
)
_SOCKET_FILE = re.compile(r"/[\w./-]*(?:\.s\.PGSQL\.\d+|\.sock(?:et)?)\b")
_OWN_SERVER = re.compile(
    r"\.listen\(|create_server|start_server|HTTPServer|socketserver|live_server|TestServer|uvicorn|httpserver"
)
_SETS_VARIABLES = re.compile(
    r"setenv|delenv|environ\[[^\]]+\]\s*=|patch\.dict|environ\.(update|setdefault|pop|clear)"
)
_ENVIRON_CODE = re.compile(r"environ\b|getenv|<frozen os>|[/\\]os\.py", re.MULTILINE)
_SAYS_VARIABLE = re.compile(r"(?i)environment variables?|\benv(?:ironment)? ?vars?\b|declare it as envvar")
_MISSES = re.compile(
    r"(?i)environ|\benv|config|setting|not set\b|unset|missing|required|must (?:be|not be)|not found|undefined|provide|empty"
)
_BUGS = frozenset(
    (
        "NameError",
        "UnboundLocalError",
        "AttributeError",
        "TypeError",
        "ImportError",
        "IndexError",
        "SyntaxError",
    )
)
"""Exceptions that name things of the code, which may be called like a variable of the environment."""
_NAME = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b|\b[A-Z]{4,}\b")
_FIELD = re.compile(r"^(\w+)\s*\n\s+(?:Field required|field required)", re.MULTILINE)
_PORT = re.compile(r"(?i)\bport[ =:]+(\d{2,5})\b|[\w\])'\"]:(\d{2,5})\b|', (\d{2,5})\)")
_PATH = re.compile(r"'([^'\n]+)'|\"([^\"\n]+)\"")
_EVERYWHERE = frozenset(("PATH", "HOME", "LANG", "USER", "SHELL", "TERM", "HTTP", "POST", "JSON"))
_HOME = "/home/sealed/"
_LINES = 200


@dataclass(frozen=True, slots=True)
class Host:
    """The person's own side. `tree` is the copy that the tests ran in; `network` says that they may use it."""

    workspace: Path
    tree: Path
    network: bool = False
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

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
        for file in (".env", ".env.local", ".env.test", ".envrc"):
            path = self.workspace / file
            try:
                lines = path.read_text(encoding="utf-8", errors="replace").splitlines()[:_LINES]
            except OSError:
                continue
            if any(re.match(rf"\s*(?:export\s+)?{re.escape(name)}\s*=", line) for line in lines):
                return file
        return ""


def kept_out(failure: Failure, nodeid: str, host: Host) -> str:
    """One line that says what a run could not reach and what allows it; "" when the seal has nothing to do with it."""
    if failure.type == "AssertionError":
        return _behind_an_assertion(failure, nodeid, host)
    said = _variable(failure, host) or _network(failure, host) or _file(failure, host)
    if said and person_saw(nodeid, host) == "passed":
        said += "; your own last pytest run passed the test"
    return said


def person_saw(nodeid: str, host: Host) -> Literal["passed", "failed", ""]:
    """How the test ended when the person last ran pytest, by the cache it left; "" when nothing current is known."""
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
            current = (host.workspace / path).stat().st_mtime <= when
            return "passed" if mine in known and current else ""
        except (OSError, ValueError, TypeError):
            pass
        if folder == host.workspace or host.workspace not in folder.parents:
            return ""
        folder = folder.parent


# --- variables -----------------------------------------------------------------------------------------------------


def _variable(failure: Failure, host: Host) -> str:
    if _SETS_VARIABLES.search(failure.text):
        return ""
    last = failure.frames[-1].source if failure.frames else ""
    if failure.type == "KeyError":
        name = failure.message.strip("'\"")
        asks = "environ" in last or (name.isupper() and _ENVIRON_CODE.search(failure.text))
        return variable_words(name, host) if asks and name.isidentifier() else ""
    if failure.type in _BUGS or not _MISSES.search(failure.message):
        return ""
    names = [*_NAME.findall(failure.message)]
    if failure.type == "ValidationError":
        names += [found.upper() for found in _FIELD.findall(failure.message)]
    for name in dict.fromkeys(names):
        if (name in host.environ and name not in _EVERYWHERE) or host.env_file(name):
            return variable_words(name, host)
    if names and (says := _SAYS_VARIABLE.search(failure.message)):
        after = _NAME.search(failure.message, says.end())
        return variable_words(after[0] if after else names[0], host)
    return ""


def variable_words(name: str, host: Host) -> str:
    """What to do about a variable that tests miss."""
    allows = f"--env {name} (in VS Code regreen.environment)"
    file = host.env_file(name)
    if name in host.environ:
        return f"the environment variable {name} is yours, and kept out of runs: {allows} lets it through"
    if file:
        return (
            f"the environment variable {name} is set in {file}, which holds secrets and is kept out of runs: "
            f"--readable {file} lets tests read it, where they do that themselves"
        )
    if name == "DJANGO_SETTINGS_MODULE":
        return (
            f"{name} is not set: install pytest-django and name the settings in pytest's configuration "
            f"({name} = mysite.settings), or let conftest.py set it"
        )
    return (
        f"the environment variable {name} is not set: let the tests set it, "
        f"or set it where Regreen is started and pass {allows}"
    )


# --- the network ---------------------------------------------------------------------------------------------------


def _network(failure: Failure, host: Host) -> str:
    blocked = failure.type == "PermissionError" and "socket" in failure.text
    if not blocked and not _NO_SERVICE.search(failure.message):
        return ""
    said = failure.message.strip().split("\n")[0][:120]
    socket_file = _SOCKET_FILE.search(failure.message)
    if socket_file and not host.network:
        return f"the test needs the service behind {socket_file[0]}, which no sealed run can reach: --seal off allows it"
    if _OWN_SERVER.search(failure.text):
        return ""
    return network_words(failure.message, said, host)


def network_words(message: str, said: str, host: Host) -> str:
    """What to do about a service that did not answer."""
    ports = [int(number) for found in _PORT.findall(message) for number in found if number]
    open_port = next((port for port in ports if host.listens(port)), 0)
    if host.network:
        return f"the test needs a network service that does not answer ({said}): start it, then run again"
    if open_port:
        return (
            f"the test needs the server that listens on port {open_port} of this machine, which a sealed run cannot "
            f"reach ({said}): {NETWORK} allows it"
        )
    return f"the test needs a network service, which a sealed run cannot reach ({said}): {NETWORK} allows it"


def _behind_an_assertion(failure: Failure, nodeid: str, host: Host) -> str:
    """Code may catch what the seal causes, and a test then finds something else than it hoped for. Only a test that
    passed for the person shows that."""
    found = _NO_SERVICE.search(failure.output)
    if found is None or host.network or person_saw(nodeid, host) != "passed":
        return ""
    line = next(line.strip() for line in failure.output.splitlines() if found[0] in line)
    return network_words(line, line[:120], host) + "; your own last pytest run passed the test"


# --- files ---------------------------------------------------------------------------------------------------------


def _file(failure: Failure, host: Host) -> str:
    if failure.type not in ("FileNotFoundError", "PermissionError", "OSError", "NotADirectoryError"):
        return ""
    for path in _paths(failure.message):
        said = _program(path, failure) or _one_file(path, host)
        if said:
            return said
    place = failure.frames[-1].source if failure.frames else ""
    socket_file = _SOCKET_FILE.search(place)
    if socket_file and ".connect(" in place:
        return f"the test needs the service behind {socket_file[0]}, which no sealed run can reach: --seal off allows it"
    return ""


def _program(name: str, failure: Failure) -> str:
    """A program that a test starts and this machine has not."""
    starts = "_execute_child" in failure.text or re.search(r"\bsubprocess\.py\b", failure.text)
    if not starts or "/" in name or shutil.which(name):
        return ""
    return f"the test starts the program {name}, which is not installed on this machine"


def _paths(message: str) -> Iterator[str]:
    for single, double in _PATH.findall(message):
        yield single or double


def _one_file(text: str, host: Host) -> str:
    path = Path(text)
    if text.startswith(_HOME):
        rest = text.removeprefix(_HOME)
        return (
            f"the test looks for ~/{rest}, and the home folder is empty in every run: let it take the path from "
            "a setting of the tests"
        )
    for root in (host.tree, host.workspace):
        if path.is_absolute() and path.is_relative_to(root):
            path = path.relative_to(root)
    if not path.is_absolute():
        return _in_workspace(path, host)
    if path.exists() and not any(path.is_relative_to(place) for place in ("/tmp", "/proc", "/dev", "/sys")):
        return (
            f"the test reads {path}, which lies outside the workspace and is kept out of runs: "
            f"--readable {path} (in VS Code regreen.readablePaths) allows it"
        )
    return ""


def _in_workspace(path: Path, host: Host) -> str:
    """A file that the person has and the copy has not: a secret, a link that leads out, or a folder that is left out."""
    if ".." in path.parts:
        outside = (host.workspace / path).resolve()
        return _one_file(str(outside), host) if outside.exists() and outside.is_absolute() else ""
    if not (host.workspace / path).exists() or (host.tree / path).exists():
        program = shutil.which(str(path)) if len(path.parts) == 1 else None
        if program and not (host.workspace / path).exists():
            return (
                f"the test starts the program {path}, which lies in {Path(program).parent} and is kept out of runs: "
                "put it into /usr/local/bin, or beside the project's Python"
            )
        return ""
    linked = link_out(host.workspace, path)
    if linked:
        return linked
    if re.search(r"\.env\b|\.env\.|secret|credential|id_|netrc|pypirc|npmrc", path.name):
        return (
            f"the test reads {path}, which holds secrets and is kept out of runs: --readable {path} allows it"
        )
    return f"the test reads {path}, which is not copied for runs: --readable {path} allows it"


def link_out(workspace: Path, path: Path) -> str:
    """What to do about a file or folder that is there only by a link that leads out of the workspace; "" if it is not."""
    place = workspace
    for part in path.parts:
        place = place / part
        if place.is_symlink():
            target = place.resolve()
            if target.exists() and not target.is_relative_to(workspace.resolve()):
                return (
                    f"{place.relative_to(workspace).as_posix()} is a link to {target}, outside the workspace, and not "
                    f"followed: --readable {target} (in VS Code regreen.readablePaths) allows it"
                )
    return ""
