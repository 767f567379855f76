"""Small projects in temporary folders, and a runner over them."""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib.metadata
import shutil
import tempfile
import textwrap
import venv
from collections.abc import Mapping
from pathlib import Path

from regreen.testing.runner import TestRunner
from regreen.testing.seal.door import Limits, Seal
from regreen.testing.seal.unsealed import Unsealed
from regreen.workspace.trial import Trial

NEEDS_A_VARIABLE = {
    "shop.py": """\
        import os

        RATE = os.getenv("SHOP_RATE")


        def total(prices):
            result = 0
            for price in prices:
                result -= price * int(RATE)
            return result
        """,
}
"""A module with a bug, and with a variable that it cannot do without."""


def write_files(folder: Path, files: Mapping[str, str]) -> Path:
    """Write dedented files below a folder; returns the folder."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text), encoding="utf-8")
    return folder


@functools.cache
def lean_python() -> Path:
    """An interpreter with pytest and none of the plugins of these tests: it starts in a quarter of the time."""
    folder = Path(tempfile.mkdtemp(prefix="regreen-lean-"))
    atexit.register(shutil.rmtree, folder, True)
    libraries = folder / "libraries"
    libraries.mkdir()
    for name in ("pytest", "pluggy", "iniconfig", "packaging", "pygments", "exceptiongroup", "tomli"):
        for file in _files(name):
            top = file.parts[0]
            if top not in ("..", "__pycache__") and not (libraries / top).is_symlink():
                (libraries / top).symlink_to(Path(str(file.locate())).parents[len(file.parts) - 1] / top)
    venv.create(folder / "venv", symlinks=True)
    site = next((folder / "venv").glob("lib/python3*/site-packages"))
    (site / "lean.pth").write_text(f"{libraries}\n", encoding="utf-8")
    return folder / "venv" / "bin" / "python"


def _files(package: str) -> list[importlib.metadata.PackagePath]:
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.files(package) or []
    return []


class Bench:
    """A project, its trial and a runner for it, with the interpreter of these tests unless another is given."""

    def __init__(
        self,
        folder: Path,
        files: Mapping[str, str],
        python: Path | None = None,
        seal: Seal | None = None,
        wall: float = 60,
    ) -> None:
        self.workspace = write_files(folder / "project", files)
        self.trial = Trial(self.workspace, folder / "trial", memory=False)
        self.runner = TestRunner(
            python or lean_python(),
            self.workspace,
            seal or Unsealed(),
            folder / "scratch",
            Limits(wall=wall),
        )
