"""Targets that are flaky, skipped or never end: a run says so, in these words."""

from __future__ import annotations

from pathlib import Path

import pytest

from runs.process import contents, fix


def project(folder: Path, test: str, code: str = "def total():\n    return 1\n") -> Path:
    (folder / "tests").mkdir(parents=True)
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (folder / "shop.py").write_text(code)
    (folder / "tests" / "test_shop.py").write_text(test)
    return folder


LUCK = """\
import pathlib
import shop


def test_now_and_then():
    shop.total()
    assert (pathlib.Path(__file__).parent / "luck").exists()


def test_other():
    assert shop.total() == 1
"""


def test_a_target_that_passes_at_the_second_look_is_called_flaky(tmp_path: Path) -> None:
    """It passes whenever it is not alone in its process, and once more after that."""
    folder = project(tmp_path / "project", LUCK)
    (folder / "conftest.py").write_text(
        "import pathlib\n\n\ndef pytest_collection_modifyitems(items):\n"
        "    if len(items) > 1:\n        (pathlib.Path(__file__).parent / 'tests' / 'luck').touch()\n"
    )
    before = contents(folder)
    run = fix(folder, "tests/test_shop.py::test_now_and_then", "--model", "builtin")
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (1, "stuck")
    assert "flaky" in outcome["explanation"]
    assert "does not fail here" not in outcome["summary"]
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ("@pytest.mark.skip(reason='needs a printer')", "is skipped (needs a printer)"),
        ("@pytest.mark.skipif(True, reason='only on Mars')", "is skipped (only on Mars)"),
        ("@unittest.skip('too slow')", "is skipped (too slow)"),
        ("@pytest.mark.xfail(reason='bug 4711')", "is expected to fail (bug 4711)"),
        ("@pytest.mark.xfail", "is expected to fail,"),
    ],
)
def test_a_skipped_target_says_why_it_is(tmp_path: Path, mark: str, said: str) -> None:
    test = (
        f"import pytest, unittest\nimport shop\n\n\n{mark}\ndef test_total():\n    assert shop.total() == 2\n"
    )
    folder = project(tmp_path / "project", test)
    code, outcome = fix(folder, "tests/test_shop.py::test_total", "--model", "builtin").end()
    assert (code, outcome["outcome"]) == (3, "setup_problem")
    assert said in outcome["explanation"]
    assert "nothing to turn green" in outcome["explanation"]


def test_a_skip_in_the_test_or_of_the_whole_file_says_why(tmp_path: Path) -> None:
    inside = "import pytest\n\n\ndef test_total():\n    pytest.skip('no network here')\n"
    whole = "import pytest\n\npytest.skip('not on this system', allow_module_level=True)\n\n\ndef test_total():\n    pass\n"
    for name, test, said in (("a", inside, "no network here"), ("b", whole, "not on this system")):
        folder = project(tmp_path / name, test)
        _, outcome = fix(folder, "tests/test_shop.py::test_total", "--model", "builtin").end()
        assert outcome["outcome"] == "setup_problem"
        assert said in outcome["explanation"]


def test_an_endless_target_gets_a_third_of_the_time_and_is_told_so(tmp_path: Path) -> None:
    code = "def total():\n    n = 3\n    while n != 0:\n        n -= 2\n    return n\n"
    folder = project(
        tmp_path / "project", "import shop\n\n\ndef test_total():\n    assert shop.total() == 0\n", code
    )
    run = fix(folder, "tests/test_shop.py::test_total", "--model", "builtin", "--max-seconds", "24")
    run.end()
    evidence = run.of("evidence")[0]
    assert evidence["failure"]["message"] == "test_total did not end in 8 s"
    assert 8 <= evidence["seconds"] < 24
