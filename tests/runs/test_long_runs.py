"""Runs that outgrow the model's room, over the wire."""

from __future__ import annotations

from pathlib import Path

import pytest

from runs.process import TWO_PART, fix, passes
from scripted.fixtures import StartScripted


@pytest.mark.parametrize("wire", ["ollama", "openai"])
def test_a_full_context_is_emptied_aloud_and_the_run_goes_on(
    toy_shop: Path, scripted: StartScripted, wire: str
) -> None:
    server = scripted("short_room")
    url = server.url if wire == "ollama" else f"{server.url}/v1"
    alone = ("--search", "off", "--approval", "never")
    run = fix(toy_shop, TWO_PART, "--model", f"{wire}:qwen2.5:3b", "--base-url", url, *alone, said=())
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (0, "fixed")
    told = [note["text"] for note in run.of("note") if "were cut" in note["text"]]
    assert 1 <= len(told) <= 2
    assert [turn.ended for turn in server.turns].count("refused") == 1
    last = server.turns[-1].body["messages"]
    assert any(m["content"].startswith("[cut to make room: what read_file shop/cart.py") for m in last)
    assert last[1] == server.turns[0].body["messages"][1]
    assert passes(toy_shop, "tests/test_cart.py")


def test_a_first_prompt_that_is_too_long_ends_the_run_with_words_that_help(
    toy_shop: Path, scripted: StartScripted
) -> None:
    server = scripted("short_context")
    alone = ("--search", "off", "--approval", "never")
    model = ("--model", "ollama:qwen2.5:3b", "--base-url", server.url)
    code, outcome = fix(toy_shop, TWO_PART, *model, *alone).end()
    assert (code, outcome["outcome"]) == (3, "setup_problem")
    assert "choose a smaller target, or a model with a larger context" in outcome["summary"]
