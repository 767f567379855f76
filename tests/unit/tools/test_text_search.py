"""A model may search with any pattern; none of them holds up the run."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import pytest

from regreen.tools.text_search import PATIENCE_SECONDS, TooSlow, matching_lines

FILES = [
    ("a.py", ["def total(prices):", "    return sum(prices)"]),
    ("b.py", ["import a", "print(a.total([1]))"]),
]


@pytest.mark.parametrize(
    ("pattern", "places"),
    [
        ("total", [("a.py", 1), ("b.py", 2)]),
        (r"^def \w+\(", [("a.py", 1)]),
        ("total([1]", [("b.py", 2)]),
        ("(" * 5000, []),
        ("nowhere", []),
    ],
)
def test_lines_that_match_or_hold_the_text_of_a_broken_pattern(
    pattern: str, places: list[tuple[str, int]]
) -> None:
    assert [(path, number) for path, number, _ in matching_lines(pattern, FILES)] == places


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|aa)+b", r"^(\w*\s?)*;$"])
def test_a_pattern_that_never_ends_is_given_up_with_a_word_on_what_to_do(pattern: str) -> None:
    begun = time.monotonic()
    with pytest.raises(TooSlow, match="Search for a plain word"):
        matching_lines(pattern, [("data.py", ["a" * 200 + "!"] * 50)])
    assert time.monotonic() - begun < 20 * PATIENCE_SECONDS
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_reading_slowly_is_not_matching_slowly() -> None:
    def slow() -> Iterator[tuple[str, list[str]]]:
        for n in range(3):
            time.sleep(PATIENCE_SECONDS / 2)
            yield f"{n}.py", ["wanted"]

    assert len(matching_lines("wanted", slow())) == 3
