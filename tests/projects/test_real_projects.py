"""Projects as people have them, in real virtual environments, run under the seal of this machine."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from environments import environment, install, new_environment
from regreen.testing.judge import Judge
from regreen.testing.seal.choose import choose
from regreen.testing.seal.door import Seal
from regreen.testing.seal.unsealed import Unsealed
from regreen.testing.target import Target
from regreen.workspace.changes import FileChange
from unit.testing.small_projects import Bench

VERSIONS = [
    ("3.8", "pytest==6.0.0"),
    ("3.8", "pytest==6.2.5"),
    ("3.9", "pytest==7.0.1"),
    ("3.10", "pytest==7.4.4"),
    ("3.11", "pytest==8.0.0"),
    ("3.12", "pytest==8.4.2"),
    ("3.13", "pytest>=9"),
]

SHOP = {
    "shop.py": "def total(prices):\n    result = 0\n    for price in prices:\n        result = price\n    return result\n",
    "test_shop.py": """\
        import unittest

        import pytest

        from shop import total


        @pytest.mark.parametrize("prices", [[1], [1, 2]], ids=["one", "a::b [two]"])
        def test_total(prices):
            assert total(prices) == sum(prices)


        class Numbers(unittest.TestCase):
            def test_equal(self):
                self.assertEqual(total([1, 2]), 3)


        @pytest.mark.skip(reason="later")
        def test_skipped():
            pass


        def test_raises():
            total(5)
        """,
}


@pytest.fixture(params=["sealed", "bare"])
async def seal(request: pytest.FixtureRequest) -> Seal:
    """The seal of this machine, and none: the trial is at the workspace's own path in one, elsewhere in the other."""
    return Unsealed() if request.param == "bare" else (await choose("prefer")).seal


async def the_machines_seal() -> Seal:
    return (await choose("prefer")).seal


@pytest.mark.parametrize(("python", "runner"), VERSIONS, ids=lambda value: value)
async def test_every_python_and_pytest_tells_the_same(tmp_path: Path, python: str, runner: str) -> None:
    bench = Bench(tmp_path, SHOP, python=environment(python, runner), seal=await the_machines_seal())
    report = await bench.runner.run(bench.trial.prepare(), ["test_shop.py"], trace_lines=True)
    assert report.problem == ""
    assert report.finished
    assert report.python.startswith(python)
    assert {nodeid.partition("::")[2]: record.outcome for nodeid, record in report.tests.items()} == {
        "test_total[one]": "passed",
        "test_total[a::b [two]]": "failed",
        "Numbers::test_equal": "failed",
        "test_skipped": "skipped",
        "test_raises": "failed",
    }
    values = report.tests["test_shop.py::test_total[a::b [two]]"].failure
    assert values is not None
    assert (values.type, values.left, values.right) == ("AssertionError", "2", "3")
    assert "assert 2 == 3" in values.text
    compared = report.tests["test_shop.py::Numbers::test_equal"].failure
    assert compared is not None
    assert (compared.left, compared.right) == ("2", "3")
    raised = report.tests["test_shop.py::test_raises"].failure
    assert raised is not None
    assert (raised.type, raised.frames[-1].path, raised.frames[-1].line) == ("TypeError", "shop.py", 3)
    assert report.executed["shop.py"] == (2, 3, 4, 5)
    assert report.tampered == ()
    one = await bench.runner.run(bench.trial.prepare(), ["test_shop.py::test_total[a::b [two]]"])
    assert one.failed == one.collected == ("test_shop.py::test_total[a::b [two]]",)


@pytest.mark.parametrize(("python", "runner"), VERSIONS, ids=lambda value: value)
async def test_a_warm_run_says_what_a_cold_one_says(tmp_path: Path, python: str, runner: str) -> None:
    bench = Bench(tmp_path, SHOP, python=environment(python, runner), seal=await the_machines_seal())
    tree = bench.trial.prepare()
    assert await bench.runner.warm_up(tree)
    for name in ("test_total[a::b [two]]", "Numbers::test_equal", "test_skipped", "test_raises"):
        selection = [f"test_shop.py::{name}"]
        cold = await bench.runner.run(tree, selection, trace_lines=True)
        for _ in range(2):
            warm = await bench.runner.run(tree, selection, trace_lines=True, warm=True)
            assert bench.runner.staged
            assert [(r.nodeid, r.outcome, r.failure) for r in warm.tests.values()] == [
                (r.nodeid, r.outcome, r.failure) for r in cold.tests.values()
            ]
            assert (warm.executed, warm.finished, warm.tampered) == (
                cold.executed,
                cold.finished,
                cold.tampered,
            )
    await bench.runner.aclose()


