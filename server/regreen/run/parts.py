"""What one run works with, made once and handed on as a whole."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from regreen.agent.model import Model
from regreen.repair.ground import SearchGround
from regreen.testing.judge import Judge
from regreen.testing.runner import TestRunner
from regreen.workspace.trial import Trial


@dataclass(frozen=True)
class Parts:
    """The parts of one run. What is pushed on `stack` is let go of when the run ends, last in first out."""

    stack: contextlib.AsyncExitStack
    judge: Judge
    trial: Trial
    runner: TestRunner
    model: Model
    ground: SearchGround
