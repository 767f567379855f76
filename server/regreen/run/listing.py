"""`regreen tests`: the tests of a folder, as pytest itself collects them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from regreen.errors import RegreenError, UsageError, command_in
from regreen.run.consent import is_kept
from regreen.run.look import look
from regreen.run.projects import joined, projects_below
from regreen.testing.interpreter import find_interpreter
from regreen.testing.report import Report
from regreen.testing.seal.allowed import Allowed
from regreen.testing.seal.choose import choose as choose_seal
from regreen.testing.seal.door import SealMode
from regreen.workspace.root import Workspace, find_root


async def list_tests(
    folder: Path, python: str | None, mode: SealMode, as_json: bool, allowed: Allowed | None = None
) -> int:
    """Print the node ids below a folder or file, one a line or as one JSON object. Raises RegreenError."""
    if not folder.exists():
        raise UsageError(f"There is no {folder} to look for tests in.")
    place = folder.resolve()
    workspace = Workspace.open(find_root(place))
    try:
        parts = projects_below(workspace, place)
        found = [(root, await _part(root, own, python, mode, allowed)) for root, own in parts]
        report = (
            joined(workspace.root, found)
            if found
            else await _collect(workspace, (place,), python, mode, allowed)
        )
    finally:
        workspace.close()
    errors = [f"{failure.type}: {failure.message}" for failure in report.collection_errors]
    if as_json:
        found = {
            "workspace": str(workspace.root),
            "tests": list(report.collected),
            "errors": errors,
            "problem": report.problem,
            "command": command_in(report.problem),
        }
        print(json.dumps(found))
    else:
        for nodeid in report.collected:
            print(nodeid)
        for line in errors:
            print(f"cannot collect: {line}", file=sys.stderr)
    if report.problem and (not report.finished or (errors and not report.collected)):
        raise RegreenError(report.problem)
    if not report.collected and not as_json:
        print(f"There are no tests in {place}.", file=sys.stderr)
    return 0


async def _part(
    root: Path, places: Sequence[Path], python: str | None, mode: SealMode, allowed: Allowed | None
) -> Report:
    workspace = Workspace.open(root)
    try:
        return await _collect(workspace, places, python, mode, allowed)
    finally:
        workspace.close()


async def _collect(
    workspace: Workspace, places: Sequence[Path], python: str | None, mode: SealMode, allowed: Allowed | None
) -> Report:
    interpreter = find_interpreter(workspace.root, python)
    if mode == "require" and is_kept(workspace.root):
        mode = "prefer"
    choice = await choose_seal(mode, allowed)
    chosen = [place.relative_to(workspace.root).as_posix() for place in places]
    async with look(workspace, interpreter, choice.seal) as (runner, tree):
        return await runner.collect(tree, [path for path in chosen if path != "."])
