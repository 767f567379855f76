"""What a seal costs on a pytest run: `python bench/seal.py [--seconds S] [--user USER] [--limit MS] [--command WHAT]`.

Every round runs the same command (a small pytest run, or a program that does nothing) bare and in each seal that works
here, in an order that turns from round to round, so that all see the same machine. The cost of a seal is taken within
a round. Printed for each: the median of the costs, the least time against the least bare time, and the cost in
processor time of everything started, ours included, which other work on the machine changes little. Root measures
twice: as root, and as an ordinary user. With `--limit` the exit code is 1 when bubblewrap costs more than that many
milliseconds by each of the three: other work lengthens the first two, a second processor shortens them.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import importlib.util
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "server"))

from regreen.testing.seal import bubblewrap, environment, landlock
from regreen.testing.seal.choose import choose, describe
from regreen.testing.seal.door import Access, Limits, Seal
from regreen.testing.seal.unsealed import Unsealed

SERVER = Path(__file__).resolve().parent.parent / "server"
TESTS = "def test_one():\n    assert 1 + 1 == 2\n\n\ndef test_two():\n    assert [1] + [2] == [1, 2]\n"
NEEDED = (
    "pytest",
    "_pytest",
    "py",
    "pluggy",
    "iniconfig",
    "packaging",
    "pygments",
    "exceptiongroup",
    "tomli",
)
SYSTEM_PYTHON = Path("/usr/bin/python3")
ORDINARY = 12345
SUBREAPER = (
    36  # PR_SET_CHILD_SUBREAPER, prctl(2): what a dead bubblewrap leaves is ours to wait for, and counts.
)


class Bench:
    """One small project, run in different ways."""

    def __init__(self, base: Path, command: str, libraries: Path) -> None:
        for name in ("workspace", "tree", "scratch"):
            (base / name).mkdir()
        for place in (base / "workspace", base / "tree"):
            (place / "test_small.py").write_text(TESTS)
            (place / "pytest.ini").write_text("[pytest]\n")
        python = Path(sys.executable)
        self.access = Access(base / "workspace", base / "tree", base / "scratch", python, (libraries,))
        run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_small.py"]
        self.argv = ["/bin/true"] if command == "true" else run
        self.extra = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(libraries)}
        self.env = environment.clean(python, base / "scratch", base / "scratch", self.extra)

    async def bare(self) -> None:
        """A run without anything around it."""
        ended = subprocess.run(  # noqa: ASYNC221
            self.argv,
            cwd=self.access.tree,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if ended.returncode != 0:
            raise SystemExit((ended.stdout + ended.stderr).decode())

    def sealed(self, seal: Seal) -> Callable[[], Awaitable[None]]:
        """A run in a seal, from the call to the end of the last process."""

        async def run() -> None:
            running = await seal.start(self.argv, self.access, Limits(), self.extra)
            ended = await running.wait()
            if ended.returncode != 0:
                raise SystemExit(f"{seal.name}: {ended.output.decode()}")

        return run


async def spent(run: Callable[[], Awaitable[None]]) -> tuple[float, float]:
    """Milliseconds of one run: by the clock, and of processors."""
    before, begun = _processor(), time.perf_counter()
    await run()
    clock = time.perf_counter() - begun
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, 0)[0]:  # noqa: ASYNC222
            pass
    return 1000 * clock, 1000 * (_processor() - before)


def _processor() -> float:
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(found.ru_utime + found.ru_stime for found in map(resource.getrusage, kinds))


def seals() -> list[Seal]:
    """All that work here."""
    program, _ = bubblewrap.find()
    found: list[Seal] = [] if program is None else [bubblewrap.Bubblewrap(program)]
    if not landlock.usable():
        found.append(landlock.Landlock())
    return [*found, Unsealed()]


async def measure(seconds: float, command: str, libraries: Path) -> dict[str, list[float]]:
    """Print the table; what each seal costs in milliseconds: median, least, processor time."""
    choice = await choose("prefer")
    print(f"chosen: {describe(choice)}; the probe took {choice.seconds * 1000:.0f} ms")
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory(prefix="regreen-bench-") as folder:
        bench = Bench(Path(folder), command, libraries)
        ways: list[tuple[str, Callable[[], Awaitable[None]]]] = [("bare", bench.bare)]
        ways += [(seal.name, bench.sealed(seal)) for seal in seals()]
        for _, run in ways:
            await run()
        times: dict[str, list[tuple[float, float]]] = {name: [] for name, _ in ways}
        end = time.monotonic() + seconds
        while time.monotonic() < end or len(times["bare"]) < 3:
            for name, run in ways:
                times[name].append(await spent(run))
            ways = [*ways[1:], ways[0]] if len(times["bare"]) % 2 else ways[::-1]
    return table(times, command)


def table(times: dict[str, list[tuple[float, float]]], command: str) -> dict[str, list[float]]:
    """The costs, printed and given back."""
    bare = times["bare"]
    print(
        f"{len(bare)} rounds of {command}; bare: median {_median(bare, 0):.1f} ms, least {min(bare)[0]:.1f} ms"
    )
    print(f"{'extra ms':12} {'median':>8} {'least':>8} {'processor':>10}")
    costs: dict[str, list[float]] = {}
    for name, values in times.items():
        if name == "bare":
            continue
        within = [(one[0] - two[0], one[1] - two[1]) for one, two in zip(values, bare, strict=True)]
        costs[name] = [_median(within, 0), min(values)[0] - min(bare)[0], _median(within, 1)]
        print(f"{name:12} {costs[name][0]:8.1f} {costs[name][1]:8.1f} {costs[name][2]:10.1f}", flush=True)
    return costs


def _median(values: list[tuple[float, float]], at: int) -> float:
    return statistics.median(value[at] for value in values)


def as_ordinary_user(options: argparse.Namespace) -> int:
    """The same by a user without rights: everything it needs is copied to where such a user can read it."""
    if not SYSTEM_PYTHON.exists():
        print("as an ordinary user: left out, there is no /usr/bin/python3 that such a user could read")
        return 0
    with tempfile.TemporaryDirectory(prefix="regreen-bench-user-") as folder:
        base = Path(folder)
        shutil.copytree(
            SERVER / "regreen", base / "server" / "regreen", ignore=shutil.ignore_patterns("__pycache__")
        )
        (base / "bench").mkdir()
        shutil.copy(__file__, base / "bench" / "seal.py")
        copy_pytest(base / "libraries", SYSTEM_PYTHON)
        subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
        user = ["setpriv", "--reuid", str(ORDINARY), "--regid", str(ORDINARY), "--clear-groups"]
        command = [*user, str(SYSTEM_PYTHON), str(base / "bench" / "seal.py"), "--user", "me"]
        command += ["--seconds", str(options.seconds), "--command", options.command]
        command += ["--libraries", str(base / "libraries")]
        command += [] if options.limit is None else ["--limit", str(options.limit)]
        return subprocess.run(
            command, env={"HOME": "/nonexistent"}, stdin=subprocess.DEVNULL, check=False
        ).returncode


def copy_pytest(target: Path, python: Path) -> None:
    """pytest and what it imports, all of it plain Python, compiled for the interpreter that will run it: a run that
    compiles them itself, because it may not write, takes three times as long."""
    target.mkdir()
    for name in NEEDED:
        found = importlib.util.find_spec(name)
        if found is None or found.origin is None:
            continue
        source = Path(found.origin)
        if source.name == "__init__.py":
            shutil.copytree(source.parent, target / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    subprocess.run([python, "-m", "compileall", "-q", target], check=True)


def main() -> int:
    """Measure, and judge when asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20, help="for each user")
    parser.add_argument("--limit", type=float)
    parser.add_argument("--command", choices=["pytest", "true"], default="pytest")
    parser.add_argument("--user", choices=["me", "ordinary", "both"], default="both")
    parser.add_argument("--json", action="store_true", help="the costs as one more line")
    parser.add_argument("--libraries", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    failed = 0
    if options.user != "ordinary":
        print(f"as {'root' if os.geteuid() == 0 else 'an ordinary user'}:", flush=True)
        with tempfile.TemporaryDirectory(prefix="regreen-bench-libraries-") as folder:
            libraries = options.libraries or Path(folder, "libraries")
            if options.libraries is None:
                copy_pytest(libraries, Path(sys.executable))
            costs = asyncio.run(measure(options.seconds, options.command, libraries))
        if options.json:
            print(json.dumps(costs))
        failed = int(options.limit is not None and min(costs.get("bubblewrap", [0.0])) > options.limit)
    if options.user != "me" and os.geteuid() == 0:
        failed |= as_ordinary_user(options)
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
