"""The command line: one command after what `options` says, and its exit code. Scripts and editors rely on both."""

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
from typing import TYPE_CHECKING, Any

from regreen.agent.budget import Allowance
from regreen.errors import RegreenError, UsageError
from regreen.interrupts import INTERRUPTS
from regreen.options import parser
from regreen.redact import Redactor
from regreen.settings import RunSettings
from regreen.testing.seal.allowed import Allowed, readable_path, variable_name

if TYPE_CHECKING:
    from regreen.run.protocol import Channel


def _allowed(options: argparse.Namespace) -> Allowed:
    paths = [readable_path(text, Path.cwd()) for text in options.readable]
    names = [variable_name(text) for text in options.env]
    return Allowed(options.allow_network, tuple(paths), tuple(dict.fromkeys(names)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code. Errors for people are one line on stderr."""
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        with contextlib.suppress(ValueError):  # only the main thread may
            signal.signal(signal.SIGTERM, _interrupt)
    for stream in (sys.stdout, sys.stderr):  # no terminal is too old to be told something
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        top = parser()
        options = top.parse_args(arguments)
        if options.command is None:
            top.print_help(sys.stderr)
            return UsageError.exit_code
        return _COMMANDS[options.command](options)
    except RegreenError as error:
        print(f"regreen: {Redactor.of_this_process().text(str(error))}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        sys.unraisablehook = lambda _: (
            None
        )  # a loop that was being made when it struck complains when it goes
        print(f"regreen: {_INTERRUPTED.get(_command(arguments), _CANCELLED)}", file=sys.stderr)
        return 4
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1


_CANCELLED = "cancelled; nothing was written."
_INTERRUPTED = {"undo": "interrupted; run the same command again to take back the rest."}


def _command(arguments: Sequence[str] | None) -> str:
    return next(iter(sys.argv[1:] if arguments is None else arguments), "")


def _settings(options: argparse.Namespace, at_terminal: bool) -> RunSettings:
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
        interactive=options.interactive or (not options.json and at_terminal),
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
        offers = settings.interactive and not options.json
        return ask(options.text, options.workspace, settings, channel, Path.cwd(), options.resume, offers)

    return _play(options, options.text, work)


def _play(
    options: argparse.Namespace,
    name: str,
    work: Callable[[RunSettings, Channel], Coroutine[Any, Any, int]],
) -> int:
    """Play a run on its channel. With JSON there is an outcome line whatever happens."""
    at_terminal = sys.stdin is not None and sys.stdin.isatty()  # asked before the channel takes it
    INTERRUPTS.take()
    channel = _channel(options)
    cancelled = _early_outcome("cancelled", name, "Cancelled before the run had started.")
    INTERRUPTS.insist(lambda: _leave(channel, cancelled if options.json else None))
    try:
        return asyncio.run(work(_settings(options, at_terminal), channel))
    except UsageError as error:
        if options.json:
            channel.emit(_early_outcome("error", name, str(error)))
        raise
    finally:
        INTERRUPTS.over()


def _leave(channel: Channel, outcome: dict[str, object] | None) -> None:
    """End at once, with an outcome for whoever reads one: the run has not even begun."""
    with contextlib.suppress(Exception):
        if outcome:
            channel.emit(outcome)
    with contextlib.suppress(OSError):
        os.write(2, f"regreen: {_CANCELLED}\n".encode())
    os._exit(4)


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
    from regreen.run.listing import Listing, list_places, list_tests

    workspace = Path(options.workspace) if options.workspace else None
    listing = Listing(Path(options.dir), workspace, options.python, options.seal, _allowed(options))
    work = list_places(listing) if options.for_editor else list_tests(listing, options.json)
    return asyncio.run(work)


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

    return undo_runs(options.words, options.json)


def _read_reply(options: argparse.Namespace) -> int:
    from regreen.models.dialects.lines import read_lines

    read_lines(sys.stdin, sys.stdout)
    return 0


_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "fix": _fix,
    "ask": _ask,
    "serve": _serve,
    "tests": _tests,
    "doctor": _doctor,
    "replay": _replay,
    "show": _show,
    "undo": _undo,
    "read-reply": _read_reply,
}
