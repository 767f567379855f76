"""`regreen replay` of runs that ended without a fix: the same end again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from runs.process import PROJECT, TWO_PART, fix
from scripted.fixtures import StartScripted


@pytest.mark.parametrize(
    ("policy", "options", "outcome"),
    [
        ("twopart", (), "rejected"),
        ("fumbles", ("--approval", "never", "--max-steps", "14"), "budget"),
        ("fumbles", ("--approval", "never", "--max-tokens", "2500"), "budget"),
    ],
)
def test_a_run_without_a_fix_ends_in_the_same_way_again(
    toy_shop: Path,
    scripted: StartScripted,
    policy: str,
    options: tuple[str, ...],
    outcome: str,
) -> None:
    model = ("--model", "ollama:qwen2.5:3b", "--base-url", scripted(policy).url, "--search", "off")
    _, ended = fix(toy_shop, TWO_PART, *model, *options, said=()).end()
    assert ended["outcome"] == outcome
    done = subprocess.run(
        [sys.executable, "-m", "regreen", "replay", ended["trace"], "--json"],
        cwd=toy_shop,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT / "server")},
    )
    assert json.loads(done.stdout)["differences"] == [], done.stderr
    assert done.returncode == 0
