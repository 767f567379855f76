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


# --- what stands ready between runs is used only as long as nothing of it has changed ---------------------------------

STAGED = {
    "shop.py": "PRICE = 1\n",
    "fixtures.txt": "1",
    "sub/test_shop.py": """\
        import os

        import shop


        def test_price(price, capsys):
            assert price == shop.PRICE


        def test_ends(price):
            print("left over by a crash", flush=True)
            os._exit(3)


        def test_says():
            print("its own words")
            assert 0
        """,
    "conftest.py": """\
        import pathlib

        import pytest

        import helper

        GIVEN = int(pathlib.Path(__file__).with_name("fixtures.txt").read_text())


        @pytest.fixture
        def price():
            return GIVEN * helper.FACTOR
        """,
    "helper.py": "FACTOR = 1\n",
    "pytest.ini": "[pytest]\n",
}
PRICE = "sub/test_shop.py::test_price"


class Warm:
    """Warm runs of a project, and whether each of them had its set-up ready."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench

    async def run(self, overlay: dict[str, bytes] | None = None, name: str = PRICE) -> tuple[bool, Report]:
        tree = self.bench.trial.prepare(overlay or {})
        report = await self.bench.runner.run(tree, [name], warm=True, trace_lines=True)
        return self.bench.runner.staged, report


@pytest.fixture
async def staged(tmp_path: Path) -> AsyncIterator[Warm]:
    made = Bench(tmp_path, STAGED)
    assert await made.runner.warm_up(made.trial.prepare())
    yield Warm(made)
    await made.runner.aclose()


async def test_what_comes_before_the_collection_is_done_once(staged: Warm) -> None:
    for _ in range(3):
        ready, report = await staged.run()
        assert ready
        assert report.passed == (PRICE,)
        assert report.pytest and report.python
        assert report.executed["sub/test_shop.py"]
        assert "test session starts" in report.output


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("fixtures.txt", "2"),
        ("helper.py", "FACTOR = 2\n"),
        ("shop.py", "PRICE = 2\n"),
        ("conftest.py", STAGED["conftest.py"].replace("GIVEN *", "2 *")),
        ("sub/conftest.py", "import pytest\n\n@pytest.fixture\ndef price():\n    return 2\n"),
        ("pytest.ini", "[pytest]\nusefixtures = missing_one\n"),
        ("sub/pytest.ini", "[pytest]\nusefixtures = missing_one\n"),
        ("sub/test_shop.py", "def test_price():\n    assert 0\n"),
        ("sub/__init__.py", "raise RuntimeError('no')\n"),
    ],
)
async def test_whatever_changes_is_seen(staged: Warm, path: str, text: str) -> None:
    import textwrap

    assert (await staged.run())[1].passed
    for _ in range(2):
        _, report = await staged.run({path: textwrap.dedent(text).encode()})
        assert not report.passed, path
        assert (await staged.run())[1].passed


async def test_a_file_made_by_the_set_up_is_there_in_every_run(tmp_path: Path) -> None:
    files = {
        "conftest.py": "import pathlib\n(pathlib.Path(__file__).parent / 'made').write_text('x')\n",
        "test_x.py": "import pathlib\n\ndef test_x():\n    assert pathlib.Path('made').exists()\n",
    }
    warm = Warm(Bench(tmp_path, files))
    assert await warm.bench.runner.warm_up(warm.bench.trial.prepare())
    for _ in range(3):
        ready, report = await warm.run(name="test_x.py::test_x")
        assert not ready
        assert report.passed
    await warm.bench.runner.aclose()


@pytest.mark.parametrize(
    "conftest",
    [
        "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n",
        "import socket\nSERVER = socket.socket()\nSERVER.bind(('127.0.0.1', 0))\n",
        "import subprocess, sys\nsubprocess.run([sys.executable, '-c', ''])\n",
        "import os\nPIPE = os.pipe()\n",
        "import sqlite3\nBASE = sqlite3.connect(':memory:')\n",
    ],
)
async def test_a_set_up_that_no_fork_can_carry_on_is_made_anew(tmp_path: Path, conftest: str) -> None:
    warm = Warm(Bench(tmp_path, {"conftest.py": conftest, "test_x.py": "def test_x():\n    pass\n"}))
    assert await warm.bench.runner.warm_up(warm.bench.trial.prepare())
    for _ in range(2):
        ready, report = await warm.run(name="test_x.py::test_x")
        assert not ready
        assert report.passed
    await warm.bench.runner.aclose()


async def test_a_crash_leaves_nothing_in_the_next_run(staged: Warm) -> None:
    for _ in range(2):
        _, crashed = await staged.run(name="sub/test_shop.py::test_ends")
        assert crashed.tests["sub/test_shop.py::test_ends"].outcome == "crashed"
        ready, report = await staged.run(name="sub/test_shop.py::test_says")
        assert ready
        failure = report.tests["sub/test_shop.py::test_says"].failure
        assert failure is not None
        assert "its own words" in failure.output
        assert "left over" not in failure.output
        assert (await staged.run())[1].passed


async def test_chance_is_another_in_every_run(tmp_path: Path) -> None:
    files = {
        "conftest.py": "import random\n",
        "test_x.py": "import random\n\ndef test_x():\n    print(random.random())\n    assert 0\n",
    }
    warm = Warm(Bench(tmp_path, files))
    assert await warm.bench.runner.warm_up(warm.bench.trial.prepare())
    said: set[str] = set()
    for _ in range(3):
        failure = (await warm.run(name="test_x.py::test_x"))[1].tests["test_x.py::test_x"].failure
        assert failure is not None
        said.add(failure.output)
    assert len(said) == 3
    await warm.bench.runner.aclose()
