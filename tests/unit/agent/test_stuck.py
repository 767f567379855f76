"""Going in circles is seen soon; honest work is not mistaken for it."""

from __future__ import annotations

import pytest

from regreen.agent.conversation import ToolCall
from regreen.agent.stops import Stuck
from regreen.agent.stuck import State, StuckDetector, calls_key


def steps_until_stuck(cycle: str, limit: int = 20) -> int:
    """How many steps of a repeated pattern pass before the run ends; each letter is one kind of step."""
    detector = StuckDetector()
    for n in range(limit):
        letter = cycle[n % len(cycle)]
        try:
            detector.observe(State(letter, f"files {letter}", f"failure {letter}"), edited=True)
        except Stuck:
            return n + 1
    return limit


@pytest.mark.parametrize("cycle", ["A", "AB", "ABC", "ABCD"])
def test_a_loop_ends_within_four_steps_after_its_first_repetition(cycle: str) -> None:
    first_repetition = 2 * len(cycle)
    assert first_repetition < steps_until_stuck(cycle) <= first_repetition + 4


def test_one_change_of_strategy_is_asked_for_before_the_end() -> None:
    detector = StuckDetector()
    state = State("edit", "files", "failure")
    assert detector.observe(state, edited=True) is False
    assert detector.observe(state, edited=True) is True
    with pytest.raises(Stuck, match="the same step again"):
        detector.observe(state, edited=True)


def test_the_same_failure_under_many_different_edits_is_no_progress() -> None:
    detector = StuckDetector()
    asked = [detector.observe(State(f"edit {n}", f"files {n}", "same"), edited=True) for n in range(5)]
    assert asked == [False, False, False, False, True]


def test_different_edits_that_move_the_failure_are_progress() -> None:
    detector = StuckDetector()
    for n in range(12):
        assert detector.observe(State(f"edit {n}", f"files {n}", f"failure {n}"), edited=True) is False


def test_reading_several_files_is_not_a_loop() -> None:
    detector = StuckDetector()
    for n in range(8):
        assert detector.observe(State(f"read {n}", "files", "failure"), edited=False) is False


def _reads(n: int, path: str = "cart.py") -> State:
    key = calls_key([ToolCall("read_file", {"path": path, "start_line": n, "end_line": n + 9})])
    return State(key, "files", "failure")


def test_a_call_that_only_counts_on_is_a_loop() -> None:
    detector = StuckDetector()
    assert [detector.observe(_reads(10 * n), edited=False) for n in range(5)] == [False] * 4 + [True]
    with pytest.raises(Stuck, match="the same call 5 times, with another number"):
        for n in range(5, 10):
            detector.observe(_reads(10 * n), edited=False)


def test_reading_a_long_file_in_pieces_and_then_others_is_no_loop() -> None:
    detector = StuckDetector()
    for n in range(4):
        assert detector.observe(_reads(10 * n), edited=False) is False
    for n in range(8):
        assert detector.observe(_reads(1, f"part_{n}.py"), edited=False) is False


def test_paths_and_white_space_are_spelled_one_way() -> None:
    plain = calls_key([ToolCall("edit_file", {"path": "a/b.py", "find": "x = 1", "replace": "x = 2"})])
    odd = calls_key([ToolCall("edit_file", {"replace": "x =  2", "find": "x = 1 ", "path": "./a\\b.py"})])
    assert plain == odd
    other = calls_key([ToolCall("edit_file", {"path": "a/b.py", "find": "x = 1", "replace": "x = 3"})])
    assert plain != other
