"""From suspicious lines to scored candidates: texts, project facts, and the blend of place and kind."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from regreen.repair.crash import crash_edits, import_edits
from regreen.repair.ground import SearchGround
from regreen.repair.localise import constants_read, names_read, spread
from regreen.repair.operators import candidates
from regreen.repair.operators.site import Hints, Project, Signature, fields, signatures, uncalled
from regreen.repair.related import imported, is_test, modules_of
from regreen.repair.source import Edit, Source
from regreen.workspace.text import decode

SHARPNESS = 1.5
"""How strongly suspicion counts against the operator's prior."""

MOST_LINES = 160
"""So many lines, the most suspicious, get candidates; behind them the time is over anyway."""


MOST_BESIDE = 30
"""Files that are only read for what they define."""


class Texts:
    """The project's files as the search sees them: decoded once, parsed once."""

    def __init__(self, ground: SearchGround) -> None:
        self.ground = ground
        self._texts: dict[str, str | None] = {}
        self._sources: dict[str, Source | None] = {}

    def allowed(self, path: str) -> bool:
        """May an edit of this file be proposed? Tests and what may not be written are out."""
        return (
            path.endswith(".py")
            and not is_test(path)
            and self.ground.writable(path)
            and self.text(path) is not None
        )

    def text(self, path: str) -> str | None:
        """A file's text without a byte order mark; None when it cannot be decoded."""
        if path not in self._texts:
            raw = self.ground.read(path)
            try:
                self._texts[path] = None if raw is None else decode(raw).text
            except ValueError:
                self._texts[path] = None
        return self._texts[path]

    def source(self, path: str) -> Source | None:
        """A file's tree; None when it does not parse here."""
        if path not in self._sources:
            text = self.text(path)
            try:
                self._sources[path] = None if text is None else Source(path, text)
            except (SyntaxError, ValueError, RecursionError):
                self._sources[path] = None
        return self._sources[path]

    def with_readers(self, scores: Mapping[tuple[str, int], float]) -> dict[tuple[str, int], float]:
        """The scores with those of lines outside functions that set what the given lines read: constants, fields."""
        by_file: dict[str, dict[int, float]] = {}
        for (path, line), score in scores.items():
            by_file.setdefault(path, {})[line] = score
        readers: dict[str, float] = {}
        for path, lines in by_file.items():
            source = self.source(path)
            for name, score in names_read(source, lines).items() if source is not None else ():
                readers[name] = max(readers.get(name, 0.0), score)
        found = dict(scores)
        for path in by_file:
            source = self.source(path)
            for line, score in constants_read(source, readers).items() if source is not None else ():
                found[path, line] = max(found.get((path, line), 0.0), score)
        return found

    def near_line(self, source: Source, line: int, hints: Hints) -> list[Edit]:
        """Candidates about one line that runs while the module is imported."""
        return candidates(source, Project(signatures(source), hints=hints), (line,))[:120]

    def import_repairs(self, message: str) -> list[tuple[float, tuple[Edit, ...]]]:
        """Candidates for files that keep the tests from being imported, best first."""
        paths = [path for path in self.ground.files() if self.allowed(path)]
        return [(edit.weight, (edit,)) for edit in import_edits(message, paths, self)]


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
