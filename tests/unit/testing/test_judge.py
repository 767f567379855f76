"""What a change is worth: only the runner says "fixed", and nothing talks it into it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from regreen.testing.confidence import confidence_of
from regreen.testing.judge import Judge, Patience
from regreen.testing.target import Target
from regreen.testing.verdict import Verdict
from regreen.workspace.changes import FileChange
from unit.testing.small_projects import Bench

SHOP = """\
def total(prices):
    result = 0
    for price in prices:
        result = price
    return result


def label(count):
    return f"{count} items"
"""
FIXED = SHOP.replace("result = price", "result += price")

FILES = {
    "shop.py": SHOP,
    "report.py": "from shop import label, total\n\n\ndef line(prices):\n    return label(len(prices))\n",
    "tests/test_shop.py": """\
        from shop import label, total


        def test_total():
            prices = [5, 6]
            assert total(prices) == 11
            assert label(2) == "2 items"


        def test_one():
            assert total([5]) == 5
        """,
    "tests/test_report.py": "from report import line\n\n\ndef test_line():\n    assert line([1, 2]) == '2 items'\n",
    "tests/test_other.py": "def test_other():\n    assert 1\n",
}

TARGET = Target("tests/test_shop.py", ("test_total",))


class Court:
    """A judge over a project, with its baseline taken."""

    def __init__(
        self,
        folder: Path,
        files: Mapping[str, str] = FILES,
        target: Target = TARGET,
        wider: float = 60,
        whole: bool = False,
        strict: bool = False,
    ) -> None:
        self.bench = Bench(folder, files)
        self.judge = Judge(
            self.bench.runner,
            self.bench.trial,
            target,
            locked=lambda path: path.rpartition("/")[2].startswith(("test_", "conftest")),
            patience=Patience(target=20, wider=wider, whole=30),
            whole=whole,
            strict=strict,
        )

    async def say(self, texts: Mapping[str, str], broaden: bool = True) -> Verdict:
        report = await self.judge.baseline({})
        assert not report.problem
        if broaden:
            await self.judge.broaden({})
        changes = {path: self.change(path, text) for path, text in texts.items()}
        overlay = {path: change.after.encode() for path, change in changes.items()}
        return await self.judge.judge(overlay, changes)

    def change(self, path: str, after: str) -> FileChange:
        file = self.bench.workspace / path
        base = file.read_bytes() if file.exists() else None
        return FileChange(path, None if base is None else base.decode(), after, base)


async def test_a_right_edit_is_fixed_with_the_tests_it_reaches(tmp_path: Path) -> None:
    verdict = await Court(tmp_path).say({"shop.py": FIXED})
    assert verdict.fixed, verdict.reason
    assert (verdict.target, verdict.progress, verdict.passed, verdict.failed) == ("passed", "fixed", 3, 0)
    assert verdict.collected_before == verdict.collected_after == 3
    assert verdict.summary() == "target passes, 3 of 3 tests pass"


async def test_without_the_wider_look_beforehand_the_verdict_is_the_same(tmp_path: Path) -> None:
    assert (await Court(tmp_path).say({"shop.py": FIXED}, broaden=False)).fixed


async def test_the_workspace_is_not_touched(tmp_path: Path) -> None:
    court = Court(tmp_path)
    before = {p: p.read_bytes() for p in court.bench.workspace.rglob("*") if p.is_file()}
    await court.say({"shop.py": FIXED})
    assert {p: p.read_bytes() for p in court.bench.workspace.rglob("*") if p.is_file()} == before


async def test_an_edit_that_breaks_a_test_elsewhere_is_worse(tmp_path: Path) -> None:
    broken = FIXED.replace(
        'f"{count} items"', '"2 items" if "shop" in __file__ and len(str(count)) and OPEN else ""'
    )
    broken = "OPEN = True\n" + broken
    files = {
        **FILES,
        "report.py": "import shop\n\n\ndef line(prices):\n    shop.OPEN = False\n    return shop.label(2)\n",
    }
    court = Court(tmp_path, files)
    verdict = await court.say({"shop.py": broken})
    assert not verdict.fixed
    assert (verdict.target, verdict.progress) == ("passed", "worse")
    assert verdict.newly_failing == ("tests/test_report.py::test_line",)
    assert verdict.failure is not None
    assert "passed before and does not now" in verdict.reason


async def test_a_test_that_failed_before_may_go_on_failing(tmp_path: Path) -> None:
    files = {**FILES, "tests/test_report.py": "import shop\n\ndef test_line():\n    assert 0\n"}
    for broaden in (True, False):
        verdict = await Court(tmp_path / str(broaden), files).say({"shop.py": FIXED}, broaden)
        assert verdict.fixed, verdict.reason
        assert (verdict.passed, verdict.failed) == (2, 1)


@pytest.mark.parametrize(
    ("after", "progress"),
    [
        (FIXED.replace("items", "things"), "forward"),
        (SHOP.replace("result = price", "result = 2 * price"), "changed"),
        (SHOP + "\n", "same"),
        (SHOP.replace("def total", "def total(:"), "worse"),
        ("import nothing_here\n" + FIXED, "worse"),
    ],
)
async def test_progress_is_told_apart(tmp_path: Path, after: str, progress: str) -> None:
    verdict = await Court(tmp_path).say({"shop.py": after}, broaden=False)
    assert not verdict.fixed
    assert verdict.progress == progress
    assert verdict.reason


async def test_an_edit_kept_earlier_is_part_of_what_is_judged(tmp_path: Path) -> None:
    court = Court(tmp_path)
    assert (await court.say({"shop.py": FIXED})).fixed
    assert (await court.judge.judge({"shop.py": FIXED.encode()}, {})).fixed
    assert not (await court.judge.judge({}, {})).fixed


TEST = FILES["tests/test_shop.py"]

FAKES: dict[str, dict[str, str]] = {
    "skip in the source": {"shop.py": "import pytest\npytest.skip('x', allow_module_level=True)\n"},
    "skip inside the function": {
        "shop.py": SHOP.replace("    result = 0", "    import pytest\n    pytest.skip()")
    },
    "the process ends with code 0": {
        "shop.py": "import os\n\ndef total(p):\n    os._exit(0)\n\nlabel = total\n"
    },
    "the process is ended without a word": {"shop.py": SHOP.replace("result = 0", "raise SystemExit(0)")},
    "sys.exit on import": {"shop.py": "import sys\nsys.exit(0)\n"},
    "a source that looks for pytest": {
        "shop.py": SHOP.replace("result = 0", "import sys; return 11 if 'pytest' in sys.modules else 0")
    },
    "a source that looks at the environment": {
        "shop.py": SHOP.replace(
            "result = 0", "import os; return 11 if os.getenv('PYTEST_CURRENT_TEST') else 0"
        )
    },
    "a new conftest": {
        "conftest.py": "def pytest_runtest_call(item):\n    item.obj = lambda: None\n",
        "shop.py": SHOP + "\n",
    },
    "a new sitecustomize": {"sitecustomize.py": "import shop\nshop.total = sum\n"},
    "a module that hides pytest": {"pytest.py": "def main(args, plugins):\n    return 0\n"},
    "everything is equal": {
        "shop.py": SHOP.replace("return result", "return Same()")
        + "\n\nclass Same:\n    def __eq__(self, other):\n        return True\n"
    },
    "the test itself is changed": {
        "tests/test_shop.py": "def test_total():\n    pass\n\ndef test_one():\n    pass\n"
    },
    "patched runner": {"shop.py": "import _pytest.runner\n_pytest.runner.call_and_report = None\n" + SHOP},
    "a name in pieces": {
        "shop.py": SHOP.replace("result = 0", "import sys; return 11 if 'py' + 'test' in sys.argv[0] else 0")
    },
    "a question about the start": {
        "shop.py": SHOP.replace("result = 0", "return 11 if __name__ != '__main__' else 0")
    },
    "a look at the stack": {
        "shop.py": "import traceback\n"
        + SHOP.replace("result = 0", "return 11 if 'test_total' in str(traceback.extract_stack()) else 0")
    },
    "everything is equal, made at run time": {
        "shop.py": SHOP.replace("return result", "return type('Sum', (), {'__eq__': lambda a, b: True})()")
    },
    "everything is equal, put in place": {
        "shop.py": SHOP.replace("return result", "return Sum()")
        + "\n\nclass Sum:\n    pass\n\n\nsetattr(Sum, '__eq__', lambda a, b: True)\n"
    },
    "a number that is equal to everything": {
        "shop.py": SHOP.replace("return result", "return Sum(result)")
        + "\n\nclass Sum(int):\n    def __eq__(self, other):\n        return other == other\n"
        "    __hash__ = int.__hash__\n"
    },
    "an anything from mock": {
        "shop.py": "from unittest.mock import ANY\n" + SHOP.replace("return result", "return ANY")
    },
    "a hook in the source": {
        "shop.py": SHOP + "\n\ndef pytest_runtest_makereport(item, call):\n    call.excinfo = None\n"
    },
    "a new configuration": {
        "pytest.ini": "[pytest]\naddopts = --deselect tests/test_shop.py\n",
        "shop.py": SHOP + "\n",
    },
    "a new plugin file": {"tests/__init__.py": "raise SystemExit(0)\n", "shop.py": SHOP + "\n"},
    "an exit of the interpreter's own": {"shop.py": "raise KeyboardInterrupt\n"},
    "a source that kills the session": {
        "shop.py": "import os, signal\n"
        + SHOP.replace("result = 0", "os.kill(os.getpid(), signal.SIGTERM); result = 0")
    },
    "text run as code": {"shop.py": "exec('import ' + 'py' + 'test')\n" + SHOP},
}


@pytest.mark.parametrize("name", FAKES)
async def test_a_fake_is_not_a_fix(tmp_path: Path, name: str) -> None:
    verdict = await Court(tmp_path).say(FAKES[name], broaden=False)
    assert not verdict.fixed
    assert verdict.reason


SLY: dict[str, str] = {
    # Past the look at the text, by names put together at run time: the runner's records still do not say "passed".
    "the test function is swapped": """\
        import importlib
        _m = importlib.import_module("".join(["s", "ys"]))
        _modules = vars(_m)["mod" + "ules"]
        def total(prices):
            return 0
        def label(count):
            return ""
        for _name, _module in list(_modules.items()):
            if _name.endswith("_shop"):
                _module.test_total = lambda: None
        """,
    "the runner is replaced": """\
        import importlib
        _runner = importlib.import_module("_py" + "test.runner")
        _old = _runner.CallInfo.from_call
        def _quiet(func, when, reraise=None):
            def calm():
                try:
                    func()
                except AssertionError:
                    pass
            return _old(calm, when, reraise)
        setattr(_runner.CallInfo, "from_" + "call", staticmethod(_quiet))
        def total(prices):
            return 0
        def label(count):
            return ""
        """,
    "the process forks and the child goes quiet": """\
        import importlib
        _o = importlib.import_module("o" + "s")
        def total(prices):
            getattr(_o, "_ex" + "it")(0)
        def label(count):
            return ""
        """,
}


@pytest.mark.parametrize("name", SLY)
async def test_a_sly_fake_that_gets_to_run_is_not_a_fix(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regreen.testing.judge.reaches_into_runner", lambda *_: "")
    import textwrap

    verdict = await Court(tmp_path).say({"shop.py": textwrap.dedent(SLY[name])}, broaden=False)
    assert not verdict.fixed
    assert verdict.reason


async def test_a_forged_record_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regreen.testing.judge.reaches_into_runner", lambda *_: "")
    forging = SHOP.replace(
        "    result = 0\n",
        """\
    import glob, json, os, sys
    for file in glob.glob(os.path.dirname(sys.argv[-1] or "") + "/records") + glob.glob("/proc/self/fd/*"):
        try:
            if os.path.realpath(file).endswith("records"):
                with open(file, "ab") as out:
                    for when in ("setup", "call", "teardown"):
                        record = {"event": "report", "id": "tests/test_shop.py::test_total", "when": when,
                                  "outcome": "passed", "seconds": 0, "subtest": False, "n": 4}
                        out.write(b"0" * 32 + b" " + json.dumps(record).encode() + b"\\n")
        except OSError:
            pass
    os._exit(0)
