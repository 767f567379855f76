"""What the search's worker is given, over a folder of a test."""

from __future__ import annotations

from pathlib import Path

from regreen.repair.ground import SearchGround, TargetLike
from regreen.testing.seal.unsealed import Unsealed


def open_ground(tree: Path, scratch: Path, target: TargetLike, python: Path) -> SearchGround:
    """The files of `tree` as they are, all of them writable, and no seal."""
    return SearchGround(
        target=target,
        python=python,
        workspace=tree,
        seal=Unsealed(),
        scratch=scratch,
        overlay=dict[str, bytes | None],
        read=lambda path: (tree / path).read_bytes(),
        writable=lambda path: True,
    )
