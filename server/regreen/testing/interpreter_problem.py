"""An interpreter that cannot run the tests of anything: too old, broken, or no Python at all."""

from __future__ import annotations

import re
from pathlib import Path

from regreen.testing.records import Reading
from regreen.testing.seal.door import Finished

OLDEST = (3, 8)
"""The probe's own Python, see testing/probe/."""

CHOOSE = "choose another one with --python, or by `regreen.interpreter` in the editor's settings"

_SAID = re.compile(
    r"^(?:fatal|\w*error\b).*|^[^:\n]+: .*(?:error|cannot|not found|no such|invalid|denied).*", re.I | re.M
)
"""The lines in which a program says what is wrong."""


def unfit_python(reading: Reading, finished: Finished, python: Path) -> str:
    """One line that names the interpreter and how to choose another, "" when it is not to blame.

    The probe's first record is written before anything of the project is loaded: without it, nothing of Python ran.
    """
    version = tuple(int(number) for number in re.findall(r"\d+", reading.python)[:2])
    if version and version < OLDEST:
        return _too_old(python, f"is Python {reading.python}")
    if reading.heard or reading.started or finished.status in ("seal_failed", "cancelled", "memory_limit"):
        return ""
    output = finished.output.decode("utf-8", errors="replace").strip()
    if "SyntaxError" in output and re.search(r"regreen_\w+\.py", output):
        return _too_old(python, "is an old Python")
    if finished.status == "timeout":
        return f"{python} did not begin to run the tests in {finished.seconds:.0f} s: {CHOOSE}"
    lines = _SAID.findall(output)
    said = f" ({lines[0].strip()[:200]})" if lines else ""
    return f"{python} does not work as a Python interpreter{said}: {CHOOSE}"


def _too_old(python: Path, what: str) -> str:
    return f"{python} {what}, and running tests needs Python 3.8 or newer: {CHOOSE}"
