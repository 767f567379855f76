"""The loop with a search beside the model: what is offered, what is asked, what is told, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from regreen.agent.budget import Allowance, Budget
from regreen.agent.conversation import Reply, ToolCall
from regreen.agent.loop import Agent
from regreen.agent.prompt import opening
from regreen.agent.search import Found, Option
from regreen.agent.stops import Fixed, StepsUsedUp, Stop, Stuck
from regreen.errors import RegreenError
from unit.agent.played import EDIT, READ, Outcome, Played, Silence, World


def option(new: str, confidence: str = "low") -> Option:
    call = ToolCall("edit_file", {"path": "a.py", "find": "1", "replace": new})
    return Option((call,), f"1 becomes {new}.", confidence, f"a.py:1\n-1\n+{new}")


@dataclass
class Shop(World):
    """A world in which offers are settled as `offers` says: "fixed", "rejected" or "not shown"."""

    offers: list[str] = field(default_factory=list[str])
    offered: list[tuple[Option, str]] = field(default_factory=list[tuple[Option, str]])

    async def offer(self, option: Option, why: str) -> Outcome:
        self.offered.append((option, why))
        came = self.offers.pop(0)
        if came == "fixed":
            raise Fixed("It passes.")
        self.turned_down = came == "rejected"
        return Outcome(option.calls[0], f"The person rejected {option.why}", came == "rejected")


class Sought:
    """A search that has found what it is given."""

    def __init__(self, first: Found, *again: Found, broken: str = "") -> None:
        self.found = first
        self.later = list(again)
        self.broken = broken
        self.asked: list[str] = []

    async def first(self) -> Found:
        self.asked.append("first")
        return self.found

    async def ready(self) -> None:
        self.asked.append("ready")
        if self.broken:
            raise RegreenError(self.broken)

    async def again(self) -> Found:
        self.asked.append("again")
        return self.later.pop(0) if self.later else Found()


async def play(
    shop: Shop, search: Sought, *replies: Reply | str, steps: int = 6
) -> tuple[Stop, Agent, Played, list[dict[str, Any]]]:
    events: list[dict[str, Any]] = []
    model = Played(*replies)
    budget = Budget(Allowance(steps=steps))
    agent = Agent(model, shop, (), shop, budget, Silence(), lambda e: events.append(dict(e)), search=search)
    stop = await agent.run(opening("The test fails."))
    return stop, agent, model, events


def asked(model: Played, turn: int = 0) -> str:
    return model.requests[turn].messages[-1].content


async def test_a_sure_fix_is_proposed_and_no_model_is_asked() -> None:
    shop, search = Shop(offers=["fixed"]), Sought(Found((option("2", "high"), option("3"))))
    stop, _, model, events = await play(shop, search, "never asked")
    assert isinstance(stop, Fixed)
    assert model.requests == [] and search.asked == ["first"]
    assert shop.offered[0][0].calls[0].arguments["replace"] == "2"
    assert "no model asked" in shop.offered[0][1]
    assert [event["event"] for event in events] == []


async def test_a_rejected_sure_fix_is_told_to_the_model_and_not_asked_about_again() -> None:
    shop = Shop(offers=["rejected"], fixed_after=1)
    search = Sought(Found((option("2", "high"), option("3"))))
    await play(shop, search, Reply("", (EDIT,)))
    _, _, model, _ = await play(shop2 := Shop(offers=["rejected"]), search, "none", steps=1)
    assert search.asked[:2] == ["first", "ready"]
    told = asked(model)
    assert "The person rejected 1 becomes 2." in told
    assert "1. a.py:1\n-1\n+3" in told and "+2" not in told
    assert len(shop2.offered) == 1


async def test_a_sure_fix_that_does_not_hold_is_not_shown_and_the_run_goes_on() -> None:
    shop, search = Shop(offers=["not shown"]), Sought(Found((option("2", "high"),)))
    _, _, model, _ = await play(shop, search, "hm", steps=1)
    assert asked(model) == "The test fails."


@pytest.mark.parametrize("said", ["2", "Option 2", '{"choice": 2}'])
async def test_the_model_chooses_in_one_turn(said: str) -> None:
    shop, search = Shop(offers=["fixed"]), Sought(Found(tuple(option(new) for new in "2345678")))
    stop, _, model, events = await play(shop, search, said)
    assert isinstance(stop, Fixed)
    assert len(model.requests) == 1
    assert "5. a.py:1" in asked(model) and "6. a.py:1" not in asked(model)
    assert shop.offered[0][0].calls[0].arguments["replace"] == "3"
    assert "chosen by the model among 5" in shop.offered[0][1]
    assert [event["event"] for event in events] == ["step", "reply", "budget"]


async def test_the_model_refuses_and_goes_on_with_the_evidence_it_has() -> None:
    shop, search = Shop(fixed_after=1), Sought(Found((option("2"), option("3"))))
    stop, _, model, _ = await play(shop, search, "none", Reply("Because.", (EDIT,)))
    assert isinstance(stop, Fixed)
    assert shop.offered == []
    assert "yourself" in asked(model, 1)
    first, second = (request.messages for request in model.requests)
    assert second[: len(first)] == first


async def test_a_choice_that_the_person_rejects_is_told() -> None:
    shop, search = Shop(offers=["rejected"]), Sought(Found((option("2"), option("3"))))
    _, _, model, _ = await play(shop, search, "1", "hm", steps=2)
    assert "The person rejected 1 becomes 2." in asked(model, 1)
    assert "yourself" in asked(model, 1)


async def test_a_choice_by_the_same_call_is_carried_out_with_the_search_s_own_confidence() -> None:
    @dataclass
    class Heard(Shop):
        sure: list[str] = field(default_factory=list[str])

        async def carry_out(
            self, calls: Sequence[ToolCall], why: str, confidence: str = "", alternatives: int = 0
        ) -> list[Outcome]:
            self.sure += [why, confidence]
            return await super().carry_out(calls, why, confidence)

    shop = Heard(fixed_after=1)
    await play(shop, Sought(Found((option("3"), option("2", "medium")))), Reply("It is 2.", (EDIT,)))
    assert shop.sure == ["Quick search for small mistakes, chosen by the model among 2 edits that pass: 1 becomes 2.", "medium"]  # fmt: skip


async def test_another_edit_of_the_model_goes_first_and_the_best_option_is_offered_when_it_fails() -> None:
    shop = Shop(offers=["fixed"])
    own = ToolCall("edit_file", {"path": "a.py", "find": "1", "replace": "9"}, "c9")
    stop, _, _, _ = await play(shop, Sought(Found((option("2"), option("3", "medium")))), Reply("", (own,)))
    assert isinstance(stop, Fixed)
    assert [call.id for call in shop.carried] == ["c9"]
    assert shop.offered[0][0].calls[0].arguments["replace"] == "3"


async def test_an_answer_that_says_nothing_keeps_the_options_for_when_the_run_is_stuck() -> None:
    shop, search = Shop(offers=["fixed"]), Sought(Found((option("2"), option("3"))))
    stop, _, _, _ = await play(shop, search, "I would look at the cart.", "The same.", "The same.")
    assert isinstance(stop, Fixed)
    assert "again" not in search.asked
    assert shop.offered[0][0].calls[0].arguments["replace"] == "2"


async def test_what_the_model_refused_is_not_offered_later() -> None:
    shop, search = Shop(), Sought(Found((option("2", "medium"),)))
    own = ToolCall("edit_file", {"path": "a.py", "find": "1", "replace": "9"}, "c9")
    await play(shop, search, "none", Reply("", (own,)), "The same.", "The same.", steps=5)
    assert shop.offered == []


async def test_a_model_may_look_at_a_file_before_it_chooses() -> None:
    shop, search = Shop(offers=["fixed"]), Sought(Found((option("2"), option("3"))))
    stop, _, model, _ = await play(shop, search, Reply("Let me look.", (READ,)), "2")
    assert isinstance(stop, Fixed)
    assert len(model.requests) == 2
    assert shop.offered[0][0].calls[0].arguments["replace"] == "3"


async def test_a_mere_guess_is_not_offered_after_the_model_s_own_edit() -> None:
    shop = Shop()
    own = ToolCall("edit_file", {"path": "a.py", "find": "1", "replace": "9"}, "c9")
    await play(shop, Sought(Found((option("2"),))), Reply("", (own,)), steps=1)
    assert shop.offered == []


async def test_a_model_that_says_the_test_is_wrong_is_heard_instead() -> None:
    shop, search = Shop(), Sought(Found((option("2"),)))
    _, _, model, _ = await play(shop, search, "TEST LOOKS WRONG: line 3 says 5", "hm", steps=2)
    assert "quote the lines in conflict" in asked(model, 1)
    assert shop.offered == []


async def test_what_was_learned_goes_behind_the_evidence_and_the_prompt_only_grows() -> None:
    shop = Shop(fixed_after=2)
    _, _, model, _ = await play(shop, Sought(Found(told="Look at a.py:1.")), Reply("", (EDIT,)))
    assert asked(model) == "The test fails.\n\nLook at a.py:1."
    first, second = (request.messages for request in model.requests)
    assert second[: len(first)] == first


async def test_what_keeps_the_model_from_answering_ends_the_run_before_it_is_asked() -> None:
    shop, search = Shop(), Sought(Found(), broken="The server is gone.")
    with pytest.raises(RegreenError, match="gone"):
        await play(shop, search, "hm")


async def test_going_in_circles_brings_the_search_and_its_fix_ends_the_run() -> None:
    shop = Shop(offers=["not shown", "fixed"])
    search = Sought(Found(), Found((option("2"), option("3"))))
    stop, _, model, _ = await play(shop, search, "The same words.")
    assert isinstance(stop, Fixed)
    assert search.asked == ["first", "ready", "again"]
    assert [o.calls[0].arguments["replace"] for o, _ in shop.offered] == ["2", "3"]
    assert len(model.requests) == 2


async def test_a_search_that_finds_nothing_then_adds_what_it_learned_and_the_run_still_ends() -> None:
    shop, search = Shop(), Sought(Found(), Found(told="Look at b.py:7."))
    stop, _, model, _ = await play(shop, search, "The same words.")
    assert isinstance(stop, Stuck)
    assert "Look at b.py:7." in asked(model, 2)
    assert search.asked.count("again") == 1


async def test_the_steps_count_the_model_s_turns_only() -> None:
    shop = Shop(offers=["not shown", "not shown"])
    stop, _, model, _ = await play(shop, Sought(Found((option("2", "high"), option("3")))), "1", "x", steps=2)
    assert isinstance(stop, StepsUsedUp)
    assert len(model.requests) == 2
