"""A comment that stands for code not shown, in the forms that models write it, and comments that are none."""

from __future__ import annotations

import time

import pytest

from regreen.models.dialects.checks import placeholder_in


@pytest.mark.parametrize(
    "line",
    [
        "# (rest of the code stays the same)",
        "# [rest of the class]",
        "# < rest of file >",
        "# --- rest of the code unchanged ---",
        "# === existing code ===",
        "# Rest of the code",
        "# Other methods",
        "# The rest of the functions remain as they are",
        "# all other methods stay as they were",
        "# rest of the code (unchanged)",
        "# (omitted for brevity)",
        "# same as original",
        "    # [unchanged]",
    ],
)
def test_a_comment_that_stands_for_code_is_seen(line: str) -> None:
    text = f"def f():\n    return 1\n\n{line}\n"
    assert placeholder_in(text) == line
    assert not placeholder_in(text, known=f"X = 1\n{line}\n")


@pytest.mark.parametrize(
    "line",
    [
        "# The rest of the line is a comment.",
        "# other files are read lazily",
        "# unchanged values are skipped",
        "# --- Other functions ---",
        "# Same as above, but for lists",
        "# (see above)",
        "# all other cases",
    ],
)
def test_a_comment_that_says_something_is_none(line: str) -> None:
    assert not placeholder_in(f"{line}\nX = 1\n")


def test_a_line_of_marks_is_read_at_once() -> None:
    start = time.perf_counter()
    assert not placeholder_in("\n".join("# " + marks * 90 + "other" for marks in ("-=~", "([<", "/* ")))
    assert time.perf_counter() - start < 0.5
