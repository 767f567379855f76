"""Folders that hostile code left behind can be removed, and nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from regreen.testing.seal.usage import Written, written
from regreen.workspace.remove import remove_tree
from regreen.workspace.trial import Trial

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX files")


def dig(folder: Path, depth: int) -> None:
    """Folders in folders, far beyond what a path can name; the last one is closed."""
    code = f"import os\nfor _ in range({depth}):\n os.mkdir('z'); os.chdir('z')\nopen('f', 'w').close()\nos.chmod('.', 0)"
    subprocess.run([sys.executable, "-I", "-S", "-c", code], cwd=folder, check=True)


@pytest.fixture
def memory() -> Path:
    """A place where thousands of folders are quickly made."""
    place = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="regreen-test-", dir=place if place.is_dir() else None))


def test_a_folder_deeper_than_any_path_is_removed(memory: Path):
    dig(memory, 3000)
    remove_tree(memory)
    assert not memory.exists()


def test_a_trial_is_put_right_after_deep_folders(memory: Path):
    workspace = memory / "ws"
    workspace.mkdir()
    (workspace / "a.py").write_bytes(b"x = 1\n")
    trial = Trial(workspace, memory / "trial", memory=False)
    tree = trial.prepare()
    dig(tree, 1500)
    assert [path.name for path in trial.prepare().iterdir()] == ["a.py"]
    dig(tree, 1500)
    trial.close()
    assert not tree.exists()
    remove_tree(memory)
    assert not memory.exists()


def test_what_lies_too_deep_counts_as_too_much_where_the_disk_shrinks(memory: Path):
    (memory / "file").write_bytes(b"x" * 100_000)
    most = Written(1 << 20, 100_000)

    def found(hidden: bool) -> int:
        return written([memory], 0, most, 0, hidden).size

    assert 100_000 <= found(hidden=True) < 200_000
    dig(memory, 3000)
    assert found(hidden=False) < most.size < found(hidden=True)
    remove_tree(memory)
    assert not memory.exists()


def test_links_and_closed_folders_do_not_lead_out(tmp_path: Path):
    outside = tmp_path / "outside"
    (outside / "kept").mkdir(parents=True)
    (outside / "file").write_bytes(b"mine")
    outside.chmod(0o500)
    folder = tmp_path / "folder"
    (folder / "closed").mkdir(parents=True)
    (folder / "closed" / "link").symlink_to(outside)
    (folder / "file-link").symlink_to(outside / "file")
    os.link(outside / "file", folder / "hard")
    os.mkfifo(folder / "pipe")
    os.close(os.open(os.fsencode(folder) + b"/bad\xff\nname", os.O_CREAT))
    (folder / "closed").chmod(0)
    folder.chmod(0)
    remove_tree(folder)
    assert not folder.exists()
    assert sorted(path.name for path in outside.iterdir()) == ["file", "kept"]
    assert (outside / "file").read_bytes() == b"mine"
    assert outside.stat().st_mode & 0o777 == 0o500


def test_a_link_instead_of_a_folder_is_left_alone(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    remove_tree(tmp_path / "link")
    remove_tree(tmp_path / "nothing")
    assert (tmp_path / "real").is_dir()
    assert (tmp_path / "link").is_symlink()
