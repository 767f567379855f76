"""Running without a seal where none can be made: asked for once, and the answer kept for the folder if so wished.

The answer lies in the person's own state folder, one small file for each workspace, and never in the workspace. It
holds for the folder itself: another folder at the same path is asked for anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import time
from pathlib import Path
from typing import Any

from regreen.errors import RegreenError
from regreen.run.protocol import Channel
from regreen.settings import RunSettings, state_folder
from regreen.testing.seal.choose import choose
from regreen.testing.seal.door import SealMode

ONCE = "Run unsealed once"
ALWAYS = "Always for this folder"
NO = "Do not run"


async def seal_mode(settings: RunSettings, workspace: Path, channel: Channel) -> SealMode:
    """The seal mode of a run: `require`, unless nothing can be sealed here and the person allows that.

    A kept answer counts without asking, and is said. Only a run with somebody to ask asks.
    """
    if settings.seal != "require":
        return settings.seal
    try:
        await choose("require")
    except RegreenError as error:
        if is_kept(workspace):
            channel.emit({"event": "note", "level": "warning", "text": kept_words(workspace)})
            return "prefer"
        answer = await _ask(channel, str(error)) if settings.interactive else NO
        if answer == ALWAYS:
            keep(workspace)
        return "require" if answer == NO else "prefer"
    return "require"


async def _ask(channel: Channel, why: str) -> str:
    return await channel.ask(
        {
            "event": "question",
            "id": "unsealed",
            "kind": "unsealed",
            "text": f"{why} Run the tests unsealed, with your rights and your network?",
            "choices": [ONCE, ALWAYS, NO],
            "default": NO,
        }
    )


def keep(workspace: Path) -> None:
    """Remember that this workspace may run without a seal. Raises RegreenError when that cannot be written."""
    file = _file(workspace)
    record = {**_identity(workspace), "when": time.strftime("%Y-%m-%d %H:%M:%S")}
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = file.with_suffix(f".{secrets.token_hex(4)}")
        fresh.touch(mode=0o600, exist_ok=False)
        fresh.write_text(json.dumps(record), encoding="utf-8")
        fresh.replace(file)
    except OSError as error:
        raise RegreenError(f"Your answer could not be kept in {file.parent}: {error}") from error


def is_kept(workspace: Path) -> bool:
    """True when the person allowed unsealed runs of this folder for good."""
    try:
        record: dict[str, Any] = json.loads(_file(workspace).read_text(encoding="utf-8"))
        return all(record[key] == value for key, value in _identity(workspace).items())
    except (OSError, ValueError, KeyError, TypeError):
        return False


def forget(workspace: Path) -> bool:
    """Take a kept answer back; False when there was none."""
    with contextlib.suppress(FileNotFoundError):
        _file(workspace).unlink()
        return True
    return False


def kept_words(workspace: Path) -> str:
    """The kept answer in a person's words, with the way back."""
    return (
        f"Tests of {workspace} run NOT sealed where no seal can be made: you allowed that for this folder. "
        f"To be asked again: {ask_again(workspace)}"
    )


def ask_again(workspace: Path) -> str:
    """The command that takes a kept answer back."""
    return f"regreen doctor --ask-again --workspace {workspace}"


def _file(workspace: Path) -> Path:
    name = hashlib.sha256(os.fsencode(workspace.resolve())).hexdigest()[:32]
    return state_folder() / "unsealed" / f"{name}.json"


def _identity(workspace: Path) -> dict[str, Any]:
    """The place, and the number of its folder: not the device's, which changes when the system starts."""
    return {"workspace": str(workspace.resolve()), "folder": workspace.stat().st_ino}
