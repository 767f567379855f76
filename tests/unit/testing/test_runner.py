"""What one run of the person's tests tells."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from regreen.testing.report import Report, TestRecord
from regreen.testing.target import parse_target
from unit.testing.small_projects import Bench

PROJECT = {
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-x -q --tb=no -p no:cacheprovider'\n",
    "shop.py": """\
        def total(prices):
            result = 0
            for price in prices:
                result = price
            return result

        def rate(country):
            return {"DE": 19}[country]
        """,
    "tests/test_shop.py": """\
        import os
        import sys
        import unittest

        import pytest

        from shop import rate, total


        def test_passes():
            assert total([5]) == 5


        def test_fails():
            print("looking at totals")
            assert total([5, 6]) == 11


        def test_raises():
            rate("FR")


        @pytest.fixture
        def broken():
            raise RuntimeError("no such till")


        def test_fixture(broken):
            pass


        @pytest.fixture
        def late():
            yield
            raise RuntimeError("cannot close")


        def test_teardown(late):
            pass


        @pytest.mark.skip(reason="not now")
        def test_skipped():
            pass


        @pytest.mark.xfail(reason="known")
        def test_expected_to_fail():
            assert 0


        @pytest.mark.parametrize("text", ["a::b", "x[y]", "sp ace", "\\u00e9", "a/b"])
        def test_many(text):
            assert text != "sp ace"


        class Numbers(unittest.TestCase):
            def test_equal(self):
                self.assertEqual(total([1, 2]), 3)


        def test_prints_much():
            print("x" * 100_000)
            assert False
        """,
    "tests/test_broken_import.py": "from shop import nothing_of_the_kind\n\ndef test_a():\n    pass\n",
    "tests/test_syntax.py": "def test_a(:\n    pass\n",
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    bench = Bench(tmp_path_factory.mktemp("run"), PROJECT)
    return asyncio.run(bench.runner.run(bench.trial.prepare(), ["tests/test_shop.py"], trace_lines=True))


def one(report: Report, name: str) -> TestRecord:
    return report.tests[f"tests/test_shop.py::{name}"]


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("test_passes", "passed"),
        ("test_fails", "failed"),
        ("test_raises", "failed"),
        ("test_fixture", "error"),
        ("test_teardown", "error"),
        ("test_skipped", "skipped"),
        ("test_expected_to_fail", "xfailed"),
        ("test_many[a::b]", "passed"),
        ("test_many[sp ace]", "failed"),
        ("test_many[a/b]", "passed"),
        ("Numbers::test_equal", "failed"),
    ],
)
def test_each_outcome_is_told_apart(report: Report, name: str, outcome: str) -> None:
    assert report.finished
    assert one(report, name).outcome == outcome


def test_the_values_of_a_failing_assertion(report: Report) -> None:
    failure = one(report, "test_fails").failure
    assert failure is not None
    assert (failure.type, failure.left, failure.right) == ("AssertionError", "6", "11")
    assert "E       assert 6 == 11" in failure.text
    assert "looking at totals" in failure.output
    assert [(frame.path, frame.function) for frame in failure.frames] == [
        ("tests/test_shop.py", "test_fails")
    ]
    assert failure.frames[0].source.strip() == "assert total([5, 6]) == 11"


def test_the_values_of_a_unittest_assertion(report: Report) -> None:
    failure = one(report, "Numbers::test_equal").failure
    assert failure is not None
    assert (failure.left, failure.right) == ("2", "3")
    assert failure.frames[-1].path == "tests/test_shop.py"


def test_frames_lead_from_the_test_to_the_place_that_raised(report: Report) -> None:
    failure = one(report, "test_raises").failure
    assert failure is not None
    assert failure.type == "KeyError"
    assert [(frame.path, frame.line, frame.function) for frame in failure.frames] == [
        ("tests/test_shop.py", 20, "test_raises"),
        ("shop.py", 8, "rate"),
    ]


def test_long_output_is_cut_in_the_middle_and_says_so(report: Report) -> None:
    failure = one(report, "test_prints_much").failure
    assert failure is not None
    assert len(failure.output) < 10_000
    assert "characters cut" in failure.output


def test_lines_that_ran_are_known(report: Report) -> None:
    assert report.executed["shop.py"] == (2, 3, 4, 5, 8)


def test_a_skip_says_why(report: Report) -> None:
    assert "not now" in one(report, "test_skipped").reason


async def test_one_case_of_a_parametrized_test_is_run_alone(tmp_path: Path) -> None:
    bench = Bench(tmp_path, PROJECT)
    report = await bench.runner.run(bench.trial.prepare(), ["tests/test_shop.py::test_many[a::b]"])
    assert report.passed == report.collected == ("tests/test_shop.py::test_many[a::b]",)


async def test_a_file_that_cannot_be_imported_is_an_error_with_its_frames(tmp_path: Path) -> None:
    bench = Bench(tmp_path, PROJECT)
    report = await bench.runner.run(bench.trial.prepare(), ["tests/test_broken_import.py::test_a"])
    record = report.tests["tests/test_broken_import.py::test_a"]
    assert record.outcome == "error"
    assert record.failure is not None
    assert record.failure.type == "ImportError"
    assert record.failure.frames[-1].path == "tests/test_broken_import.py"
    assert report.problem == ""


async def test_a_syntax_error_is_an_ordinary_failure_with_its_line(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {**PROJECT, "shop.py": "def total(:\n    pass\n"})
    report = await bench.runner.run(bench.trial.prepare(), ["tests/test_shop.py::test_fails"])
    failure = report.tests["tests/test_shop.py::test_fails"].failure
    assert failure is not None
    assert failure.type == "SyntaxError"
    assert (failure.frames[-1].path, failure.frames[-1].line) == ("shop.py", 1)
    assert report.problem == ""


async def test_a_test_that_is_not_there_is_missing(tmp_path: Path) -> None:
    bench = Bench(tmp_path, PROJECT)
    report = await bench.runner.run(bench.trial.prepare(), ["tests/test_shop.py::test_nowhere"])
    assert report.tests["tests/test_shop.py::test_nowhere"].outcome == "missing"
    assert "does not find the test" in report.problem


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("import os; os._exit(0)", "crashed"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "crashed"),
        ("import time; time.sleep(60)", "timeout"),
        ("import sys; sys.exit(0)", "failed"),
        ("input()", "failed"),
        ("breakpoint(); assert False", "failed"),
        ("raise KeyboardInterrupt", "failed"),
        ("import pytest; pytest.exit('enough')", "failed"),
    ],
)
async def test_a_test_that_ends_or_holds_the_process_is_named(
    tmp_path: Path, body: str, outcome: str
) -> None:
    source = f"def test_before():\n    pass\n\n\ndef test_culprit():\n    {body}\n"
    bench = Bench(tmp_path, {"test_x.py": source}, wall=8 if outcome == "timeout" else 60)
    report = await bench.runner.run(bench.trial.prepare(), ["test_x.py"])
    assert report.tests["test_x.py::test_before"].outcome == "passed"
    assert report.tests["test_x.py::test_culprit"].outcome == outcome
    assert report.finished == (outcome == "failed")


async def test_collecting_runs_nothing(tmp_path: Path) -> None:
    bench = Bench(
        tmp_path, {"test_x.py": "import pathlib\n\ndef test_a():\n    pathlib.Path('ran').touch()\n"}
    )
    report = await bench.runner.collect(bench.trial.prepare())
    assert report.collected == ("test_x.py::test_a",)
    assert report.tests == {}
    assert not (bench.trial.tree / "ran").exists()
    assert not (bench.workspace / "ran").exists()


async def test_a_named_test_runs_although_options_deselect_it(tmp_path: Path) -> None:
    files = {
        "pytest.ini": "[pytest]\naddopts = -m 'not slow' --maxfail=1 --pdb --ff --stepwise\nmarkers = slow: x\n",
        "test_x.py": "import pytest\n\n@pytest.mark.slow\ndef test_a():\n    assert 1 == 2\n",
    }
    bench = Bench(tmp_path, files)
    tree = bench.trial.prepare()
    assert (await bench.runner.run(tree, ["test_x.py::test_a"])).failed == ("test_x.py::test_a",)
    whole = await bench.runner.run(tree, ["test_x.py"])
    assert whole.deselected == ("test_x.py::test_a",)
    assert "deselected" in whole.problem


async def test_run_python_sees_the_project_in_the_trial(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"shop.py": "PRICE = 3\n"})
    tree = bench.trial.prepare({"shop.py": b"PRICE = 4\n"})
    ended = await bench.runner.python(tree, "import shop, sys; print(shop.PRICE, sys.argv, __name__)")
    assert ended.output.decode().strip() == "4 ['-c'] __main__"
    assert ended.returncode == 0


async def test_nothing_is_left_in_the_scratch_folder(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"test_x.py": "def test_a():\n    pass\n"})
    report = await bench.runner.run(bench.trial.prepare(), ["test_x.py"])
    assert report.passed
    assert list((tmp_path / "scratch").iterdir()) == []
    await bench.runner.aclose()


async def test_node_ids_are_relative_to_the_workspace_not_to_pytests_root(tmp_path: Path) -> None:
    files = {
        "packages/one/pyproject.toml": "[tool.pytest.ini_options]\n",
        "packages/one/tests/test_x.py": "def test_a():\n    pass\n",
    }
    bench = Bench(tmp_path, files)
    report = await bench.runner.run(bench.trial.prepare(), ["packages/one/tests/test_x.py::test_a"])
    assert report.passed == ("packages/one/tests/test_x.py::test_a",)


async def test_inherited_tests_carry_their_own_place(tmp_path: Path) -> None:
    files = {
        "base.py": "class Shared:\n    def test_shared(self):\n        assert self.value == 1\n",
        "test_x.py": "from base import Shared\n\nclass TestOne(Shared):\n    value = 2\n",
    }
    bench = Bench(tmp_path, files)
    report = await bench.runner.run(bench.trial.prepare(), ["test_x.py::TestOne::test_shared"])
    assert report.failed == ("test_x.py::TestOne::test_shared",)


async def test_subtests_that_fail_fail_the_test(tmp_path: Path) -> None:
    source = """\
        import unittest

        class Cases(unittest.TestCase):
            def test_each(self):
                for number in (1, 2, 3):
                    with self.subTest(number=number):
                        self.assertLess(number, 2)
        """
    bench = Bench(tmp_path, {"test_x.py": source})
    report = await bench.runner.run(bench.trial.prepare(), ["test_x.py"])
    assert report.failed == ("test_x.py::Cases::test_each",)
    failure = report.tests["test_x.py::Cases::test_each"].failure
    assert failure is not None
    assert [frame.line for frame in failure.frames] == [7]


async def test_a_doctest_that_fails_shows_both_values(tmp_path: Path) -> None:
    files = {
        "pytest.ini": "[pytest]\naddopts = --doctest-modules\n",
        "shop.py": "def double(x):\n    '''Twice.\n\n    >>> double(2)\n    4\n    '''\n    return x\n",
    }
    bench = Bench(tmp_path, files)
    typed = parse_target("shop.py::shop.double", bench.workspace).within(bench.workspace)
    report = await bench.runner.run(bench.trial.prepare(), [typed.nodeid])
    failure = report.tests["shop.py::shop.double"].failure
    assert failure is not None
    assert failure.message == "double(2) gave 2, expected was 4"
    assert (failure.left, failure.right) == ("2\n", "4\n")


def test_the_probe_is_plain_python_38(tmp_path: Path) -> None:
    import ast

    folder = Path(sys.modules["regreen.testing.runner"].__file__ or "").parent / "probe"
    for file in folder.glob("*.py"):
        ast.parse(file.read_text(encoding="utf-8"), feature_version=(3, 8))


@pytest.mark.parametrize("escaping", [True, False])
async def test_an_id_with_any_characters_selects_its_case_and_no_other(
    tmp_path: Path, escaping: bool
) -> None:
    ids = ["caf\u00e9", "\U0001f60b x", "a::b", "x[y]", "a\\\\b", "plain"]
    option = "disable_test_id_escaping_and_forfeit_all_rights_to_community_support = true"
    files = {
        "pytest.ini": "[pytest]\n" + ("" if escaping else option + "\n"),
        "test_x.py": f"import pytest\n\n@pytest.mark.parametrize('x', {ids!r})\ndef test_a(x):\n    pass\n",
    }
    bench = Bench(tmp_path, files)
    tree = bench.trial.prepare()
    found = (await bench.runner.collect(tree)).collected
    assert len(found) == len(ids)
    for nodeid in found:
        assert (await bench.runner.run(tree, [nodeid])).passed == (nodeid,)
    typed = parse_target("test_x.py::test_a[caf\u00e9]", bench.workspace).within(bench.workspace)
    report = await bench.runner.run(tree, [typed.nodeid])
    assert len(report.passed) == 1
    assert typed.covers(report.passed[0])


@pytest.mark.parametrize(
    ("ending", "says", "line"),
    [
        ("os._exit(3)", "ended the Python process with exit code 3", 0),
        ("os._exit(0)", "ended the Python process with exit code 0", 0),
        ("os.kill(os.getpid(), 9)", "ended the Python process, killed by SIGKILL", 0),
        ("os.abort()", "ended the Python process by an abort (SIGABRT) in shop.py, line 4", 4),
        ("ctypes.string_at(0)", "by a segmentation fault (SIGSEGV) in shop.py, line 4", 4),
    ],
)
async def test_a_crash_is_called_one_with_how_and_where(
    tmp_path: Path, ending: str, says: str, line: int
) -> None:
    files = {
        "shop.py": f"import ctypes, os\n\ndef total(prices):\n    {ending}\n",
        "test_x.py": "from shop import total\n\ndef test_a():\n    print('said before')\n    assert total([1]) == 1\n",
    }
    bench = Bench(tmp_path, files)
    tree = bench.trial.prepare()
    assert await bench.runner.warm_up(tree) or sys.platform != "linux"
    for warm in (False, True):
        record = (await bench.runner.run(tree, ["test_x.py::test_a"], warm=warm)).tests["test_x.py::test_a"]
        assert record.outcome == "crashed"
        assert record.failure is not None
        assert says in record.failure.message
        assert [frame.path for frame in record.failure.frames][-1:] == (["shop.py"] if line else [])
    await bench.runner.aclose()


@pytest.mark.parametrize(
    ("ending", "kind", "says"),
    [
        ("import sys; sys.exit(7)", "SystemExit", "7"),
        ("raise SystemExit", "SystemExit", ""),
        (
            "import os; os._exit(7)",
            "crashed",
            "importing test_x.py ended the Python process with exit code 7",
        ),
        ("while True: pass", "timeout", "importing test_x.py took all the time there is"),
    ],
)
async def test_a_source_that_ends_or_holds_the_process_when_imported_is_a_failure_of_the_test(
    tmp_path: Path, ending: str, kind: str, says: str
) -> None:
    files = {
        "shop.py": f"{ending}\n",
        "test_x.py": "from shop import total\n\ndef test_a():\n    assert total([1]) == 1\n",
    }
    bench = Bench(tmp_path, files, wall=4 if kind == "timeout" else 60)
    report = await bench.runner.run(bench.trial.prepare(), ["test_x.py::test_a"])
    failure = report.tests["test_x.py::test_a"].failure
    assert failure is not None
    assert (failure.type, report.problem) == (kind, "")
    assert failure.message == says
    if kind == "SystemExit":
        assert [frame.path for frame in failure.frames] == ["test_x.py", "shop.py"]
        assert f"shop.py:1: in <module>\n    {ending}" in failure.text


async def test_the_case_with_an_empty_id_runs_alone(tmp_path: Path) -> None:
    text = """\
        import pytest

        @pytest.mark.parametrize("text", ["", "a", "[]"])
        def test_s(text):
            assert text
        """
    bench = Bench(tmp_path, {"test_s.py": text})
    tree = bench.trial.prepare()
    report = await bench.runner.run(tree, ["test_s.py::test_s[]"])
    assert {nodeid: record.outcome for nodeid, record in report.tests.items()} == {
        "test_s.py::test_s[]": "failed"
    }
    assert len((await bench.runner.run(tree, ["test_s.py::test_s"])).tests) == 3
