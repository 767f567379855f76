"""Defaults, and the folders of the person's own that hold what a run leaves behind."""

from __future__ import annotations

import os
import secrets
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from regreen.agent.budget import Allowance
from regreen.errors import RegreenError
from regreen.testing.seal.allowed import Allowed
from regreen.testing.seal.door import SealMode

Approval = Literal["everyEdit", "whenGreen", "never"]
Writes = Literal["self", "editor"]
Tests = Literal["reached", "all"]

DEFAULT_MODEL = "qwen2.5:3b"
SEARCH_GRACE = 2.0
"""Seconds that a model which is ready waits for the quick search.

Four of five small bugs that the search can mend fall within two seconds, and a 3B model without a graphics card takes
several to its first token. Then the search is ended: on a laptop it would take the processors that the model needs.
"""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What a person chose for one run; see `regreen fix --help`.

    `python` is the interpreter of the project under test (None: find it). `interactive` is true when
    somebody can answer questions that are not about a proposal. `allowed` widens the seal. `tests` are those that a
    fix must not break: the ones the change can reach, or all of the project's.
    """

    model: str = "auto"
    base_url: str | None = None
    approval: Approval = "everyEdit"
    seal: SealMode = "require"
    allowance: Allowance = field(default_factory=Allowance)
    writes: Writes = "self"
    python: str | None = None
    interactive: bool = False
    unlock_tests: bool = False
    allowed: Allowed = field(default_factory=Allowed)
    tests: Tests = "reached"
    search: bool = True
    search_grace: float = SEARCH_GRACE


def state_folder() -> Path:
    """Traces and journals: `REGREEN_STATE_DIR`, else the system's place for a user's state."""
    return _folder("REGREEN_STATE_DIR", "user_state_path")


def cache_folder() -> Path:
    """Trial copies and what was learned of models: `REGREEN_CACHE_DIR`, else the system's cache place."""
    return _folder("REGREEN_CACHE_DIR", "user_cache_path")


def _folder(variable: str, kind: str) -> Path:
    chosen = os.environ.get(variable)
    if chosen:
        folder = Path(chosen)
    else:
        import platformdirs

        folder = Path(getattr(platformdirs, kind)("regreen", appauthor=False))
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise RegreenError(
            f"Cannot make the folder {folder}: {error.strerror}. Name another one with {variable}."
        ) from error
    return folder


def new_run_id() -> str:
    """A name for a run that sorts by time: "20261129-191502-3fa9"."""
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"


def run_folder(run: str) -> Path:
    """The folder of one run under the state folder; not created here."""
    return state_folder() / "runs" / run
