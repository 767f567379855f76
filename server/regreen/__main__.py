"""Entry point that works from a wheel, from a checkout and from an editor extension's folder.

An extension ships `<folder>/regreen`, beside it `<folder>/../pure` (libraries without native parts, for every
command) and `<folder>/../libs` (what the language server needs). The interpreter is started with `-I`, so that
neither the current folder nor PYTHONPATH can put other code in front of ours.
"""

from __future__ import annotations

import os
import signal
import sys


def _extend_path(command: str) -> None:
    from pathlib import Path

    package = Path(__file__).resolve().parent
    shipped = [package.parent, package.parent.parent / "pure"]
    if command == "serve":
        shipped.append(package.parent.parent / "libs")
    # In front: the interpreter is any Python of the person's, which may hold other versions of the same libraries.
    sys.path[:0] = [str(folder) for folder in shipped if folder.is_dir() and str(folder) not in sys.path]


def _leave(number: int, frame: object) -> None:
    """Ctrl-C while our own modules are still being loaded: no traceback."""
    os.write(2, b"\nregreen: cancelled; nothing was written.\n")
    os._exit(4)


def _end(code: int) -> None:
    """The end of a run that has said and closed all it had: taking the interpreter apart would only keep the person
    waiting, as would a library that is still being loaded."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = code or 1
    os._exit(code)


def main() -> int:
    """The `regreen` command; returns the exit code."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    _extend_path(sys.argv[1] if len(sys.argv) > 1 else "")
    from regreen.cli import main as command

    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    code = command()
    if sys.argv[1:2] in (["fix"], ["ask"]):
        _end(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
