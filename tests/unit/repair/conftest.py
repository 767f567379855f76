"""A project in a folder, and the built-in model on it."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from regreen.agent.conversation import Reply, Request
from regreen.models.builtin import BuiltinModel
from regreen.repair.ground import SearchGround
from regreen.repair.related import is_test
from regreen.repair.warm import WORKER, Opened, WarmRunner
from regreen.testing.runner import PROBE
from regreen.testing.seal.unsealed import Unsealed
from unit.repair.grounds import open_ground

sys.path += [str(WORKER), str(PROBE)]


@dataclass(frozen=True)
class Target:
    nodeid: str

    @property
    def path(self) -> str:
        return self.nodeid.split("::")[0]


@dataclass
class Ears:
    heard: list[str] = field(default_factory=list)

    def text(self, delta: str) -> None:
        self.heard.append(delta)

    def waiting(self, reason: str) -> None: ...

    def working(self) -> None: ...


class Desk:
    """Plays the loop: asks for proposals, lays accepted ones over the files."""

    def __init__(self, workspace: Path, scratch: Path, target: str, seconds: float) -> None:
        self.workspace = workspace
        self.overlay: dict[str, bytes | None] = {}
        self.ears = Ears()
        scratch.mkdir(exist_ok=True)
        self.model = BuiltinModel(
            SearchGround(
                target=Target(target),
                python=Path(sys.executable),
                workspace=workspace,
                seal=Unsealed(),
                scratch=scratch,
                overlay=lambda: self.overlay,
                read=self.read,
                writable=lambda path: not is_test(path),
                seconds=seconds,
            )
        )

    def read(self, path: str) -> bytes | None:
        if path in self.overlay:
            return self.overlay[path]
        file = self.workspace / path
        return file.read_bytes() if file.is_file() else None

    def text(self, path: str) -> str:
        return (self.read(path) or b"").decode()

    async def ask(self) -> Reply:
        return await self.model.reply(Request((), ()), self.ears)

    def accept(self, reply: Reply) -> None:
        for call in reply.calls:
            path, find = str(call.arguments["path"]), str(call.arguments["find"])
            text = self.text(path)
            assert text.count(find) == 1
            self.overlay[path] = text.replace(find, str(call.arguments["replace"])).encode()


Open = Callable[..., Desk]


@pytest.fixture
async def open_desk(tmp_path: Path) -> AsyncIterator[Open]:
    """open_desk(files_or_folder, target, seconds=60) -> Desk; closed at the end."""
    desks: list[Desk] = []

    def make(project: Path | Mapping[str, str], target: str, seconds: float = 60.0) -> Desk:
        if isinstance(project, Path):
            workspace = project
        else:
            workspace = tmp_path / "project"
            for path, text in {"pytest.ini": "[pytest]\npythonpath = .\n", **project}.items():
                (workspace / path).parent.mkdir(parents=True, exist_ok=True)
                (workspace / path).write_bytes(text.encode())
        desks.append(Desk(workspace, tmp_path / "scratch", target, seconds))
        return desks[-1]

    yield make
    for desk in desks:
        await desk.model.aclose()


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Callable[..., Any]]:
    """start(files, forks) -> (runner, opened); closed at the end."""
    started: list[WarmRunner] = []

    async def make(files: Mapping[str, str], forks: bool | None) -> tuple[WarmRunner, Opened]:
        tree, scratch = tmp_path / "tree", tmp_path / "scratch"
        scratch.mkdir()
        for path, text in {"pytest.ini": "[pytest]\npythonpath = .\n", **files}.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_text(text)
        ground = open_ground(tree, scratch, Target("tests"), Path(sys.executable))
        runner, opened = await WarmRunner.start(ground, tree, ["tests"], 2, 110.0, forks)
        started.append(runner)
        return runner, opened

    yield make
    for runner in started:
        await runner.aclose()
