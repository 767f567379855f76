"""What the search finds: edits that belong together, and how good they look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from regreen.repair.localise import Place
from regreen.repair.source import Edit


@dataclass(frozen=True)
class Failure:
    """The target's failure, as the worker describes it."""

    type: str = ""
    message: str = ""
    line: int = 0
    passed: int = 0
    frames: tuple[tuple[str, int, str], ...] = ()
    left: str = ""
    right: str = ""
    texts: tuple[str, str] | None = None
    distance: float | None = None

    @classmethod
    def read(cls, about: Mapping[str, Any], passed: int = 0) -> Failure:
        """From a worker's `about`; `passed` counts the target's tests that passed before this one."""
        texts = about.get("texts")
        return cls(
            str(about.get("type", "")),
            str(about.get("message", "")),
            int(about.get("line", 0)),
            passed,
            tuple((str(f[0]), int(f[1]), str(f[2])) for f in about.get("frames", ())),
            str(about.get("left", "")),
            str(about.get("right", "")),
            (str(texts[0]), str(texts[1])) if texts else None,
            about.get("distance"),
        )

    @property
    def crashed(self) -> bool:
        """True when the code raised something, rather than gave a wrong value."""
        return self.type not in ("AssertionError", "OutOfTime", "Failed", "")

    @property
    def place(self) -> tuple[int, int]:
        """How far the target came: tests passed, then the line of the test reached."""
        return self.passed, self.line

    @property
    def signature(self) -> tuple[object, ...]:
        """Equal when an edit made no difference to the failure."""
        deepest = self.frames[-1][::2] if self.frames else ()
        return self.passed, self.line, self.type, self.message[:300], self.left[:300], deepest


@dataclass(frozen=True)
class Behaviour:
    """What an edit that passes gives for inputs like those of the tests: (kind, mark) of each, equal for equal values.

    `right` of `judged` examples in docstrings come out as told.
    """

    gives: tuple[tuple[str, str], ...] = ()
    right: int = 0
    judged: int = 0


@dataclass(frozen=True)
class Asked:
    """What the comparison asked: `calls` inputs that tests gave, and changed ones behind them.

    `failing` says of each input whether it comes from a failing test, `was` what the code as it is gave ((), when that
    is not known).
    """

    calls: int
    failing: tuple[bool, ...]
    was: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Patch:
    """Edits that were tried together.

    `score` orders patches; `green` are other tests that failed before and pass now; `kept` counts tests
    of the target's file that passed before and still do, `wider` those of other files; `failure` is what the target still fails with (None: it passes);
    `behaviour` what was seen of one that passes (None: it could not be compared with others).
    """

    edits: tuple[Edit, ...]
    score: float
    green: tuple[str, ...] = ()
    kept: int = 0
    wider: int = 0
    failure: Failure | None = None
    behaviour: Behaviour | None = None

    @property
    def kind(self) -> str:
        """The operator, of the riskiest edit when there are several."""
        return self.edits[-1].kind if self.edits else ""


@dataclass
class Findings:
    """Everything one search learned, whether it found a fix or not.

    `also` are failing tests of the target's file beside the target. `left` candidates were not tried. `asked` are the
    inputs by which the survivors were compared.
    """

    survivors: list[Patch] = field(default_factory=lambda: list[Patch]())
    forward: list[Patch] = field(default_factory=lambda: list[Patch]())
    places: list[Place] = field(default_factory=lambda: list[Place]())
    failure: Failure | None = None
    reason: str = ""
    tried: int = 0
    breaking: int = 0
    tests: int = 0
    failing: int = 0
    also: int = 0
    seconds: float = 0.0
    finished: bool = True
    left: int = 0
    asked: Asked | None = None


def pairs(patches: Sequence[Patch]) -> list[tuple[float, tuple[Edit, ...]]]:
    """Every two of them that do not touch each other, scored by both."""
    found: list[tuple[float, tuple[Edit, ...]]] = []
    for index, first in enumerate(patches):
        for second in patches[index + 1 :]:
            (a,), (b,) = first.edits, second.edits
            if a.path == b.path and any(p.meets(q) for p in a.parts for q in b.parts):
                continue
            found.append((first.score * second.score * 0.5, (a, b)))
    return found


def parts_of(edits: Sequence[Edit]) -> dict[str, list[list[Any]]]:
    """Edits as the worker takes them: by path, [start, end, new]."""
    made: dict[str, list[list[Any]]] = {}
    for edit in edits:
        made.setdefault(edit.path, []).extend([part.start, part.end, part.new] for part in edit.parts)
    return made
