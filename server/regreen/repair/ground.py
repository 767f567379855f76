"""What the search needs to know of the run it works in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from regreen.testing.report import Report
from regreen.testing.seal.door import Seal


class TargetLike(Protocol):
    """The failing test, as the search sees it."""

    @property
    def path(self) -> str:
        """The test file, relative to the workspace, with forward slashes."""
        ...

    @property
    def nodeid(self) -> str:
        """pytest's id; without a parametrize id it stands for all of them."""
        ...


class TrialLike(Protocol):
    """The private copy in which candidates run."""

    def prepare(self, overlay: Mapping[str, bytes | None]) -> Path:
        """Bring the copy to the workspace plus `overlay`; returns its folder."""
        ...


@dataclass(frozen=True)
class SearchGround:
    """Given by the run; the search itself opens no file of the workspace.

    `overlay` gives the accepted edits that are not on disk, `read` a file's bytes with the overlay laid
    over (None when there is no such file or it may not be read), `writable` whether an edit of a path may
    be proposed. `files` lists the workspace's files; without it no test outside the target's file is run.
    `near` names lines, by file, to look at first: those that a model has just changed.
    `seconds` is the search's own budget. `trial` is the run's own copy, which the search leaves alone: it
    has one for itself, since candidates may write into it.
    """

    target: TargetLike
    python: Path
    workspace: Path
    seal: Seal
    scratch: Path
    overlay: Callable[[], Mapping[str, bytes | None]]
    read: Callable[[str], bytes | None]
    writable: Callable[[str], bool]
    baseline: Callable[[], Report | None] = lambda: None
    files: Callable[[], list[str]] = lambda: list[str]()
    near: Mapping[str, frozenset[int]] = field(default_factory=lambda: dict[str, frozenset[int]]())
    seconds: float = 12.0
    trial: TrialLike | None = None
