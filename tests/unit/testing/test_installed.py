"""Modules that an environment takes from a folder of sources outside the workspace."""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen.testing.installed import installed_elsewhere
from regreen.testing.lack import Lack

ADVICE = Lack("the module 'alpha' is not installed: add it with `pip install alpha`")
FINDER = "MAPPING: dict[str, str] = {'beta': '/x', 'alpha': '%s'}\n"


@pytest.fixture
def python(tmp_path: Path) -> Path:
    (tmp_path / "env/lib/python3.12/site-packages").mkdir(parents=True)
    (tmp_path / "env/bin").mkdir()
    return tmp_path / "env/bin/python"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    (tmp_path / "repo/libs/alpha/src/alpha").mkdir(parents=True)
    (tmp_path / "repo/libs/beta").mkdir()
    return tmp_path / "repo/libs/alpha/src"


@pytest.fixture(params=["path", "finder"])
def installed(request: pytest.FixtureRequest, python: Path, sources: Path) -> Path:
    site = python.parent.parent / "lib/python3.12/site-packages"
    if request.param == "path":
        (site / "__editable__.alpha-1.pth").write_text(f"import os; os.getcwd()\n{sources}\n")
    else:
        (site / "__editable___alpha_1_finder.py").write_text(FINDER % (sources / "alpha"))
    return python


def test_in_one_repository_the_whole_of_it_is_proposed_as_the_workspace(
    installed: Path, sources: Path, tmp_path: Path
) -> None:
    (tmp_path / "repo/.git").mkdir()
    lack = installed_elsewhere(ADVICE, installed, tmp_path / "repo/libs/beta")
    assert lack.text == (
        f"the module 'alpha' is installed from {sources}, outside the workspace {tmp_path / 'repo/libs/beta'}: "
        f"add `--workspace {tmp_path / 'repo'}`"
    )
    assert lack.permission is None


def test_a_neighbouring_project_can_be_made_readable(installed: Path, sources: Path, tmp_path: Path) -> None:
    lack = installed_elsewhere(ADVICE, installed, tmp_path / "repo/libs/beta")
    assert f"--readable {sources}" in lack.text
    assert lack.permission is not None
    assert (lack.permission.kind, lack.permission.name) == ("readable", str(sources))


def test_what_is_installed_nowhere_keeps_its_advice(python: Path, sources: Path, tmp_path: Path) -> None:
    assert installed_elsewhere(ADVICE, python, sources.parent) is ADVICE


def test_sources_inside_the_workspace_are_no_matter_of_rights(installed: Path, tmp_path: Path) -> None:
    assert installed_elsewhere(ADVICE, installed, tmp_path / "repo") is ADVICE


def test_other_lacks_stay_as_they_are(installed: Path, tmp_path: Path) -> None:
    other = Lack("there is no fixture 'alpha'")
    assert installed_elsewhere(other, installed, tmp_path) is other
