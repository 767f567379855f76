"""What a run costs: told by the server or counted from its prices, shown, and limited."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from regreen.agent.budget import Allowance, Budget
from regreen.agent.conversation import Usage
from regreen.agent.model import TooDear
from regreen.agent.stops import MoneyUsedUp, dollars
from regreen.models.openai import LEAST_REPLY, OpenAIModel
from regreen.models.prices import Price, entry_of, price_of, told_cost
from scripted import POLICIES, ScriptedServer
from scripted.fixtures import StartScripted
from scripted.policies import Policy, endless, new_words
from scripted.talk import Chat

PRICING = {"prompt": "0.0000025", "completion": "0.00001", "input_cache_read": "0.00000125", "request": "0"}
Talk = Callable[..., Awaitable[tuple[ScriptedServer, Chat, list[str]]]]


@pytest.fixture
async def talk(scripted: StartScripted) -> AsyncIterator[Talk]:
    models: list[OpenAIModel] = []

    async def start(max_cost: float | None = 5.0, **policy: Any) -> tuple[ScriptedServer, Chat, list[str]]:
        server = scripted(Policy(POLICIES["twopart"].decide, **policy))
        told: list[str] = []
        models.append(
            OpenAIModel("qwen2.5:3b", f"{server.url}/v1", notes=told.append, patience=0.01, max_cost=max_cost)
        )
        return server, Chat(models[-1]), told

    yield start
    for model in models:
        await model.aclose()


async def test_what_the_server_says_a_reply_cost_counts(talk: Talk) -> None:
    server, chat, told = await talk(pricing=PRICING, cost=0.0125)
    reply = await chat.ask()
    assert reply.usage.cost == 0.0125
    assert server.turns[0].body["usage"] == {"include": True}
    assert told == [
        "qwen2.5:3b costs $2.50 for a million prompt tokens and $10.00 for a million generated ones; the run ends at "
        "$5.00 (--max-cost)."
    ]


async def test_else_the_cost_is_counted_from_the_price(talk: Talk) -> None:
    _, chat, _ = await talk(pricing=PRICING)
    chat.answer(await chat.ask(), "E   assert 350 == 400")
    usage = (await chat.ask()).usage
    new = usage.prompt - usage.cached
    assert usage.cached > 0
    assert usage.cost == pytest.approx(new * 2.5e-6 + usage.cached * 1.25e-6 + usage.generated * 1e-5)


async def test_a_limit_that_cannot_be_kept_is_said_once(talk: Talk) -> None:
    server, chat, told = await talk()
    for _ in range(2):
        reply = await chat.ask()
        assert reply.usage.cost is None
    assert [text for text in told if "tells no price" in text] == told
    assert len(told) == 1
    assert "the limit of $5 cannot be kept" in told[0]
    assert "usage" not in server.turns[0].body


async def test_nobody_who_set_no_limit_hears_of_prices_that_are_not_told(talk: Talk) -> None:
    _, chat, told = await talk(max_cost=None)
    await chat.ask()
    assert told == []


async def test_who_pays_somebody_else_hears_once_that_no_price_is_told(scripted: StartScripted) -> None:
    server = scripted("twopart")
    told: list[str] = []
    url = server.url.replace("127.0.0.1", "127.1")  # reaches this machine, but does not look so
    model = OpenAIModel("qwen2.5:3b", f"{url}/v1", notes=told.append)
    assert not model.local
    await model.warm((), (), Chat(model).ear)
    assert [text.partition(", so ")[2] for text in told] == [
        "what this run costs is not known: steps, tokens and seconds still end the run."
    ]
    await Chat(model).ask()
    assert len(told) == 1
    await model.aclose()


async def test_no_more_is_asked_for_than_can_be_paid(talk: Talk) -> None:
    server, chat, _ = await talk(pricing=PRICING)
    first = await chat.ask(cost_left=1.0)
    assert server.turns[0].body["max_tokens"] == 1024
    chat.answer(first, "E   assert 350 == 400")
    await chat.ask(cost_left=0.005)
    asked = server.turns[1].body["max_tokens"]
    assert LEAST_REPLY <= asked < 500
    reply = await chat.ask(cost_left=0.005)
    assert 0.004 < reply.usage.prompt * 2.5e-6 + asked * 1e-5 < 0.0055


@pytest.mark.parametrize("limit", [0.0045, 0.01, 0.02])
async def test_a_server_that_goes_on_and_on_is_left_when_its_words_cost_what_is_left(
    scripted: StartScripted, limit: float
) -> None:
    server = scripted(Policy(endless(new_words), pricing=PRICING))
    model = OpenAIModel("qwen2.5:3b", f"{server.url}/v1", max_cost=limit)
    chat = Chat(model)
    reply = await chat.ask(cost_left=limit)
    assert reply.finish == "cut" and reply.usage.cost is not None
    assert limit <= reply.usage.cost < limit + 0.002
    words = len("".join(chat.ear.heard))
    assert words / 4 * 1e-5 < limit, "most of the money went into words, and no more than there was"
    budget = Budget(Allowance(cost=limit))
    budget.charge(reply.usage)
    with pytest.raises(MoneyUsedUp):
        budget.check()
    await model.aclose()


async def test_nothing_is_sent_where_the_prompt_alone_costs_too_much(talk: Talk) -> None:
    server, chat, _ = await talk(pricing=PRICING)
    with pytest.raises(TooDear) as refused:
        await chat.ask(cost_left=0.0005)
    assert server.turns == []
    stop = Budget(Allowance(cost=0.0005)).too_dear(refused.value.cost)
    assert str(stop).startswith(
        "Of $0.0005 for model costs $0.0005 is left, and the next turn's prompt alone"
    )


async def test_what_costs_nothing_has_no_such_limit(talk: Talk) -> None:
    server, chat, _ = await talk(pricing={"prompt": "0", "completion": "0"})
    assert (await chat.ask(cost_left=0.0)).calls
    assert server.turns[0].body["max_tokens"] == 1024


@pytest.mark.parametrize(
    ("pricing", "price"),
    [
        (PRICING, Price(2.5e-6, 1.25e-6, 1e-5)),
        ({"prompt": "0", "completion": "0"}, Price(0, 0, 0)),
        ({"input": "0.00000025", "output": "0.000002"}, Price(2.5e-7, 2.5e-7, 2e-6)),
        (
            {"prompt": "0.000001", "completion": "0.000002", "request": "0.005"},
            Price(1e-6, 1e-6, 2e-6, 0.005),
        ),
        ({"prompt": "-1", "completion": "-1"}, None),
        ({"input": 0.3, "output": 0.3, "hourly": 0}, None),
        ({"prompt": "cheap", "completion": "0"}, None),
        ({"prompt": "0.000001"}, None),
        (None, None),
        ("free", None),
    ],
)
def test_a_price_is_one_only_when_its_unit_is_certain(pricing: Any, price: Price | None) -> None:
    assert price_of({"id": "x", "pricing": pricing}) == price


def test_the_entry_of_a_model_is_its_own_or_the_only_one() -> None:
    two = [{"id": "a"}, {"id": "b"}]
    assert entry_of(two, "b") == {"id": "b"}
    assert entry_of(two, "c") is None
    assert entry_of([{"id": "/models/x.gguf"}], "c") == {"id": "/models/x.gguf"}
    assert entry_of([], "c") is None


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({"cost": 0.002}, 0.002),
        ({"cost": 0}, 0.0),
        ({"cost": 0.001, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.02}}, 0.021),
        ({"cost": 0.001, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.02}}, 0.001),
        ({"cost": None}, None),
        ({"cost": "0.1"}, None),
        ({"cost": -1}, None),
        ({}, None),
    ],
)
def test_the_cost_that_a_server_tells(usage: dict[str, Any], cost: float | None) -> None:
    assert told_cost(usage) == (None if cost is None else pytest.approx(cost))


def test_a_run_ends_before_the_next_request_once_its_money_is_used_up() -> None:
    budget = Budget(Allowance(cost=0.02))
    budget.begin_step()
    budget.charge(Usage(1000, 0, 10, 0.019))
    budget.begin_step()
    budget.charge(Usage(1000, 900, 10, 0.002))
    assert budget.to_json()["cost"] == 0.021
    with pytest.raises(MoneyUsedUp, match=r"All \$0\.02 of model costs are used up"):
        budget.begin_step()


def test_where_anything_costs_there_is_a_limit_though_nobody_set_one() -> None:
    budget = Budget(Allowance())
    assert "cost" not in budget.to_json()
    budget.charge(Usage(10, 0, 1, 0.0))
    assert (budget.to_json()["cost"], budget.max_cost) == (0.0, None)
    budget.charge(Usage(10, 0, 1, 0.5))
    assert budget.to_json()["max_cost"] == 1.0
    budget.charge(Usage(10, 0, 1, 0.5))
    with pytest.raises(MoneyUsedUp):
        budget.check()


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (0, "$0.00"),
        (1.5, "$1.50"),
        (0.1, "$0.10"),
        (0.0421, "$0.042"),
        (0.00042, "$0.00042"),
        (0.00001, "<$0.0001"),
    ],
)
def test_an_amount_in_words(amount: float, words: str) -> None:
    assert dollars(amount) == words
