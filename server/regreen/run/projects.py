"""A folder that is no project itself and has projects in it: each is looked at as `regreen fix` would take it."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path, PurePosixPath

from regreen.testing.places import TEST_FILES
from regreen.testing.report import Report
from regreen.workspace.root import MARKERS, Workspace, find_root


def projects_below(workspace: Workspace, place: Path) -> list[tuple[Path, tuple[Path, ...]]]:
    """The projects below `place`, a folder in `workspace`, by path, each with what is to be collected in it: itself.

    Last comes the workspace's own root with the test files that are in none of them, if there are any. Nothing when the
    workspace is a project, or has none in it.
    """
    root = workspace.root
    if not place.is_dir() or any((root / marker).is_file() for marker in MARKERS):
        return []
    under = place.relative_to(root).as_posix()
    files = [PurePosixPath(path) for path in workspace.files("" if under == "." else under)]
    marked = {root / path.parent for path in files if path.name in MARKERS}
    projects = sorted({find_root(folder) for folder in marked} - {root})
    if not projects:
        return []
    outside = [
        root / path
        for path in files
        if any(fnmatch.fnmatch(path.name, pattern) for pattern in TEST_FILES)
        and not any((root / path).is_relative_to(project) for project in projects)
    ]
    rest = [(root, tuple(outside))] if outside else []
    return [*((project, (project,)) for project in projects), *rest]


def joined(root: Path, reports: Iterable[tuple[Path, Report]]) -> Report:
    """One report on several projects: node ids are relative to `root`, and problems say whose they are."""
    whole = Report(finished=True)
    for project, report in reports:
        name = project.relative_to(root).as_posix()
        collected = (
            report.collected if name == "." else tuple(f"{name}/{nodeid}" for nodeid in report.collected)
        )
        problem = f"{name}: {report.problem}" if report.problem and name != "." else report.problem
        whole = replace(
            whole,
            collected=(*whole.collected, *collected),
            collection_errors=(*whole.collection_errors, *report.collection_errors),
            finished=whole.finished and report.finished,
            problem=whole.problem or problem,
        )
    return whole
