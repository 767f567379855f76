"""What a person allows their tests beyond the seal: the network, further paths to read, environment variables.

It comes from the command line and from settings that a workspace cannot set. No tool has an argument for it, so
that a model can neither ask for it nor see it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from regreen.errors import RegreenError, UsageError
from regreen.testing.seal.door import Access, Limits, Running, Seal
from regreen.testing.seal.libraries import within

_NEVER_BELOW = tuple(map(Path, ("/proc", "/sys", "/dev", "/run")))
_NEVER_ITSELF = tuple(map(Path, ("/tmp", "/var/tmp", "/var/run")))
_DISKS = Path("/run/media")
_OURS = re.compile(
    r"(?i)(PATH|HOME|TMPDIR|TEMP|TMP|SHELL|IFS|(LD_|DYLD_|PYTHON|PYTEST_|REGREEN_|_RJEM_|GLIBC_).*)"
)
"""Variables that decide what is run, or how: letting them through would undo the seal, or the judging."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """Additions to what every sealed run may do. `readable` are absolute paths that exist
    (`readable_path`), `environment` names of the person's own variables (`variable_name`), `given` the values of those
    that they have in a file instead."""

    network: bool = False
    readable: tuple[Path, ...] = ()
    environment: tuple[str, ...] = ()
    given: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def words(self) -> str:
        """What is allowed, for a person; "" when it is nothing."""
        parts = ["use the network"] if self.network else []
        parts += [f"read {path}" for path in self.readable]
        for name in self.environment:
            unset = "" if name in self.variables() else " (which is not set)"
            parts.append(f"see the environment variable {name}{unset}")
        return " and ".join(parts)

    def variables(self) -> dict[str, str]:
        """The allowed variables that are set, with their values."""
        given = {name: value for name, value in self.given if name in self.environment}
        return {**given, **{name: os.environ[name] for name in self.environment if name in os.environ}}

    def with_more(self, more: Allowed) -> Allowed:
        """Both together."""
        return Allowed(
            self.network or more.network,
            tuple(dict.fromkeys((*self.readable, *more.readable))),
            tuple(dict.fromkeys((*self.environment, *more.environment))),
            tuple(dict.fromkeys((*self.given, *more.given))),
        )


class Widened:
    """Implements `door.Seal`: the same seal, with what the person allowed added to every start.

    `start` raises RegreenError when a readable path inside the workspace is a link that leads out of it: then the
    workspace would decide what is read, not the person.
    """

    def __init__(self, seal: Seal, allowed: Allowed) -> None:
        self._seal = seal
        self._allowed = allowed

    @classmethod
    def around(cls, seal: Seal) -> Widened:
        """The seal, so that more can be allowed later on."""
        return seal if isinstance(seal, Widened) else cls(seal, Allowed())

    def allow(self, more: Allowed) -> None:
        """Allow more to what is started from now on."""
        self._allowed = self._allowed.with_more(more)

    @property
    def allowed(self) -> Allowed:
        """What was added."""
        return self._allowed

    @property
    def name(self) -> str:
        """The name of the seal inside."""
        return self._seal.name

    @property
    def mounts(self) -> bool:
        """As the seal inside."""
        return self._seal.mounts

    async def start(
        self,
        argv: Sequence[str],
        access: Access,
        limits: Limits,
        env: Mapping[str, str] | None = None,
        inherit: Sequence[int] = (),
    ) -> Running:
        """See `door.Seal.start`."""
        inside = access.workspace.resolve()
        for path in self._allowed.readable:
            if within(path, access.workspace) and not within(path.resolve(), inside):
                raise RegreenError(
                    f"{path} is a link that leads out of the workspace: name the place it leads to."
                )
        more = replace(
            access,
            network=access.network or self._allowed.network,
            readable=tuple(dict.fromkeys((*access.readable, *self._allowed.readable))),
        )
        return await self._seal.start(
            argv, more, limits, {**self._allowed.variables(), **(env or {})}, inherit
        )


def allowed_in(seal: Seal) -> Allowed:
    """What was added to a seal; all but variables when it is none at all."""
    if isinstance(seal, Widened):
        return replace(seal.allowed, network=seal.allowed.network or seal.name == "none")
    return Allowed(network=seal.name == "none")


def variable_name(text: str) -> str:
    """The name of a variable that tests may see, from what was typed. Raises UsageError for what is none, and for
    those that decide what is run."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text):
        raise UsageError(
            f"{text!r} is not the name of an environment variable: set it where you start Regreen, and give its name only."
        )
    if _OURS.fullmatch(text):
        raise UsageError(f"{text} decides how tests are run, so that it cannot be let through the seal.")
    return text


def readable_path(text: str, folder: Path) -> Path:
    """A path that tests may read, from what was typed; relative ones count from `folder`, `~` is the home.

    Raises UsageError for what is not there, for the whole home folder or what holds it, for places of the running
    system, and for what is neither a file nor a folder.
    """
    path = Path(os.path.normpath(folder / Path(text).expanduser()))
    if not path.exists():
        raise UsageError(f"There is no {path} for tests to read.")
    home = Path("~").expanduser()
    for place in {path, path.resolve()}:
        if within(home, place) or within(home.resolve(), place):
            raise UsageError(
                f"{path} holds your whole home folder: name the folder in it that the tests read."
            )
        system = any(within(place, never) for never in _NEVER_BELOW) and _DISKS not in place.parents
        if system or place in _NEVER_ITSELF:
            raise UsageError(f"{path} belongs to the running system: name the folder that the tests read.")
    if not path.is_file() and not path.is_dir():
        raise UsageError(
            f"{path} is neither a file nor a folder, so that tests cannot be allowed to read it."
        )
    return path
