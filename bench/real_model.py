"""What a real server measures over whole runs: `python bench/real_model.py [--json]`.

Runs the real `regreen fix` on a copy of toy_repo with the 135M model behind llama.cpp's server, as text and held to a
JSON schema. It fixes nothing; what counts is how much of each prompt the server had in its cache, and how fast it
read and wrote, by its own clock. Exits 1 when a request finds less than 95 % of the prompt before it in the cache.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(PROJECT / "tests"), str(PROJECT / "server")]

import real_model  # noqa: E402

TARGET = "tests/test_cart.py::test_adding_more_of_a_product_reaches_the_offer"
LEAST_KEPT = 0.95
"""Of each prompt, so much must still be in the server's cache at the next request. A weak model is told a lot between
two requests, so the share of repeated tokens (bench/prefix.py) is printed, and says less here."""


def measure(url: str, mode: str, steps: int) -> dict[str, Any]:
    """One run: its outcome, token counts and speeds, all of them the server's."""
    with tempfile.TemporaryDirectory(prefix="regreen-bench-") as name:
        shop = Path(name) / "shop"
        shutil.copytree(PROJECT / "toy_repo", shop, ignore=shutil.ignore_patterns("__pycache__"))
        real_model.remember(Path(name) / "cache", url, mode)
        command = [sys.executable, "-m", "regreen", "fix", TARGET, "--workspace", ".", "--json"]
        command += ["--model", f"openai:{real_model.NAME}", "--base-url", url, "--search", "off"]
        command += ["--approval", "never", "--seal", "prefer", "--max-steps", str(steps)]
        folders = {"REGREEN_STATE_DIR": f"{name}/state", "REGREEN_CACHE_DIR": f"{name}/cache"}
        done = subprocess.run(
            [*command, "--python", sys.executable],
            cwd=shop,
            env={**os.environ, **folders, "PYTHONPATH": str(PROJECT / "server")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        outcome = json.loads(done.stdout.splitlines()[-1])
        trace = [json.loads(line) for line in Path(outcome["trace"]).read_text().splitlines()]
    return summed(mode, outcome, [event for event in trace if event["event"] == "reply"])


def summed(mode: str, outcome: dict[str, Any], replies: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures of a run. A reply that was cut has no counts of the server's: the estimates stand in."""
    told = [reply["speed"] for reply in replies if reply.get("speed")]
    usages = [reply["usage"] for reply in replies]
    sent = sum(usage["prompt"] for usage in usages[1:])
    kept = [min(1.0, new["cached"] / old["prompt"]) for old, new in pairwise(usages)]
    return {
        "mode": mode,
        "outcome": outcome["outcome"],
        "requests": len(replies),
        **outcome["tokens"],
        "kept": round(min(kept, default=1.0), 4),
        "repeated": round(sum(usage["cached"] for usage in usages[1:]) / sent, 4) if sent else 1.0,
        "read_per_second": median(speed["read_per_second"] for speed in told) if told else 0.0,
        "written_per_second": median(speed["written_per_second"] for speed in told) if told else 0.0,
    }


def main() -> int:
    """Measure both ways of offering tools."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--steps", type=int, default=3)
    options = parser.parse_args()
    if real_model.model_file() is None:
        print("left out: xllamacpp has no wheel for this platform")
        return 0
    with real_model.serving() as url:
        runs = [measure(url, mode, options.steps) for mode in ("text", "constrained")]
    for run in runs:
        if options.json:
            print(json.dumps(run))
            continue
        speeds = (
            f"reads {run['read_per_second']:.0f} and writes {run['written_per_second']:.0f} tokens/s"
            if run["written_per_second"]
            else "speeds not told"
        )
        missed = "" if run["kept"] >= LEAST_KEPT else "   MISSED"
        print(
            f"{run['mode']:12} {run['outcome']:7} {run['requests']} requests, {run['prompt']} prompt tokens, "
            f"{run['cached']} of them cached, {run['generated']} generated, {run['kept']:.1%} kept from one request to the "
            f"next, {run['repeated']:.1%} repeated, {speeds}{missed}"
        )
    return 0 if all(run["kept"] >= LEAST_KEPT for run in runs) else 1


if __name__ == "__main__":
    sys.exit(main())
