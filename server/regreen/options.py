"""The options of every command. Names and defaults are fixed: scripts and editors rely on them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NoReturn

from regreen import __version__
from regreen.agent.budget import Allowance
from regreen.errors import UsageError
from regreen.settings import DEFAULT_MODEL, SEARCH_GRACE

_JSON = "one JSON object on standard output"
_PYTHON = "interpreter of the project (default: its virtual environment, else python3)"


_EXAMPLES = """\
examples:
  regreen fix tests/test_cart.py::test_total     one test; also tests/test_cart.py:42
  regreen fix tests/test_cart.py                 all its failing tests, one run each
  regreen undo                                   take back what the latest run wrote
  regreen undo RUN src/cart.py                   take back one file of a run
  regreen show RUN --html run.html               look into a run
  regreen doctor                                 what is missing, with the command that mends it

exit codes: 0 fixed or already passing, 1 not fixed, 2 wrong usage, 3 something outside the code is missing,
4 rejected or cancelled, 5 an error of Regreen's own"""


class _Help(argparse.HelpFormatter):
    """Tells the default of every option that has one."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        told = action.help or ""
        plain = action.default in (None, False, [], argparse.SUPPRESS) or not action.option_strings
        return told if plain or "default" in told else f"{told} (default: %(default)s)".strip()


class _Parser(argparse.ArgumentParser):
    """Wrong usage is one line and exit code 2."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", _Help)
        super().__init__(**options)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}. See `{self.prog} --help`.")


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return number


def _dollars(text: str) -> float:
    try:
        amount = float(text.removeprefix("$"))
    except ValueError:
        amount = 0.0
    if not 0 < amount < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount in US dollars above 0")
    return amount


