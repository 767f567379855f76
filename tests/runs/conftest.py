"""Scripted servers for the runs, and a project with nothing but a bug."""

from pathlib import Path

import pytest

from runs.process import BUG
from scripted.fixtures import scripted

__all__ = ["scripted"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with `BUG` and no test."""
    place = tmp_path / "project"
    place.mkdir()
    (place / "bug.py").write_text(BUG)
    return place
