"""Which Python runs the person's tests, found without running anything of theirs."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Protocol

from regreen.errors import UsageError
from regreen.testing.report import Report

_WINDOWS = os.name == "nt"
_VERSION = re.compile(r"\w[\w.+-]*(?:/\w[\w.+-]*)*")
"""A version as pyenv names its folder; the file that says it comes with the workspace, and may say anything."""


def find_interpreter(workspace: Path, setting: str | None = None) -> Path:
    """The interpreter of a project, as an absolute path that is not resolved (a link in a venv stays one).

    In order: `setting` (a command line, or the editor's choice); a virtual environment in the workspace or in
    a folder above it up to the repository's root; the activated one; the environments Poetry, Pipenv and conda
    keep for this project; `python3`. Raises UsageError when the setting names no interpreter, and instead of taking
    `python3` for a project whose own environment is broken: what is installed there would be missing.
    """
    if setting:
        return _from_setting(setting, workspace)
    for candidates in (_inside, _activated, _poetry, _pipenv, _conda):
        for python in candidates(workspace):
            if _usable(python):
                return python
    if broken := next(iter(_inside(workspace)), None):
        prefix = broken.parent if broken.parent.name not in ("bin", "Scripts") else broken.parent.parent
        raise UsageError(
            f"the environment {os.path.relpath(prefix, workspace)} has lost its Python: make it anew, "
            "or name another Python with --python"
        )
    return _system(workspace)


def add_pytest_command(python: Path, workspace: Path) -> str:
    """The command that adds pytest to the environment of `python`, in the words of the tool the project uses."""
    here = [workspace, *workspace.parents]
    if any((folder / "uv.lock").is_file() for folder in here[:3]):
        return "uv add --dev pytest"
    if (workspace / "poetry.lock").is_file():
        return "poetry add --group dev pytest"
    if (workspace / "Pipfile").is_file():
        return "pipenv install --dev pytest"
    prefix = python.parent if _WINDOWS else python.parent.parent
    if (prefix / "conda-meta").is_dir():
        return f"conda install -p {prefix} pytest"
    if shutil.which("uv") and not any(prefix.glob("lib/python3*/site-packages/pip")):
        return f"uv pip install --python {python} pytest"
    return f"{python} -m pip install pytest"


class _Collects(Protocol):
    async def collect(self, tree: Path) -> Report: ...


async def check_pytest(runner: _Collects, tree: Path) -> str:
    """One line that says why no test can run with this interpreter and the command that helps; "" when all is well."""
    return (await runner.collect(tree)).problem


def _usable(python: Path) -> bool:
    return python.is_file() and os.access(python, os.X_OK)


def _in_prefix(prefix: Path) -> Path:
    if _WINDOWS:
        scripts = prefix / "Scripts" / "python.exe"
        return scripts if scripts.is_file() else prefix / "python.exe"
    python = prefix / "bin" / "python"
    return python if python.exists() else prefix / "bin" / "python3"


def _from_setting(setting: str, workspace: Path) -> Path:
    path = Path(os.path.expandvars(setting.replace("${workspaceFolder}", str(workspace)))).expanduser()
    if not path.is_absolute() and len(path.parts) == 1 and not (workspace / path).exists():
        found = shutil.which(setting)
        if found:
            return _behind_shim(Path(found), workspace)
    path = Path(os.path.normpath(workspace / path))
    if path.is_dir():
        path = _in_prefix(path)
    if not _usable(path):
        raise UsageError(f"no Python interpreter at {setting}: name one, for example .venv/bin/python")
    return _behind_shim(path, workspace)


def _inside(workspace: Path) -> list[Path]:
    """A virtual environment that belongs to the workspace, or to a folder above it in the same repository."""
    found: list[Path] = []
    named = os.environ.get("UV_PROJECT_ENVIRONMENT")
    for folder in (workspace, *workspace.parents):
        names = [".venv", "venv", ".conda", ".pixi/envs/default", "env", ".env"]
        prefixes = [folder / name for name in ([named] if named else []) + names]
        found += [
            _in_prefix(prefix)
            for prefix in prefixes
            if (prefix / "pyvenv.cfg").is_file() or (prefix / "conda-meta").is_dir()
        ]
        if (folder / ".git").exists() or folder == Path.home():
            break
    return found


def _activated(workspace: Path) -> list[Path]:
    names = ("VIRTUAL_ENV", "CONDA_PREFIX")
    return [_in_prefix(Path(os.environ[name])) for name in names if os.environ.get(name)]


def _poetry(workspace: Path) -> list[Path]:
    """Poetry names an environment after the project and a digest of its folder (poetry, env_manager.py)."""
    if not (workspace / "poetry.lock").is_file() and "[tool.poetry" not in _text(
        workspace / "pyproject.toml"
    ):
        return []
    digest = base64.urlsafe_b64encode(hashlib.sha256(str(workspace.resolve()).encode()).digest()).decode()[:8]
    homes = [os.environ.get("POETRY_VIRTUALENVS_PATH", "")]
    cache = os.environ.get("POETRY_CACHE_DIR", "")
    homes += [f"{cache}/virtualenvs"] if cache else []
    if sys.platform == "darwin":
        homes.append("~/Library/Caches/pypoetry/virtualenvs")
    elif _WINDOWS:
        homes.append(os.environ.get("LOCALAPPDATA", "") + "/pypoetry/Cache/virtualenvs")
    else:
        homes.append((os.environ.get("XDG_CACHE_HOME", "") or "~/.cache") + "/pypoetry/virtualenvs")
    return _environments(homes, f"-{digest}-py")


def _pipenv(workspace: Path) -> list[Path]:
    """Pipenv names an environment after the folder and a digest of the Pipfile's path (pipenv, project.py)."""
    pipfile = workspace / "Pipfile"
    if not pipfile.is_file():
        return []
    digest = base64.urlsafe_b64encode(hashlib.sha256(str(pipfile).encode()).digest()[:6]).decode()[:8]
    homes = [os.environ.get("WORKON_HOME", ""), "~/.local/share/virtualenvs", "~/.virtualenvs"]
    return _environments(homes, f"-{digest}")


def _environments(homes: list[str], part: str) -> list[Path]:
    found: list[Path] = []
    for home in filter(None, homes):
        folder = Path(home).expanduser()
        if folder.is_dir():
            mine = [prefix for prefix in folder.iterdir() if part in prefix.name]
            mine.sort(key=lambda prefix: (_release(prefix.name), prefix.name), reverse=True)
            found += [_in_prefix(prefix) for prefix in mine]
    return found


def _conda(workspace: Path) -> list[Path]:
    for name in ("environment.yml", "environment.yaml"):
        match = re.search(r"^name:\s*([\w.-]+)\s*$", _text(workspace / name), re.MULTILINE)
        if not match:
            continue
        roots = [os.environ.get("MAMBA_ROOT_PREFIX", ""), os.environ.get("CONDA_ROOT", "")]
        roots += ["~/miniconda3", "~/miniforge3", "~/mambaforge", "~/anaconda3", "~/micromamba", "/opt/conda"]
        return [_in_prefix(Path(root).expanduser() / "envs" / match[1]) for root in filter(None, roots)]
    return []


def _system(workspace: Path) -> Path:
    for name in ("python3", "python"):
        found = shutil.which(name)
        if found:
            return _behind_shim(Path(found), workspace)
    return Path(sys.executable)


def _behind_shim(python: Path, workspace: Path) -> Path:
    """The interpreter behind a pyenv shim: the shim is a shell script that cannot run sealed."""
    if python.parent.name != "shims":
        return python
    root = python.parent.parent
    files = [folder / ".python-version" for folder in (workspace, *workspace.parents)]
    wanted = os.environ.get("PYENV_VERSION", "").split(":")
    for file in (*files, root / "version"):
        wanted += _text(file).split()
    exact = re.fullmatch(r"python(\d+\.\d+)", python.name)
    if exact:
        wanted = [version for version in wanted if f"{version}.".startswith(f"{exact[1]}.")] + [exact[1]]
    for version in [*filter(_VERSION.fullmatch, wanted), "3"]:
        # As pyenv: "3.1" stands for 3.1.5 and not for 3.10.1.
        begun = [
            p for p in (root / "versions").glob(f"{version}*") if not p.name[len(version) :][:1].isdigit()
        ]
        for prefix in sorted(begun, key=lambda p: (p.name == version, _release(p.name)), reverse=True):
            if _usable(_in_prefix(prefix)):
                return _in_prefix(prefix)
    return Path(sys.executable)


def _release(name: str) -> tuple[tuple[int, ...], bool, tuple[int, ...]]:
    """What sorts names that hold a version by it: 3.9 before 3.13, 3.13.0rc2 and 3.13-dev before 3.13.0."""
    begin = name.rfind("-py") + 1  # Poetry: project-DIGEST-py3.12
    found = re.search(r"\d+(?:\.\d+)*", name[begin:])
    if found is None:
        return (), False, ()
    rest = name[begin + found.end() :]
    return _numbers(found[0]), not re.search("[A-Za-z]", rest), _numbers(rest)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text))


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
