"""What a person does with the toy shop in VS Code, and what stands on disk afterwards."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, expect

from e2e.workbench import Workbench

TEST = "def test_adding_more_of_a_product_reaches_the_offer"
TARGET = "tests/test_cart.py::test_adding_more_of_a_product_reaches_the_offer"
BROKEN = "self.quantities[sku] = quantity"
WRONG = "max(self.quantities[sku], quantity)"
RIGHT = "self.quantities[sku] += quantity"
RUN_MS = 240_000

Open = Callable[..., Workbench]


def settings(bare_python: Path, **more: Any) -> dict[str, Any]:
    """The settings of a person who has pytest in one Python, and nothing in the other."""
    own = {
        "interpreter": sys.executable,
        "serverInterpreter": str(bare_python),
        "seal": "prefer",
        "search": "off",
        **more,
    }
    return {f"regreen.{name}": value for name, value in own.items()}


def open_the_test(window: Workbench) -> None:
    """Opens the failing test, and waits for the server to know it."""
    window.open("tests/test_cart.py", 22)
    expect(
        window.page.locator(".codelens-decoration:visible").filter(has_text="Fix failing test").first
    ).to_be_visible()


def shown(window: Workbench, what: Locator) -> None:
    """Waits for a sign of the run, however slow the machine is; a run that fails is told at once."""
    failed = window.toast("Regreen failed").or_(window.toast("Something outside the code is missing"))
    expect(what.or_(failed).first).to_be_visible(timeout=RUN_MS)
    assert what.is_visible(), window.server.extension_log()


def passes(shop: Path) -> bool:
    """Whether the whole test file passes in the files as they are on disk."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_cart.py"]
    return subprocess.run(command, cwd=shop, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0


def changed_files(shop: Path) -> list[str]:
    """The files that git sees as changed, with those that are new."""
    done = subprocess.run(
        ["git", "status", "--porcelain"], cwd=shop, capture_output=True, text=True, check=True
    )
    return sorted(line[3:] for line in done.stdout.splitlines() if "__pycache__" not in line)


def wait_for(condition: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Waits until something on disk is so."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not in {seconds:.0f} s: {what}"
        time.sleep(0.1)
