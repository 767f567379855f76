"""Private folders in memory, gone with the process that made them, whatever ended it."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from regreen.workspace.remove import remove_tree

_MEMORY = Path("/dev/shm")
_PREFIX = "regreen-trial-"
_SPARE = 512 << 20


class MemoryFolder:
    """A folder on a memory disk. A lock that dies with us marks it as in use; others' leftovers are removed."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self._lock = lock

    @classmethod
    def with_room_for(cls, size: int) -> MemoryFolder | None:
        """A new folder that can take `size` bytes and leaves plenty to others; None where there is no such disk."""
        try:
            import fcntl

            _sweep()
            found = os.statvfs(_MEMORY)
            if found.f_bavail * found.f_frsize < size + _SPARE or found.f_flag & getattr(os, "ST_NOEXEC", 8):
                return None
            path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_MEMORY))
            lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
        except (OSError, ImportError):
            return None
        return cls(path, lock)

    def remove(self) -> None:
        """Remove the folder and what is in it."""
        remove_tree(self.path)
        os.close(self._lock)


def _sweep() -> None:
    """Remove folders of ours whose process has gone: killed, or the machine's memory disk outlived it."""
    import fcntl

    for path in _MEMORY.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if path.lstat().st_uid != os.getuid():
                continue
            lock = os.open(path / "lock", os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_tree(path)
            finally:
                os.close(lock)
