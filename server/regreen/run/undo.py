"""`regreen undo`: take back what runs wrote, leaving alone what the person changed since.

A path with several failing tests is fixed by one run for each of them; those runs have an id together, the batch, and
are taken back by it, the newest first.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regreen.agent.trace import read_trace
from regreen.errors import UsageError
from regreen.run.resume import BATCH_FILE, batch_members
from regreen.settings import run_folder, state_folder
from regreen.workspace.journal import undo

_BACK = ("restored", "removed", "as before")


def undo_runs(names: Sequence[str], as_json: bool) -> int:
    """Take back runs, the latest one (or batch) that wrote by default. 0 when every file is back, 1 when some were
    left alone. Raises UsageError before anything is touched when one of the names is no run that wrote something."""
    runs = [run for name in names or [_latest_here(Path.cwd())] for run in _runs_of(name)]
    newest_first = sorted(dict.fromkeys(runs), key=_ended, reverse=True)
    told: list[dict[str, Any]] = []
    complete = True
    for run in newest_first:
        results = undo(run_folder(run) / "journal", run)
        complete = complete and all(status in _BACK for _, status in results)
        told.append({"run": run, "files": [{"path": path, "status": status} for path, status in results]})
        if not as_json:
            print(f"Run {run} in {_workspace_of(run) or 'an unknown folder'}:")
            for path, status in results:
                print(f"{path}: {status}")
    if as_json:
        print(json.dumps(told[0] if len(told) == 1 else {"runs": told}))
    return 0 if complete else 1


def _runs_of(name: str) -> list[str]:
    """The runs that a name stands for, each with a journal."""
    members = batch_members(name)
    runs = [run for run in members or [name] if (run_folder(run) / "journal").is_dir()]
    if not runs:
        known = members or run_folder(name).is_dir()
        what = f"The run {name} wrote nothing" if known else f"There is no run {name}"
        raise UsageError(f"{what}, so there is nothing to take back.")
    return runs


def _ended(run: str) -> float:
    """When a run wrote its last line: ids tell the second in which it began, which may be another's too."""
    try:
        return (run_folder(run) / "trace.jsonl").stat().st_mtime_ns
    except OSError:
        return 0


def _latest_here(folder: Path) -> str:
    """The latest run that wrote something in the workspace `folder` lies in, or its batch. Raises UsageError."""
    runs = state_folder() / "runs"
    written = [f.parent.name for f in runs.glob("*/journal") if any(f.iterdir())]
    names = sorted(written, key=_ended, reverse=True)
    for name in names:
        workspace = _workspace_of(name)
        if workspace is not None and folder.resolve().is_relative_to(workspace):
            batches = (f.parent.name for f in runs.glob(f"*/{BATCH_FILE}"))
            return next((batch for batch in batches if name in batch_members(batch)), name)
    elsewhere = (
        f" The latest elsewhere: regreen undo {names[0]}  ({_workspace_of(names[0])})" if names else ""
    )
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
