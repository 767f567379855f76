"""Modules that an environment takes from a folder of sources (`pip install -e`), found without starting it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from regreen.testing.kept_files import readable_lack
from regreen.testing.lack import Lack, Permission

_SAID = re.compile(r"the module '([^']+)' is not installed")
_LARGEST = 1 << 20


def installed_elsewhere(lack: Lack, python: Path, workspace: Path) -> Lack:
    """The lack of a module, told rightly where the module is installed, but from a folder outside the workspace.

    A run does not see that folder. Where both lie in one repository, the workspace is better the whole of it;
    else the folder can be made readable. Any other lack is given back as it is.
    """
    said = _SAID.match(lack.text)
    source = _source(said[1], python) if said else None
    if said is None or source is None or source.is_relative_to(workspace.resolve()):
        return lack
    lies = f"the module '{said[1]}' is installed from {source}, outside the workspace {workspace}"
    for folder in workspace.resolve().parents:
        if (folder / ".git").exists() and source.is_relative_to(folder):
            return Lack(f"{lies}: add `--workspace {folder}`")
    return readable_lack(f"{lies}: {Permission('readable', str(source)).option} allows it", source)


def _source(module: str, python: Path) -> Path | None:
    """The folder that holds the sources of a top-level module, by the environment's `.pth` files and finders."""
    for site in _sites(python):
        for folder in _folders(site):
            if (folder / module).is_dir() or (folder / f"{module}.py").is_file():
                return folder.resolve()
        for finder in sorted(site.glob("__editable__*_finder.py")):
            found = re.search(rf"['\"]{re.escape(module)}['\"]: ['\"]([^'\"]+)['\"]", _text(finder))
            if found and Path(found[1]).exists():
                return Path(found[1]).parent.resolve()
    return None


def _sites(python: Path) -> list[Path]:
    prefix = python.parent if os.name == "nt" and python.parent.name != "Scripts" else python.parent.parent
    return [*sorted(prefix.glob("lib/python3*/site-packages")), prefix / "Lib" / "site-packages"]


def _folders(site: Path) -> Iterator[Path]:
    """Folders that `.pth` files put on the path; lines of code and folders of the environment itself are left out."""
    for file in sorted(site.glob("*.pth")):
        for line in _text(file).splitlines():
            if line.strip() and not line.startswith(("#", "import ", "import\t")):
                folder = site / line.strip()
                if folder.is_dir():
                    yield folder


def _text(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            return stream.read(_LARGEST)
    except OSError:
        return ""
