"""`regreen undo`: take back what a run wrote, leaving alone what the person changed since."""

from __future__ import annotations

import json

from regreen.errors import UsageError
from regreen.settings import run_folder, state_folder
from regreen.workspace.journal import undo


def undo_run(run: str | None, as_json: bool) -> int:
    """Take back a run, the latest one that wrote by default. 0 when every file is back, 1 when some were left alone."""
    chosen = run or _latest_with_journal()
    folder = run_folder(chosen) / "journal"
    if not folder.is_dir():
        raise UsageError(f"The run {chosen} wrote nothing, so there is nothing to take back.")
    results = undo(folder, chosen)
    if as_json:
        files = [{"path": path, "status": status} for path, status in results]
        print(json.dumps({"run": chosen, "files": files}))
    else:
        for path, status in results:
            print(f"{path}: {status}")
    return 0 if all(status in ("restored", "removed", "as before") for _, status in results) else 1


def _latest_with_journal() -> str:
    runs = state_folder() / "runs"
    names = sorted((f.parent.name for f in runs.glob("*/journal") if any(f.iterdir())), reverse=True)
    if not names:
        raise UsageError("No run wrote anything yet, so there is nothing to take back.")
    return names[0]
