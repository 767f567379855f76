"""What is missing around the tests is told at once, with what to do; bugs in the code are not called that."""

from __future__ import annotations

import shutil
import venv
from collections.abc import Mapping
from pathlib import Path

import pytest

from environments import python_of
from regreen import doctor
from regreen.testing.host import Host
from regreen.testing.interpreter import check_pytest
from regreen.testing.records import Reading, understand
from regreen.testing.report import Failure, Frame, Report
from regreen.testing.seal.door import Choice, Finished
from regreen.testing.seal.unsealed import Unsealed
from regreen.testing.setup_problem import problem_of
from unit.testing.small_projects import Bench, lean_python, write_files

TEST = "def test_a():\n    assert 1 == 2\n"

PROBLEMS: dict[str, tuple[Mapping[str, str], str]] = {
    "a missing module": (
        {"shop.py": "import yaml_but_missing\n", "test_x.py": "import shop\n\n" + TEST},
        "the module 'yaml_but_missing' is not installed: add it with",
    ),
    "a missing module known by another package": (
        {"test_x.py": "import cv2\n\n" + TEST},
        "pip install",
    ),
    "a missing fixture of a plugin": (
        {"test_x.py": "def test_a(mocker):\n    pass\n"},
        "comes from pytest-mock",
    ),
    "a missing fixture": (
        {"test_x.py": "def test_a(shop_window):\n    pass\n"},
        "there is no fixture 'shop_window'",
    ),
    "a slip in a fixture's name": (
        {
            "conftest.py": "import pytest\n\n@pytest.fixture\ndef database():\n    return 1\n",
            "test_x.py": "def test_a(databse):\n    pass\n",
        },
        "there is no fixture 'databse': did you mean 'database'?",
    ),
    "a mark that is not registered": (
        {
            "pytest.ini": "[pytest]\naddopts = --strict-markers\n",
            "test_x.py": "import pytest\n\n@pytest.mark.slow\n" + TEST,
        },
        "the mark 'slow' is not registered",
    ),
    "a program that is not installed": (
        {"test_x.py": "import subprocess\n\ndef test_a():\n    subprocess.run(['no-such-tool', '-v'])\n"},
        "starts the program no-such-tool, which is not installed",
    ),
    "a library of the system": (
        {"test_x.py": "import ctypes\n\ndef test_a():\n    ctypes.CDLL('libmissing.so.1')\n"},
        "the system's library libmissing.so.1 is not installed",
    ),
    "a socket of another program": (
        {
            "test_x.py": "import socket\n\ndef test_a():\n"
            "    socket.socket(socket.AF_UNIX).connect('/var/run/missing.sock')\n"
        },
        "the service behind /var/run/missing.sock",
    ),
    "Django without its settings": (
        {
            "test_x.py": "class ImproperlyConfigured(Exception):\n    pass\n\ndef test_a():\n"
            "    raise ImproperlyConfigured('Requested setting INSTALLED_APPS, but settings are not configured. You must '\n"
            "        'either define the environment variable DJANGO_SETTINGS_MODULE or call settings.configure().')\n"
        },
        "DJANGO_SETTINGS_MODULE is not set: install pytest-django",
    ),
    "a broken conftest": (
        {"conftest.py": "raise RuntimeError('no database')\n", "test_x.py": TEST},
        "conftest.py cannot be loaded: RuntimeError: no database",
    ),
    "an option of a missing plugin": (
        {"pytest.ini": "[pytest]\naddopts = --cov=shop\n", "test_x.py": TEST},
        "--cov, which comes from pytest-cov",
    ),
    "an unknown option": (
        {"pytest.ini": "[pytest]\naddopts = --frobnicate\n", "test_x.py": TEST},
        "does not know the option --frobnicate",
    ),
    "a broken configuration": ({"pytest.ini": "[pytest\n", "test_x.py": TEST}, "pytest could not start"),
    "an async test without a plugin": (
        {"test_x.py": "async def test_a():\n    assert 1 == 2\n"},
        "async tests need a plugin",
    ),
    "a service that is not there": (
        {"test_x.py": "import socket\n\ndef test_a():\n    socket.create_connection(('127.0.0.1', 9), 2)\n"},
        "needs a network service",
    ),
    "a variable that is not set": (
        {
            "shop.py": "import os\n\ndef url():\n    return os.environ['SHOP_URL']\n",
            "test_x.py": "import shop\n\ndef test_a():\n    assert shop.url()\n",
        },
        "the environment variable SHOP_URL is not set",
    ),
    "a file of secrets": (
        {".env": "A=1\n", "test_x.py": "def test_a():\n    assert open('.env').read()\n"},
        "reads .env, which holds secrets",
    ),
    "a project that is not installed": (
        {
            "pyproject.toml": "[project]\nname = 'shop'\nversion = '1'\n",
            "src/shop/__init__.py": "",
            "test_x.py": "import shop\n\n" + TEST,
        },
        "the project is not installed in its environment",
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
async def test_a_problem_outside_the_code_is_named_with_its_cure(tmp_path: Path, name: str) -> None:
    files, says = PROBLEMS[name]
    bench = Bench(tmp_path, files)
    report = await bench.runner.run(bench.trial.prepare(), ["test_x.py::test_a"])
    assert says in report.problem, report.output
    assert "\n" not in report.problem


BUGS: dict[str, Mapping[str, str]] = {
    "a syntax error": {"shop.py": "def f(:\n", "test_x.py": "import shop\n\n" + TEST},
    "a missing name": {"shop.py": "", "test_x.py": "from shop import total\n\n" + TEST},
    "a missing part of an own package": {
        "shop/__init__.py": "from shop.carts import Cart\n",
        "shop/cart.py": "",
        "test_x.py": "import shop\n\n" + TEST,
    },
    "a slip in the name of an own module": {
        "inventory.py": "",
        "shop.py": "import inventry\n",
        "test_x.py": "import shop\n\n" + TEST,
    },
    "a slip in the name of a standard module": {
        "shop.py": "import colections\n",
        "test_x.py": "import shop\n\n" + TEST,
    },
    "a slip in the name of a variable that the test sets": {
        "shop.py": "import os\n\ndef url():\n    return os.environ['SHOP_ULR']\n",
        "test_x.py": "import shop\n\ndef test_a(monkeypatch):\n    monkeypatch.setenv('SHOP_URL', 'x')\n"
        "    assert shop.url() == 'x'\n",
    },
    "an ordinary failure": {"test_x.py": TEST},
    "an error in a fixture": {
        "test_x.py": "import pytest\n\n@pytest.fixture\ndef a():\n    return 1 / 0\n\ndef test_a(a):\n    pass\n"
    },
}


@pytest.mark.parametrize("name", BUGS)
async def test_a_bug_in_the_code_is_no_setup_problem(tmp_path: Path, name: str) -> None:
    bench = Bench(tmp_path, BUGS[name])
    report = await bench.runner.run(bench.trial.prepare(), ["test_x.py::test_a"])
    assert report.problem == ""
    assert report.failed == ("test_x.py::test_a",)


PLUGINS = {
    "one that needs a package": ("import no_such_package", "the module 'no_such_package' is not installed: add it with"),
    "one that fails while it is imported": ("VALUE = {}['key']", "KeyError: 'key': mend or uninstall it"),
    "one that fails when pytest starts": (
        "def pytest_configure(config):\n    raise RuntimeError('no license')", "failed: RuntimeError: no license"
    ),
    "one that fails when tests are collected": (
        "def pytest_collection_modifyitems(items):\n    raise RuntimeError('no license')", "failed: RuntimeError: no license"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PLUGINS)
async def test_a_broken_plugin_is_named_and_not_taken_for_a_missing_pytest(tmp_path: Path, name: str) -> None:
    code, says = PLUGINS[name]
    python = with_plugin(tmp_path / "venv", code)
    bench = Bench(tmp_path, {"test_x.py": TEST}, python=python)
    report = await bench.runner.run(bench.trial.prepare(), ["test_x.py::test_a"])
    assert report.problem.startswith("the pytest plugin shop_plugin "), report.output
    assert says in report.problem
    assert (await check_pytest(bench.runner, bench.trial.prepare())) == report.problem


async def test_doctor_says_what_keeps_pytest_from_collecting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REGREEN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("REGREEN_STATE_DIR", str(tmp_path / "state"))

    async def unsealed(mode: str) -> Choice:
        return Choice(Unsealed())  # the libraries of this interpreter are links that no seal follows

    monkeypatch.setattr(doctor, "choose_seal", unsealed)
    python = with_plugin(tmp_path / "venv", PLUGINS["one that fails while it is imported"][0])
    write_files(tmp_path / "project", {"test_x.py": TEST})
    assert await doctor.examine(tmp_path / "project", str(python), "http://127.0.0.1:9", as_json=False) == 3
    told = capsys.readouterr().out
    assert "BROKEN    tests: they cannot be collected: the pytest plugin shop_plugin cannot be loaded" in told
    assert "MISSING   pytest" not in told


async def test_a_pytest_that_lacks_a_part_is_not_called_missing(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", symlinks=True)
    python = tmp_path / "venv/bin/python"
    site = next((tmp_path / "venv").glob("lib/python3*/site-packages"))
    write_files(site, {"pytest.py": "import pluggy_that_is_gone\n"})
    bench = Bench(tmp_path, {"test_x.py": TEST}, python=python)
    report = await bench.runner.run(bench.trial.prepare(), ["test_x.py::test_a"])
    assert "pytest cannot be imported in" in report.problem
    assert report.problem.endswith("pluggy_that_is_gone`")


def with_plugin(folder: Path, code: str) -> Path:
    """An interpreter with pytest, and an installed plugin of this code."""
    venv.create(folder, symlinks=True)
    site = next(folder.glob("lib/python3*/site-packages"))
    libraries = lean_python().parents[2] / "libraries"
    write_files(
        site,
        {
            "lean.pth": f"{libraries}\n",
            "shop_plugin.py": code + "\n",
            "shop_plugin-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: shop-plugin\nVersion: 1.0\n",
            "shop_plugin-1.0.dist-info/entry_points.txt": "[pytest11]\nshop = shop_plugin\n",
        },
    )
    return folder / "bin" / "python"


async def test_no_pytest_is_said_with_the_command_that_adds_it(tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", symlinks=True)
    python = tmp_path / "bare/bin/python"
    bench = Bench(tmp_path, {"test_x.py": TEST}, python=python)
    report = await bench.runner.run(bench.trial.prepare(), ["test_x.py::test_a"])
    assert f"there is no pytest in {python}: add it with `" in report.problem
    assert report.problem.endswith("pytest`")


def test_syntax_of_a_newer_python_is_no_bug_of_the_code(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("with (open('a') as a, open('b') as b):\n    pass\n", encoding="utf-8")
    failure = Failure("SyntaxError", "invalid syntax", frames=(Frame("shop.py", 1, "<module>"),))
    report = Report(collection_errors=(failure,), python="3.8.18")
    host = Host(tmp_path, tmp_path)
    said = problem_of(report, Reading(started=True), Finished("exited", 1), tmp_path / "python", host)
    assert said is not None
    assert (
        said.text
        == "shop.py is written for a newer Python than the 3.8.18 of this project: choose one with --python"
    )


@pytest.mark.parametrize("program", ["true", "ls", "cat", "false"])
async def test_a_program_that_is_no_python_is_named_with_the_way_to_choose_another(
    tmp_path: Path, program: str
) -> None:
    path = Path(shutil.which(program) or program)
    bench = Bench(tmp_path, {"test_x.py": TEST}, path)
    report = await bench.runner.run(bench.trial.prepare(), ["test_x.py::test_a"])
    assert report.problem.startswith(f"{path} does not work as a Python interpreter")
    assert report.problem.endswith("with --python, or by `regreen.interpreter` in the editor's settings")
    assert "\n" not in report.problem


async def test_a_python_whose_own_library_is_gone_is_called_broken(tmp_path: Path) -> None:
    broken = tmp_path / "broken/bin/python"
    broken.parent.mkdir(parents=True)
    broken.write_text(f'#!/bin/sh\nPYTHONHOME={tmp_path}/nowhere exec {lean_python()} "$@"\n')
    broken.chmod(0o755)
    bench = Bench(tmp_path, {"test_x.py": TEST}, broken)
    report = await bench.runner.run(bench.trial.prepare(), ["test_x.py::test_a"])
    assert report.problem.startswith(f"{broken} does not work as a Python interpreter (Fatal Python error: ")


async def test_a_python_that_never_begins_is_named(tmp_path: Path) -> None:
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    bench = Bench(tmp_path, {"test_x.py": TEST}, slow)
    report = await bench.runner.run(bench.trial.prepare(), ["test_x.py::test_a"], wall=1)
    assert report.problem.startswith(f"{slow} did not begin to run the tests in 1 s: choose another one with")


OLD = [python for version in ("2.7", "3.6", "3.7") if (python := python_of(version))]


async def test_an_old_python_is_told_what_is_needed(tmp_path: Path) -> None:
    for number, python in enumerate(OLD):
        bench = Bench(tmp_path / str(number), {"test_x.py": TEST}, python)
        report = await bench.runner.run(bench.trial.prepare(), ["test_x.py::test_a"])
        assert str(python) in report.problem
        assert "running tests needs Python 3.8 or newer" in report.problem
    reading = understand([{"event": "python", "version": "3.7.16"}], False)
    said = problem_of(Report(), reading, Finished("exited", 3), Path("/py"), Host(tmp_path, tmp_path))
    assert said is not None
    assert said.text.startswith("/py is Python 3.7.16, and running tests needs Python 3.8 or newer: choose")


async def test_a_fixture_above_the_workspace_is_found(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("def repository():\n    pass\n", encoding="utf-8")
    bench = Bench(tmp_path, {"test_x.py": "def test_a(repository):\n    pass\n"})
    assert bench.workspace.parent == tmp_path
    report = await bench.runner.run(bench.trial.prepare(), ["test_x.py::test_a"])
    assert report.problem.endswith(f"outside the workspace: add `--workspace {tmp_path}`")
