"""`regreen undo`: take back what runs wrote, leaving alone what the person changed since.

A path with several failing tests is fixed by one run for each of them; those runs have an id together, the batch, and
are taken back by it, the newest first.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from regreen.agent.trace import read_trace
from regreen.errors import UsageError
from regreen.run.resume import BATCH_FILE, batch_members
from regreen.settings import run_folder, state_folder
from regreen.workspace.journal import written
from regreen.workspace.recovery import undo

_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{4}")
"""See `settings.new_run_id`."""
_BACK = ("restored", "removed", "as before")


def undo_runs(words: Sequence[str], as_json: bool) -> int:
    """Take back runs, the latest one (or batch) that wrote by default. Words that are no runs are files that a run
    wrote, or folders of them: then those alone are taken back. 0 when every file is back, 1 when some were left alone.
    Raises UsageError before anything is touched when a word is neither a run nor a file that one of the runs wrote."""
    names = [word for word in words if _is_run(word)]
    places = [word for word in words if not _is_run(word)]
    runs = [run for name in names or [_latest_here(Path.cwd())] for run in _runs_of(name)]
    newest_first = sorted(dict.fromkeys(runs), key=_ended, reverse=True)
    wrote = {run: _wrote(run) for run in newest_first}
    chosen = _chosen(places, wrote)
    told: list[dict[str, Any]] = []
    complete = True
    for run in newest_first:
        only = chosen.get(run)
        if places and not only:
            continue
        results = undo(run_folder(run) / "journal", run, only)
        complete = complete and all(status in _BACK for _, status in results)
        told.append({"run": run, "files": [{"path": path, "status": status} for path, status in results]})
        if not as_json:
            _tell(run, results, [path for path in wrote[run] if only and path not in only])
    if as_json:
        print(json.dumps(told[0] if len(told) == 1 else {"runs": told}))
    return 0 if complete else 1


def _tell(run: str, results: Sequence[tuple[str, str]], others: Sequence[str]) -> None:
    print(f"Run {run} in {_workspace_of(run) or 'an unknown folder'}:")
    for path, status in results:
        print(f"{path}: {status}")
    for path in others:
        print(f"{path}: not asked for, stays")


def _is_run(word: str) -> bool:
    """Whether a word names a run, or has the form of such a name; `./NAME` is a file in any case."""
    if word in ("", ".", "..") or "/" in word:
        return False
    return _ID.fullmatch(word) is not None or run_folder(word).is_dir()


def _chosen(places: Sequence[str], wrote: Mapping[str, Sequence[str]]) -> dict[str, set[str]]:
    """The files that are meant, by run. A place counts from the current folder; where no run wrote there, from the
    run's workspace, which is how outcomes show it. Raises UsageError for a place where none of the runs wrote."""
    chosen: dict[str, set[str]] = {}
    for place in places:
        found: dict[str, set[str]] = {}
        for meant in (_whole(place), place) if place else ():
            found = {run: set(_below(paths, _inside(run, meant))) for run, paths in wrote.items()}
            if any(found.values()):
                break
        else:
            files = ", ".join(dict.fromkeys(path for paths in wrote.values() for path in paths))
            raise UsageError(
                f"{place or repr(place)} is no run, and no file that {' or '.join(wrote)} wrote. Name one of: {files}."
            )
        for run, paths in found.items():
            chosen.setdefault(run, set()).update(paths)
    return chosen


def _whole(place: str) -> str:
    """The path from the root, links on the way resolved; the last name may be one that is gone."""
    path = Path(os.path.normpath(Path.cwd() / place))
    return os.path.join(os.path.realpath(path.parent), path.name)  # noqa: PTH118


def _inside(run: str, place: str) -> str | None:
    """A place relative to the run's workspace, with forward slashes; None when it lies elsewhere."""
    workspace = _workspace_of(run)
    path = Path(os.path.normpath(place))
    if not path.is_absolute():
        return path.as_posix() if path.parts else None  # "." is the current folder, which is elsewhere.
    return path.relative_to(workspace).as_posix() if workspace and path.is_relative_to(workspace) else None


def _below(paths: Sequence[str], place: str | None) -> list[str]:
    """Of these paths, the place itself and all below it."""
    if place is None:
        return []
    return [path for path in paths if place in (path, ".") or path.startswith(f"{place}/")]


def _runs_of(name: str) -> list[str]:
    """The runs that a name stands for, each with a journal."""
    members = batch_members(name)
    runs = [run for run in members or [name] if _wrote(run)]
    if not runs:
        known = members or run_folder(name).is_dir()
        what = f"The run {name} wrote nothing" if known else f"There is no run {name}"
        raise UsageError(f"{what}, so there is nothing to take back.")
    return runs


def _wrote(run: str) -> list[str]:
    """What the run wrote; a write that failed leaves a journal too."""
    return written(run_folder(run) / "journal")


def _ended(run: str) -> float:
    """When a run wrote its last line: ids tell the second in which it began, which may be another's too."""
    try:
        return (run_folder(run) / "trace.jsonl").stat().st_mtime_ns
    except OSError:
        return 0


def _latest_here(folder: Path) -> str:
    """The latest run that wrote something in the workspace `folder` lies in, or its batch. Raises UsageError."""
    runs = state_folder() / "runs"
    names = sorted((f.parent.name for f in runs.glob("*/journal")), key=_ended, reverse=True)
    for name in names:
        workspace = _workspace_of(name)
        if workspace is not None and folder.resolve().is_relative_to(workspace) and _wrote(name):
            batches = (f.parent.name for f in runs.glob(f"*/{BATCH_FILE}"))
            return next((batch for batch in batches if name in batch_members(batch)), name)
    other = next(filter(_wrote, names), "")
    elsewhere = f" The latest elsewhere: regreen undo {other}  ({_workspace_of(other)})" if other else ""
    raise UsageError(f"No run wrote anything in {folder}, so there is nothing to take back.{elsewhere}")


def _workspace_of(run: str) -> Path | None:
    """The folder a run worked in, from its trace."""
    try:
        events = read_trace(run_folder(run) / "trace.jsonl")
    except UsageError:
        return None
    return next(
        (Path(e["workspace"]) for e in events if e.get("event") == "started" and "workspace" in e), None
    )
