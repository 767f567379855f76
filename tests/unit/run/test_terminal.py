"""What a terminal shows: everything that is there, and nothing that acts."""

from __future__ import annotations

import io

from rich.console import Console

from regreen.run.terminal import TerminalChannel
from regreen.run.visible import visible

ATTACK = "x = 1  # \x1b[2K\x1b[1A\u202e hidden"


def test_characters_that_a_terminal_acts_on_are_spelled_out() -> None:
    assert visible(ATTACK) == "x = 1  # \\u001b[2K\\u001b[1A\\u202e hidden"
    assert visible("grün\t€\n") == "grün\t€\n"


def test_neither_a_diff_nor_prose_can_move_the_cursor() -> None:
    out = io.StringIO()
    channel = TerminalChannel(Console(file=out, force_terminal=False, width=120))
    channel.emit({"event": "text", "delta": ATTACK})
    channel.emit({"event": "call", "name": "edit_file", "arguments": {"path": "a.py", "replace": ATTACK}})
    channel.emit(
        {
            "event": "proposal",
            "why": f"Because of {ATTACK}",
            "confidence": "",
            "files": [{"path": "a.py", "diff": f"+{ATTACK}\n"}],
        }
    )
    channel.emit({"event": "outcome", "outcome": "stuck", "explanation": ATTACK, "summary": ATTACK})
    assert "\x1b" not in out.getvalue()
    assert "\u202e" not in out.getvalue()
    assert out.getvalue().count("u202e hidden") == 5
