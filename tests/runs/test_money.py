"""A run against a server that costs money, as a process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from regreen.cli import main
from runs.process import TWO_PART, contents, fix
from scripted import POLICIES
from scripted.fixtures import StartScripted
from scripted.policies import Policy, endless, new_words

PRICING = {"prompt": "0.0000025", "completion": "0.00001"}


@pytest.mark.parametrize(("options", "limit", "steps"), [((), 1.0, 3), (("--max-cost", "0.5"), 0.5, 2)])
def test_a_run_ends_when_its_money_is_used_up(
    toy_shop: Path, scripted: StartScripted, options: tuple[str, ...], limit: float, steps: int
) -> None:
    server = scripted(Policy(POLICIES["fumbles"].decide, pricing=PRICING, cost=0.4))
    before = contents(toy_shop)
    model = ("--model", "openai:qwen2.5:3b", "--base-url", f"{server.url}/v1", "--search", "off")
    run = fix(toy_shop, TWO_PART, "--approval", "never", *model, *options, said=())
    code, outcome = run.end()
    assert (code, outcome["outcome"], outcome["steps"]) == (1, "budget", steps), outcome["summary"]
    assert len(server.turns) == steps
    assert outcome["cost"] == pytest.approx(0.4 * steps)
    assert run.of("budget")[-1]["cost"] == outcome["cost"]
    assert run.of("budget")[-1]["max_cost"] == limit
    assert f"${limit:.2f} of model costs are used up" in outcome["summary"]
    assert "(--max-cost)" in outcome["summary"]
    assert any(f"the run ends at ${limit:.2f}" in note["text"] for note in run.of("note"))
    replies = [json.loads(line) for line in Path(outcome["trace"]).read_text().splitlines()]
    assert [event["usage"]["cost"] for event in replies if event["event"] == "reply"] == [0.4] * steps
    assert contents(toy_shop) == before


@pytest.mark.parametrize("amount", ["0", "-1", "much", "nan", "inf"])
def test_an_amount_that_is_none_is_wrong_usage(amount: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", TWO_PART, "--model", "builtin", f"--max-cost={amount}"]) == 2
    assert "is not an amount in US dollars above 0" in capsys.readouterr().err


def test_a_run_whose_next_prompt_costs_too_much_ends_without_a_request(
    toy_shop: Path, scripted: StartScripted
) -> None:
    server = scripted(Policy(POLICIES["twopart"].decide, pricing=PRICING))
    model = ("--model", "openai:qwen2.5:3b", "--base-url", f"{server.url}/v1", "--search", "off")
    code, outcome = fix(toy_shop, TWO_PART, *model, "--max-cost", "0.0002").end()
    assert (code, outcome["outcome"]) == (1, "budget"), outcome["summary"]
    assert "the next turn's prompt alone costs" in outcome["summary"]
    assert "more money (--max-cost)" in outcome["summary"]
    assert server.turns == []


def test_a_stream_without_end_ends_with_the_money(toy_shop: Path, scripted: StartScripted) -> None:
    server = scripted(Policy(endless(new_words), pricing=PRICING))
    model = ("--model", "openai:qwen2.5:3b", "--base-url", f"{server.url}/v1", "--search", "off")
    code, outcome = fix(toy_shop, TWO_PART, *model, "--max-cost", "0.01").end()
    assert (code, outcome["outcome"], outcome["steps"]) == (1, "budget", 1), outcome["summary"]
    assert "All $0.01 of model costs are used up" in outcome["summary"]
    assert 0.01 <= outcome["cost"] < 0.012
