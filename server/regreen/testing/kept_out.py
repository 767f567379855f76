"""Failures that a seal can cause, told from bugs by what is known outside it, and the permission that matches each.

Outside means: the person's environment, files and listening ports, and what their own last pytest run noted. Nothing
is run or connected to for it. A test that sets its own variables or starts its own server is left to the code.
"""

from __future__ import annotations

import re
from dataclasses import replace

from regreen.errors import UsageError
from regreen.testing.host import Host, person_saw
from regreen.testing.kept_files import SOCKET_FILE, missing_file, socket_lack
from regreen.testing.lack import Lack, Permission
from regreen.testing.report import Failure
from regreen.testing.seal.allowed import variable_name

__all__ = ["Host", "kept_out", "network_lack", "person_saw", "variable_lack"]

_NETWORK = Permission("network")
_NO_SERVICE = re.compile(
    r"(?i)connection refused|network is unreachable|name or service not known|failure in name resolution|"
    r"nodename nor servname|could not connect to server|no route to host|getaddrinfo failed|"
    r"no address associated with hostname|connect call failed|failed to establish a new connection|"
    r"all connection attempts failed|cannot connect to host|can't connect to|cannot assign requested address|"
    r"could not translate host name|connection to server at|could not contact dns|max retries exceeded"
)
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
_EVERYWHERE = frozenset(("PATH", "HOME", "LANG", "USER", "SHELL", "TERM", "HTTP", "POST", "JSON"))


def kept_out(failure: Failure, nodeid: str, host: Host) -> Lack | None:
    """What a run could not reach, and what allows it; None when the seal has nothing to do with it."""
    if failure.type == "AssertionError":
        return _behind_an_assertion(failure, nodeid, host)
    found = _variable(failure, host) or _network(failure, host) or missing_file(failure, host)
    return passed_for_the_person(found) if found and person_saw(nodeid, host) == "passed" else found


def passed_for_the_person(lack: Lack) -> Lack:
    """The same, with the person's own last run named as a witness."""
    return replace(lack, text=f"{lack.text}; your own last pytest run passed the test")


# --- variables -----------------------------------------------------------------------------------------------------


def _variable(failure: Failure, host: Host) -> Lack | None:
    if _SETS_VARIABLES.search(failure.text):
        return None
    last = failure.frames[-1].source if failure.frames else ""
    if failure.type == "KeyError":
        name = failure.message.strip("'\"")
        asks = "environ" in last or (name.isupper() and _ENVIRON_CODE.search(failure.text))
        return variable_lack(name, host) if asks and name.isidentifier() else None
    if failure.type in _BUGS or not _MISSES.search(failure.message):
        return None
    names = [*_NAME.findall(failure.message)]
    if failure.type == "ValidationError":
        names += [found.upper() for found in _FIELD.findall(failure.message)]
    for name in dict.fromkeys(names):
        if (name in host.environ and name not in _EVERYWHERE) or host.env_file(name):
            return variable_lack(name, host)
    if names and (says := _SAYS_VARIABLE.search(failure.message)):
        after = _NAME.search(failure.message, says.end())
        return variable_lack(after[0] if after else names[0], host)
    return None


def variable_lack(name: str, host: Host) -> Lack:
    """What to do about a variable that tests miss."""
    needs = f"the environment variable {name}"
    allows = Permission("environment", name).option
    file = host.env_file(name)
    try:
        variable_name(name)
    except UsageError:
        return Lack(f"{needs} is not set in runs, and yours cannot be let through: let the tests set it")
    if name in host.environ:
        text = f"{needs} is yours, and kept out of runs: {allows} lets it through"
        return Lack(text, needs, Permission("environment", name))
    if file and host.reads(file):
        text = (
            f"{needs} is set in {file}, which holds secrets and is kept out of runs: "
            f"--readable {file} lets tests read it, where they do that themselves"
        )
        return Lack(
            text, f"the file {file} (it sets {name})", Permission("readable", str(host.workspace / file))
        )
    if file:
        text = (
            f"{needs} is set in {file}, which holds secrets, and which the tests do not read themselves: "
            f"set it where Regreen is started and pass {allows}"
        )
        return Lack(text, f"{needs} from {file}", Permission("environment", name, file))
    if name == "DJANGO_SETTINGS_MODULE":
        return Lack(
            f"{name} is not set: install pytest-django and name the settings in pytest's configuration "
            f"({name} = mysite.settings), or let conftest.py set it"
        )
    return Lack(
        f"{needs} is not set: let the tests set it, or set it where Regreen is started and pass {allows}"
    )


# --- the network ---------------------------------------------------------------------------------------------------


def _network(failure: Failure, host: Host) -> Lack | None:
    blocked = failure.type == "PermissionError" and "socket" in failure.text
    if not blocked and not _NO_SERVICE.search(failure.message):
        return None
    said = failure.message.strip().split("\n")[0][:120]
    socket_file = SOCKET_FILE.search(failure.message)
    if socket_file and not host.network:
        return socket_lack(socket_file[0])
    if _OWN_SERVER.search(failure.text):
        return None
    return network_lack(failure.message, said, host)


def network_lack(message: str, said: str, host: Host) -> Lack:
    """What to do about a service that did not answer."""
    ports = [int(number) for found in _PORT.findall(message) for number in found if number]
    open_port = next((port for port in ports if host.listens(port)), 0)
    if host.network:
        return Lack(
            f"the test needs a network service that does not answer ({said}): start it, then run again"
        )
    what = (
        f"the server that listens on port {open_port} of this machine" if open_port else "a network service"
    )
    return Lack(
        f"the test needs {what}, which a sealed run cannot reach ({said}): {_NETWORK.option} allows it",
        what,
        _NETWORK,
    )


def _behind_an_assertion(failure: Failure, nodeid: str, host: Host) -> Lack | None:
    """Code may catch what the seal causes, and a test then finds something else than it hoped for. Only a test that
    passed for the person shows that."""
    found = _NO_SERVICE.search(failure.output)
    if found is None or host.network or person_saw(nodeid, host) != "passed":
        return None
    line = next(line.strip() for line in failure.output.splitlines() if found[0] in line)
    return passed_for_the_person(network_lack(line, line[:120], host))
