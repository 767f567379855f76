"""`regreen tests`: the tests of a folder, as pytest itself collects them; for editors also where in a file they stand."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regreen.errors import RegreenError, UsageError, command_in
from regreen.run.consent import is_kept
from regreen.run.look import look
from regreen.run.projects import joined, projects_below
from regreen.testing.interpreter import find_interpreter
from regreen.testing.places import is_test_file, places_of
from regreen.testing.report import Report
from regreen.testing.seal.allowed import Allowed
from regreen.testing.seal.choose import choose as choose_seal
from regreen.testing.seal.door import SealMode
from regreen.workspace.root import Workspace, find_root
from regreen.workspace.text import decode


@dataclass(frozen=True, slots=True)
class Listing:
    """What is to be listed: a folder or file, and how its project is run. No workspace: the project it lies in."""

    place: Path
    workspace: Path | None
    python: str | None
    mode: SealMode
    allowed: Allowed | None = None


async def list_tests(listing: Listing, as_json: bool) -> int:
    """Print the node ids below a folder or file, one a line or as one JSON object. Raises RegreenError."""
    root, report = await _report(listing)
    errors = _errors(report)
    if as_json:
        found = {
            "workspace": str(root),
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
        print(f"There are no tests in {listing.place.resolve()}.", file=sys.stderr)
    return 0


async def list_places(listing: Listing) -> int:
    """Print one event, {"event": "tests", "places": […], "problem": …}, on the tests of a file. Raises RegreenError.

    A file that pytest would not take for one of tests by itself has its doctests only: named on a command line, pytest
    would take any function for a test that is called like one.
    """
    threading.Thread(target=_end_with_input, daemon=True).start()
    file = listing.place
    raw = file.read_bytes() if file.is_file() else b""
    whole = is_test_file(file.resolve())
    found: dict[str, Any] = {"event": "tests", "places": [], "problem": ""}
    if whole or b">>>" in raw:
        root, report = await _report(listing)
        path = file.resolve().relative_to(root).as_posix()
        mine = [nodeid for nodeid in report.collected if nodeid.partition("::")[0] == path]
        try:
            places = places_of(decode(raw).text, path, mine)
        except (SyntaxError, ValueError, RecursionError) as error:
            raise RegreenError(f"{path} does not parse: {error}") from error
        found["places"] = [place.to_json() for place in places if whole or place.kind == "doctest"]
        found["problem"] = report.problem or next(iter(_errors(report)), "")
    print(json.dumps(found), flush=True)
    return 0


def _end_with_input() -> None:
    """Whoever started this closes the pipe, or says something, when the answer is not wanted any more."""
    os.read(0, 1)
    os.kill(os.getpid(), signal.SIGTERM)


def _errors(report: Report) -> list[str]:
    return [f"{failure.type}: {failure.message}" for failure in report.collection_errors]


async def _report(listing: Listing) -> tuple[Path, Report]:
    """The workspace, and what pytest collects in it, or in the projects that lie in it. Raises RegreenError."""
    if not listing.place.exists():
        raise UsageError(f"There is no {listing.place} to look for tests in.")
    place = listing.place.resolve()
    workspace = Workspace.open(listing.workspace or find_root(place))
    try:
        if not place.is_relative_to(workspace.root):
            raise UsageError(f"{place} is not inside the workspace {workspace.root}.")
        parts = [] if listing.workspace else projects_below(workspace, place)
        if not parts:
            return workspace.root, await _collect(workspace, (place,), listing)
    finally:
        workspace.close()
    return workspace.root, joined(
        workspace.root, [(part, await _part(part, own, listing)) for part, own in parts]
    )


async def _part(root: Path, places: Sequence[Path], listing: Listing) -> Report:
    workspace = Workspace.open(root)
    try:
        return await _collect(workspace, places, listing)
    finally:
        workspace.close()


async def _collect(workspace: Workspace, places: Sequence[Path], listing: Listing) -> Report:
    python = find_interpreter(workspace.root, listing.python)
    mode = "prefer" if listing.mode == "require" and is_kept(workspace.root) else listing.mode
    choice = await choose_seal(mode, listing.allowed)
    chosen = [place.relative_to(workspace.root).as_posix() for place in places]
    async with look(workspace, python, choice.seal) as (runner, tree):
        return await runner.collect(tree, [path for path in chosen if path != "."])
