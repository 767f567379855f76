"""Which Python runs the person's tests."""

from __future__ import annotations

import base64
import hashlib
import os
import sys
from pathlib import Path

import pytest

from regreen.errors import UsageError
from regreen.testing.interpreter import add_pytest_command, find_interpreter


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT", "PYENV_VERSION", "WORKON_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home/.cache"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "repo" / "project"
    folder.mkdir(parents=True)
    (tmp_path / "repo/.git").mkdir()
    return folder


def environment(prefix: Path, mark: str = "pyvenv.cfg") -> Path:
    (prefix / "bin").mkdir(parents=True)
    python = prefix / "bin/python"
    python.symlink_to(sys.executable)
    if mark.endswith(".cfg"):
        (prefix / mark).write_text("home = /usr/bin\n")
    else:
        (prefix / mark).mkdir()
    return python


def test_the_setting_comes_first(project: Path, tmp_path: Path) -> None:
    environment(project / ".venv")
    other = environment(tmp_path / "other")
    assert find_interpreter(project, str(other)) == other
    assert find_interpreter(project, "../../other") == other
    assert find_interpreter(project, "${workspaceFolder}/.venv/bin/python") == project / ".venv/bin/python"


def test_a_setting_that_names_nothing_is_refused_in_one_line(project: Path) -> None:
    with pytest.raises(UsageError, match="no Python interpreter at nowhere/python"):
        find_interpreter(project, "nowhere/python")


@pytest.mark.parametrize("name", [".venv", "venv", "env"])
def test_an_environment_in_the_project_is_found(project: Path, name: str) -> None:
    python = environment(project / name)
    assert find_interpreter(project) == python


def test_a_link_in_an_environment_stays_a_link(project: Path) -> None:
    environment(project / ".venv")
    assert find_interpreter(project).is_symlink()


def test_an_environment_above_in_the_same_repository_is_found(project: Path) -> None:
    python = environment(project.parent / ".venv")
    assert find_interpreter(project) == python


def test_an_environment_above_the_repository_is_not_ours(project: Path, tmp_path: Path) -> None:
    environment(tmp_path / ".venv")
    assert find_interpreter(project) != tmp_path / ".venv/bin/python"


