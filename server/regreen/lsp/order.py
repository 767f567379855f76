"""From the arguments of a command to the run they ask for, or one line that says why there is none."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from regreen.errors import RegreenError, UsageError
from regreen.lsp.documents import file_path
from regreen.lsp.run import Order
from regreen.lsp.settings import Settings
from regreen.workspace.root import find_root, refused_as_workspace

_LINE = re.compile(r":(\d+)$")


def test_file(arguments: Mapping[str, Any]) -> Path:
    """The saved file that a command is about. Raises UsageError with what to do for anything else."""
    uri = arguments.get("uri")
    if not isinstance(uri, str) or not uri:
        raise UsageError("Put the cursor into a test and choose Fix failing test: the command needs a file.")
    path = file_path(uri)
    scheme = urlsplit(uri).scheme
    if scheme == "untitled":
        raise UsageError("Save the file first: a test can only be run from a file.")
    if "notebook" in scheme or (path is not None and path.suffix == ".ipynb"):
        raise UsageError("Tests in notebooks cannot be fixed; move the test into a Python file.")
    if path is None:
        raise UsageError(f"Only files on this machine can be fixed, not {scheme or 'such an address'}: {uri}")
    if not path.is_file():
        raise UsageError(f"Save {path.name} first: there is no such file on disk.")
    return path


def wanted_names(arguments: Mapping[str, Any]) -> tuple[tuple[str, ...], int | None]:
    """The test's names, or the 1-based line that stands for them; neither means the whole file."""
    names = arguments.get("names")
    if isinstance(names, Sequence) and not isinstance(names, str):
        return tuple(str(name) for name in cast("Sequence[Any]", names)), None
    target = arguments.get("target")
    if isinstance(target, str):
        _, found, rest = target.partition("::")
        if found:
            return _split_names(rest), None
        if match := _LINE.search(target):
            return (), int(match.group(1))
    return (), None


def _split_names(text: str) -> tuple[str, ...]:
    """Names cut at "::", but not inside a parametrize id, which may hold anything."""
    head, bracket, ident = text.partition("[")
    *classes, last = head.split("::")
    return (*classes, last + bracket + ident)


def workspace_folder(path: Path, folders: Sequence[Path]) -> Path:
    """The innermost workspace folder that holds the file; without one, the root its project files show.

    Raises UsageError when that folder must not be worked on (home, a drive's root, system folders).
    """
    holding = [folder for folder in folders if _inside(path, folder)]
    folder = max(holding, key=lambda folder: len(folder.resolve().parts), default=None)
    chosen = folder if folder is not None else find_root(path)
    if why := refused_as_workspace(chosen.resolve()):
        raise UsageError(f"{chosen} cannot be the workspace: {why}; open the folder of the project itself.")
    return chosen


def _inside(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder) or path.resolve().is_relative_to(folder.resolve())


def make_order(path: Path, names: Sequence[str], folders: Sequence[Path], settings: Settings) -> Order:
    """The run for one file and the test in it. Raises RegreenError when it cannot be started."""
    folder = workspace_folder(path, folders)
    place = path if path.is_relative_to(folder) else path.resolve()
    root = folder if path.is_relative_to(folder) else folder.resolve()
    relative = place.relative_to(root).as_posix()
    relative = f"./{relative}" if relative.startswith("-") else relative  # not an option
    if settings.run_python and not os.access(settings.run_python, os.X_OK):
        raise RegreenError(
            f"No such interpreter: {settings.run_python}; set regreen.runPython to a Python with regreen."
        )
    return Order(folder, "::".join((relative, *names)), settings)