CART = "def add(a, b):\n    return a - b\n"
RIGHT = "def add(a, b):\n    return a + b\n"
USES = """\
    import subprocess
    import sys

    from shop.cart import add


    def test_add():
        assert add(1, 2) == 3


    def test_add_in_a_child_process():
        code = "from shop.cart import add; print(add(1, 2))"
        assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE).stdout.split() == [b"3"]
    """
BUILD = """\
    [build-system]
    requires = ["setuptools>=64"]
    build-backend = "setuptools.build_meta"

    [project]
    name = "shop"
    version = "1"
    """
LAYOUTS = {
    "src": {
        "src/shop/__init__.py": "",
        "src/shop/cart.py": CART,
        "tests/test_cart.py": USES,
        "pyproject.toml": BUILD + '\n    [tool.setuptools.packages.find]\n    where = ["src"]\n',
    },
    "flat": {
        "shop/__init__.py": "",
        "shop/cart.py": CART,
        "other/__init__.py": "",
        "tests/test_cart.py": USES,
        "pyproject.toml": BUILD + '\n    [tool.setuptools]\n    packages = ["shop", "other"]\n',
    },
    "elsewhere": {
        "code/python/__init__.py": "",
        "code/python/cart.py": CART,
        "tests/test_cart.py": USES,
        "pyproject.toml": BUILD + '\n    [tool.setuptools]\n    packages = ["shop"]\n'
        '    package-dir = { shop = "code/python" }\n',
    },
}


@pytest.mark.parametrize(
    ("layout", "mode"),
    [
        ("src", "lenient"),
        ("src", "strict"),
        ("flat", "lenient"),
        ("flat", "compat"),
        ("elsewhere", "lenient"),
    ],
)
async def test_an_editable_install_runs_the_trial_and_not_the_workspace(
    tmp_path: Path, seal: Seal, layout: str, mode: str
) -> None:
    python = environment("3.12", "pytest>=8", "setuptools>=77", "wheel")
    bench = Bench(tmp_path, LAYOUTS[layout], python=python, seal=seal)
    settings = ("--no-build-isolation", "--config-settings", f"editable_mode={mode}")
    install(python, *settings, "--force-reinstall", "--no-deps", "-e", str(bench.workspace))
    path = next(name for name in LAYOUTS[layout] if name.endswith("/cart.py"))
    judge = Judge(bench.runner, bench.trial, Target("tests/test_cart.py", ("test_add",)))
    first = await judge.baseline({})
    assert first.failed == ("tests/test_cart.py::test_add",), first.output
    assert path in first.executed
    verdict = await judge.judge({path: RIGHT.encode()}, {path: FileChange(path, CART, RIGHT, CART.encode())})
    assert verdict.fixed, verdict.reason
    assert (verdict.passed, verdict.failed) == (2, 0)
    assert (bench.workspace / path).read_text() == CART


async def test_a_virtual_environment_inside_the_workspace_is_used_and_never_copied(
    tmp_path: Path, seal: Seal
) -> None:
    bench = Bench(tmp_path, SHOP, seal=seal)
    inside = bench.workspace / ".venv"
    await asyncio.to_thread(new_environment, "3.12", inside, "pytest>=8")
    bench.runner.interpreter = inside / "bin/python"
    tree = bench.trial.prepare()
    report = await bench.runner.run(tree, ["test_shop.py::test_total"])
    assert len(report.passed) == len(report.failed) == 1, report.output
    assert not list((bench.workspace / ".venv").glob("**/.pytest_cache"))
    bench.trial.prepare()
    assert not list((tree / ".venv").glob("*"))


async def test_the_warm_runner_works_under_the_seal_with_an_environment_inside_the_workspace(
    tmp_path: Path, seal: Seal
) -> None:
    bench = Bench(tmp_path, SHOP, seal=seal)
    inside = bench.workspace / ".venv"
    await asyncio.to_thread(new_environment, "3.12", inside, "pytest>=8")
    bench.runner.interpreter = inside / "bin/python"
    assert await bench.runner.warm_up(bench.trial.prepare())
    try:
        for after, passed in ((SHOP["shop.py"], 1), (SHOP["shop.py"].replace("= price", "+= price"), 2)) * 2:
            tree = bench.trial.prepare({"shop.py": after.encode()})
            report = await bench.runner.run(tree, ["test_shop.py::test_total"], trace_lines=True, warm=True)
            assert len(report.passed) == passed, report.output
            assert report.executed["shop.py"] == (2, 3, 4, 5)
    finally:
        await bench.runner.aclose()