def _port(text: str) -> int:
    number = _positive(text)
    if number > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: 1 to 65535")
    return number


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = _Parser(
        prog="regreen",
        description="Turns a red test green again, on your own machine.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"regreen {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    fix = commands.add_parser("fix", help="fix a failing test")
    fix.add_argument(
        "target", metavar="TARGET", help="path::names[id], path:LINE, or path (all its failing tests)"
    )
    fix.add_argument("--resume", metavar="RUN", help="go on from the best state of an earlier run")
    _run_options(fix, "the project that TARGET lies in")
    ask = commands.add_parser("ask", help="a task in words; the tests decide, where there are any")
    ask.add_argument("text", metavar="TEXT", help='for instance "There is a bug in bug.py, find and fix it"')
    ask.add_argument("--resume", metavar="RUN", help="go on from what an earlier run did")
    _run_options(ask, "the current folder")
    serve = commands.add_parser("serve", help="the language server, on stdin and stdout")
    serve.add_argument("--tcp", type=_port, metavar="PORT", help="listen on this port of 127.0.0.1 instead")
    serve.add_argument("--log-file", type=Path, metavar="FILE", help="write the log to a file as well")
    tests = commands.add_parser("tests", help="the tests found in a folder or file")
    tests.add_argument("dir", metavar="DIR", nargs="?", default=".", help="default: the current folder")
    tests.add_argument("--workspace", metavar="DIR", help="default: the project that DIR lies in")
    tests.add_argument("--python", metavar="PATH", help=_PYTHON)
    _seal_options(tests)
    tests.add_argument("--json", action="store_true", help=_JSON)
    tests.add_argument(
        "--for-editor",
        action="store_true",
        help="where in a file its tests stand, as one event; standard input that speaks or ends cancels it",
    )
    doctor = commands.add_parser("doctor", help="what is missing, with the command that mends it")
    doctor.add_argument(
        "--workspace", metavar="DIR", help="the project to look at (default: the current folder)"
    )
    doctor.add_argument("--python", metavar="PATH", help=_PYTHON)
    doctor.add_argument(
        "--base-url", metavar="URL", help="where Ollama is (default: OLLAMA_HOST, else this machine)"
    )
    doctor.add_argument(
        "--ask-again", action="store_true", help="forget that the folder's tests may run without a seal"
    )
    doctor.add_argument("--json", action="store_true", help=_JSON)
    replay = commands.add_parser("replay", help="run a trace again, offline, and say where it differs")
    replay.add_argument("trace", metavar="TRACE", help="a trace file, or a run's id")
    replay.add_argument("--workspace", metavar="DIR", help="default: where the run took place")
    replay.add_argument("--json", action="store_true", help=_JSON)
    show = commands.add_parser("show", help="render a run")
    show.add_argument("trace", metavar="TRACE", help="a trace file, or a run's id")
    show.add_argument(
        "--html", type=Path, metavar="FILE", help="write one self-contained page with a timeline instead"
    )
    undo = commands.add_parser("undo", help="take back a run's edits")
    undo.usage = "regreen undo [-h] [--json] [RUN ...] [PATH ...]"
    undo.add_argument(
        "words",
        metavar="RUN or PATH",
        nargs="*",
        help="RUN: ids as the outcomes show them, the newest is taken back first; default: the latest that wrote here. "
        "PATH: take back these files and folders only",
    )
    undo.add_argument("--json", action="store_true", help=_JSON)
    commands.add_parser("read-reply", help="read tool calls out of replies, JSON Lines in and out")
    return top


def _run_options(command: argparse.ArgumentParser, folder: str) -> None:
    allowance = Allowance()
    command.add_argument(
        "--workspace", metavar="DIR", help=f"the one folder the run may change (default: {folder})"
    )
    command.add_argument(
        "--model",
        metavar="SPEC",
        default="auto",
        help=f"auto | builtin | ollama:NAME | openai:NAME | replay:FILE (auto: Ollama with {DEFAULT_MODEL}, else builtin)",
    )
    command.add_argument(
        "--base-url", metavar="URL", help="of the model server; keys come from the environment only"
    )
    command.add_argument(
        "--approval",
        choices=("everyEdit", "whenGreen", "never"),
        default="everyEdit",
        help="what you are asked about: every edit; only a verified fix; or nothing, and a verified fix is written",
    )
    _seal_options(command)
    command.add_argument(
        "--search",
        choices=("on", "off"),
        default="on",
        help="the quick search for small mistakes beside a model: before it is asked, and around its edits that fail",
    )
    command.add_argument(
        "--search-grace", type=float, default=SEARCH_GRACE, metavar="SECONDS", help=argparse.SUPPRESS
    )
    for name, most, help in (
        ("steps", allowance.steps, "turns of the model"),
        ("tokens", allowance.tokens, "new prompt tokens and generated ones"),
        ("seconds", int(allowance.seconds), "of model and tests; loading and your own time are free"),
    ):
        command.add_argument(f"--max-{name}", type=_positive, default=most, metavar="N", help=help)
    command.add_argument(
        "--max-cost",
        type=_dollars,
        metavar="USD",
        help="what the model may cost, where its server tells prices (default there: 1.00)",
    )
    command.add_argument(
        "--tests",
        choices=("reached", "all"),
        default="reached",
        help="what must not break: the tests that the change can reach (default), or all of the project's",
    )
    command.add_argument("--json", action="store_true", help="JSON Lines on stdout, decisions on stdin")
    command.add_argument(
        "--writes",
        choices=("self", "editor"),
        default="self",
        help="who writes an accepted edit: the run, or an editor that started it",
    )
    command.add_argument("--python", metavar="PATH", help=_PYTHON)
    command.add_argument("--unlock-tests", action="store_true", help="let this run change tests, visibly")
    command.add_argument("--interactive", action="store_true", help=argparse.SUPPRESS)


def _seal_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--seal",
        choices=("require", "prefer", "off"),
        default="require",
        help="tests run without network, home and secrets: always; where that can be made; never",
    )
    command.add_argument(
        "--allow-network",
        action="store_true",
        help="let tests use the network (servers of their own on localhost work without, in a bubblewrap seal)",
    )
    command.add_argument(
        "--readable",
        metavar="PATH",
        action="append",
        default=[],
        help="a file or folder outside the workspace that tests may read; can be repeated",
    )
    command.add_argument(
        "--env",
        metavar="NAME",
        action="append",
        default=[],
        help="an environment variable of yours that tests may see; can be repeated",
    )
