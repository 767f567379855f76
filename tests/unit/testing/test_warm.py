"""The warm runner says the same as a cold one, and lets nothing of one run into the next."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from regreen.testing.report import Report
from unit.testing.small_projects import Bench

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the warm runner forks, on Linux only")

FILES = {
    "state.py": "seen = []\n",
    "test_x.py": """\
        import os
        import subprocess
        import sys
        import time

        import pytest

        import state


        def test_fresh():
            state.seen.append(1)
            assert state.seen == [1]


        def test_fails():
            print("said before failing")
            assert state.seen == [2, 3]


        def test_raises():
            raise ValueError("no")


        def test_sleeps():
            time.sleep(60)


        def test_ends():
            os._exit(0)


        def test_leaves_a_process():
            code = "import time; time.sleep(300)"
            child = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
            with open("child", "w") as file:
                file.write(str(child.pid))


        def test_kills_its_parent():
            os.kill(os.getppid(), 9)
            time.sleep(1)
        """,
}


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    made = Bench(tmp_path, FILES)
    assert await made.runner.warm_up(made.trial.prepare())
    yield made
    await made.runner.aclose()


async def run(bench: Bench, name: str, warm: bool = True, wall: float = 30) -> Report:
    return await bench.runner.run(bench.trial.prepare(), [f"test_x.py::{name}"], warm=warm, wall=wall)


@pytest.mark.parametrize("name", ["test_fresh", "test_fails", "test_raises", "test_ends", "test_nowhere"])
async def test_warm_and_cold_say_the_same(bench: Bench, name: str) -> None:
    warm, cold = await run(bench, name), await run(bench, name, warm=False)
    assert [(r.nodeid, r.outcome, r.failure) for r in warm.tests.values()] == [
        (r.nodeid, r.outcome, r.failure) for r in cold.tests.values()
    ]
    assert (warm.finished, warm.collected, warm.problem) == (cold.finished, cold.collected, cold.problem)


async def test_every_run_starts_afresh_and_sees_the_files_as_they_are_now(bench: Bench) -> None:
    for _ in range(3):
        assert (await run(bench, "test_fresh")).passed
    tree = bench.trial.prepare({"state.py": b"seen = [0]\n"})
    assert (await bench.runner.run(tree, ["test_x.py::test_fresh"], warm=True)).failed
    assert (await run(bench, "test_fresh")).passed


async def test_what_was_printed_is_kept(bench: Bench) -> None:
    report = await run(bench, "test_fails")
    failure = report.tests["test_x.py::test_fails"].failure
    assert failure is not None
    assert "said before failing" in failure.output
    assert "collected 1 item" in report.output


async def test_a_run_that_takes_too_long_is_ended_and_the_next_one_works(bench: Bench) -> None:
    begun = time.monotonic()
    report = await run(bench, "test_sleeps", wall=2)
    assert time.monotonic() - begun < 8
    assert report.timed_out
    assert report.tests["test_x.py::test_sleeps"].outcome == "timeout"
    assert (await run(bench, "test_fresh")).passed
    assert await bench.runner.warm_up(bench.trial.tree)
    assert (await run(bench, "test_fresh")).passed


async def test_a_process_that_a_test_left_behind_is_gone_after_the_run(bench: Bench) -> None:
    report = await run(bench, "test_leaves_a_process")
    assert report.passed
    pid = int((bench.trial.tree / "child").read_text())
    assert not Path(f"/proc/{pid}").exists()


async def test_when_the_warm_process_dies_the_run_is_made_cold(bench: Bench) -> None:
    report = await run(bench, "test_kills_its_parent", wall=20)
    assert report.tests["test_x.py::test_kills_its_parent"].outcome in ("passed", "crashed")
    assert (await run(bench, "test_fresh")).passed
