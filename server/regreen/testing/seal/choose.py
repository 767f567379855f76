"""Which seal a run gets: decided by really starting something in it, never by a version number."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from regreen.errors import RegreenError
from regreen.testing.seal.allowed import Allowed, Widened
from regreen.testing.seal.door import Access, Choice, Limits, Seal, SealMode

_chosen: dict[str, Choice] = {}


async def choose(mode: SealMode, allowed: Allowed | None = None) -> Choice:
    """The strongest seal that works here; with `off`, none. Asked again, the same answer without a new probe.

    What the person allows (`allowed`) is part of the seal that is returned.

    `require` raises RegreenError when no seal works; `prefer` then gives none, with the reason in `why`.
    Nothing of the workspace is started: the probe runs /bin/sh in an empty folder.
    """
    choice = await _choose(mode)
    return replace(choice, seal=Widened(choice.seal, allowed)) if allowed and allowed.words() else choice


async def _choose(mode: SealMode) -> Choice:
    if mode == "off":
        return Choice(_unsealed(), "turned off (--seal off)")
    if "strongest" not in _chosen:
        _chosen["strongest"] = await _probe()
    choice = _chosen["strongest"]
    if mode == "require" and choice.seal.name == "none":
        raise RegreenError(
            f"Tests cannot be sealed off on this machine ({choice.why}). {_cure()} "
            "Or accept that tests run with your own rights and network: --seal off."
        )
    return choice


def describe(choice: Choice) -> str:
    """The tier in a person's words, one line, for doctor and the status bar."""
    words = {
        "bubblewrap": "sealed with bubblewrap: no network, no home folder, a copy of the workspace",
        "landlock": "sealed with Landlock: no network, nothing readable or writable outside a copy of the workspace; "
        "names and times of your other files are not hidden, and tests with local servers fail",
        "sandbox-exec": "sealed with sandbox-exec: no network, no home folder, a copy of the workspace",
        "none": "NOT sealed: tests run with your own rights and network",
    }[choice.seal.name]
    return words + (f" ({choice.why})" if choice.why else "")


async def _probe() -> Choice:
    begun = time.perf_counter()
    reasons: list[str] = []
    for candidate in _candidates():
        try:
            seal = candidate()
            await _try(seal)
        except RegreenError as error:
            reasons.append(str(error))
            continue
        return Choice(seal, "; ".join(reasons), time.perf_counter() - begun)
    return Choice(_unsealed(), "; ".join(reasons), time.perf_counter() - begun)


def _candidates() -> list[Callable[[], Seal]]:
    known: dict[str, list[Callable[[], Seal]]] = {
        "linux": [_bubblewrap, _landlock],
        "darwin": [_sandbox_exec],
    }
    return known.get(sys.platform, [_none_known])


def _bubblewrap() -> Seal:
    from regreen.testing.seal import bubblewrap

    program, why = bubblewrap.find()
    if program is None:
        raise RegreenError(why)
    return bubblewrap.Bubblewrap(program)


def _landlock() -> Seal:
    from regreen.testing.seal import landlock

    if why := landlock.usable():
        raise RegreenError(why)
    return landlock.Landlock()


def _sandbox_exec() -> Seal:
    from regreen.testing.seal import macos

    if not macos.PROGRAM.is_file():
        raise RegreenError(f"{macos.PROGRAM} is missing")
    return macos.SandboxExec()


def _none_known() -> Seal:
    if sys.platform == "win32":
        raise RegreenError(
            "Windows has no seal that Regreen could use: a job object ends and limits programs, but keeps no file and "
            "no network from them"
        )
    raise RegreenError(f"Regreen knows no seal for {sys.platform}")


def _unsealed() -> Seal:
    from regreen.testing.seal.unsealed import Unsealed

    return Unsealed()


async def _try(seal: Seal) -> None:
    """Start a shell in the seal, in an empty folder. RegreenError with the launcher's words when that fails."""
    folder = Path(tempfile.mkdtemp(prefix="regreen-probe-"))
    try:
        tree, scratch = folder / "tree", folder / "scratch"
        tree.mkdir()
        scratch.mkdir()
        access = Access(workspace=tree, tree=tree, scratch=scratch, python=Path("/bin/sh"))
        running = await seal.start(["/bin/sh", "-c", "echo sealed"], access, Limits(wall=10))
        ended = await running.wait()
        if ended.status != "exited" or ended.output != b"sealed\n":
            raise RegreenError(
                f"a trial start with {seal.name} failed: {ended.output.decode('utf-8', 'replace')}"
            )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _cure() -> str:
    if sys.platform == "linux":
        return "Install bubblewrap (on Debian and Ubuntu: sudo apt install bubblewrap)."
    return (
        "Run Regreen in WSL 2, which has one."
        if sys.platform == "win32"
        else "Run Regreen on Linux, which has one."
    )