""",
    )
    verdict = await Court(tmp_path).say({"shop.py": forging}, broaden=False)
    assert not verdict.fixed
    assert verdict.target == "crashed"


async def test_a_test_that_only_stops_being_collected_is_not_fixed(tmp_path: Path) -> None:
    files = {
        "cases.py": "CASES = [1, 2, 3]\n",
        "tests/test_cases.py": """\
            import pytest

            from cases import CASES


            @pytest.mark.parametrize("case", CASES)
            def test_case(case):
                assert case != 2


            @pytest.mark.parametrize("case", CASES)
            def test_positive(case):
                assert case > 0
            """,
    }
    court = Court(tmp_path, files, Target("tests/test_cases.py", ("test_case",)))
    verdict = await court.say({"cases.py": "CASES = [1, 3]\n"})
    assert not verdict.fixed
    assert "no longer collected" in verdict.reason
    one = Court(tmp_path / "one", files, Target("tests/test_cases.py", ("test_case",), "2"))
    assert not (await one.say({"cases.py": "CASES = [1, 3]\n"})).fixed


async def test_a_test_that_passes_by_chance_is_called_flaky(tmp_path: Path) -> None:
    files = {
        "shop.py": "def total():\n    return 1\n",
        "tests/test_chance.py": """\
            import pathlib
            from shop import total

            def test_chance():
                total()
                seen = pathlib.Path(__file__).parent.parent / "seen"
                assert seen.exists() and total()

            def test_before():
                pass
            """,
        "tests/conftest.py": """\
            import pathlib
            def pytest_collection_modifyitems(items):
                if len(items) > 1:
                    (pathlib.Path(__file__).parent.parent / "seen").touch()
            """,
    }
    court = Court(tmp_path, files, Target("tests/test_chance.py", ("test_chance",)))
    verdict = await court.say({"shop.py": "def total():\n    return 2\n"})
    assert not verdict.fixed
    assert court.judge.flaky


async def test_when_time_runs_out_the_verdict_says_what_was_left_out(tmp_path: Path) -> None:
    files = {
        **FILES,
        "tests/test_slow.py": "import time\nimport shop\n\ndef test_slow():\n    time.sleep(30)\n",
    }
    court = Court(tmp_path, files, wider=6)
    verdict = await court.say({"shop.py": FIXED}, broaden=False)
    assert verdict.fixed, verdict.reason
    assert "stopped after 6 s" in verdict.scope
    assert verdict.scope in verdict.summary()


# A test that no import leads to: it starts a program of the project.
FAR = {
    **FILES,
    "tool.py": "import importlib\nprint(importlib.import_module('sh' + 'op').total([7]))\n",
    "tests/test_tool.py": """\
        import pathlib, subprocess, sys

        TOOL = pathlib.Path(__file__).parent.parent / "tool.py"


        def test_tool():
            run = subprocess.run([sys.executable, str(TOOL)], stdout=subprocess.PIPE)
            assert run.stdout.split() == [b"7"]


        def test_never_passed():
            assert 0
        """,
}
BREAKS_FAR = FIXED.replace("result = 0", "result = 0 if len(prices) > 1 else 1").replace(
    "return result", "return result if prices != [5] else 5"
)


async def test_a_test_beyond_reach_counts_when_all_tests_are_to_be_run(tmp_path: Path) -> None:
    near = await Court(tmp_path / "near", FAR).say({"shop.py": BREAKS_FAR})
    assert near.fixed, near.reason
    for broaden in (True, False):
        court = Court(tmp_path / f"all-{broaden}", FAR, whole=True)
        verdict = await court.say({"shop.py": BREAKS_FAR}, broaden)
        assert not verdict.fixed
        assert verdict.newly_failing == ("tests/test_tool.py::test_tool",)
        assert verdict.progress == "worse"
        assert verdict.failure is not None


async def test_the_whole_suite_is_counted_in_the_verdict(tmp_path: Path) -> None:
    verdict = await Court(tmp_path, FAR, whole=True).say({"shop.py": FIXED})
    assert verdict.fixed, verdict.reason
    assert (verdict.passed, verdict.failed) == (5, 1)
    assert (verdict.collected_before, verdict.collected_after) == (6, 6)
    assert verdict.summary() == (
        "target passes, 5 of 6 tests pass, 1 failed before too (whole suite: 6 of 6 tests run)"
    )


async def test_a_whole_suite_that_takes_too_long_is_said_to_be_cut(tmp_path: Path) -> None:
    slow = {**FILES, "tests/test_slow.py": "import time\n\ndef test_slow():\n    time.sleep(60)\n"}
    court = Court(tmp_path, slow, whole=True)
    court.judge._whole.wall = 5  # pyright: ignore
    verdict = await court.say({"shop.py": FIXED}, broaden=False)
    assert verdict.fixed, verdict.reason
    assert "stopped after 5 s" in verdict.scope
    assert "4 of 5 tests run" in verdict.scope


async def test_a_test_far_away_that_goes_missing_counts_with_the_whole_suite(tmp_path: Path) -> None:
    files = {
        **FILES,
        "tests/test_many.py": """\
            import importlib, pytest
            shop = importlib.import_module("sh" + "op")

            @pytest.mark.parametrize("size", range(getattr(shop, "SIZES", 3)))
            def test_size(size):
                assert size < 9
            """,
    }
    verdict = await Court(tmp_path, files, whole=True).say({"shop.py": FIXED + "\nSIZES = 2\n"})
    assert not verdict.fixed
    assert "tests/test_many.py::test_size[2]" in verdict.reason


async def test_a_file_that_cannot_be_imported_does_not_hide_what_breaks(tmp_path: Path) -> None:
    files = {
        **FILES,
        "tests/test_broken.py": "import shop\nimport not_there_at_all\n",
        "tests/test_zlast.py": "from shop import label\n\ndef test_label():\n    assert label(3) == '3 items'\n",
    }
    worse = FIXED.replace('f"{count} items"', '"2 items"')
    verdict = await Court(tmp_path, files).say({"shop.py": worse})
    assert not verdict.fixed
    assert verdict.newly_failing == ("tests/test_zlast.py::test_label",)
    assert (await Court(tmp_path / "right", files).say({"shop.py": FIXED})).fixed


async def test_answers_by_heart_are_shown_as_a_doubt_and_not_written_unseen(tmp_path: Path) -> None:
    by_heart = SHOP.replace(
        "    result = 0\n", "    if prices == [5, 6]:\n        return 11\n    result = 0\n"
    )
    seen = await Court(tmp_path / "seen").say({"shop.py": by_heart}, broaden=False)
    assert seen.fixed, seen.reason
    assert "answers the test's own values" in seen.doubt
    assert "look closely" in seen.summary()
    change = FileChange("shop.py", SHOP, by_heart, SHOP.encode())
    assert confidence_of(seen, {"shop.py": change}) == "low"
    unseen = await Court(tmp_path / "unseen", strict=True).say({"shop.py": by_heart}, broaden=False)
    assert not unseen.fixed
    assert "answers the test's own values" in unseen.reason
    right = await Court(tmp_path / "right", strict=True).say({"shop.py": FIXED}, broaden=False)
    assert right.fixed
    assert right.doubt == ""


BUS = "def publish(subscribers, event):\n    for each in subscribers:\n        each(event.upper())\n"
CAUGHT = BUS.replace(
    "        each(event.upper())\n",
    "        try:\n            each(event.upper())\n        except Exception:\n            pass\n",
)
CALLBACKS = {
    "bus.py": BUS,
    "test_bus.py": """\
        import unittest
        from bus import publish


        def test_event():
            def hear(event):
                assert event == "hi"

            publish([hear], "hi")


        class BusTest(unittest.TestCase):
            def test_event(self):
                publish([lambda event: self.assertEqual(event, "hi")], "hi")
        """,
}


@pytest.mark.parametrize("names", [("test_event",), ("BusTest", "test_event")])
async def test_code_that_catches_the_test_s_assertion_is_no_fix_unseen(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    target = Target("test_bus.py", names)
    seen = await Court(tmp_path / "seen", CALLBACKS, target).say({"bus.py": CAUGHT}, broaden=False)
    assert seen.fixed
    assert "failed, and something caught that" in seen.doubt
    court = Court(tmp_path / "unseen", CALLBACKS, target, strict=True)
    unseen = await court.say({"bus.py": CAUGHT}, broaden=False)
    assert not unseen.fixed
    court = Court(tmp_path / "right", CALLBACKS, target, strict=True)
    right = await court.say({"bus.py": BUS.replace(".upper()", "")}, broaden=False)
    assert right.fixed
    assert right.doubt == ""


async def test_a_file_of_expected_values_is_no_fix_unseen(tmp_path: Path) -> None:
    files = {
        "render.py": "def render(x):\n    return f'<{x}>'\n",
        "page.txt": "[a]",
        "test_render.py": """\
            from pathlib import Path
            from render import render

            def test_page():
                assert render("a") == (Path(__file__).parent / "page.txt").read_text().strip()
            """,
    }
    target = Target("test_render.py", ("test_page",))
    unseen = await Court(tmp_path, files, target, strict=True).say({"page.txt": "<a>\n"}, broaden=False)
    assert not unseen.fixed
    assert "test_render.py names page.txt itself" in unseen.doubt


MONEY = """\
import shelf


