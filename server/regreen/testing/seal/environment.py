"""The clean environment of sealed processes: an allow-list, never the person's environment less a few names."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

_KEPT = ("LANG", "LC_ALL", "LC_CTYPE", "TZ")
_KEPT_WINDOWS = ("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "NUMBER_OF_PROCESSORS")


def clean(
    python: Path,
    home: Path,
    temp: Path,
    extra: Mapping[str, str] | None = None,
    source: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The environment for a sealed process: locale and time zone of the person, nothing else of theirs.

    `home` and `temp` are the (empty) folders that stand for the home and the temporary folder; `extra` is
    added last. `source` stands for `os.environ` in tests.
    """
    given = os.environ if source is None else source
    names = _KEPT + (_KEPT_WINDOWS if sys.platform == "win32" else ())
    env = {name: given[name] for name in names if given.get(name)}
    if "LC_ALL" not in env and "LANG" not in env:
        env["LANG"] = "C.UTF-8"
    env["PATH"] = os.pathsep.join(_search_path(python, given))
    env["HOME"] = str(home)
    env["TMPDIR"] = str(temp)
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    if sys.platform == "win32":
        env["USERPROFILE"] = env["APPDATA"] = env["LOCALAPPDATA"] = str(home)
        env["TEMP"] = env["TMP"] = str(temp)
    env.update(extra or {})
    return env


def _search_path(python: Path, given: Mapping[str, str]) -> list[str]:
    """The interpreter's own folder, then the system's: never the person's PATH, which may name the workspace."""
    if sys.platform == "win32":
        root = given.get("SYSTEMROOT", r"C:\Windows")
        return [str(python.parent), str(python.parent / "Scripts"), rf"{root}\System32", root]
    return list(dict.fromkeys([str(python.parent), "/usr/local/bin", "/usr/bin", "/bin"]))
