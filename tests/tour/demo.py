"""`make demo`: the main job, for real, on a throwaway copy of toy_repo, with the best model at hand."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
TARGET = "tests/test_cart.py::test_adding_more_of_a_product_reaches_the_offer"


def main() -> int:
    """Copy, fix, show that the test passes now."""
    with tempfile.TemporaryDirectory(prefix="regreen-demo-") as folder:
        shop = Path(folder) / "toy_shop"
        shutil.copytree(PROJECT / "toy_repo", shop, ignore=shutil.ignore_patterns("__pycache__"))
        command = [
            "fix",
            TARGET,
            "--workspace",
            ".",
            "--model",
            "auto",
            "--approval",
            "never",
            "--seal",
            "prefer",
        ]
        print(f"In a copy of toy_repo, which is gone afterwards:\n$ regreen {' '.join(command)}", flush=True)
        started = time.monotonic()
        fixed = subprocess.run(
            [sys.executable, "-m", "regreen", *command], cwd=shop, stdin=subprocess.DEVNULL
        )
        print(
            f"\nThe run took {time.monotonic() - started:.1f} s. The whole file, by plain pytest:\n",
            flush=True,
        )
        tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", TARGET.partition("::")[0]]
        passed = subprocess.run(tests, cwd=shop, stdin=subprocess.DEVNULL)
        return fixed.returncode or passed.returncode


if __name__ == "__main__":
    sys.exit(main())