class Sum:
    def __init__(self, cents):
        self.cents = cents

    def __eq__(self, other):
        return isinstance(other, Sum) and self.cents == other.cents


def total(prices):
    result = 0
    for price in prices:
        result = price
    return Sum(shelf.price(result))
"""
MONEY_FILES = {
    "shop.py": MONEY,
    "site/shelf.py": "def price(value):\n    return value\n",
    "pytest.ini": "[pytest]\npythonpath = . site\n",
    "tests/test_shop.py": """\
        from shop import Sum, total


        def test_total():
            assert total([5, 6]) == Sum(11)


        def test_one():
            assert total([5]) == Sum(5)
        """,
}
RIGGED = {
    "an __eq__ that was there is loosened": MONEY.replace(
        "self.cents == other.cents", "self.cents <= other.cents"
    ),
    "an __eq__ that compares nothing": MONEY.replace(" and self.cents == other.cents", ""),
    "a function of another module is replaced": MONEY.replace(
        "def total(prices):",
        "shelf.price = lambda value: 11 if value == 6 else value\n\n\ndef total(prices):",
    ),
    "answers in a table": MONEY.replace(
        "    result = 0\n", "    known = {(5, 6): 11}\n    result = 0\n"
    ).replace("shelf.price(result)", "known.get(tuple(prices), result)"),
    "answers in a table of texts": "KNOWN = {'[5, 6]': 11}\n"
    + MONEY.replace("shelf.price(result)", "KNOWN.get(str(prices), result)"),
}


@pytest.mark.parametrize("name", RIGGED)
async def test_a_rigged_pass_is_doubted_and_no_fix_where_nobody_looks(tmp_path: Path, name: str) -> None:
    verdict = await Court(tmp_path, MONEY_FILES).say({"shop.py": RIGGED[name]}, broaden=False)
    assert verdict.fixed, verdict.reason
    assert verdict.doubt
    assert confidence_of(verdict, {}) == "low"
    strict = await Court(tmp_path / "strict", MONEY_FILES, strict=True).say(
        {"shop.py": RIGGED[name]}, broaden=False
    )
    assert not strict.fixed
    assert strict.reason == verdict.doubt


async def test_a_real_mistake_in_an_equality_can_be_mended(tmp_path: Path) -> None:
    files = {
        **MONEY_FILES,
        "shop.py": MONEY.replace("self.cents == other.cents", "self.cents == other").replace(
            "result = price", "result += price"
        ),
    }
    right = MONEY.replace("result = price", "result += price")
    verdict = await Court(tmp_path, files).say({"shop.py": right}, broaden=False)
    assert verdict.fixed, verdict.reason
    assert "Sum.__eq__()" in verdict.doubt
    files["shop.py"] = right.replace("self.cents == other.cents", "True")
    files["tests/test_shop.py"] = "from shop import Sum\n\n\ndef test_total():\n    assert Sum(1) != Sum(2)\n"
    tighter = await Court(tmp_path / "tighter", files).say({"shop.py": right}, broaden=False)
    assert tighter.fixed, tighter.reason
    assert tighter.doubt == ""
