"""What the rest of the program knows of a seal: how to start a process in it, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

SealMode = Literal["require", "prefer", "off"]
Status = Literal["exited", "timeout", "cancelled", "output_limit", "memory_limit", "seal_failed"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one sealed process tree. Sizes are bytes, times seconds.

    `memory` holds for one process's data and for the resident memory of the whole tree; `temp` is the size of
    each private temporary folder (where the seal mounts), `disk` what may be written into the trial, `files` how many
    files and folders may be made there, and on the temporary folders together.
    `output` is kept, head and tail; eight times as much ends the run.
    """

    wall: float = 60.0
    memory: int = 4 << 30
    processes: int = 256
    file_size: int = 256 << 20
    output: int = 1 << 20
    temp: int = 512 << 20
    disk: int = 2 << 30
    files: int = 100_000


@dataclass(frozen=True, slots=True)
class Access:
    """What a sealed process may see.

    `tree` is the trial copy; it appears at `workspace`, the workspace's own path, where the seal can mount
    (see `Seal.mounts`), and is writable. `scratch` is a private folder, writable, at its own path: reports
    are written there. `python` is the person's interpreter; it and its libraries are readable.
    `readable` are further paths, such as the folder of our probe.
    """

    workspace: Path
    tree: Path
    scratch: Path
    python: Path
    readable: tuple[Path, ...] = ()
    network: bool = False


@dataclass(frozen=True, slots=True)
class Finished:
    """How a sealed process ended. `output` holds stdout and stderr together, head and tail when cut."""

    status: Status
    returncode: int | None
    output: bytes = b""
    cut: bool = False
    seconds: float = 0.0
    detail: str = ""


class Running(Protocol):
    """A sealed process tree that is going."""

    async def wait(self) -> Finished:
        """Wait until it ends by itself or by a limit. Cancelling the awaiting task kills the whole tree."""
        ...

    async def kill(self) -> None:
        """Kill every descendant, at once. Safe to call twice."""
        ...


class Seal(Protocol):
    """One kind of confinement, chosen once a run by a real probe launch."""

    @property
    def name(self) -> str:
        """ "bubblewrap", "landlock" or "none": shown to the person and written into the outcome."""
        ...

    @property
    def mounts(self) -> bool:
        """True when the trial appears at the workspace's own path; else commands must use the tree's path."""
        ...

    async def start(
        self,
        argv: Sequence[str],
        access: Access,
        limits: Limits,
        env: Mapping[str, str] | None = None,
        inherit: Sequence[int] = (),
    ) -> Running:
        """Start `argv` with its working directory at the tree (as the process sees it).

        `env` is added to a small clean environment; `inherit` are descriptors the child keeps, by number.
        stdin is /dev/null. Raises RegreenError when the process cannot be started under this seal.
        """
        ...


@dataclass(frozen=True, slots=True)
class Choice:
    """The seal a run gets, and why not a stronger one ("" when it is the strongest).

    `seconds` is how long the probe launches took.
    """

    seal: Seal
    why: str = field(default="")
    seconds: float = 0.0