async def test_addopts_with_xdist_coverage_and_random_order_do_not_hinder(tmp_path: Path) -> None:
    python = environment(
        "3.12", "pytest>=8", "pytest-xdist", "pytest-cov", "pytest-randomly", "pytest-rerunfailures"
    )
    files = {
        **SHOP,
        "pytest.ini": "[pytest]\naddopts = -n 4 --dist loadscope --cov=shop --cov-fail-under=100 --reruns 3 -ra -s\n",
    }
    bench = Bench(tmp_path, files, python=python, seal=await the_machines_seal())
    tree = bench.trial.prepare()
    report = await bench.runner.run(tree, ["test_shop.py"], trace_lines=True)
    assert report.problem == ""
    assert report.finished
    assert list(report.tests) == [
        "test_shop.py::test_total[one]",
        "test_shop.py::test_total[a::b [two]]",
        "test_shop.py::Numbers::test_equal",
        "test_shop.py::test_skipped",
        "test_shop.py::test_raises",
    ]
    assert report.executed["shop.py"] == (2, 3, 4, 5)
    assert await bench.runner.warm_up(tree)
    again = await bench.runner.run(tree, ["test_shop.py"], trace_lines=True, warm=True)
    await bench.runner.aclose()
    assert {i: r.outcome for i, r in again.tests.items()} == {i: r.outcome for i, r in report.tests.items()}
    assert again.warnings == report.warnings
    assert "coverage" not in report.output.lower().replace("pytest-cov", "")
    assert not (tree / ".coverage").exists()
    assert report.tampered == ()


async def test_a_switched_off_plugin_stays_off(tmp_path: Path) -> None:
    python = environment(
        "3.12", "pytest>=8", "pytest-xdist", "pytest-cov", "pytest-randomly", "pytest-rerunfailures"
    )
    files = {
        **SHOP,
        "pytest.ini": "[pytest]\naddopts = -p no:xdist -p no:cov -p no:randomly -p no:cacheprovider\n",
    }
    bench = Bench(tmp_path, files, python=python, seal=await the_machines_seal())
    report = await bench.runner.run(bench.trial.prepare(), ["test_shop.py::test_total"])
    assert len(report.passed) == len(report.failed) == 1, report.output


async def test_namespace_packages_and_several_roots(tmp_path: Path, seal: Seal) -> None:
    files = {
        "one/src/company/billing.py": "def fee():\n    return 1\n",
        "one/tests/test_billing.py": "from company.billing import fee\n\ndef test_fee():\n    assert fee() == 2\n",
        "one/pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['src', '../two/src']\n",
        "two/src/company/taxes.py": "def tax():\n    return 1\n",
        "two/tests/test_taxes.py": "from company.taxes import tax\n\ndef test_tax():\n    assert tax() == 1\n",
        "two/pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['src']\n",
    }
    bench = Bench(tmp_path, files, python=environment("3.12", "pytest>=8"), seal=seal)
    tree = bench.trial.prepare({"one/src/company/billing.py": b"def fee():\n    return 2\n"})
    report = await bench.runner.run(tree, ["one/tests/test_billing.py::test_fee"], trace_lines=True)
    assert report.passed == ("one/tests/test_billing.py::test_fee",), report.output
    assert report.executed["one/src/company/billing.py"] == (2,)
    other = await bench.runner.run(tree, ["two/tests/test_taxes.py"])
    assert other.passed == ("two/tests/test_taxes.py::test_tax",)


async def test_doctests_and_custom_patterns_are_collected(tmp_path: Path) -> None:
    files = {
        "shop.py": 'def total():\n    """\n    >>> total()\n    2\n    """\n    return 1\n',
        "check_shop.py": "class ShopSuite:\n    def check_total(self):\n        assert 1\n",
        "pytest.ini": "[pytest]\naddopts = --doctest-modules\npython_files = check_*.py\npython_classes = *Suite\n"
        "python_functions = check_*\n",
    }
    bench = Bench(tmp_path, files, python=environment("3.12", "pytest>=8"), seal=await the_machines_seal())
    report = await bench.runner.run(bench.trial.prepare())
    assert report.passed == ("check_shop.py::ShopSuite::check_total",)
    assert report.failed == ("shop.py::shop.total",)


async def test_async_tests_run_with_their_plugin(tmp_path: Path) -> None:
    python = environment("3.12", "pytest>=8", "pytest-asyncio")
    source = "import pytest\n\n@pytest.mark.asyncio\nasync def test_a():\n    assert 1 == 2\n"
    bench = Bench(tmp_path, {"test_x.py": source}, python=python, seal=await the_machines_seal())
    report = await bench.runner.run(bench.trial.prepare(), ["test_x.py::test_a"], trace_lines=True)
    assert report.problem == ""
    assert report.failed == ("test_x.py::test_a",)
    assert report.executed["test_x.py"] == (5,)
    assert report.tampered == ()
