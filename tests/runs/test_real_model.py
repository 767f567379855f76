"""A real, weak model behind a real server: `regreen fix` ends kindly, says what is true, and writes nothing unasked."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import real_model
from regreen.models import probe
from regreen.models.openai import OpenAIModel
from regreen.tools import menu
from runs.process import TWO_PART, Run, contents, fix, passes
from scripted.talk import SYSTEM, Chat, Ear

pytestmark = pytest.mark.timeout(900)  # a turn takes seconds on a quiet machine, and minutes on a busy one


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    if real_model.model_file() is None:
        pytest.skip("no real model: xllamacpp has no wheel for this platform")
    with real_model.serving() as address:
        yield address


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("REGREEN_CACHE_DIR", str(folder))
    return folder


def play(folder: Path, url: str, *options: str) -> tuple[Run, dict[str, Any], list[dict[str, Any]]]:
    """A run to its end, with nobody there to approve anything: the run, its outcome, and the replies in its trace."""
    model = ("--model", f"openai:{real_model.NAME}", "--base-url", url, "--search", "off")
    before = contents(folder)
    run = fix(folder, TWO_PART, *model, *options, said=())
    code, outcome = run.end(timeout=800)
    assert contents(folder) == before
    assert (outcome["edits"], run.of("decision")) == ([], []) or run.of("proposal")
    assert code == (4 if run.of("proposal") else 1), outcome
    assert not passes(folder, TWO_PART)
    trace = [json.loads(line) for line in Path(outcome["trace"]).read_text().splitlines()]
    return run, outcome, [event for event in trace if event["event"] == "reply"]


def assert_kind_and_true(outcome: dict[str, Any]) -> None:
    """The summary claims nothing, says where it stands, and what to do next."""
    assert outcome["outcome"] in ("budget", "stuck")
    first, *rest = outcome["summary"].splitlines()
    assert first.startswith("Not fixed")
    assert "Where it stands: AssertionError: assert 300 == 400" in rest
    assert "No file was changed." in rest
    assert "a smaller task" in rest[-1]
    assert outcome["verdict"] is None or outcome["verdict"]["target"] != "passed"


def test_a_weak_model_that_talks_ends_by_the_budget_or_gets_stuck(
    toy_shop: Path, cache: Path, url: str
) -> None:
    real_model.remember(cache, url, "text")
    run, outcome, replies = play(toy_shop, url, "--max-steps", "2", "--max-tokens", "2500")
    assert_kind_and_true(outcome)
    assert 1 <= outcome["steps"] <= 2
    assert not any("tells no token counts" in note["text"] for note in run.of("note"))
    assert sum(reply["usage"]["cached"] for reply in replies) == outcome["tokens"]["cached"]
    assert all(0 < reply["usage"]["generated"] <= 1024 for reply in replies)
    assert all(reply["speed"]["written_per_second"] > 0 for reply in replies), "cut replies are counted too"


def test_a_weak_model_held_to_a_schema_makes_calls_and_gets_nowhere_and_its_server_measures_it(
    toy_shop: Path, cache: Path, url: str
) -> None:
    real_model.remember(cache, url, "constrained")
    run, outcome, replies = play(toy_shop, url, "--max-steps", "3")
    assert_kind_and_true(outcome)
    assert [reply["n"] for reply in replies] == list(range(1, outcome["steps"] + 1))
    assert all(reply["calls"] or reply["corrective"] for reply in replies)
    assert len(run.of("call")) == sum(len(reply["calls"]) for reply in replies)
    told = [reply for reply in replies if reply.get("speed")]
    assert told, replies
    for reply in told:
        assert reply["speed"]["cached"] + reply["speed"]["read"] == reply["usage"]["prompt"]
        assert reply["speed"]["cached"] == reply["usage"]["cached"]
        assert reply["speed"]["written_per_second"] > 0
    assert told[0]["usage"]["cached"] > 0, "the start of the prompt was read while the first test ran"
    for before, after in itertools.pairwise(replies):
        assert after["usage"]["cached"] >= 0.9 * before["usage"]["prompt"]
    assert outcome["tokens"]["prompt"] == sum(reply["usage"]["prompt"] for reply in replies)
    assert outcome["tokens"]["cached"] == sum(reply["usage"]["cached"] for reply in replies)


async def test_held_to_a_schema_every_turn_is_one_call_of_a_tool(cache: Path, url: str) -> None:
    real_model.remember(cache, url, "constrained")
    model = OpenAIModel(real_model.NAME, url, cache=cache)
    chat = Chat(model)
    known = {tool.name: set(tool.parameters.get("required", ())) for tool in chat.tools}
    for attempt in range(2):
        reply = await chat.ask(attempt=attempt)
        assert model.mode == "constrained"
        if reply.finish == "stop":  # else it came to the limit of a reply within an argument
            call = (
                json.loads(reply.raw)
                if reply.corrective
                else {"name": reply.calls[0].name, "arguments": reply.calls[0].arguments}
            )
            assert known[call["name"]] <= set(call["arguments"])
    await model.aclose()


async def test_a_real_model_is_asked_once_how_it_calls_tools(cache: Path, url: str) -> None:
    notes: list[str] = []
    for _ in range(2):
        model = OpenAIModel(real_model.NAME, url, notes=notes.append, cache=cache)
        await model.warm((SYSTEM,), menu.FIX, Ear())
        await model.aclose()
    [known] = probe.remembered(cache)
    assert notes == [f"{real_model.NAME}: {known.finding.words}."]
    assert known.finding.known
