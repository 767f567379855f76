"""From suspicious lines to scored candidates: facts of the project, and the blend of place and kind."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from regreen.repair.crash import crash_edits, import_edits
from regreen.repair.localise import constants_read, names_read, spread
from regreen.repair.operators import candidates
from regreen.repair.operators.site import Hints, Project, Signature, fields, signatures, uncalled
from regreen.repair.related import imported, modules_of
from regreen.repair.source import Edit
from regreen.repair.texts import Texts

SHARPNESS = 1.5
"""How strongly suspicion counts against the operator's prior."""

MOST_LINES = 160
"""So many lines, the most suspicious, get candidates; behind them the time is over anyway."""


MOST_BESIDE = 30
"""Files that are only read for what they define."""


def import_repairs(texts: Texts, message: str) -> list[tuple[float, tuple[Edit, ...]]]:
    """Candidates for files that keep the tests from being imported, best first."""
    paths = [path for path in texts.ground.files() if texts.allowed(path)]
    return [(edit.weight, (edit,)) for edit in import_edits(message, paths, texts)]


def _imported_by(texts: Texts, paths: Iterable[str]) -> list[str]:
    """Files of the project that the given ones and the target's import: what they define may be what is missing."""
    names: set[str] = set()
    for path in (*paths, texts.ground.target.path):
        names |= imported(texts.text(path) or "")
    return [
        path
        for path in texts.ground.files()
        if path not in paths and texts.allowed(path) and modules_of(path) & names
    ][:MOST_BESIDE]


async def generate(
    texts: Texts, scores: Mapping[tuple[str, int], float], hints: Hints
) -> list[tuple[float, Edit]]:
    """All candidates for the suspicious lines, scored, best first."""
    by_file: dict[str, dict[int, float]] = {}
    best_first = sorted(scores.items(), key=lambda item: -item[1])[:MOST_LINES]
    for (path, line), score in best_first:
        by_file.setdefault(path, {})[line] = score
    sources = {path: source for path in by_file if (source := texts.source(path)) is not None}
    known: dict[str, Signature] = {}
    readers: dict[str, float] = {}
    held: list[str] = []
    beside = {
        path: source for path in _imported_by(texts, by_file) if (source := texts.source(path)) is not None
    }
    for source in beside.values():
        known.update({name: s for name, s in signatures(source).items() if name not in known})
        held += fields(source)
    for path, source in sources.items():
        known.update(signatures(source))
        for name, score in names_read(source, by_file[path]).items():
            readers[name] = max(readers.get(name, 0.0), score)
        held += fields(source)
    project = Project(
        known, tuple(dict.fromkeys(held)), hints, uncalled([*sources.values(), *beside.values()])
    )
    made: list[tuple[float, Edit]] = []
    for path, source in sources.items():
        lines = spread(source, by_file[path])
        for line, score in constants_read(source, readers).items():
            lines[line] = max(lines.get(line, 0.0), score)
        for edit in await asyncio.to_thread(candidates, source, project, lines):
            made.append((edit.weight * lines.get(edit.line, 0.1) ** SHARPNESS, edit))  # noqa: PERF401
        made += [(edit.weight * 1.2, edit) for edit in crash_edits(source, hints)]
    best: dict[object, tuple[float, Edit]] = {}
    for score, edit in made:
        key = (edit.path, edit.parts)
        if key not in best or best[key][0] < score:
            best[key] = (score, edit)
    return sorted(best.values(), key=lambda pair: -pair[0])
