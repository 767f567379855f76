"""`regreen undo`: take back what a run wrote, leaving alone what the person changed since."""

from __future__ import annotations

import json
from pathlib import Path

from regreen.agent.trace import read_trace
from regreen.errors import UsageError
from regreen.settings import run_folder, state_folder
from regreen.workspace.journal import undo


def undo_run(run: str | None, as_json: bool) -> int:
    """Take back a run, the latest one that wrote by default. 0 when every file is back, 1 when some were left alone."""
    chosen = run or _latest_here(Path.cwd())
    folder = run_folder(chosen) / "journal"
    if not folder.is_dir():
        raise UsageError(f"The run {chosen} wrote nothing, so there is nothing to take back.")
    results = undo(folder, chosen)
    if as_json:
        files = [{"path": path, "status": status} for path, status in results]
        print(json.dumps({"run": chosen, "files": files}))
    else:
        print(f"Run {chosen} in {_workspace_of(chosen) or 'an unknown folder'}:")
        for path, status in results:
            print(f"{path}: {status}")
    return 0 if all(status in ("restored", "removed", "as before") for _, status in results) else 1


def _latest_here(folder: Path) -> str:
    """The latest run that wrote something in the workspace `folder` lies in. Raises UsageError."""
    runs = state_folder() / "runs"
    names = sorted((f.parent.name for f in runs.glob("*/journal") if any(f.iterdir())), reverse=True)
    for name in names:
        workspace = _workspace_of(name)
        if workspace is not None and folder.resolve().is_relative_to(workspace):
            return name
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
