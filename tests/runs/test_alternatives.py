"""Several edits that pass: a person is told how many there are, and sees one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from runs.process import ACCEPT_ALL, Run, fix

TEST = "test_double.py::test_double"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One test that many small edits satisfy."""
    place = tmp_path / "project"
    place.mkdir()
    (place / "double.py").write_text("def double(number):\n    return number + 1\n")
    (place / "test_double.py").write_text(
        "from double import double\n\n\ndef test_double():\n    assert double(2) == 4\n"
    )
    return place


def proposals(run: Run) -> list[int]:
    """How many more each proposal spoke of."""
    return [int(event.get("alternatives", 0)) for event in run.of("proposal")]


def test_each_rejection_brings_the_next_until_as_many_as_were_said_have_come(folder: Path) -> None:
    reject = {"decision": "reject", "proposal": "*"}
    run = fix(folder, TEST, "--model", "builtin", "--max-steps", "40", said=(reject,))
    _, outcome = run.end()
    assert outcome["outcome"] == "rejected"
    told = proposals(run)
    assert len(told) > 1, "one test, many edits that pass"
    assert told == list(range(len(told) - 1, -1, -1))
    shown = [event["files"][0]["text"] for event in run.of("proposal")]
    assert len(set(shown)) == len(shown)


def test_a_fix_among_several_is_never_called_sure(folder: Path) -> None:
    run = fix(folder, TEST, "--model", "builtin", said=(ACCEPT_ALL,))
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (0, "fixed")
    first = run.of("proposal")[0]
    assert first["alternatives"] >= 1
    assert first["confidence"] != "high", "when others pass as well, nothing is sure"
