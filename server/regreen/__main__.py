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


_ENDINGS = (signal.SIGINT, signal.SIGTERM)
_UNCHANGED = (signal.default_int_handler, signal.SIG_DFL)
_RUNS = ("fix", "ask")
_FLAGS = ("--json", "--interactive", "--unlock-tests", "--allow-network", "-h", "--help")
"""The options of a run that take no value."""


def _leave(number: int, frame: object) -> None:
    """Ctrl-C or a polite kill while our own modules are still being loaded: no traceback, and of a run its outcome.

    Nothing is imported here: the signal may have come in the middle of an import.
    """
    words = sys.argv[1:]
    if words[:1] and words[0] in _RUNS and "--json" in words:
        text = "Cancelled before the run had started."
        said = {"event": "outcome", "outcome": "cancelled", "target": _target(words[1:]), "explanation": text}
        line = ", ".join(f'"{key}": {_quoted(value)}' for key, value in {**said, "summary": text}.items())
        _say(1, f"{{{line}}}\n")
    _say(2, "\nregreen: cancelled; nothing was written.\n")
    os._exit(4)


def _say(descriptor: int, text: str) -> None:
    try:  # noqa: SIM105 (contextlib is not loaded yet)
        os.write(descriptor, text.encode("ascii", "backslashreplace"))
    except OSError:
        pass


def _target(words: list[str]) -> str:
    """The first word that is neither an option nor the value of one."""
    value = False
    for word in words:
        if not word.startswith("-") and not value:
            return word
        value = word.startswith("-") and "=" not in word and word not in _FLAGS
    return ""


def _quoted(text: str) -> str:
    """A text as JSON has it, in ASCII."""
    units = text.encode("utf-16-be", "surrogatepass")
    codes = [int.from_bytes(units[n : n + 2], "big") for n in range(0, len(units), 2)]
    plain = (chr(code) if 32 <= code < 127 and code not in (34, 92) else f"\\u{code:04x}" for code in codes)
    return f'"{"".join(plain)}"'


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
    run = sys.argv[1:2] in (["fix"], ["ask"])
    ours = [number for number in _ENDINGS if run or signal.getsignal(number) in _UNCHANGED]
    for number in ours:
        signal.signal(number, _leave)
    _extend_path(sys.argv[1] if len(sys.argv) > 1 else "")
    from regreen.cli import main as command

    if not run:  # a run takes over by itself once it can
        for number in ours:
            signal.signal(number, signal.default_int_handler)
    code = command()
    if run:
        _end(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
