"""The tools as text: one line each, the same bytes every time, and examples that our own reading understands."""

from __future__ import annotations

import pytest

from regreen.models.dialects import read_reply
from regreen.models.dialects.prompt import EditForm, render, tool_lines
from regreen.tools.menu import ALL, EDIT_FILE, FIX, RUN_TESTS


def test_each_tool_takes_one_line() -> None:
    lines = tool_lines(ALL).splitlines()
    assert len(lines) == len(ALL)
    assert (
        lines[0]
        == "read_file(path, start_line?: integer, end_line?: integer): Read a file, or some lines of it."
    )


@pytest.mark.parametrize("edit", ["function", "search_replace", "call", "none"])
def test_the_text_is_the_same_every_time(edit: EditForm) -> None:
    assert render(FIX, edit) == render(FIX, edit)
    assert render(FIX, edit).isascii()


def test_the_call_shown_is_read_as_that_call() -> None:
    reading = read_reply(
        {"role": "assistant", "content": render([EDIT_FILE], "call").rsplit("as it is:\n", 1)[1]}, ALL
    )
    assert [call.name for call in reading.calls] == ["edit_file"]
    assert reading.calls[0].arguments["path"] == "shapes.py"


def test_the_block_shown_is_read_as_an_edit() -> None:
    shown = render([RUN_TESTS], "search_replace").rsplit("as they are:\n", 1)[1]
    reading = read_reply({"role": "assistant", "content": shown}, ALL)
    assert dict(reading.calls[0].arguments) == {
        "path": "shapes.py",
        "find": "    return width + height",
        "replace": "    return width * height",
    }


def test_the_function_shown_is_spliced_into_its_file() -> None:
    shown = render([RUN_TESTS], "function").rsplit("nothing else:\n", 1)[1]
    files = {"shapes.py": "def area(width, height):\n    return width + height\n"}
    reading = read_reply({"role": "assistant", "content": shown}, ALL, files)
    assert reading.calls[0].name == "edit_file"
    assert "width * height" in str(reading.calls[0].arguments["replace"])


def test_exactly_one_edit_is_shown() -> None:
    for edit in ("function", "search_replace", "call"):
        assert render(FIX, edit).count("width * height") == 1
