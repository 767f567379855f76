"""What a trial copy costs in a large repository: `python bench/trial.py [--files N] [--limit MS]`.

A made-up repository of so many source files, with a history, an environment and node_modules beside them that are
not copied. Measured are the first trial, one with nothing changed, and one with one changed file; for comparison, a
copy of everything. With `--limit` the exit code is 1 when a trial after the first takes longer, beside the tests.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "server"))

from regreen.workspace.trial import Trial


def repository(folder: Path, files: int) -> None:
    """Source files of about 3 kB in packages of 20, and as much again that a trial leaves out."""
    text = "def f(x):\n    return x + 1\n\n\n" * 100
    for number in range(files):
        file = folder / f"package_{number // 200}" / f"part_{number // 20}" / f"module_{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for name in (".git/objects", "node_modules/x", ".venv/lib"):
        (folder / name).mkdir(parents=True)
        for number in range(files // 10):
            (folder / name / f"{number}.txt").write_text(text)


def main() -> int:
    """Print the table; the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--limit", type=float)
    options = parser.parse_args()
    base = Path(tempfile.mkdtemp(prefix="regreen-bench-"))
    trial = Trial(base / "repository", base / "trial")
    try:
        repository(base / "repository", options.files)
        whole = _time(lambda: shutil.copytree(base / "repository", base / "whole"))
        first = _time(lambda: trial.prepare())
        where = "in memory" if trial.tree.is_relative_to("/dev/shm") else "on disk"
        again = _median(lambda: trial.prepare())
        turn = 0

        def change() -> None:
            nonlocal turn
            turn += 1
            trial.prepare({"package_0/part_0/module_0.py": f"x = {turn}\n".encode()})

        changed = _median(change)
        within = _median(lambda: trial.prepare({}, fresh=False))
    finally:
        trial.close()
        shutil.rmtree(base, ignore_errors=True)
    print(f"{options.files} source files, the trial {where}; milliseconds")
    print(f"  copy of everything, once            {whole:8.0f}")
    print(f"  first trial                         {first:8.0f}")
    print(f"  next trial, nothing changed         {again:8.0f}   (median of 7)")
    print(f"  next trial, one file changed        {changed:8.0f}   (median of 7)")
    print(f"  another run of the same trial       {within:8.0f}   (median of 7)")
    slow = options.limit is not None and max(again, changed) > options.limit
    if slow:
        print(f"over the limit of {options.limit:g} ms")
    return 1 if slow else 0


def _time(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return (time.perf_counter() - begun) * 1000


def _median(call: Callable[[], object]) -> float:
    return statistics.median(_time(call) for _ in range(7))


if __name__ == "__main__":
    raise SystemExit(main())
