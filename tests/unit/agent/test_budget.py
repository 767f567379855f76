"""The budget: what is charged, what is not, and how it ends a run."""

from __future__ import annotations

import asyncio

import pytest

from regreen.agent.budget import Allowance, Budget, Clock
from regreen.agent.conversation import Usage
from regreen.agent.stops import SecondsUsedUp, StepsUsedUp, TokensUsedUp


class Hands:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


def test_steps_are_counted_and_then_used_up() -> None:
    budget = Budget(Allowance(steps=2))
    assert [budget.begin_step(), budget.begin_step()] == [1, 2]
    with pytest.raises(StepsUsedUp, match="All 2 steps are used up"):
        budget.begin_step()


def test_cached_prompt_tokens_cost_nothing() -> None:
    budget = Budget(Allowance(tokens=1_000))
    budget.charge(Usage(prompt=700, cached=0, generated=50))
    budget.charge(Usage(prompt=800, cached=750, generated=40))
    assert budget.tokens == 700 + 50 + 50 + 40
    budget.check()
    budget.charge(Usage(prompt=900, cached=700, generated=0))
    with pytest.raises(TokensUsedUp, match="1,000 tokens"):
        budget.begin_step()


def test_the_clock_stands_while_a_person_decides_and_while_a_model_loads() -> None:
    hands = Hands()
    budget = Budget(Allowance(seconds=10), Clock(hands))
    with budget.clock.spend("model"):
        hands.time += 3
        with budget.clock.spend("loading"):
            hands.time += 60
        hands.time += 2
    with budget.clock.spend("person"):
        hands.time += 600
    with budget.clock.spend("tests"):
        hands.time += 4
    assert budget.clock.charged == 9
    assert budget.clock.spent("person") == 600
    budget.check()
    with budget.clock.spend("tests"):
        hands.time += 1
    with pytest.raises(SecondsUsedUp):
        budget.check()


def test_a_run_may_be_extended() -> None:
    budget = Budget(Allowance(steps=1))
    budget.begin_step()
    budget.extend(steps=2)
    assert [budget.begin_step(), budget.begin_step()] == [2, 3]
    with pytest.raises(StepsUsedUp, match="All 3 steps"):
        budget.begin_step()


async def test_a_reply_that_never_ends_is_cancelled_when_the_seconds_are_used_up() -> None:
    hands = Hands()
    budget = Budget(Allowance(seconds=5), Clock(hands))
    ended = asyncio.Event()

    async def never() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    budget.clock.enter("model")
    asyncio.get_running_loop().call_later(0.05, setattr, hands, "time", 106.0)
    with pytest.raises(SecondsUsedUp):
        await budget.within(never(), every=0.02)
    assert ended.is_set()


async def test_work_within_the_budget_gives_its_result_and_its_error() -> None:
    budget = Budget(Allowance())

    async def well() -> int:
        return 7

    async def badly() -> int:
        raise ValueError("no")

    assert await budget.within(well()) == 7
    with pytest.raises(ValueError, match="no"):
        await budget.within(badly())
