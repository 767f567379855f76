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
from regreen.lsp.progress import part
from regreen.lsp.run import Order
from regreen.lsp.settings import Settings
from regreen.workspace.root import find_root, refused_as_workspace

_LINE = re.compile(r":(\d+)$")
_RECORD = re.compile(r"\w[\w.-]{0,100}")


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


def make_order(
    path: Path,
    names: Sequence[str],
    folders: Sequence[Path],
    settings: Settings,
    unlock_tests: bool = False,
    resume: str = "",
) -> Order:
    """The run for one file and the test in it. Raises RegreenError when it cannot be started."""
    folder = workspace_folder(path, folders)
    place = path if path.is_relative_to(folder) else path.resolve()
    root = folder if path.is_relative_to(folder) else folder.resolve()
    relative = place.relative_to(root).as_posix()
    relative = f"./{relative}" if relative.startswith("-") else relative  # not an option
    _check_python(settings)
    return Order(folder, "::".join((relative, *names)), settings, unlock_tests=unlock_tests, resume=resume)


def make_task(arguments: Mapping[str, Any], folders: Sequence[Path], settings: Settings) -> Order:
    """The run for a task in words: {text, uri?, unlockTests?, resume?}, `uri` being a file or a folder of the workspace
    to work in. Raises RegreenError when it cannot be started."""
    text = arguments.get("text")
    if not isinstance(text, str) or not text.strip():
        raise UsageError("Say in words what to do, for instance: find and fix the bug in the discounts.")
    if "\0" in text:
        raise UsageError("The task holds a NUL character; type it again.")
    folder = _task_folder(arguments.get("uri"), folders)
    _check_python(settings)
    unlocked, resume = wants_unlocked(arguments), wanted_resume(arguments)
    return Order(folder, text.strip(), settings, ask=True, unlock_tests=unlocked, resume=resume)


def order_of_a_test(order: Order, outcome: Mapping[str, Any]) -> Order | None:
    """The run that writes a test for one that has ended, as its outcome offers it; None where it offers none."""
    offered = part(outcome.get("write_test"))
    task, resume = offered.get("task"), offered.get("resume")
    if not order.ask or not isinstance(task, str) or not task:
        return None
    record = resume if isinstance(resume, str) and _RECORD.fullmatch(resume) else ""
    return Order(order.folder, task, order.settings, ask=True, unlock_tests=True, resume=record)


def wants_unlocked(arguments: Mapping[str, Any]) -> bool:
    """Whether the person allowed this one run to change tests. Nothing but a plain true says so."""
    return arguments.get("unlockTests") is True


def wanted_resume(arguments: Mapping[str, Any]) -> str:
    """The record of the run to go on from, or "". Raises UsageError for what is no such name."""
    resume = arguments.get("resume")
    if resume in (None, ""):
        return ""
    if not isinstance(resume, str) or not _RECORD.fullmatch(resume):
        raise UsageError(f"{resume!r} is not the name of an earlier run; start again without it.")
    return resume


def _task_folder(uri: object, folders: Sequence[Path]) -> Path:
    if isinstance(uri, str) and uri:
        path = file_path(uri)
        if path is None:
            raise UsageError(f"Only folders on this machine can be worked on, not {uri}")
        if not path.exists():
            raise UsageError(f"There is no {path}; name a file or folder of the project.")
        return workspace_folder(path, folders)
    if not folders:
        raise UsageError("Open the folder of the project first: a task needs one to work in.")
    if len(folders) > 1:
        names = ", ".join(folder.name for folder in folders)
        raise UsageError(f"Say which folder is meant, of {names}: the command takes a `uri` in it.")
    return workspace_folder(folders[0], folders)


def _check_python(settings: Settings) -> None:
    if settings.run_python and not os.access(settings.run_python, os.X_OK):
        raise RegreenError(
            f"No such interpreter: {settings.run_python}; set regreen.runPython to a Python with regreen."
        )
