"""The function behind `regreen read-reply`: one line out for every line in, whatever comes."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from regreen.models.dialects.lines import read_lines


def answers(*lines: str) -> list[dict[str, Any]]:
    sink = io.StringIO()
    read_lines(io.StringIO("\n".join(lines) + "\n"), sink)
    return [json.loads(line) for line in sink.getvalue().splitlines()]


def test_a_call_and_a_corrective_come_out_in_order() -> None:
    call = {
        "id": "one",
        "wire": "ollama",
        "message": {"role": "assistant", "content": '{"name": "run_tests"}'},
    }
    words = {"id": 2, "wire": "openai", "message": {"role": "assistant", "content": "I will look."}}
    first, second = answers(json.dumps(call), json.dumps(words))
    assert first == {"id": "one", "calls": [{"name": "run_tests", "arguments": {}}]}
    assert second["id"] == 2
    assert "call" in second["corrective"]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "null",
        "[]",
        '"text"',
        "{}",
        '{"id": 1}',
        '{"id": 1, "message": null}',
        '{"id": 1, "message": "x"}',
        "[" * 5000,
        "\x00",
    ],
)
def test_a_bad_line_gets_an_error_and_the_next_one_is_still_read(line: str) -> None:
    good = json.dumps({"id": "good", "message": {"content": '{"name": "run_tests"}'}})
    bad, after = answers(line, good)
    assert set(bad) == {"id", "error"}
    assert "line 1" in bad["error"]
    assert after["calls"] == [{"name": "run_tests", "arguments": {}}]


def test_blank_lines_are_passed_over() -> None:
    assert answers("", "  ") == []


def test_half_a_character_in_the_text_does_not_break_the_output() -> None:
    message = {"role": "assistant", "content": '{"name": "read_file", "arguments": {"path": "\\ud83d.py"}}'}
    (answer,) = answers(json.dumps({"id": 1, "message": message}))
    assert answer["calls"][0]["name"] == "read_file"


def test_a_line_may_bring_the_files_in_play() -> None:
    code = "```python\ndef f():\n    return 2\n```"
    line = {"id": 1, "message": {"content": code}, "files": {"a.py": "def f():\n    return 1\n"}}
    (answer,) = answers(json.dumps(line))
    assert answer["calls"] == [
        {
            "name": "edit_file",
            "arguments": {
                "path": "a.py",
                "find": "def f():\n    return 1",
                "replace": "def f():\n    return 2",
            },
        }
    ]
