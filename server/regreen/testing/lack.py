"""What a run lacks: looked for in vain, told in words, and the permission that would give it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Missed:
    """One thing that code of the workspace looked for and did not find, at a line of it ("" and 0: not known).

    `name` is a variable's name ("*": a library went through all of them for the code), an absolute path as the run saw it, or "host:port" (a path for a socket file). `how`:
    for variables "none" (read, no default), "default" (one was given), "raised", "asked" (only whether it is there);
    for files "missing" or "denied"; for servers "connect" or "name" (its address was asked for).
    """

    kind: Literal["variable", "file", "address"]
    name: str
    how: str
    path: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Permission:
    """One thing that a person may allow: the network, a whole path to read, or a variable of theirs.

    `file` names the file of the workspace that has the variable's value, where their environment has none.
    """

    kind: Literal["network", "readable", "environment"]
    name: str = ""
    file: str = ""

    @property
    def option(self) -> str:
        """The option, and the setting in VS Code, that give it to every run."""
        if self.kind == "network":
            return "--allow-network (in VS Code regreen.allowNetwork)"
        if self.kind == "readable":
            return f"--readable {self.name} (in VS Code regreen.readablePaths)"
        return f"--env {self.name} (in VS Code regreen.environment)"


@dataclass(frozen=True, slots=True)
class Lack:
    """What stands in the way of a test, in one line, with what to do about it.

    `needs` is the thing itself, to be put into a question; `permission` what allows it (None: no permission does).
    """

    text: str
    needs: str = ""
    permission: Permission | None = None


@dataclass(frozen=True, slots=True)
class Suspect:
    """Something that a run missed and the person has, which may be why a test fails.

    `person` is how the test ended when they last ran it, and nothing that it ran has changed since. `direct`: the
    failure itself speaks of it. `expected`: the test expects what is in their variable.
    """

    lack: Lack
    missed: Missed
    person: Literal["passed", "failed", ""] = ""
    direct: bool = False
    expected: bool = False
