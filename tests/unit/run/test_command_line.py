"""The command line as a newcomer meets it: help, versions, and the commands that mend things."""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from regreen import __version__
from regreen.cli import main
from regreen.errors import command_in
from regreen.options import parser
from regreen.run.terminal import TerminalChannel
from regreen.run.visible import writable
from regreen.testing.setup_problem import missing_module

SERVER = Path(__file__).resolve().parents[3] / "server"


def commands() -> dict[str, argparse.ArgumentParser]:
    [choices] = [action.choices for action in parser()._actions if isinstance(action.choices, dict)]
    return choices


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_option_has_a_help_text_and_tells_its_default(name: str) -> None:
    command = commands()[name]
    shown = " ".join(command.format_help().split())
    for action in command._actions:
        if (
            action.help == argparse.SUPPRESS
            or action.dest == "help"
            or (name, action.dest) == ("ask", "text")
        ):
            continue
        assert action.help, f"{name} {action.dest}"
        if action.option_strings and action.default not in (None, False, []):
            assert f"(default: {action.default})" in shown or "(default)" in shown, action.dest


def test_fix_tells_what_it_uses_when_nothing_is_said() -> None:
    shown = " ".join(commands()["fix"].format_help().split())
    for default in ("everyEdit", "require", "12", "60000", "900", "auto", "self"):
        assert f"(default: {default})" in shown


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "regreen doctor" in told.err
    assert "exit codes:" in told.err


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_it_runs_as_a_module(argument: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "regreen", argument],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(SERVER), "PATH": ""},
    )
    assert done.returncode == 0
    assert done.stdout.startswith(f"regreen {__version__}" if argument == "--version" else "usage: regreen")


@pytest.fixture
def needs_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "test_a.py").write_text("import nowhere_to_be_found\n\ndef test_a():\n    pass\n")
    return tmp_path


def test_doctor_gives_the_mending_commands_apart_from_the_prose(
    needs_a_module: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--json", "--workspace", str(needs_a_module), "--python", sys.executable]) == 3
    found = {finding["name"]: finding for finding in json.loads(capsys.readouterr().out)["findings"]}
    assert found["tests"]["command"].endswith(" nowhere_to_be_found")
    assert found["ollama"]["command"] == "ollama serve"
    for finding in found.values():
        assert finding["mend"] == finding["command"]
        assert finding["level"] == "ok" or finding["command"], finding


def test_tests_gives_the_mending_command_apart_from_the_prose(
    needs_a_module: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tests", str(needs_a_module), "--json", "--python", sys.executable]) == 3
    told = capsys.readouterr()
    found = json.loads(told.out)
    assert found["tests"] == []
    assert found["command"].endswith(" nowhere_to_be_found")
    assert found["command"] in found["problem"]
    assert found["command"] in told.err


def test_a_command_is_what_stands_between_backticks() -> None:
    assert command_in("there is no pytest: add it with `uv add --dev pytest`") == "uv add --dev pytest"
    assert command_in("the module `yaml` is missing: `pip install pyyaml` adds it") == "pip install pyyaml"
    assert command_in("the name `x` is odd") == ""
    assert command_in("") == ""


def test_a_module_next_to_the_workspace_is_not_to_be_installed(tmp_path: Path) -> None:
    workspace = tmp_path / "project" / "tests"
    workspace.mkdir(parents=True)
    (workspace.parent / "words.py").write_text("")
    told = missing_module("words", workspace, "pip install", workspace)
    assert command_in(told) == f"--workspace {workspace.parent}"
    assert "pip install sentences" in missing_module("sentences", workspace, "pip install", workspace)
    (workspace.parent / "stats.py").write_text("")
    (workspace / "test_stats.py").write_text("import stats\n")
    told = missing_module("stats", workspace, "pip install", workspace)
    assert command_in(told) == f"--workspace {workspace.parent}", "no slip of the pen for test_stats or stat"


def shown(*events: dict[str, object]) -> str:
    out = io.StringIO()
    channel = TerminalChannel(Console(file=out, force_terminal=False, width=200))
    for event in events:
        channel.emit(event)
    return out.getvalue()


def test_nothing_is_said_twice_in_a_row() -> None:
    text = shown(
        {"event": "text", "delta": "Add to it, "},
        {"event": "text", "delta": "instead."},
        {"event": "call", "name": "edit_file", "arguments": {"path": "a.py"}},
        {"event": "trial", "verdict": {"progress": "same"}, "summary": "not fixed: x"},
        {"event": "proposal", "id": "p1", "why": "Add to it, instead.", "files": []},
        {"event": "decision", "proposal": "p1", "decision": "reject", "reason": "no"},
        {"event": "result", "name": "edit_file", "ok": True, "summary": "rejected: no"},
        {"event": "result", "name": "edit_file", "ok": True, "summary": "accepted; not fixed: x"},
        {"event": "result", "name": "edit_file", "ok": True, "summary": "not fixed: x"},
    )
    for once in ("Add to it, instead.", "not fixed: x", "rejected: no", "✓ accepted\n"):
        assert text.count(once) == 1, once


def test_a_proposal_with_another_reason_than_what_was_said_tells_it() -> None:
    text = shown(
        {"event": "text", "delta": "Let me look."},
        {"event": "proposal", "id": "p1", "why": "Add to it.", "files": []},
    )
    assert "Add to it." in text


def test_what_an_output_cannot_show_is_spelled_out() -> None:
    assert writable("step 1 · → ✓ é …", "ascii") == "step 1 - -> ok: \\xe9 ..."
    assert writable("step 1 · é", "latin-1") == "step 1 · é"
    assert writable("→ é 字", "latin-1") == "-> é \\u5b57"
    assert writable("→ 字", "utf-8") == "→ 字"
    assert writable("→", "no-such-encoding") == "->"
