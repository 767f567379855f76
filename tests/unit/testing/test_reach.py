"""Which tests a change can reach."""

from __future__ import annotations

from pathlib import Path

from regreen.testing.reach import ImportGraph
from unit.testing.small_projects import write_files

FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": "from . import offers\nfrom .money import (\n    rounded,  # half up\n)\n",
    "shop/offers.py": "",
    "shop/money.py": "",
    "shop/alone.py": "",
    "src/lib2/core.py": "import shop.alone as x, os\n",
    "packages/one/pkg/mod.py": "",
    "packages/one/tests/test_mod.py": "from pkg.mod import a\n",
    "tests/conftest.py": "import shop.alone\n",
    "tests/test_cart.py": "def test_a():\n    from shop import cart\n",
    "tests/test_money.py": "from shop.money import rounded\n",
    "tests/test_text.py": "TEXT = 'import shop.cart'\n",
    "tests/deep/test_core.py": "import lib2.core\n",
    "checks/check_offers.py": "from shop.offers import x\n",
}


def graph_of(tmp_path: Path) -> ImportGraph:
    graph = ImportGraph()
    graph.refresh(write_files(tmp_path, FILES))
    return graph


def test_tests_that_import_a_file_are_found_nearest_first(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    assert graph.complete
    assert graph.tests_reaching(["shop/money.py"]) == ["tests/test_money.py", "tests/test_cart.py"]
    assert graph.tests_reaching(["shop/offers.py"]) == ["tests/test_cart.py"]
    assert graph.tests_reaching(["packages/one/pkg/mod.py"]) == ["packages/one/tests/test_mod.py"]


def test_what_a_conftest_imports_reaches_every_test_below_it(tmp_path: Path) -> None:
    assert set(graph_of(tmp_path).tests_reaching(["shop/alone.py"])) == {
        "tests/test_cart.py",
        "tests/test_money.py",
        "tests/test_text.py",
        "tests/deep/test_core.py",
    }


def test_a_package_reaches_whoever_imports_a_part_of_it(tmp_path: Path) -> None:
    assert "tests/test_money.py" in graph_of(tmp_path).tests_reaching(["shop/__init__.py"])


def test_files_known_to_hold_tests_count_whatever_their_name(tmp_path: Path) -> None:
    found = graph_of(tmp_path).tests_reaching(["shop/offers.py"], also=["checks/check_offers.py"])
    assert found == ["checks/check_offers.py", "tests/test_cart.py"]


def test_only_changed_files_are_read_again(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    (tmp_path / "tests/test_money.py").write_text("import os\n")
    (tmp_path / "tests/test_new.py").write_text("from shop import money\n")
    graph.refresh(tmp_path, seconds=10)
    assert graph.tests_reaching(["shop/money.py"]) == ["tests/test_new.py", "tests/test_cart.py"]
    graph.refresh(tmp_path, seconds=0)
    assert graph.complete


def test_running_out_of_time_is_known(tmp_path: Path) -> None:
    graph = ImportGraph()
    graph.refresh(write_files(tmp_path, FILES), seconds=-1)
    assert not graph.complete
