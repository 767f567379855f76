"""What a failing test looked for in vain although the person has it: what the seal may have broken without a word.

Code that reads a variable with `os.getenv` goes on with None, and code that asks whether a file exists goes another way
when it does not: then the failure that follows does not name what is missing. Nothing here decides; see
`regreen.run.permission`, which can try it out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from regreen.testing.host import Host, person_saw
from regreen.testing.kept_files import kept_file
from regreen.testing.kept_out import network_lack, variable_lack
from regreen.testing.lack import Lack, Missed, Suspect
from regreen.testing.report import Failure, Report, TestRecord

MOST = 12
_OPTIONAL = re.compile(
    r"(?i)(?:PYTHON|PYTEST|PY_|TERM|LC_|XDG_|FORCE_|CLICOLOR|COV_|COVERAGE|VIRTUAL_ENV|CONDA|PIP_|UV_|POETRY_|VSCODE|SSH_|GPG_"
    r"|DBUS_|WAYLAND|WSL|HYPOTHESIS|TQDM|RICH_|JUPYTER|IPYTHON|TOX_|NOX_|MYPY|LS_COLORS|LESS|GIT_|SUDO_|TMUX).*"
    r"|(?:https?|ftp|all|no)_proxy|COLORTERM|COLUMNS|LINES|CI|CONTINUOUS_INTEGRATION|BUILD_(?:NUMBER|ID)|GITHUB_ACTIONS"
    r"|GITLAB_CI|TRAVIS|APPVEYOR|CIRCLECI|JENKINS_URL|TF_BUILD|NO_COLOR|TZ|LANG|LANGUAGE|EDITOR|VISUAL|PAGER|BROWSER|DISPLAY"
    r"|DEBUG|VERBOSE|QUIET|LOG_?LEVEL|TMP|TEMP|TMPDIR|PWD|OLDPWD|SHLVL|SHELL|HOSTNAME|SOURCE_DATE_EPOCH|MPLBACKEND|_"
)
"""Variables that programs look at in passing, and that many people have: none of them is why a test fails."""
_SHORTEST = 4
"""Characters of a value that is looked for in what a test expects."""
_ADDRESS = re.compile(r"[A-Za-z0-9_.:-]{1,253}:[a-z0-9]{0,20}")
_LOCAL = re.compile(r"(?:localhost|ip6-localhost|127\.[\d.]+|::1|0\.0\.0\.0|::)?$")


def suspects_of(report: Report, host: Host) -> tuple[Suspect, ...]:
    """What a run missed and the person has, the likeliest first; nothing where a test passed."""
    if report.passed or not host.missed:
        return ()
    record = next((each for each in report.tests.values() if each.failure or each.outcome == "skipped"), None)
    if record is None:
        return ()
    ran = {*report.executed, *(frame.path for frame in (record.failure.frames if record.failure else ()))}
    ran |= {missed.path for missed in host.missed if missed.path}
    saw = person_saw(record.nodeid, host, sorted(ran))
    found: dict[Lack, Suspect] = {}
    for missed in _each(host, ran):
        lack = _lack(missed, host)
        if lack is not None and lack not in found:
            found[lack] = Suspect(
                lack, missed, saw, _speaks_of(record, missed), _expects(record, missed, host)
            )
    likeliest = sorted(found.values(), key=lambda one: (not one.direct, not one.expected))
    return tuple(likeliest[:MOST])


def _each(host: Host, ran: Iterable[str]) -> Iterator[Missed]:
    """What was missed, one by one. Where a library went through all variables, for the fields of a class of settings, it
    is those of the person that have the name of a word in the code, with the prefix that the class gives them."""
    for missed in host.missed or ():
        if missed.kind != "variable" or missed.name != "*":
            yield missed
            continue
        code = "\n".join(_text(host.tree / path) for path in sorted({missed.path, *ran}))
        words = {word.lower() for word in re.findall(r"\w+", code)}
        prefixes = ["", *(found.lower() for found in re.findall(r"env_prefix\s*=\s*['\"](\w+)['\"]", code))]
        for name in sorted(host.names() - host.given):
            low = name.lower()
            if any(low.startswith(prefix) and low[len(prefix) :] in words for prefix in prefixes):
                yield replace(missed, name=name)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")[:200_000]
    except OSError:
        return ""


def _lack(missed: Missed, host: Host) -> Lack | None:
    """What to do about it; None when the person has not got it either."""
    if missed.kind == "variable":
        if _OPTIONAL.fullmatch(missed.name) or not host.value(missed.name):
            return None
        lack = variable_lack(missed.name, host)
        return lack if lack.permission else None
    if missed.kind == "file":
        path = Path(missed.name)
        if path.is_relative_to("/home/sealed"):
            return (
                kept_file(missed.name, host)
                if (Path.home() / path.relative_to("/home/sealed")).exists()
                else None
            )
        lack = kept_file(missed.name, host)
        return lack if lack is None or lack.permission else None
    return _address_lack(missed.name, host)


def _address_lack(name: str, host: Host) -> Lack | None:
    """A server outside this machine, or one on it that listens: neither is reached from inside."""
    if host.network:
        return None
    if not _ADDRESS.fullmatch(name):
        return None  # no name of a host has other letters, and the person is going to read it
    place, _, port = name.rpartition(":")
    here = _LOCAL.fullmatch(place) or place == os.uname().nodename if hasattr(os, "uname") else False
    if here and not (port.isdigit() and host.listens(int(port))):
        return None
    said = f"it connects to {name}" if port else f"it looks for {place}"
    lack = network_lack(f"port {port}" if here else "", said, host)
    return lack if here else replace(lack, needs=f"{lack.needs} ({said})")


def _speaks_of(record: TestRecord, missed: Missed) -> bool:
    """Whether a failure names what was missed, or comes from the very line that looked for it."""
    failure = record.failure
    if failure is None:
        return _names(record.reason, missed)
    at = {(frame.path, frame.line) for frame in failure.frames[-1:]}
    return (missed.path, missed.line) in at or _names(failure.message, missed)


def _names(text: str, missed: Missed) -> bool:
    name = Path(missed.name).name if missed.kind == "file" else missed.name
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _expects(record: TestRecord, missed: Missed, host: Host) -> bool:
    """Whether what the test compares with is in the person's variable."""
    failure: Failure | None = record.failure
    if failure is None or missed.kind != "variable":
        return False
    value = host.value(missed.name)
    return len(value) >= _SHORTEST and any(
        value in text for text in (failure.left or "", failure.right or "", failure.message)
    )
