"""A look at a project without a run: a trial copy, and a runner over it, for the time of a block."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from regreen.run.folders import RunFolders
from regreen.settings import new_run_id
from regreen.testing.runner import TestRunner
from regreen.testing.seal.allowed import allowed_in
from regreen.testing.seal.door import Seal
from regreen.workspace.root import Workspace
from regreen.workspace.trial import Trial


@asynccontextmanager
async def look(workspace: Workspace, python: Path, seal: Seal) -> AsyncGenerator[tuple[TestRunner, Path]]:
    """A runner and the tree of a fresh trial copy; both are gone afterwards."""
    async with AsyncExitStack() as stack:
        folders = RunFolders(new_run_id())
        stack.callback(folders.remove)
        trial = Trial(workspace.root, folders.trial, readable=allowed_in(seal).readable)
        stack.callback(trial.close)
        runner = TestRunner(python, workspace.root, seal, folders.scratch)
        stack.push_async_callback(runner.aclose)
        yield runner, trial.prepare({})
