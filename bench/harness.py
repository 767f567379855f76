"""What the harness itself costs: `python bench/harness.py [--runs N]`.

Runs the real `regreen fix` against the scripted server at zero delay. Prints the harness seconds of one more step
(model and tests excluded), and the wall time of the whole built-in run beside plain pytest's on the same file.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT / "tests"))

from scripted import ScriptedServer  # noqa: E402

TWO_PART = "tests/test_cart.py::test_adding_more_of_a_product_reaches_the_offer"
FEW, MANY = 2, 8


def run(target: str, *options: str) -> tuple[float, dict[str, Any]]:
    """One run on a fresh copy of toy_repo: wall seconds, and its outcome."""
    with tempfile.TemporaryDirectory(prefix="regreen-bench-") as folder:
        shop = Path(folder) / "shop"
        shutil.copytree(PROJECT / "toy_repo", shop)
        state = {"REGREEN_STATE_DIR": f"{folder}/state", "PYTHONPATH": str(PROJECT / "server")}
        command = [sys.executable, "-m", "regreen", "fix", target, "--workspace", str(shop), "--json"]
        command += ["--python", sys.executable, "--approval", "never", "--seal", "prefer", *options]
        begun = time.perf_counter()
        done = subprocess.run(
            command, cwd=shop, stdin=subprocess.DEVNULL, capture_output=True, env={**os.environ, **state}
        )
        wall = time.perf_counter() - begun
        return wall, json.loads(done.stdout.splitlines()[-1])


def plain_pytest() -> float:
    """Seconds of plain pytest on the target's file."""
    command = [
        sys.executable,
        "-B",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        TWO_PART.partition("::")[0],
    ]
    begun = time.perf_counter()
    subprocess.run(
        command, cwd=PROJECT / "toy_repo", stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    return time.perf_counter() - begun


def step_cost(url: str) -> float:
    """Harness seconds of one more step: the difference of a long and a short run, divided."""
    model = ("--model", "ollama:qwen2.5:3b", "--base-url", url, "--search", "off")
    spent: dict[int, float] = {}
    for steps in (FEW, MANY):
        _, outcome = run(TWO_PART, *model, "--max-steps", str(steps))
        spent[outcome["steps"]] = outcome["seconds"]["harness"]
    few, many = min(spent), max(spent)
    return (spent[many] - spent[few]) / (many - few)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    server = ScriptedServer("fumbles")
    try:
        steps = [step_cost(server.url) for _ in range(options.runs)]
    finally:
        server.close()
    whole = [run(TWO_PART, "--model", "builtin") for _ in range(options.runs)]
    plain = [plain_pytest() for _ in range(options.runs)]
    wall = statistics.median(seconds for seconds, _ in whole)
    print(f"harness per step       {statistics.median(steps) * 1000:6.1f} ms")
    print(
        f"built-in two-part run  {wall:6.2f} s, {wall / statistics.median(plain):.1f} times plain pytest on the file"
    )
    print(f"of which               {whole[0][1]['seconds']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
