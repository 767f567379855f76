"""What a run of one test costs: `python bench/runner.py [--rounds N] [--python PATH] [--limit MS]`.

Measured with two interpreters: one that has pytest and nothing else, and ours with its plugins; or with the one given.
Every round runs the same test with plain pytest, cold through the runner and warm through the runner, bare and
under this machine's seal, so that all see the same machine. Medians in milliseconds, and what each adds to the
test's own time (which pytest measures). The processor time of a warm run, of all its processes, does not depend on what
else the machine does. With `--limit` the exit code is 1 when a warm bare run adds more.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "server"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from environments import person_python
from regreen.testing.runner import TestRunner
from regreen.testing.seal.choose import choose
from regreen.testing.seal.door import Seal
from regreen.testing.seal.unsealed import Unsealed
from regreen.testing.seal.usage import descendants
from regreen.workspace.trial import Trial

PROCESSOR_RUNS = 40
TEST = "test_shop.py::test_total"
FILES = {
    "shop.py": "def total(prices):\n    return sum(prices)\n",
    "test_shop.py": "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n",
}


def processor_milliseconds() -> int:
    """What our descendants have used so far, those that have ended included. Linux counts in steps of 10 ms."""
    total = 0
    for pid in descendants(os.getpid())[1:]:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += sum(int(field) for field in fields[11:15])
    return total * 1000 // os.sysconf("SC_CLK_TCK")


async def measure(python: Path, rounds: int, base: Path) -> dict[str, list[float]]:
    """Milliseconds by way of running."""
    for name, text in FILES.items():
        (base / "project").mkdir(exist_ok=True)
        (base / "project" / name).write_text(text)
    seals: list[Seal] = [Unsealed()]
    strongest = (await choose("prefer")).seal
    if strongest.name != "none":
        seals.append(strongest)
    trial = Trial(base / "project", base / "trial")
    runners = [TestRunner(python, base / "project", seal, base / f"scratch-{seal.name}") for seal in seals]
    times: dict[str, list[float]] = {}
    try:
        tree = trial.prepare()
        for runner in runners:
            if not await runner.warm_up(tree):
                print(f"no warm runner under {runner.seal.name}")
        for _ in range(rounds):
            begun = time.perf_counter()
            command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", TEST]
            subprocess.run(  # noqa: ASYNC221
                command, cwd=tree, stdin=subprocess.DEVNULL, capture_output=True, check=True
            )
            times.setdefault("plain pytest", []).append((time.perf_counter() - begun) * 1000)
            for runner in runners:
                for warm in (False, True):
                    begun = time.perf_counter()
                    report = await runner.run(tree, [TEST], warm=warm)
                    taken = (time.perf_counter() - begun) * 1000
                    assert report.passed == (TEST,), report.output
                    name = f"{'warm' if warm else 'cold'}, {runner.seal.name}"
                    times.setdefault(name, []).append(taken)
                    times.setdefault("the test itself", []).append(report.tests[TEST].seconds * 1000)
        before = processor_milliseconds()
        for _ in range(PROCESSOR_RUNS):
            await runners[0].run(tree, [TEST], warm=True)
        used = (processor_milliseconds() - before) / PROCESSOR_RUNS
        times["warm, none, processor"] = [used]
    finally:
        for runner in runners:
            await runner.aclose()
        trial.close()
    return times


def main() -> int:
    """Print the table; the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--python", type=Path, action="append")
    parser.add_argument("--limit", type=float)
    options = parser.parse_args()
    added = [
        show(python, options.rounds)
        for python in options.python or (Path(person_python()), Path(sys.executable))
    ]
    if options.limit is not None and max(added) > options.limit:
        print(f"over the limit of {options.limit:g} ms")
        return 1
    return 0


def show(python: Path, rounds: int) -> float:
    """Measure with one interpreter and print its table; milliseconds that a warm bare run adds."""
    base = Path(tempfile.mkdtemp(prefix="regreen-bench-"))
    try:
        times = asyncio.run(measure(python, rounds, base))
    finally:
        shutil.rmtree(base, ignore_errors=True)
    own = statistics.median(times.pop("the test itself"))
    print(f"{python}: one test, {rounds} rounds; milliseconds (the test itself with its set-up: {own:.1f})")
    added = 0.0
    for name, values in times.items():
        median = statistics.median(values)
        print(f"  {name:22} median {median:7.1f}   least {min(values):7.1f}   adds {median - own:7.1f}")
        if name == "warm, none":
            added = median - own
    return added


if __name__ == "__main__":
    raise SystemExit(main())
