"""The search's worker beside plugins that people have, in real virtual environments."""

from __future__ import annotations

from pathlib import Path

import pytest

from environments import environment
from regreen.repair.warm import WarmRunner
from regreen.testing.target import Target
from unit.repair.grounds import open_ground

FILES = {
    "pytest.ini": "[pytest]\naddopts = --reruns 2 --reruns-delay 60 --strict-markers\n",
    "level.py": "def level(n):\n    return 'high' if n > 3 else 'low'\n",
    "test_level.py": """\
import pytest

from level import level

@pytest.mark.flaky(reruns=3, reruns_delay=60)
def test_three():
    assert level(3) == 'high'

def test_two():
    assert level(2) == 'low'
""",
}


@pytest.mark.parametrize("rerunfailures", ["pytest-rerunfailures", "pytest-rerunfailures<12"])
async def test_failing_tests_are_not_run_again_and_candidates_run_in_forks(
    tmp_path: Path, rerunfailures: str
) -> None:
    python = environment(
        "3.12", "pytest<9" if "<" in rerunfailures else "pytest", "pytest-xdist", rerunfailures
    )
    tree, scratch = tmp_path / "tree", tmp_path / "scratch"
    for folder in (tree, scratch):
        folder.mkdir()
    for path, text in FILES.items():
        (tree / path).write_text(text)
    ground = open_ground(tree, scratch, Target("test_level.py", ("test_three",)), python)
    runner, opened = await WarmRunner.start(ground, tree, ["test_level.py"], 2, 110.0)
    try:
        assert (opened.problem, opened.errors) == ("", ())
        assert opened.forks
        answer = await runner.ask("run", first=[], limit=5.0, wall=60.0)
        outcomes = {fact["test"]: fact["outcome"] for fact in answer.facts if "test" in fact}
        assert outcomes == {"test_level.py::test_three": "failed", "test_level.py::test_two": "passed"}
    finally:
        await runner.aclose()
