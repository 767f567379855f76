"""Fix failing test in a real Emacs, through eglot."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parent / "eglot_fix.el"
FAKE = Path(__file__).parent.parent / "lsp" / "fake_run.py"

pytestmark = pytest.mark.editor


@functools.cache
def has_eglot() -> bool:
    """Whether there is an Emacs with eglot: 29 brings it, Debian 12 has it as `elpa-eglot`."""
    emacs = shutil.which("emacs")
    if emacs is None:
        return False
    look = '(progn (require \'package) (package-initialize) (kill-emacs (if (locate-library "eglot") 0 1)))'
    done = subprocess.run([emacs, "--batch", "--eval", look], stdin=subprocess.DEVNULL, capture_output=True)
    return done.returncode == 0


@pytest.fixture(autouse=True)
def eglot() -> None:
    if not has_eglot():
        pytest.skip("no Emacs with eglot: install Emacs 29, or Debian's elpa-eglot")


def play(
    shop: Path, tmp_path: Path, scenario: str, answer: str = "Apply", opened: Sequence[str] = ()
) -> dict[str, Any]:
    """Start Emacs, let it fix the two-part target, and return what it saw."""
    plan = {
        "command": [sys.executable, "-m", "regreen", "serve"],
        "folder": str(shop) + "/",
        "test": str(shop / "tests" / "test_cart.py"),
        "line": 25,
        "open": [str(shop / path) for path in opened],
        "answer": answer,
        "patience": 60_000,
    }
    env = {
        **os.environ,
        "PLAN": json.dumps(plan),
        "RESULT": str(tmp_path / "result.json"),
        "HOME": str(tmp_path),
    }
    env["REGREEN_RUN_COMMAND"] = json.dumps([sys.executable, str(FAKE), scenario, str(tmp_path / "log")])
    done = subprocess.run(
        ["emacs", "--batch", "-l", str(SCRIPT)],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert (tmp_path / "result.json").exists(), done.stdout + done.stderr
    return json.loads((tmp_path / "result.json").read_text())


def test_a_fix_in_two_edits_lands_in_the_buffers(toy_shop: Path, tmp_path: Path) -> None:
    cart, discounts = toy_shop / "shop" / "cart.py", toy_shop / "shop" / "discounts.py"
    before = cart.read_text(), discounts.read_text()
    seen = play(toy_shop, tmp_path, "fix_in_two", opened=("shop/cart.py", "shop/discounts.py"))
    assert seen["outcome"] == "fixed", seen
    assert "+= quantity" in seen["buffers"][str(cart)]["text"]
    assert ">= threshold" in seen["buffers"][str(discounts)]["text"]
    assert seen["buffers"][str(cart)]["modified"]
    assert (cart.read_text(), discounts.read_text()) == before
    assert any("Save shop/cart.py, shop/discounts.py" in text for text in seen["messages"])


def test_a_file_with_windows_line_ends_keeps_them(toy_shop: Path, tmp_path: Path) -> None:
    cart = toy_shop / "shop" / "cart.py"
    cart.write_bytes(cart.read_bytes().replace(b"\n", b"\r\n"))
    seen = play(toy_shop, tmp_path, "one_edit", opened=("shop/cart.py",))
    assert seen["outcome"] == "fixed", seen
    text = seen["buffers"][str(cart)]["text"]
    assert "+= quantity" in text and "\r" not in text
    decision = next(
        line["input"]
        for line in map(json.loads, (tmp_path / "log").read_text().splitlines())
        if "decision" in line.get("input", {})
    )
    assert decision["decision"] == "accept"
    assert decision["files"]["shop/cart.py"].encode().count(b"\r\n") == cart.read_bytes().count(b"\r\n")


def test_reject_changes_nothing(toy_shop: Path, tmp_path: Path) -> None:
    cart = toy_shop / "shop" / "cart.py"
    seen = play(toy_shop, tmp_path, "one_edit", answer="Reject", opened=("shop/cart.py",))
    assert seen["outcome"] == "rejected", seen
    assert seen["buffers"][str(cart)]["text"] == cart.read_text()
