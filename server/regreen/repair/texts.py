"""The project's files as the search reads them."""

from __future__ import annotations

from collections.abc import Mapping

from regreen.repair.ground import SearchGround
from regreen.repair.localise import constants_read, names_read
from regreen.repair.related import is_test
from regreen.repair.source import Source
from regreen.workspace.text import decode


class Texts:
    """Decoded once, parsed once."""

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
