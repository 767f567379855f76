"""What the project's code looks for in vain is heard in every Python and pytest, sealed or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from environments import environment
from regreen.testing.seal.choose import choose
from regreen.testing.seal.unsealed import Unsealed
from unit.testing.small_projects import Bench

VERSIONS = [
    ("3.8", "pytest==6.2.5"),
    ("3.10", "pytest==7.4.4"),
    ("3.12", "pytest==8.4.2"),
    ("3.13", "pytest>=9"),
]

FILES = {
    ".env": "SHOP_KEY='a b'\n",
    "secrets.toml": "key = 1\n",
    "test_shop.py": """\
        import os
        from pathlib import Path


        def test_place():
            found = [os.getenv("SHOP_URL"), "SHOP_KEY" in os.environ, os.path.isfile(".env")]
            found += [Path("secrets.toml").exists(), Path("nowhere.toml").exists()]
            try:
                (Path("secrets.toml")).read_text()
            except OSError:
                found.append("caught")
            assert all(found)
        """,
}


@pytest.mark.parametrize(("python", "runner"), VERSIONS, ids=lambda value: value)
@pytest.mark.parametrize("sealed", [True, False], ids=["sealed", "bare"])
async def test_every_python_hears_what_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, python: str, runner: str, sealed: bool
) -> None:
    monkeypatch.setenv("SHOP_URL", "http://shop.invalid")
    seal = (await choose("prefer")).seal if sealed else Unsealed()
    bench = Bench(tmp_path, FILES, python=environment(python, runner), seal=seal)
    report = await bench.runner.run(bench.trial.prepare(), ["test_shop.py::test_place"], trace_lines=True)
    await bench.runner.aclose()
    assert report.problem == ""
    assert {suspect.lack.needs for suspect in report.suspects} == {
        "the environment variable SHOP_URL",
        "the file .env (it sets SHOP_KEY)",
        f"the file {bench.workspace / '.env'}",
        f"the file {bench.workspace / 'secrets.toml'}",
    }
