"""What a hostile workspace tries before anything is sealed: on our own processes, settings and verdicts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[2]
REGREEN = [sys.executable, "-I", str(PROJECT / "server" / "regreen" / "__main__.py")]
"""As the editor starts it."""

EVIL = "import os\ntry:\n    open({marker!r}, 'a').write(__file__)\nexcept OSError:\n    pass\n"


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """Appears when code of the workspace ran outside a seal."""
    return tmp_path / "sprung"


@pytest.fixture
def trap(tmp_path: Path, marker: Path) -> Path:
    """A workspace in which everything that might be imported, started or obeyed on the way is hostile."""
    project = tmp_path / "project"
    project.mkdir()
    evil = EVIL.format(marker=str(marker))
    venv.create(project / ".venv", symlinks=True)
    (site,) = (project / ".venv").glob("lib/python3*/site-packages")
    (site / "evil.pth").write_text(f"import os; exec({evil.replace('__file__', repr('evil.pth'))!r})\n")
    for name in ("sitecustomize", "json", "asyncio", "regreen", "platformdirs", "usercustomize"):
        (project / f"{name}.py").write_text(evil)
    (project / "bin").mkdir()
    for name in ("python", "python3", "bwrap", "git", "sh", "prlimit", "setpriv"):
        program = project / "bin" / name
        program.write_text(f"#!/bin/sh\necho {name} >> {marker}\n")
        program.chmod(0o755)
    settings = {
        "regreen.seal": "off",
        "regreen.approval": "never",
        "regreen.allowNetwork": True,
        "seal": "off",
    }
    for name in (".vscode/settings.json", "regreen.json", ".regreen.json", ".regreen/settings.json"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(json.dumps(settings))
    (project / "pyproject.toml").write_text(
        '[tool.regreen]\nseal = "off"\napproval = "never"\nallow-network = true\n'
    )
    (project / ".env").write_text("REGREEN_RUN_COMMAND=[]\nREGREEN_SEAL=off\n")
    (project / "shop.py").write_text("def total(a, b):\n    return a - b\n")
    (project / "test_shop.py").write_text(
        "from shop import total\n\ndef test_it():\n    assert total(1, 2) == 3\n"
    )
    return project


def command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:.:{os.environ['PATH']}"}
    return subprocess.run(
        [*REGREEN, *words],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    "words",
    [
        ("doctor", "--json"),
        ("tests", ".", "--json"),
        ("fix", "test_shop.py::test_it", "--json", "--model", "builtin"),
    ],
)
def test_nothing_of_the_workspace_runs_outside_a_seal(
    trap: Path, marker: Path, words: tuple[str, ...]
) -> None:
    done = command(trap, *words)
    assert done.stdout.strip(), done.stderr
    assert not marker.exists(), marker.read_text()
    # The trap does work.
    subprocess.run([trap / ".venv" / "bin" / "python", "-c", ""], stdin=subprocess.DEVNULL, check=True)
    assert marker.exists()


def test_no_file_of_the_workspace_is_taken_for_a_setting(trap: Path) -> None:
    (trap / ".venv" / "pyvenv.cfg").unlink()
    done = command(
        trap, "fix", "test_shop.py::test_it", "--json", "--model", "builtin", "--python", sys.executable
    )
    events: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    started = next(event for event in events if event["event"] == "started")
    assert started["seal"] in ("bubblewrap", "landlock", "sandbox-exec")
    assert (started["approval"], started["allowed"]) == ("everyEdit", "")
    assert events[-1]["outcome"] in ("rejected", "setup_problem")


@pytest.mark.parametrize("way", ["the environment's file names it", "a link leads to the folder above"])
def test_an_environment_of_the_workspace_opens_no_folder_of_the_person(tmp_path: Path, way: str) -> None:
    home = tmp_path / "home"
    project = home / "project"
    venv.create(project / ".venv", symlinks=True, with_pip=False)
    (home / "private" / "inner").mkdir(parents=True)
    secret = home / "private" / "secret"
    secret.write_text("mine")
    libraries = sysconfig.get_path("purelib")
    (site,) = (project / ".venv").glob("lib/python3*/site-packages")
    (site / "libraries.pth").write_text(libraries + "\n")
    config = project / ".venv" / "pyvenv.cfg"
    if way == "the environment's file names it":
        config.write_text(f"home = {home}/private/inner\n")
    else:
        python = project / ".venv" / "bin" / "python"
        (project / "up").symlink_to("..")
        (project / "python").symlink_to(python.resolve())
        python.unlink()
        python.symlink_to(project / "up" / "project" / "python")
        secret = project / "up" / "private" / "secret"
    (project / "test_it.py").write_text(
        f"import os\ndef test_it():\n    assert os.path.exists({str(secret)!r}) == 'seen'\n"
    )
    words = ["fix", "test_it.py::test_it", "--json", "--model", "builtin", "--workspace", str(project)]
    done = subprocess.run(
        [*REGREEN, *words, "--readable", libraries],
        cwd=project,
        env={**os.environ, "HOME": str(home), "PYTHONPATH": ""},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    evidence = next((line for line in done.stdout.splitlines() if '"evidence"' in line), done.stdout)
    assert "assert True == 'seen'" not in done.stdout
    # Through a link that leads out, the interpreter itself is not there in the seal.
    assert "assert False == 'seen'" in evidence or '"setup_problem"' in done.stdout, done.stderr


def test_a_conftest_that_ends_the_process_well_does_not_make_a_test_pass(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "conftest.py").write_text("import os\nos._exit(0)\n")
    (project / "test_it.py").write_text("def test_it():\n    assert False\n")
    words = ("fix", "test_it.py::test_it", "--json", "--model", "builtin", "--python", sys.executable)
    done = command(project, *words, "--approval", "never")
    outcome = json.loads(done.stdout.splitlines()[-1])
    assert outcome["outcome"] not in ("fixed", "already_passing")
    assert done.returncode != 0


MANIFEST = json.loads((PROJECT / "vscode-extension" / "package.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "name",
    ["seal", "approval", "allowNetwork", "readablePaths", "baseUrl", "ollamaHost", "commandPath", "serverInterpreter"],
)  # fmt: skip
def test_a_workspace_cannot_set_what_protects_the_person(name: str) -> None:
    """VS Code takes settings of scope `machine` from the person's own settings only."""
    setting = MANIFEST["contributes"]["configuration"]["properties"][f"regreen.{name}"]
    assert setting["scope"] == "machine"


def test_an_untrusted_workspace_gets_no_runs() -> None:
    """VS Code does not start the extension there."""
    assert MANIFEST["capabilities"]["untrustedWorkspaces"]["supported"] is False
