"""How much of each prompt the model's server has to read anew: `python bench/prefix.py [--json]`.

Runs the real `regreen fix` on a copy of toy_repo against the scripted server, which counts four characters a token
against one cache slot, as a local server has. Exits 1 when a limit is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT / "tests"))

from scripted import ScriptedServer  # noqa: E402

TARGET = "tests/test_cart.py::test_adding_more_of_a_product_reaches_the_offer"
LEAST_REPEATED = 0.95
"""Of the prompts from the second request on, so much must be a repeated start."""

MOST_NEW = {"twopart": 1100, "refuser": 1400}
"""New prompt tokens of a whole run, the warming included and the probe of a new model left out."""


@dataclass
class Measured:
    """One run. Tokens are characters divided by four; `repeated` is a share from 0 to 1."""

    policy: str
    wire: str
    search: str
    outcome: str
    requests: int
    prompt: int
    new: int
    generated: int
    repeated: float
    reloads: int
    good: bool


def measure(policy: str, wire: str, search: str = "off") -> Measured:
    """Run once and look at what the server was sent; with the quick search off it is the loop alone."""
    with tempfile.TemporaryDirectory() as name, ScriptedServer(policy) as server:
        shop = Path(name) / "toy_shop"
        shutil.copytree(PROJECT / "toy_repo", shop, ignore=shutil.ignore_patterns("__pycache__"))
        address = server.url if wire == "ollama" else f"{server.url}/v1"
        command = [sys.executable, "-m", "regreen", "fix", TARGET, "--workspace", ".", "--json"]
        command += ["--model", f"{wire}:qwen2.5:3b", "--base-url", address]
        command += ["--approval", "never", "--seal", "prefer", "--search", search, "--search-grace", "60"]
        folders = {"REGREEN_STATE_DIR": f"{name}/state", "REGREEN_CACHE_DIR": f"{name}/cache"}
        done = subprocess.run(
            command,
            cwd=shop,
            env={**os.environ, **folders},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
        )
        outcome = (
            json.loads(done.stdout.splitlines()[-1])["outcome"] if done.stdout else f"exit {done.returncode}"
        )
        turns = server.turns
        later = turns[1:]
        sent, new = sum(t.prompt_tokens for t in later), sum(t.new_tokens for t in later)
        repeated = 1 - new / sent if sent else 1.0
        all_new = sum(r.new_tokens for r in server.records if r.kind in ("turn", "warm"))
        good = (
            repeated >= LEAST_REPEATED and all_new <= MOST_NEW.get(policy, 10**9) and not server.state.reloads
        )
        return Measured(
            policy,
            wire,
            search,
            outcome,
            len(turns),
            sum(t.prompt_tokens for t in turns),
            all_new,
            sum(t.generated_tokens for t in turns),
            round(repeated, 4),
            server.state.reloads,
            good,
        )


def main() -> int:
    """Measure the two-part run on both wires and with tools as text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    measured = [
        *(measure(p, w) for p, w in (("twopart", "ollama"), ("twopart", "openai"), ("no_tools", "ollama"))),
        measure("twopart", "ollama", "on"),
        measure("refuser", "ollama", "on"),
    ]
    for run in measured:
        if options.json:
            print(json.dumps(asdict(run)))
        else:
            print(
                f"{run.policy:9} {run.wire:7} search {run.search:3} {run.outcome:8} {run.requests} requests, {run.prompt} prompt tokens, "
                f"{run.new} new, {run.generated} generated, {run.repeated:.1%} repeated from the second on"
                f"{'' if run.good else '   MISSED'}"
            )
    return 0 if all(run.good for run in measured) else 1


if __name__ == "__main__":
    sys.exit(main())
