"""Files that decide how the project is built or checked are shown and asked about in every mode, and marked as such."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runs.process import ACCEPT_ALL, fix

TEST = "test_tasks.py::test_add"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The bug is in a file of tasks, which people run by name."""
    place = tmp_path / "project"
    place.mkdir()
    (place / "tasks.py").write_text("def add(a, b):\n    return a - b\n")
    (place / "test_tasks.py").write_text(
        "from tasks import add\n\n\ndef test_add():\n    assert add(2, 2) == 4\n"
    )
    return place


@pytest.fixture
def recorded(tmp_path: Path) -> str:
    """A model that mends it at once."""
    edit = {"path": "tasks.py", "find": "return a - b", "replace": "return a + b"}
    reply = {
        "event": "reply",
        "n": 1,
        "text": "It must add.",
        "calls": [{"name": "edit_file", "arguments": edit}],
    }
    trace = tmp_path / "trace.jsonl"
    started = {"event": "started", "target": TEST, "model": "recorded"}
    trace.write_text("".join(json.dumps(event) + "\n" for event in (started, reply)))
    return f"replay:{trace}"


@pytest.mark.parametrize("approval", ["everyEdit", "whenGreen", "never"])
def test_the_proposal_says_which_files_are_asked_about(folder: Path, recorded: str, approval: str) -> None:
    run = fix(folder, TEST, "--model", recorded, "--approval", approval, said=(ACCEPT_ALL,))
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (0, "fixed")
    (proposal,) = run.of("proposal")
    assert proposal["asks"] == ["tasks.py"]
    assert "a + b" in (folder / "tasks.py").read_text()


def test_nobody_there_to_ask_means_nothing_is_written(folder: Path, recorded: str) -> None:
    run = fix(folder, TEST, "--model", recorded, "--approval", "never", said=())
    code, outcome = run.end()
    assert outcome["outcome"] == "rejected" and code == 4
    assert "a - b" in (folder / "tasks.py").read_text()
