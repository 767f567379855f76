"""The folders of one run: what stays (trace, journal) and what is gone afterwards (trial, scratch)."""

from __future__ import annotations

import os
from pathlib import Path

from regreen.settings import cache_folder, run_folder
from regreen.workspace.remove import remove_tree


class RunFolders:
    """Private folders named after the run and the process, so that a later run can clear what a crash left."""

    def __init__(self, run: str) -> None:
        kept = run_folder(run)
        self.trace = kept / "trace.jsonl"
        self.journal = kept / "journal"
        working = cache_folder() / "working"
        working.mkdir(parents=True, exist_ok=True, mode=0o700)
        _clear_abandoned(working)
        self._working = working / f"{run}.{os.getpid()}"
        self.trial = self._working / "trial"
        self.scratch = self._working / "scratch"
        for folder in (self.trial, self.scratch):
            folder.mkdir(parents=True, mode=0o700)

    def remove(self) -> None:
        """Remove what only the run needed, whatever the tests did to it."""
        remove_tree(self._working)


def _clear_abandoned(working: Path) -> None:
    for entry in working.iterdir():
        pid = entry.name.rpartition(".")[2]
        if pid.isdigit() and not _alive(int(pid)):
            remove_tree(entry)


def _alive(pid: int) -> bool:
    if (
        os.name == "nt"
    ):  # os.kill(pid, 0) ends the process there; leave old folders to the next start of the system
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
