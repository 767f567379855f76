"""The private copy a change is tested in."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from regreen.workspace.remove import remove_tree
from regreen.workspace.root import Workspace
from regreen.workspace.trial import Trial


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for name, text in {
        "shop/cart.py": "total = 1\n",
        "shop/data/prices.csv": "a,1\n",
        "tests/test_cart.py": "def test_a(): pass\n",
        ".env": "TOKEN=secret\n",
        ".env.example": "TOKEN=\n",
        "deploy/.env.production": "TOKEN=secret\n",
        ".git/HEAD": "ref\n",
        "env39/pyvenv.cfg": "home = /usr\n",
        "env39/lib/x.py": "\n",
        "node_modules/a/index.js": "\n",
        "shop/__pycache__/cart.pyc": "old\n",
    }.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (folder / "empty").mkdir()
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    return folder


@pytest.fixture
def trial(project: Path, tmp_path: Path) -> Iterator[Trial]:
    made = Trial(project, tmp_path / "trial")
    yield made
    made.close()


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def test_sources_are_copied_and_caches_histories_and_secrets_are_not(trial: Trial) -> None:
    tree = trial.prepare()
    assert sorted(files_of(tree)) == [
        ".env.example",
        "run.sh",
        "shop/cart.py",
        "shop/data/prices.csv",
        "tests/test_cart.py",
    ]
    assert (tree / "empty").is_dir()
    assert os.access(tree / "run.sh", os.X_OK)
    assert not list(tree.rglob("env39*"))


def test_secrets_are_known_whatever_their_spelling_and_certificates_by_what_is_in_them(
    trial: Trial, project: Path
) -> None:
    (project / "certs").mkdir()
    written = {
        ".ENV": "TOKEN=secret\n",
        "Id_Rsa": "secret",
        ".env-prod": "secret",
        "certs/private.pem": "-----BEGIN PRIVATE KEY-----\nsecret\n",
        "certs/own.pem": "secret",
        "certs/public.pem": "-----BEGIN CERTIFICATE-----\nMIIB\n",
        "tests/server.pem": "-----BEGIN PRIVATE KEY-----\nfor tests\n",
    }
    for name, text in written.items():
        (project / name).write_text(text)
    (project / ".SSH").mkdir()
    (project / ".SSH" / "config").write_text("secret")
    copied = files_of(trial.prepare())
    assert {"certs/public.pem", "tests/server.pem"} <= set(copied)
    assert not any(b"secret" in content for content in copied.values())


def test_a_secret_that_was_allowed_is_copied(project: Path, tmp_path: Path) -> None:
    tree = Trial(project, tmp_path / "t", frozenset({".env"})).prepare()
    assert (tree / ".env").read_text() == "TOKEN=secret\n"
    assert not (tree / "deploy/.env.production").exists()


def test_an_overlay_changes_adds_and_removes_without_touching_the_workspace(
    trial: Trial, project: Path
) -> None:
    before = files_of(project)
    tree = trial.prepare(
        {"shop/cart.py": b"total = 2\n", "new/deep/x.py": b"x\r\n", "tests/test_cart.py": None}
    )
    assert (tree / "shop/cart.py").read_bytes() == b"total = 2\n"
    assert (tree / "new/deep/x.py").read_bytes() == b"x\r\n"
    assert not (tree / "tests/test_cart.py").exists()
    assert files_of(project) == before
    tree = trial.prepare()
    assert (tree / "shop/cart.py").read_bytes() == b"total = 1\n"
    assert not (tree / "new").exists()
    assert (tree / "tests/test_cart.py").exists()


def test_only_what_changed_is_written_again(trial: Trial, project: Path) -> None:
    trial.prepare()
    assert trial.copied == 5
    trial.prepare()
    assert trial.copied == 0
    (project / "shop/cart.py").write_text("total = 3\n")
    tree = trial.prepare()
    assert trial.copied == 1
    assert (tree / "shop/cart.py").read_text() == "total = 3\n"
    (project / "shop/cart.py").unlink()
    assert not (trial.prepare() / "shop/cart.py").exists()


def test_an_edit_of_the_same_size_and_time_is_seen(trial: Trial, project: Path) -> None:
    tree = trial.prepare()
    file = project / "shop/cart.py"
    found = file.stat()
    other = project / "shop/cart.new"
    other.write_text("total = 9\n")
    os.utime(other, ns=(found.st_atime_ns, found.st_mtime_ns))
    other.replace(file)
    trial.prepare()
    assert (tree / "shop/cart.py").read_text() == "total = 9\n"


def test_what_a_test_run_left_behind_is_put_right(trial: Trial) -> None:
    tree = trial.prepare()
    test = tree / "tests/test_cart.py"
    found = test.stat()
    test.write_text("def test_b(): pass\n")
    os.utime(test, ns=(found.st_atime_ns, found.st_mtime_ns))
    (tree / "sitecustomize.py").write_text("import os\n")
    (tree / "shop/__pycache__").mkdir()
    (tree / "shop/__pycache__/cart.cpython-311.pyc").write_text("forged")
    (tree / "shop/data/prices.csv").unlink()
    (tree / "closed/deep").mkdir(parents=True)
    (tree / "closed").chmod(0)
    trial.prepare()
    assert sorted(files_of(tree)) == [
        ".env.example",
        "run.sh",
        "shop/cart.py",
        "shop/data/prices.csv",
        "tests/test_cart.py",
    ]
    assert test.read_text() == "def test_a(): pass\n"
    assert not (tree / "closed").exists()


def test_links_planted_in_the_copy_lead_nowhere(trial: Trial, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "cart.py").write_text("mine\n")
    tree = trial.prepare()
    for file in (tree / "shop").rglob("*"):
        if file.is_file():
            file.unlink()
    (tree / "shop/data").rmdir()
    (tree / "shop").rmdir()
    (tree / "shop").symlink_to(outside)
    trial.prepare({"shop/cart.py": b"changed\n"})
    assert not (tree / "shop").is_symlink()
    assert (tree / "shop/cart.py").read_bytes() == b"changed\n"
    assert files_of(outside) == {"cart.py": b"mine\n"}


def test_links_inside_are_kept_and_links_out_are_left_out(
    trial: Trial, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("s")
    (project / "inside.py").symlink_to(project / "shop/cart.py")
    (project / "shop/up.csv").symlink_to("data/prices.csv")
    (project / "out.txt").symlink_to(tmp_path / "secret.txt")
    (project / "masked").symlink_to(".env")
    (project / "history").symlink_to(".git")
    (project / "dangling").symlink_to("nowhere/at/all")
    tree = trial.prepare()
    assert (tree / "inside.py").resolve() == (tree / "shop/cart.py").resolve()
    assert (tree / "shop/up.csv").read_text() == "a,1\n"
    assert not any(os.path.lexists(tree / name) for name in ("out.txt", "masked", "history"))


@pytest.mark.parametrize("path", ["../x.py", "/etc/x", "a/../../x", "a//b", "", "a\\b"])
def test_an_overlay_cannot_lead_out(trial: Trial, path: str) -> None:
    with pytest.raises(ValueError, match="not a path inside"):
        trial.prepare({path: b""})


def test_a_file_replaced_by_a_folder_and_back(trial: Trial) -> None:
    tree = trial.prepare({"shop/cart.py/inner.py": b"x"})
    assert (tree / "shop/cart.py/inner.py").read_bytes() == b"x"
    trial.prepare()
    assert (tree / "shop/cart.py").read_text() == "total = 1\n"


def test_special_files_are_passed_over(trial: Trial, project: Path) -> None:
    os.mkfifo(project / "pipe")
    assert not (trial.prepare() / "pipe").exists()


@pytest.mark.parametrize("memory", [True, False])
def test_closing_removes_everything(project: Path, tmp_path: Path, memory: bool) -> None:
    trial = Trial(project, tmp_path / "trial", memory=memory)
    tree = trial.prepare()
    assert memory or tree.is_relative_to(tmp_path / "trial")
    (tree / "closed/deep").mkdir(parents=True)
    (tree / "closed").chmod(0)
    trial.close()
    assert not tree.parent.exists()
    assert not (tmp_path / "trial").exists()
    assert trial.prepare().is_dir()
    trial.close()


def test_the_copy_is_private(trial: Trial) -> None:
    assert trial.prepare().parent.stat().st_mode & 0o777 == 0o700


def test_two_copies_live_side_by_side(trial: Trial) -> None:
    other = trial.sibling("before")
    one, two = trial.prepare({"shop/cart.py": b"1\n"}), other.prepare({"shop/cart.py": b"2\n"})
    assert (one / "shop/cart.py").read_text() == "1\n"
    assert (two / "shop/cart.py").read_text() == "2\n"
    other.close()
    assert one.is_dir()
    assert not two.exists()


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no memory disk here")
def test_what_a_killed_process_left_in_memory_is_removed(project: Path, tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from regreen.workspace.trial import Trial\n"
        f"print(Trial(Path({str(project)!r}), Path({str(tmp_path / 'killed')!r})).prepare(), flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(
        [sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, text=True, check=False
    )
    left = Path(ended.stdout.strip())
    if not left.is_relative_to("/dev/shm"):
        pytest.skip("the memory disk is too small for a trial")
    assert left.is_dir()
    trial = Trial(project, tmp_path / "trial")
    trial.prepare()
    assert not left.exists()
    trial.close()


def test_the_workspace_is_not_looked_at_again_when_not_asked(trial: Trial, project: Path) -> None:
    trial.prepare()
    (project / "shop/cart.py").write_text(f"total = {time.time()}\n")
    assert (trial.prepare(fresh=False) / "shop/cart.py").read_text() == "total = 1\n"


@pytest.mark.skipif(not hasattr(os, "SEEK_DATA"), reason="holes in files cannot be found here")
def test_a_file_of_holes_takes_no_room_in_the_copy_either(project: Path, tmp_path: Path) -> None:
    size = 1 << 36
    with (project / "data.bin").open("wb") as file:
        file.write(b"begin")
        file.seek(1 << 30)
        file.write(b"middle")
        file.truncate(size)
    made = Trial(project, tmp_path / "trial", memory=False)
    try:
        copy = made.prepare() / "data.bin"
        found = copy.stat()
        assert found.st_size == size
        assert found.st_blocks * 512 < 1 << 20
        with copy.open("rb") as file:
            assert file.read(5) == b"begin"
            file.seek((1 << 30) - 2)
            assert file.read(10) == b"\0\0middle\0\0"
    finally:
        made.close()


def test_folders_without_end_are_passed_over(project: Path, trial: Trial) -> None:
    here = os.open(project / "empty", os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    assert "shop/cart.py" in files_of(trial.prepare())
    workspace = Workspace.open(project)
    assert "shop/cart.py" in workspace.files()
    workspace.close()
    remove_tree(project)
