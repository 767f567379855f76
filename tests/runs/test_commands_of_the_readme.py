"""`make demo` and `make tour` do what the README says, with the interpreter that runs the tests."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

import pytest

from regreen.options import parser
from runs.process import PROJECT
from scripted.policies import POLICIES


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("demo.py", ["Fixed: tests/test_cart.py", "+        self.quantities[sku] += quantity", "4 passed"]),
        ("tour.py", ["6 of 6 scenes ended as they should", "rejected", "the budget is used up", "outside the workspace", "afterwards, neither can be reached"]),
    ],
)  # fmt: skip
def test_it_runs_and_says_what_happened(script: str, says: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, str(PROJECT / "tests" / "tour" / script)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": str(PROJECT / "server"),
            "OLLAMA_HOST": "127.0.0.1:9",
            "NO_COLOR": "1",
        },
    )
    assert done.returncode == 0, done.stdout
    for words in says:
        assert words in done.stdout
    shown = re.findall(r"(?m)^(?:\[--policy (\w+)\]\n)?\$ (regreen .*)$", done.stdout)
    assert len(shown) == (6 if script == "tour.py" else 1)
    for policy, line in shown:
        options = parser().parse_args(shlex.split(line)[1:])
        assert options.command == "fix"
        assert (policy in POLICIES and options.base_url == "http://127.0.0.1:11500") or script == "demo.py"
