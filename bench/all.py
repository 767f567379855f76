"""Every benchmark in turn: `make bench`. Ratios and medians of one machine in one go; nothing here is a test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
EACH = (
    "harness.py",
    "prefix.py",
    "locate.py",
    "trial.py",
    "runner.py",
    "seal.py",
    "dialects.py",
    "lsp.py",
    "together.py",
)


def main() -> int:
    """Run them; the worst exit code."""
    worst = 0
    for name in EACH:
        print(f"\n== bench/{name}", flush=True)
        worst = max(
            worst, subprocess.run([sys.executable, str(HERE / name)], stdin=subprocess.DEVNULL).returncode
        )
    return worst


if __name__ == "__main__":
    sys.exit(main())