def test_the_projects_own_environment_beats_the_activated_one(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    active = environment(tmp_path / "active")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    assert find_interpreter(project) == active
    own = environment(project / ".venv")
    assert find_interpreter(project) == own


def test_an_environment_of_poetry_is_found(project: Path, tmp_path: Path) -> None:
    (project / "poetry.lock").touch()
    digest = base64.urlsafe_b64encode(hashlib.sha256(str(project).encode()).digest()).decode()[:8]
    python = environment(tmp_path / f"home/.cache/pypoetry/virtualenvs/project-{digest}-py3.12")
    environment(tmp_path / "home/.cache/pypoetry/virtualenvs/other-AAAAAAAA-py3.12")
    assert find_interpreter(project) == python


def test_an_environment_of_pipenv_is_found(project: Path, tmp_path: Path) -> None:
    (project / "Pipfile").touch()
    digest = base64.urlsafe_b64encode(
        hashlib.sha256(str(project / "Pipfile").encode()).digest()[:6]
    ).decode()[:8]
    python = environment(tmp_path / f"home/.local/share/virtualenvs/project-{digest}")
    assert find_interpreter(project) == python


def test_an_environment_of_conda_is_found(project: Path, tmp_path: Path) -> None:
    (project / "environment.yml").write_text("name: shop\ndependencies: []\n")
    python = environment(tmp_path / "home/miniforge3/envs/shop", "conda-meta")
    assert find_interpreter(project) == python


def test_without_any_environment_a_python_is_found_that_is_no_shim(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = tmp_path / "pyenv/versions"
    wanted = environment(versions / "3.11.2")
    environment(versions / "3.9.1")
    shim = tmp_path / "pyenv/shims/python3"
    shim.parent.mkdir()
    shim.write_text("#!/bin/sh\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim.parent}{os.pathsep}{os.environ['PATH']}")
    (project / ".python-version").write_text("3.11\n")
    assert find_interpreter(project) == wanted
    (project / ".python-version").write_text("3.9.1\n")
    assert find_interpreter(project) == versions / "3.9.1/bin/python"
    elsewhere = environment(tmp_path / "elsewhere")
    for odd in (str(elsewhere.parent.parent), "../../elsewhere", "**", "[", "~"):
        (project / ".python-version").write_text(odd + "\n")
        assert find_interpreter(project) == wanted


def test_a_shim_that_names_a_version_stands_for_that_version(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = tmp_path / "pyenv/versions"
    environment(versions / "3.11.2")
    environment(versions / "3.1.5")
    wanted = environment(versions / "3.10.1")
    shim = tmp_path / "pyenv/shims/python3.10"
    shim.parent.mkdir()
    shim.write_text("#!/bin/sh\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PYENV_VERSION", "3.11.2")
    assert find_interpreter(project, str(shim)) == wanted
    monkeypatch.setenv("PYENV_VERSION", "3.10.1:3.11.2")
    assert find_interpreter(project, str(shim)) == wanted


@pytest.mark.parametrize(
    ("asked", "installed", "stands_for"),
    [
        ("3.12", ["3.12.9", "3.12.10", "3.12.1"], "3.12.10"),
        ("3.13", ["3.13.0rc2", "3.13.0", "3.13.0t", "3.13-dev"], "3.13.0"),
        ("3.13.0t", ["3.13.0", "3.13.0t"], "3.13.0t"),
        ("3.14", ["3.14.0a4", "3.14.0b11", "3.14.0b2"], "3.14.0b11"),
        ("3.1", ["3.10.4", "3.1.5", "3.11.2"], "3.1.5"),
        ("3", ["3.9.18", "3.12.1", "3.10.13"], "3.12.1"),
        ("pypy3.10", ["pypy3.10-7.3.9", "pypy3.10-7.3.15"], "pypy3.10-7.3.15"),
        ("2.6", ["3.9.18", "3.10.13"], "3.10.13"),
    ],
)
def test_a_version_is_the_newest_that_begins_so_by_its_numbers(
    project: Path, tmp_path: Path, asked: str, installed: list[str], stands_for: str
) -> None:
    versions = tmp_path / "pyenv/versions"
    for version in installed:
        environment(versions / version)
    shim = tmp_path / "pyenv/shims/python"
    shim.parent.mkdir()
    shim.write_text("#!/bin/sh\n")
    shim.chmod(0o755)
    (project / ".python-version").write_text(asked + "\n")
    assert find_interpreter(project, str(shim)) == versions / stands_for / "bin/python"


def test_of_several_environments_of_poetry_the_newest_python_is_taken(project: Path, tmp_path: Path) -> None:
    (project / "poetry.lock").touch()
    digest = base64.urlsafe_b64encode(hashlib.sha256(str(project.resolve()).encode()).digest()).decode()[:8]
    made = {
        version: environment(tmp_path / f"home/.cache/pypoetry/virtualenvs/project-{digest}-py{version}")
        for version in ("3.9", "3.12", "3.8")
    }
    assert find_interpreter(project) == made["3.12"]


def test_an_environment_that_has_lost_its_python_is_said_and_not_passed_over(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = environment(project / ".venv")
    python.unlink()
    python.symlink_to(tmp_path / "gone/python3.12")
    with pytest.raises(UsageError, match=r"the environment \.venv has lost its Python"):
        find_interpreter(project)
    activated = environment(tmp_path / "activated")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "activated"))
    assert find_interpreter(project) == activated


@pytest.mark.parametrize(
    ("mark", "command"),
    [
        ("uv.lock", "uv add --dev pytest"),
        ("poetry.lock", "poetry add --group dev pytest"),
        ("Pipfile", "pipenv install --dev pytest"),
    ],
)
def test_the_command_that_adds_pytest_is_the_projects_own(project: Path, mark: str, command: str) -> None:
    (project / mark).touch()
    assert add_pytest_command(Path("/usr/bin/python3"), project) == command
