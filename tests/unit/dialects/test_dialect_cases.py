"""Replies as models send them, one per line of the .jsonl files here: what is read out of each."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from regreen.models.dialects.lines import read_lines
from regreen.models.dialects.reply import read_unguarded
from regreen.tools.menu import ALL

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[2]
# These say in their own words that only the files or the history of a run can decide.
NEED_A_RUN = {"m109", "m127", "m133", "m139", "m173", "m183", "m185"}


def shared_cases() -> Path | None:
    """The acceptance cases, where they are at hand: REGREEN_CASES names their folder, or it lies beside the repository."""
    for folder in (os.environ.get("REGREEN_CASES"), REPOSITORY.parent / "shared" / "cases"):
        if folder and (Path(folder) / "malformed.jsonl").is_file():
            return Path(folder) / "malformed.jsonl"
    return None


def cases(*paths: Path) -> list[Any]:
    return list(_cases(*paths))


def _cases(*paths: Path) -> Iterator[Any]:
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            yield pytest.param(case, id=f"{path.stem}-{case['id']}-{case['kind'].replace(' ', '_')}")


def calls_of(reading: Any) -> list[dict[str, Any]]:
    return [{"name": call.name, "arguments": dict(call.arguments)} for call in reading.calls]


@pytest.mark.parametrize("case", cases(*sorted(HERE.glob("*.jsonl"))))
def test_a_reply_is_read_as_what_it_means(case: dict[str, Any]) -> None:
    reading = read_unguarded(
        case["message"], ALL, case.get("files", {}), case["wire"], not case.get("unlocked", False)
    )
    expected = case["expect"]
    if "calls" in expected:
        assert calls_of(reading) == expected["calls"], reading.corrective
        assert reading.corrective == ""
    else:
        assert reading.calls == ()
        assert reading.reason
        missing = [part for part in expected["corrective"] if part not in reading.corrective]
        assert not missing, f"{missing} not in: {reading.corrective}"


shared = shared_cases()
DECIDED_BY_THE_REPLY = [
    case for case in (cases(shared) if shared else []) if case.values[0]["id"] not in NEED_A_RUN
]


def check_acceptance(case: dict[str, Any]) -> None:
    line = {key: case[key] for key in ("id", "wire", "message")}
    sink = io.StringIO()
    read_lines(io.StringIO(json.dumps(line) + "\n"), sink)
    answer = json.loads(sink.getvalue())
    expected = case["expect"]
    assert answer["id"] == case["id"]
    if "calls" in expected:
        assert answer.get("calls") == expected["calls"], answer
    else:
        assert "calls" not in answer
        assert answer["corrective"]


if DECIDED_BY_THE_REPLY:

    @pytest.mark.parametrize("case", DECIDED_BY_THE_REPLY)
    def test_an_acceptance_case_is_answered_as_it_expects(case: dict[str, Any]) -> None:
        check_acceptance(case)


CORRECTIVES = [
    case for case in cases(*sorted(HERE.glob("*.jsonl"))) if "corrective" in case.values[0]["expect"]
]


@pytest.mark.parametrize("case", CORRECTIVES)
def test_a_corrective_ends_with_one_whole_call(case: dict[str, Any]) -> None:
    reading = read_unguarded(case["message"], ALL, case.get("files", {}), case["wire"], True)
    if reading.reason in ("server", "repeats") and "for example" not in reading.corrective:
        return  # the server failed: the turn is asked again, the model has nothing to correct
    last = reading.corrective.rsplit("\n", 1)[-1]
    example = json.loads(last)
    spec = {tool.name: tool for tool in ALL}[example["name"]]
    assert set(spec.parameters["required"]) <= set(example["arguments"])
    assert not any(
        "path/to" in str(value) or str(value)[:1] == "<" for value in example["arguments"].values()
    )
    # the example itself must be a call that runs
    again = read_unguarded(
        {"role": "assistant", "content": last}, ALL, case.get("files", {}), "ollama", False
    )
    assert again.calls or again.reason in ("no_op", "not_found", "several_places"), again.corrective
