"""What a seal costs on a pytest run: `python bench/seal.py [--rounds N] [--limit MS] [--command pytest|true]`.

Every round runs the same command (two tests, or a program that does nothing) bare, in each seal that works here,
and bare again, so that all see the same machine. Printed are medians, the best times, and the median of the
differences within a round. With `--limit` the exit code is 1 when bubblewrap costs more than that many milliseconds
by the lesser of the last two: on a machine with other work, medians show that work.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "server"))

from regreen.testing.seal import bubblewrap, environment, landlock
from regreen.testing.seal.choose import choose, describe
from regreen.testing.seal.door import Access, Limits, Seal
from regreen.testing.seal.unsealed import Unsealed

TESTS = "def test_one():\n    assert 1 + 1 == 2\n\n\ndef test_two():\n    assert [1] + [2] == [1, 2]\n"


class Bench:
    """One small project, run in different ways."""

    def __init__(self, base: Path, command: str) -> None:
        for name in ("workspace", "tree", "scratch"):
            (base / name).mkdir()
        for place in (base / "workspace", base / "tree"):
            (place / "test_small.py").write_text(TESTS)
            (place / "pytest.ini").write_text("[pytest]\n")
        python = Path(sys.executable)
        self.access = Access(base / "workspace", base / "tree", base / "scratch", python)
        self.argv = (
            ["/bin/true"]
            if command == "true"
            else [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_small.py"]
        )
        self.env = environment.clean(python, base / "scratch", base / "scratch")

    async def bare(self) -> float:
        """Seconds of a run without anything around it."""
        begun = time.perf_counter()
        subprocess.run(  # noqa: ASYNC221
            self.argv,
            cwd=self.access.tree,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
        return time.perf_counter() - begun

    async def sealed(self, seal: Seal) -> float:
        """Seconds of a run in a seal, from the call to the end of the last process."""
        begun = time.perf_counter()
        running = await seal.start(self.argv, self.access, Limits())
        ended = await running.wait()
        seconds = time.perf_counter() - begun
        if ended.returncode != 0:
            raise SystemExit(f"{seal.name}: {ended.output.decode()}")
        return seconds


def seals() -> list[Seal]:
    """All that work here."""
    program, _ = bubblewrap.find()
    found: list[Seal] = [] if program is None else [bubblewrap.Bubblewrap(program)]
    if not landlock.usable():
        found.append(landlock.Landlock())
    return [*found, Unsealed()]


async def measure(rounds: int, command: str) -> dict[str, float]:
    """Print the table; what each seal costs in milliseconds."""
    choice = await choose("prefer")
    print(f"chosen: {describe(choice)}; the probe took {choice.seconds * 1000:.0f} ms")
    with tempfile.TemporaryDirectory(prefix="regreen-bench-") as folder:
        bench = Bench(Path(folder), command)
        await bench.bare()
        times: dict[str, list[float]] = {"bare": [], **{seal.name: [] for seal in seals()}}
        extra: dict[str, list[float]] = {seal.name: [] for seal in seals()}
        for _ in range(rounds):
            before = await bench.bare()
            found = {seal.name: await bench.sealed(seal) for seal in seals()}
            bare = (before + await bench.bare()) / 2
            times["bare"].append(bare)
            for name, seconds in found.items():
                times[name].append(seconds)
                extra[name].append(seconds - bare)
    base = times["bare"]
    print(
        f"{'way':12} {'median ms':>10} {'ratio':>6} {'best ms':>9} {'extra ms':>9}   ({rounds} rounds of {command})"
    )
    for name, values in times.items():
        ratio = statistics.median(values) / statistics.median(base)
        more = f"{statistics.median(extra[name]) * 1000:9.1f}" if name in extra else ""
        print(
            f"{name:12} {statistics.median(values) * 1000:10.1f} {ratio:6.2f} {min(values) * 1000:9.1f} {more}"
        )
    return {
        name: 1000 * min(statistics.median(values), min(times[name]) - min(base))
        for name, values in extra.items()
    }


def main() -> int:
    """Measure, and judge when asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--limit", type=float)
    parser.add_argument("--command", choices=["pytest", "true"], default="pytest")
    options = parser.parse_args()
    extra = asyncio.run(measure(options.rounds, options.command))
    return int(options.limit is not None and extra.get("bubblewrap", 0.0) > options.limit)


if __name__ == "__main__":
    raise SystemExit(main())
