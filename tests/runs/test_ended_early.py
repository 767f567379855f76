"""Ctrl-C and a polite kill at any moment of `regreen fix --json`: one outcome line, and the exit code that goes with it."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from environments import person_python
from regreen.options import parser
from runs.process import HARD, PROJECT, contents

STRIKES = """
import os, sys

NUMBER, MOMENT, TIMES = int(sys.argv.pop(1)), sys.argv.pop(1), int(sys.argv.pop(1))

def strike():
    global TIMES
    times, TIMES = TIMES, 0
    for _ in range(times):
        os.kill(os.getpid(), NUMBER)

class Import:
    def find_spec(self, name, path=None, target=None):
        if name == MOMENT:
            strike()

def call(frame, event, value):
    code = frame.f_code
    if event == "call" and MOMENT.endswith(":" + code.co_name):
        if code.co_filename.endswith(MOMENT.partition(":")[0]):
            strike()

sys.meta_path.insert(0, Import())
if ":" in MOMENT:
    sys.setprofile(call)
from regreen.__main__ import main
sys.exit(main())
"""
"""A signal at the very moment at which a module is imported, or a function is called."""

MOMENTS = [
    "regreen.cli", "argparse", "regreen.options", "regreen.redact", "asyncio", "regreen.run.fix", "regreen.models.choose",
    "regreen.run.session", "regreen.run.protocol", "cli.py:main", "cli.py:_play", "cli.py:_channel", "cli.py:_private_input",
    "interrupts.py:take", "interrupts.py:insist", "cli.py:_settings", "base_events.py:__init__", "fix.py:fix",
    "fix.py:open_target", "fix.py:_put_in_order", "interpreter.py:find_interpreter", "session.py:__init__", "fix.py:_interruptible",
    "interrupts.py:reach", "session.py:execute", "session.py:_play", "choose.py:choose", "judge.py:baseline",
]  # fmt: skip


def end(
    folder: Path, number: int, moment: str, times: int = 1, *words: str
) -> tuple[int, list[dict[str, Any]]]:
    """Run until the signal strikes; the exit code, and the outcome lines."""
    words = words or ("fix", "--model", "builtin", HARD, "--json", "--python", person_python())
    done = subprocess.run(
        [sys.executable, "-c", STRIKES, str(int(number)), moment, str(times), *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT / "server")},
        timeout=120,
    )
    assert "Traceback" not in done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events, done.stderr
    assert events[-1]["event"] == "outcome"
    return done.returncode, [event for event in events if event["event"] == "outcome"]


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_signal_ends_the_run_with_its_outcome_at_any_moment(toy_shop: Path, moment: str) -> None:
    before = contents(toy_shop)
    number = (signal.SIGINT, signal.SIGTERM)[MOMENTS.index(moment) % 2]
    code, outcomes = end(toy_shop, number, moment)
    assert [outcome["outcome"] for outcome in outcomes] == ["cancelled"]
    assert code == 4
    assert outcomes[0]["target"] == HARD
    assert contents(toy_shop) == before


@pytest.mark.parametrize("moment", ["regreen.cli", "fix.py:open_target", "session.py:_play"])
def test_a_second_signal_changes_nothing(toy_shop: Path, moment: str) -> None:
    code, outcomes = end(toy_shop, signal.SIGTERM, moment, 3)
    assert (code, [outcome["outcome"] for outcome in outcomes]) == (4, ["cancelled"])


@pytest.mark.parametrize("moment", ["session.py:_finish", "__main__.py:_end"])
def test_a_signal_after_the_outcome_changes_neither_it_nor_the_exit_code(toy_shop: Path, moment: str) -> None:
    words = ("fix", "--model", "builtin", "tests/test_prices.py", "--json", "--python", person_python())
    code, outcomes = end(toy_shop, signal.SIGTERM, moment, 1, *words)
    assert (code, outcomes[-1]["outcome"]) in ((0, "already_passing"), (0, "fixed"))


@pytest.mark.parametrize(
    ("words", "target"),
    [
        (("fix", "--max-steps", "3", "--seal=off", "tests/ü \"😀\\.py", "--json"), "tests/ü \"😀\\.py"),
        (("fix", "--json", "--unlock-tests", "a.py::b", "--env", "X"), "a.py::b"),
        (("ask", "--json", "--allow-network", "Find the bug"), "Find the bug"),
        (("fix", "--json"), ""),
    ],
)  # fmt: skip
def test_the_outcome_names_the_target_even_before_the_options_were_read(
    tmp_path: Path, words: tuple[str, ...], target: str
) -> None:
    code, outcomes = end(tmp_path, signal.SIGTERM, "regreen.cli", 1, *words)
    assert (code, outcomes[0]["outcome"], outcomes[0]["target"]) == (4, "cancelled", target)


def test_the_options_without_a_value_are_all_known() -> None:
    from regreen.__main__ import _FLAGS

    commands = next(action for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    for name in ("fix", "ask"):
        plain = [action for action in commands.choices[name]._actions if action.nargs == 0]
        assert plain
        assert {option for action in plain for option in action.option_strings} <= set(_FLAGS)
