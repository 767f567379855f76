"""Options and plugins of a project that would hide the test that was picked, or run it again: it is run, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from environments import environment
from regreen.repair.warm import WarmRunner
from regreen.testing.report import Report
from regreen.testing.target import Target
from unit.repair.grounds import open_ground
from unit.testing.small_projects import Bench

TARGET = Target("tests/deep/test_level.py", ("test_three",))
TEST = """\
import os

import pytest

from level import level


@pytest.mark.slow
@pytest.mark.flaky({again})
def test_three():
    with open(os.environ["COUNT"], "a") as file:
        file.write("x")
    assert level(3) == "high"


def test_two():
    assert level(2) == "low"
"""
HIDING = (
    "-m 'not slow'", "-k two", "--deselect tests/deep/test_level.py::test_three", "--ignore=tests/deep",
    "--ignore-glob=*deep*", "--help", "-qh", "--version", "-VV", "--fixtures", "--fixtures-per-test", "--markers",
    "--cache-show", "--collect-only", "--co -q", "--setup-plan", "--setup-only", "--lf",
)  # fmt: skip
SEARCHED = (*HIDING[:5], "-qh", "--fixtures --markers --cache-show -V --lf")
PLUGINS = {
    "pytest-rerunfailures": ("reruns=3, reruns_delay=60", "--reruns 4 --reruns-delay 60"),
    "pytest-retry": ("retries=3, delay=60", "--retries 4 --retry-delay 60"),
    "flaky": ("max_runs=3", "--force-flaky --max-runs=3"),
}


def project(folder: Path, python: Path, options: str, again: str = "") -> Bench:
    files = {
        "pytest.ini": f"[pytest]\npythonpath = .\nmarkers =\n    slow: takes long\n    flaky: x\naddopts = {options}\n",
        "level.py": "def level(n):\n    return 'high' if n > 3 else 'low'\n",
        "conftest.py": f"import os, sys\n\nos.environ['COUNT'] = {str(folder / 'count')!r}\nsys.path.insert(0, os.getcwd())\n",
        TARGET.path: TEST.format(again=again),
    }
    return Bench(folder, files, python)


def outcomes(report: Report) -> dict[str, str]:
    return {nodeid: record.outcome for nodeid, record in report.tests.items()}


@pytest.mark.parametrize("plugin", PLUGINS)
async def test_a_failing_test_is_not_run_again_by_a_plugin(tmp_path: Path, plugin: str) -> None:
    again, options = PLUGINS[plugin]
    bench = project(tmp_path, environment("3.12", "pytest<9", plugin), f"{options} --strict-markers", again)
    tree = bench.trial.prepare()
    report = await bench.runner.run(tree, [TARGET.nodeid], wall=50)
    assert outcomes(report) == {TARGET.nodeid: "failed"}, report.output
    assert (tmp_path / "count").read_text() == "x"
    assert await bench.runner.warm_up(tree)
    try:
        again_report = await bench.runner.run(tree, [TARGET.nodeid], wall=50, warm=True)
    finally:
        await bench.runner.aclose()
    assert outcomes(again_report) == {TARGET.nodeid: "failed"}
    assert (tmp_path / "count").read_text() == "xx"


@pytest.mark.parametrize(("version", "pinned"), [("3.8", "pytest<7"), ("3.12", "pytest")])
async def test_no_option_keeps_the_named_test_from_running(tmp_path: Path, version: str, pinned: str) -> None:
    python = environment(version, pinned)
    found: dict[str, dict[str, str]] = {}
    for number, options in enumerate(HIDING):
        bench = project(tmp_path / str(number), python, options)
        report = await bench.runner.run(bench.trial.prepare(), [TARGET.nodeid])
        found[options] = outcomes(report)
    assert found == {options: {TARGET.nodeid: "failed"} for options in HIDING}


async def test_a_file_that_is_ignored_stays_so_when_everything_is_run(tmp_path: Path) -> None:
    bench = project(tmp_path, environment("3.12", "pytest"), "--ignore=tests/deep")
    report = await bench.runner.run(bench.trial.prepare(), [])
    assert report.collected == ()


@pytest.mark.parametrize("forks", [True, False])
@pytest.mark.parametrize(("version", "pinned"), [("3.8", "pytest<7"), ("3.12", "pytest")])
async def test_the_search_has_the_named_test_too(
    tmp_path: Path, version: str, pinned: str, forks: bool
) -> None:
    python = environment(version, pinned)
    found: dict[str, dict[str, str]] = {}
    for number, options in enumerate(SEARCHED):
        bench = project(tmp_path / str(number), python, options)
        found[options] = await _searched(bench, python, forks)
    whole = {TARGET.nodeid: "failed", f"{TARGET.path}::test_two": "passed"}
    assert found == dict.fromkeys(SEARCHED, whole)


async def _searched(bench: Bench, python: Path, forks: bool) -> dict[str, str]:
    """What the search's worker finds in the file of the target, and how it ends."""
    scratch = bench.workspace.parent / "worker"
    scratch.mkdir()
    ground = open_ground(bench.workspace, scratch, TARGET, python)
    runner, opened = await WarmRunner.start(ground, bench.workspace, [TARGET.path], 1, 60.0, forks)
    try:
        assert (opened.problem, opened.errors) == ("", ())
        answer = await runner.ask("run", first=[], limit=5.0, wall=30.0)
        return {str(fact["test"]): str(fact["outcome"]) for fact in answer.facts if "test" in fact}
    finally:
        await runner.aclose()
