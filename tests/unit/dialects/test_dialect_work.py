"""What reading a reply costs, counted as work and not as time: twice the text of a loop is about twice the work."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from regreen.models.dialects import python_text
from regreen.models.dialects.over import over_at, whole_object
from regreen.models.dialects.reply import read_unguarded
from regreen.tools.menu import ALL

FILES = {"shop/prices.py": "".join(f"def price_{n}(a):\n    return a * {n}\n\n\n" for n in range(40))}
UNITS = (
    "@@ -1 +1 @@\n", "*** Update File: a.py\n", "diff --git a b\n", "--- a\n+++ b\n", "a.py\n```python\nx=1\n```\n", "```python\n", "~~~\n",
    "{}", "tool input {}", "{", '{"name":"x",', '{"a": ', "<a", "<path>a</path>", "<function=edit_file>", "Action: edit_file\n", '\\"', "\\",
    "call: read_file {}", "</think>", "edit_file(", "<<<<<<< SEARCH\n", '"""\n```\n',
)  # fmt: skip

UNEVEN = ('\\"', "\\")
"""Where the length decides which repairs of a text are tried, so that two lengths do not compare."""


def steps(text: str) -> int:
    """How many calls of functions, ours and built-in ones, reading a reply takes."""
    count = 0

    def seen(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    python_text._parsed.cache_clear()
    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        reading = read_unguarded({"role": "assistant", "content": text}, ALL, FILES, "ollama", True)
    finally:
        sys.setprofile(before)
    assert bool(reading.calls) != bool(reading.corrective)
    return count


@pytest.mark.parametrize("wrap", ["{}", "```python\n{}\n```", "Here it is:\n{}\nThat is all."])
@pytest.mark.parametrize("unit", [unit for unit in UNITS if unit not in UNEVEN])
def test_a_loop_twice_as_long_is_at_most_three_times_the_work(unit: str, wrap: str) -> None:
    half, whole = (wrap.replace("{}", unit * (size // len(unit))) for size in (4000, 8000))
    steps(half)  # what is compiled once
    assert steps(whole) < 3 * steps(half) + 500


@pytest.mark.parametrize("unit", UNITS)
def test_a_loop_of_8_kB_is_read_in_few_steps(unit: str) -> None:
    text = unit * (8000 // len(unit))
    steps(text)
    assert steps(text) < 150_000


@pytest.mark.parametrize("text", ["[" * 8000, '{"a":' * 2000, '<tool_call>{"a":' + "[" * 8000])
def test_a_stream_nested_beyond_all_depth_is_not_over(text: str) -> None:
    assert over_at(text) == 0
    assert whole_object(text) == 0


@pytest.mark.parametrize("unit", UNITS)
def test_more_of_a_loop_that_reaches_the_end_changes_neither_answer_nor_work(unit: str) -> None:
    short, long = (unit * (size // len(unit) // 12 * 12) for size in (4000, 40_000))
    first, second = (
        read_unguarded({"role": "assistant", "content": text}, ALL, FILES, "ollama", True)
        for text in (short, long)
    )
    assert (second.reason, second.corrective) == (first.reason, first.corrective)
    assert second.calls == first.calls
    if not first.calls:
        assert steps(long) < 5 * steps(short)


def test_a_file_whose_lines_are_all_the_same_is_written_whole() -> None:
    rows = "0,0,0,0\n" * 3000
    for text in (
        f"data.csv\n```\n{rows}",
        f"<write_file><path>data.csv</path><content>{rows}</content></write_file>",
    ):
        message = {"role": "assistant", "content": text}
        reading = read_unguarded({"message": message, "done_reason": "stop"}, ALL, {}, "ollama", True)
        held = [str(call.arguments.get("content")).count("0,0,0,0") for call in reading.calls]
        assert held in ([3000], []), reading.calls
    assert held == [3000]
