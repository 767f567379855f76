"""What tests of the writer and of undo share."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

SmallDisk = Callable[[int], Path]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """Makes a disk of so many kilobytes, in memory; it is gone after the test."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a small disk")
    disk = tmp_path / "disk"

    def make(kilobytes: int) -> Path:
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "regreen-test", str(disk)]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            disk.rmdir()
            pytest.skip("cannot mount here")
        return disk

    yield make
    if disk.exists():
        subprocess.run(["umount", "-l", str(disk)], check=True)
