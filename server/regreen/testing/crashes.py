"""A test that ends its whole process: how it did so, and where, as far as the process could still say."""

from __future__ import annotations

import re
import signal
from dataclasses import replace
from pathlib import Path

from regreen.testing.host import Host
from regreen.testing.report import Failure, Frame, TestRecord

_FATAL = re.compile(r"Fatal Python error: (.*)")
_FRAME = re.compile(r'^  File "([^"]+)", line (\d+) in (.+)$', re.MULTILINE)
_HEAD = re.compile(r"\A.*?^collected \d+ items?[^\n]*\n", re.MULTILINE | re.DOTALL)
"""What pytest prints before its tests: folders of ours among it."""
_SHOWN = 4000


def crashed(record: TestRecord, returncode: int | None, output: str, host: Host) -> TestRecord:
    """The record with what is known of the end. Exit codes above 128 are signals, as a shell has them.

    The frames are those that Python's fault handler wrote, when it got so far; `output` is the end of what was printed.
    """
    test = record.nodeid.split("::")[-1]
    fatal = list(_FATAL.finditer(output))
    text = output[fatal[-1].start() :] if fatal else ""
    message = f"{test} ended the Python process{_how(returncode)}"
    frames = tuple(reversed(_frames(text, host)))
    if frames:
        message += f" in {frames[-1].path}, line {frames[-1].line}"
    printed = _HEAD.sub("", output)[-_SHOWN:].strip()
    failure = Failure("crashed", message, frames=frames, text=text[:_SHOWN], output=printed)
    return replace(record, failure=failure)


def _how(returncode: int | None) -> str:
    if returncode is None:
        return ""
    if returncode <= 128:
        return f" with exit code {returncode}"
    try:
        name = signal.Signals(returncode - 128).name
    except ValueError:
        return f" with exit code {returncode}"
    what = {
        "SIGSEGV": "a segmentation fault",
        "SIGABRT": "an abort",
        "SIGFPE": "an arithmetic fault",
        "SIGBUS": "a bus error",
        "SIGILL": "an illegal instruction",
    }.get(name)
    return f" by {what} ({name})" if what else f", killed by {name}"


def _frames(text: str, host: Host) -> list[Frame]:
    """Frames in the workspace, the innermost first, as the fault handler lists them."""
    found: list[Frame] = []
    for name, line, function in _FRAME.findall(text):
        for root in (host.tree, host.workspace):
            path = Path(name)
            if path.is_relative_to(root) and "site-packages" not in path.parts:
                source = _line(host.tree / path.relative_to(root), int(line))
                found.append(Frame(path.relative_to(root).as_posix(), int(line), function, source))
                break
    return found


def _line(file: Path, number: int) -> str:
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return lines[number - 1].rstrip()[:400] if number <= len(lines) else ""
