"""The fixture `place`: one test for every seal."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from regreen.testing.seal.door import Access
from unit.seal.places import Place, seals


@pytest.fixture(params=["bubblewrap", "landlock", "none"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    seal = seals().get(request.param)
    if seal is None:
        pytest.skip(f"{request.param} does not work on this machine")
    for name in ("workspace", "tree", "scratch"):
        (tmp_path / name).mkdir()
    access = Access(tmp_path / "workspace", tmp_path / "tree", tmp_path / "scratch", Path(sys.executable))
    return Place(seal, access)
