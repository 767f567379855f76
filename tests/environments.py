"""Real virtual environments, made once a test session and shared by its tests."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest


@functools.cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="regreen-environments-"))
    atexit.register(shutil.rmtree, folder, True)
    return folder


@functools.cache
def python_of(version: str) -> Path | None:
    """An interpreter of this version ("3.12") on this machine, None when there is none."""
    if version == "{}.{}".format(*sys.version_info):
        return Path(getattr(sys, "_base_executable", sys.executable))
    root = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    found = sorted(root.glob(f"versions/{version}.*/bin/python"))
    on_path = shutil.which(f"python{version}")
    if on_path and "shims" not in Path(on_path).parts:
        found.append(Path(on_path))
    return found[-1] if found else None


@functools.cache
def environment(version: str, *packages: str) -> Path:
    """The interpreter of a new environment with these packages; skips the test where that cannot be."""
    made = Path(tempfile.mkdtemp(dir=_folder())) / "venv"
    return new_environment(version, made, *packages)


def new_environment(version: str, made: Path, *packages: str) -> Path:
    """The same in a given place."""
    python = python_of(version)
    if python is None:
        pytest.skip(f"no Python {version} on this machine")
    if shutil.which("uv"):
        _run("uv", "venv", "--quiet", "--python", str(python), str(made))
    else:
        _run(str(python), "-m", "venv", str(made))
    if packages:
        install(made / "bin" / "python", *packages)
    return made / "bin" / "python"


def install(python: Path, *what: str) -> None:
    """Install packages into an environment."""
    if shutil.which("uv"):
        _run("uv", "pip", "install", "--quiet", "--python", str(python), *what)
    else:
        _run(str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what)


def _run(*command: str) -> None:
    ended = subprocess.run(
        command,
        env={**os.environ, "UV_PYTHON_DOWNLOADS": "never"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if ended.returncode:
        pytest.fail(f"{' '.join(command)} failed: {ended.stdout}")


@functools.cache
def person_python() -> str:
    """The interpreter of an ordinary project: this Python's version, with pytest and nothing else."""
    return str(environment("{}.{}".format(*sys.version_info), "pytest"))
