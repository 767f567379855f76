"""A test that ends its whole process: how it did so, and where, as far as the process could still say."""

from __future__ import annotations

import re
import signal
from dataclasses import replace
from pathlib import Path

from regreen.testing.host import Host
from regreen.testing.report import Failure, Frame, TestRecord

ENDED = " ended the Python process"
_FATAL = re.compile(r"Fatal Python error: (.*)")
_FRAME = re.compile(r'^  File "([^"]+)", line (\d+),? in (.+)$', re.MULTILINE)
_INTERNAL = re.compile(r"^INTERNALERROR> ?", re.MULTILINE)
_ENDING = re.compile(r"^SystemExit(?:: (.*))?$", re.MULTILINE)
_HEAD = re.compile(r"\A.*?^collected \d+ items?[^\n]*\n", re.MULTILINE | re.DOTALL)
"""What pytest prints before its tests: folders of ours among it."""
_SHOWN = 4000


def crashed(record: TestRecord, returncode: int | None, output: str, host: Host) -> TestRecord:
    """The record with what is known of the end. Exit codes above 128 are signals, as a shell has them.

    The frames are those that Python's fault handler wrote, when it got so far; `output` is the end of what was printed.
    """
    culprit = record.failure.message.partition(ENDED)[0] if record.failure else record.nodeid.split("::")[-1]
    fatal = list(_FATAL.finditer(output))
    text = output[fatal[-1].start() :] if fatal else ""
    message = f"{culprit}{ENDED}{_how(returncode)}"
    frames = tuple(reversed(_frames(text, host)))
    if frames:
        message += f" in {frames[-1].path}, line {frames[-1].line}"
    printed = _HEAD.sub("", output)[-_SHOWN:].strip()
    failure = Failure("crashed", message, frames=frames, text=text[:_SHOWN], output=printed)
    return replace(record, failure=failure)


def stopped_import(internal_error: str, host: Host) -> tuple[str, Failure] | None:
    """The file that could not be collected, and why, where project code left the process while it was imported.

    pytest 8 and later let `sys.exit()` end the session as an error of their own; before, it was a collection error.
    """
    text = _INTERNAL.sub("", internal_error)
    ending = list(_ENDING.finditer(text))
    frames = tuple(_frames(text, host))
    if not ending or not frames or frames[0].path.endswith("conftest.py"):
        return None
    lines = [f"{frame.path}:{frame.line}: in {frame.function}\n    {frame.source}" for frame in frames]
    said = ending[-1].group(0)
    failure = Failure(
        "SystemExit", ending[-1][1] or "", frames=frames, text="\n".join([*lines, f"E   {said}"])
    )
    return frames[0].path, failure


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
    """Frames in the workspace as they are listed: the fault handler begins with the innermost, a traceback ends there."""
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
