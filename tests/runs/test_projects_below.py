"""`regreen tests` at the top of a repository whose projects lie further down."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from environments import person_python
from runs.process import PROJECT, fix

FILES = {
    "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['src']\n",
    "src/shop/__init__.py": "def level(n):\n    return 'high' if n > 3 else 'low'\n",
    "tests/test_level.py": "from shop import level\n\ndef test_three():\n    assert level(3) == 'high'\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True, stdin=subprocess.DEVNULL)
    return folder


def write(folder: Path) -> None:
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def listed(folder: Path, place: str = ".") -> list[str]:
    ended = subprocess.run(
        [sys.executable, "-m", "regreen", "tests", place, "--json", "--python", person_python()],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT / "server")},
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert (found["errors"], found["problem"]) == ([], "")
    assert all((Path(found["workspace"]) / nodeid.partition("::")[0]).is_file() for nodeid in found["tests"])
    return list(found["tests"])


def test_the_tests_of_the_one_project_are_found_as_fix_takes_them(repository: Path) -> None:
    write(repository / "backend")
    nodeid = "backend/tests/test_level.py::test_three"
    assert listed(repository) == [nodeid]
    assert listed(repository, "backend") == ["tests/test_level.py::test_three"]
    code, outcome = fix(repository, nodeid, "--model", "builtin", "--approval", "never").end()
    assert (code, outcome["outcome"]) == (0, "fixed")


def test_each_of_several_projects_is_looked_at_and_so_is_what_lies_beside_them(repository: Path) -> None:
    for name in ("services/one", "services/two"):
        write(repository / name)
    (repository / "checks").mkdir()
    (repository / "checks/test_all.py").write_text("def test_all():\n    pass\n")
    both = [f"services/{name}/tests/test_level.py::test_three" for name in ("one", "two")]
    assert listed(repository) == [*both, "checks/test_all.py::test_all"]
    assert listed(repository, "services") == both


def test_a_folder_below_a_project_is_a_part_of_it(repository: Path) -> None:
    write(repository)
    (repository / "examples/one").mkdir(parents=True)
    (repository / "examples/one/pytest.ini").write_text("[pytest]\n")
    (repository / "examples/one/test_one.py").write_text("def test_one():\n    pass\n")
    one = "examples/one/test_one.py::test_one"
    assert listed(repository) == [one, "tests/test_level.py::test_three"]
    assert listed(repository, "examples") == [one]
