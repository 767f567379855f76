"""The search where there is no fork: processes that have collected ahead take the candidates."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regreen.repair.warm import WORKERS, WarmRunner

Open = Callable[..., Any]
COUNT = {
    "count.py": "SEEN = []\n\n\ndef count(n):\n    SEEN.append(n)\n    return len(SEEN) - 1\n",
    "tests/test_count.py": "from count import count\n\n\ndef test_one():\n    assert count(5) == 1\n",
}
LEVEL = {
    "level.py": "def level(n):\n    if n > 3:\n        return 'high'\n    return 'low'\n",
    "tests/test_level.py": "from level import level\n\n\ndef test_three():\n    assert level(3) == 'high'\n\n\n"
    "def test_two():\n    assert level(2) == 'low'\n",
}


async def tried(runner: WarmRunner, path: str, text: str, old: str, *news: str) -> list[Any]:
    """What becomes of the target with each of `news` in the place of `old`."""
    await runner.ask_plain("files", texts={path: text})
    at = text.index(old)
    asked = [
        runner.ask(
            "try",
            edits={path: [[at, at + len(old), new]]},
            limit=2.0,
            wall=60.0,
            closed=["write"],
            rest=[0, 0],
        )
        for new in news
    ]
    return [answer.first("target") for answer in await asyncio.gather(*asked)]


async def test_a_fix_is_found_and_the_other_tests_are_heeded(
    open_desk: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WORKERS, "spawn")
    desk = open_desk(LEVEL, "tests/test_level.py::test_three", 100.0)
    desk.accept(await desk.ask())
    assert desk.text("level.py") == LEVEL["level.py"].replace("n > 3", "n >= 3")


@pytest.mark.parametrize("forks", [True, False])
async def test_both_ways_say_the_same_of_candidates(start: Callable[..., Any], forks: bool) -> None:
    runner, opened = await start(LEVEL, forks)
    assert opened.forks is forks
    answer = await runner.ask("run", first=[], limit=2.0, wall=60.0)
    assert {f["test"]: f["outcome"] for f in answer.facts if "test" in f} == {
        "tests/test_level.py::test_three": "failed",
        "tests/test_level.py::test_two": "passed",
    }
    plan = {
        "target": ["tests/test_level.py::test_three"],
        "keep": ["tests/test_level.py::test_two"],
        "also": [],
    }
    await runner.ask_plain("plan", **plan)
    news = ["n >= 3", "n > 4", "n > 2", "n != 3", "n >", "n > 3", "True"]
    said = await tried(runner, "level.py", LEVEL["level.py"], "n > 3", *news)
    assert said == [
        "passed",
        "failed",
        "passed",
        "failed",
        "invalid",
        "same",
        "passed",
    ]


async def test_what_a_candidate_leaves_in_memory_is_not_there_for_the_next(start: Callable[..., Any]) -> None:
    """Each candidate sees one call before its own at most: a process that changed is not used again."""
    runner, _ = await start(COUNT, False)
    await runner.ask("run", first=[], limit=2.0, wall=60.0)
    await runner.ask_plain("plan", target=["tests/test_count.py::test_one"], keep=[], also=[])
    said = await tried(runner, "count.py", COUNT["count.py"], "- 1", "- 2", "+ 0", "- 3")
    assert said == ["failed", "passed", "failed"]


async def test_a_project_whose_threads_run_is_not_forked(start: Callable[..., Any]) -> None:
    threaded = "import threading\nimport time\nthreading.Thread(target=time.sleep, args=(99,), daemon=True).start()\n"
    _, opened = await start({**LEVEL, "level.py": threaded + LEVEL["level.py"]}, True)
    assert not opened.forks


async def test_closing_leaves_no_process(start: Callable[..., Any]) -> None:
    runner, _ = await start(LEVEL, False)
    await runner.ask("run", first=[], limit=2.0, wall=60.0)
    assert _hands(os.getpid())
    await runner.aclose()
    assert not _hands(os.getpid())


def _hands(root: int) -> list[int]:
    """Hands among the processes that came of `root`."""
    lines: dict[int, tuple[int, bytes]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                lines[int(entry.name)] = parent, (entry / "cmdline").read_bytes()
            except OSError:
                continue

    def below(pid: int) -> bool:
        parent = lines[pid][0] if pid in lines else 0
        return parent == root or (parent in lines and below(parent))

    return [pid for pid, (_, command) in lines.items() if b"\0hand\0" in command and below(pid)]
