"""The command line. Names, defaults and exit codes are fixed: scripts and editors rely on them."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from regreen import __version__
from regreen.agent.budget import Allowance
from regreen.errors import RegreenError, UsageError
from regreen.redact import Redactor
from regreen.settings import DEFAULT_MODEL, SEARCH_GRACE, RunSettings
from regreen.testing.seal.allowed import Allowed, readable_path, variable_name

if TYPE_CHECKING:
    from regreen.run.protocol import Channel


_JSON = "one JSON object on standard output"
_PYTHON = "interpreter of the project (default: its virtual environment, else python3)"


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
    top = _Parser(prog="regreen", description="Turns a red test green again, on your own machine.")
    top.add_argument("--version", action="version", version=f"regreen {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    fix = commands.add_parser("fix", help="fix a failing test")
    fix.add_argument(
        "target", metavar="TARGET", help="path::names[id], path:LINE, or path (all its failing tests)"
    )
    fix.add_argument("--resume", metavar="RUN", help="go on from the best state of an earlier run")
    _run_options(fix, "the project that TARGET lies in")
    fix.set_defaults(run=_fix)
    ask = commands.add_parser("ask", help="a task in words; the tests decide, where there are any")
    ask.add_argument("text", metavar="TEXT", help='for instance "There is a bug in bug.py, find and fix it"')
    _run_options(ask, "the current folder")
    ask.set_defaults(run=_ask)
    serve = commands.add_parser("serve", help="the language server, on stdin and stdout")
    serve.add_argument("--tcp", type=_port, metavar="PORT", help="listen on this port of 127.0.0.1 instead")
    serve.add_argument("--log-file", type=Path, metavar="FILE", help="write the log to a file as well")
    serve.set_defaults(run=_serve)
    tests = commands.add_parser("tests", help="the tests found in a folder or file")
    tests.add_argument("dir", metavar="DIR", nargs="?", default=".", help="default: the current folder")
    tests.add_argument("--python", metavar="PATH", help=_PYTHON)
    _seal_options(tests)
    tests.add_argument("--json", action="store_true", help=_JSON)
    tests.set_defaults(run=_tests)
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
    doctor.set_defaults(run=_doctor)
    replay = commands.add_parser("replay", help="run a trace again, offline, and say where it differs")
    replay.add_argument("trace", metavar="TRACE", help="a trace file, or a run's id")
    replay.add_argument("--workspace", metavar="DIR", help="default: where the run took place")
    replay.add_argument("--json", action="store_true", help=_JSON)
    replay.set_defaults(run=_replay)
    show = commands.add_parser("show", help="render a run")
    show.add_argument("trace", metavar="TRACE", help="a trace file, or a run's id")
    show.add_argument(
        "--html", type=Path, metavar="FILE", help="write one self-contained page with a timeline instead"
    )
    show.set_defaults(run=_show)
    undo = commands.add_parser("undo", help="take back a run's edits")
    undo.add_argument(
        "runs",
        metavar="RUN",
        nargs="*",
        help="ids as the outcomes show them, the newest is taken back first; default: the latest that wrote here",
    )
    undo.add_argument("--json", action="store_true", help=_JSON)
    undo.set_defaults(run=_undo)
    read_reply = commands.add_parser(
        "read-reply", help="read tool calls out of replies, JSON Lines in and out"
    )
    read_reply.set_defaults(run=_read_reply)
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


def _allowed(options: argparse.Namespace) -> Allowed:
    paths = [readable_path(text, Path.cwd()) for text in options.readable]
    names = [variable_name(text) for text in options.env]
    return Allowed(options.allow_network, tuple(paths), tuple(dict.fromkeys(names)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code. Errors for people are one line on stderr."""
    with contextlib.suppress(ValueError):  # only the main thread may
        signal.signal(signal.SIGTERM, _interrupt)
    for stream in (sys.stdout, sys.stderr):  # no terminal is too old to be told something
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        options = parser().parse_args(arguments)
        return int(options.run(options))
    except RegreenError as error:
        print(f"regreen: {Redactor.of_this_process().text(str(error))}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        sys.unraisablehook = lambda _: None  # a loop that was being made when it struck complains when it goes
        print(f"regreen: {_INTERRUPTED.get(_command(arguments), _CANCELLED)}", file=sys.stderr)
        return 4
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1


_CANCELLED = "cancelled; nothing was written."
_INTERRUPTED = {"undo": "interrupted; run the same command again to take back the rest."}


def _command(arguments: Sequence[str] | None) -> str:
    return next(iter(sys.argv[1:] if arguments is None else arguments), "")


def _settings(options: argparse.Namespace) -> RunSettings:
    return RunSettings(
        model=options.model,
        base_url=options.base_url,
        approval=options.approval,
        seal=options.seal,
        allowance=Allowance(
            options.max_steps, options.max_tokens, float(options.max_seconds), options.max_cost
        ),
        writes=options.writes,
        python=options.python,
        interactive=options.interactive or (not options.json and sys.stdin.isatty()),
        unlock_tests=options.unlock_tests,
        allowed=_allowed(options),
        tests=options.tests,
        search=options.search == "on",
        search_grace=options.search_grace,
    )


def _interrupt(number: int, frame: object) -> None:
    """A polite kill before a run has its own answer to it ends like Ctrl-C."""
    raise KeyboardInterrupt


def _fix(options: argparse.Namespace) -> int:
    from regreen.run.fix import fix

    def work(settings: RunSettings, channel: Channel) -> Coroutine[Any, Any, int]:
        return fix(options.target, options.workspace, settings, channel, Path.cwd(), options.resume)

    return _play(options, options.target, work)


def _ask(options: argparse.Namespace) -> int:
    from regreen.run.fix import ask

    def work(settings: RunSettings, channel: Channel) -> Coroutine[Any, Any, int]:
        return ask(options.text, options.workspace, settings, channel, Path.cwd())

    return _play(options, options.text, work)


def _play(
    options: argparse.Namespace,
    name: str,
    work: Callable[[RunSettings, Channel], Coroutine[Any, Any, int]],
) -> int:
    """Play a run on its channel. With JSON there is an outcome line whatever happens."""
    channel = _channel(options)
    try:
        return asyncio.run(work(_settings(options), channel))
    except UsageError as error:
        if options.json:
            channel.emit(_early_outcome("error", name, str(error)))
        raise
    except KeyboardInterrupt:
        if options.json:
            channel.emit(_early_outcome("cancelled", name, "Cancelled before the run had started."))
        raise


def _channel(options: argparse.Namespace) -> Channel:
    """Where a run shows itself. With JSON nothing but the protocol reaches standard output."""
    from regreen.run.protocol import JsonChannel

    if options.json:
        sink = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        return JsonChannel(_private_input(), sink, attended=options.interactive)
    from regreen.run.terminal import TerminalChannel

    return TerminalChannel(source=_private_input())


def _private_input() -> int:
    """Standard input for us alone: children that forget to close theirs read nothing."""
    source = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return source


def _early_outcome(outcome: str, name: str, text: str) -> dict[str, object]:
    """The outcome of a run that did not get so far as to have one."""
    return {"event": "outcome", "outcome": outcome, "target": name, "explanation": text, "summary": text}


def _serve(options: argparse.Namespace) -> int:
    from regreen.lsp.server import serve

    return serve(options.tcp, options.log_file)


def _tests(options: argparse.Namespace) -> int:
    from regreen.run.listing import list_tests

    allowed = _allowed(options)
    return asyncio.run(list_tests(Path(options.dir), options.python, options.seal, options.json, allowed))


def _doctor(options: argparse.Namespace) -> int:
    from regreen.doctor import examine

    workspace = Path(options.workspace) if options.workspace else Path.cwd()
    if options.ask_again:
        from regreen.run.consent import forget

        forget(workspace)
    return asyncio.run(examine(workspace, options.python, options.base_url, options.json))


def _replay(options: argparse.Namespace) -> int:
    from regreen.run.replay import replay

    return asyncio.run(replay(options.trace, options.workspace, options.json))


def _show(options: argparse.Namespace) -> int:
    from regreen.run.show import show

    return show(options.trace, options.html)


def _undo(options: argparse.Namespace) -> int:
    from regreen.run.undo import undo_runs

    return undo_runs(options.runs, options.json)


def _read_reply(options: argparse.Namespace) -> int:
    from regreen.models.dialects.lines import read_lines

    read_lines(sys.stdin, sys.stdout)
    return 0
