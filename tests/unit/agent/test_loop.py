"""The loop with a model that plays written replies: every way to go on and every way to end."""

from __future__ import annotations

from typing import Any

from regreen.agent.budget import Allowance, Budget
from regreen.agent.conversation import Message, Reply, ToolCall, Usage
from regreen.agent.loop import Agent
from regreen.agent.prompt import claims_done, first_sentence, opening
from regreen.agent.stops import Fixed, Rejected, StepsUsedUp, Stop, Stuck, TestLooksWrong, TokensUsedUp
from unit.agent.played import EDIT, FAILURE, READ, Played, Silence, World


async def play(
    world: World, *replies: Reply | str, allowance: Allowance | None = None
) -> tuple[Stop, Agent, Played, list[dict[str, Any]]]:
    events: list[dict[str, Any]] = []
    model = Played(*replies)
    budget = Budget(allowance or Allowance())
    agent = Agent(model, world, (), world, budget, Silence(), lambda event: events.append(dict(event)))
    stop = await agent.run(opening("The test fails."))
    return stop, agent, model, events


def calling(*calls: ToolCall, text: str = "") -> Reply:
    return Reply(text, calls)


async def test_a_fix_ends_the_run() -> None:
    stop, _, model, events = await play(World(fixed_after=1), calling(EDIT))
    assert isinstance(stop, Fixed)
    assert len(model.requests) == 1
    assert [event["event"] for event in events] == ["step", "reply", "budget"]


async def test_all_calls_of_a_reply_are_carried_out_in_order_each_with_its_own_result() -> None:
    world = World(fixed_after=2)
    _, agent, _, _ = await play(world, calling(READ, EDIT, READ), calling(EDIT))
    assert [call.name for call in world.carried[:3]] == ["read_file", "edit_file", "read_file"]
    results = [message for message in agent.messages if message.role == "tool"]
    assert [(message.call_id, message.tool_name) for message in results] == [
        ("c2", "read_file"),
        ("c1", "edit_file"),
        ("c2", "read_file"),
    ]


async def test_the_conversation_only_grows_at_its_end() -> None:
    _, _, model, _ = await play(
        World(fixed_after=3), "Hm.", calling(EDIT), calling(READ), calling(EDIT), calling(EDIT)
    )
    for before, after in zip(model.requests, model.requests[1:], strict=False):
        assert after.messages[: len(before.messages)] == before.messages


async def test_the_steps_end_the_run() -> None:
    replies = [calling(ToolCall("read_file", {"path": f"{n}.py"})) for n in range(9)]
    stop, _, model, _ = await play(World(), *replies, allowance=Allowance(steps=3))
    assert isinstance(stop, StepsUsedUp)
    assert len(model.requests) == 3


async def test_the_tokens_end_the_run_before_the_next_step() -> None:
    dear = Reply("", (READ,), usage=Usage(prompt=900, generated=200))
    stop, _, model, _ = await play(World(), dear, allowance=Allowance(tokens=1_000))
    assert isinstance(stop, TokensUsedUp)
    assert len(model.requests) == 1


async def test_a_claim_is_put_to_the_runner() -> None:
    stop, _, _, _ = await play(World(claim_holds=True), "I fixed it, all tests pass now.")
    assert isinstance(stop, Fixed)


async def test_a_false_claim_is_answered_once_with_the_failure_and_then_ends_the_run() -> None:
    stop, agent, model, _ = await play(World(), "Done.", "It is done.")
    assert isinstance(stop, Stuck)
    assert "still fails" in str(stop)
    assert len(model.requests) == 2
    told = [message.content for message in agent.messages if message.role == "user"][1]
    assert FAILURE in told


async def test_after_a_false_claim_the_model_may_go_on_and_fix_it() -> None:
    stop, _, _, _ = await play(World(fixed_after=1), "Done.", calling(EDIT))
    assert isinstance(stop, Fixed)


async def test_a_reply_without_call_or_claim_is_corrected_with_the_failure_and_an_example() -> None:
    _, agent, _, _ = await play(World(fixed_after=1), "The cart seems odd.", calling(EDIT))
    told = [message.content for message in agent.messages if message.role == "user"][1]
    assert FAILURE in told
    assert 'edit_file {"path": "a.py"' in told


async def test_a_corrective_from_reading_the_reply_is_passed_on() -> None:
    _, agent, _, _ = await play(World(fixed_after=1), Reply("x", corrective="find is empty"), calling(EDIT))
    told = [message.content for message in agent.messages if message.role == "user"][1]
    assert told.startswith("find is empty")
    assert FAILURE in told


async def test_three_replies_without_a_call_end_the_run() -> None:
    stop, _, model, _ = await play(World(), "One thought.", "Another thought.", "A third thought.")
    assert isinstance(stop, Stuck)
    assert len(model.requests) == 3


async def test_the_same_edit_for_ever_ends_soon_after_one_change_of_strategy() -> None:
    class Frozen(World):
        def fingerprint(self) -> str:
            return "the same"

        def failure_key(self) -> str:
            return "the same"

    stop, agent, model, _ = await play(Frozen(), calling(EDIT))
    assert isinstance(stop, Stuck)
    assert len(model.requests) == 3
    assert model.requests[-1].attempt == 1
    assert "tried that before" in agent.messages[-3].content


async def test_a_change_of_strategy_brings_code_that_was_not_shown_yet() -> None:
    world = World(leads_to="shop/tax.py, lines 1-9 of 9:")
    _, agent, _, _ = await play(world, calling(READ))
    asked = [m.content for m in agent.messages if m.role == "user" and "Take another way" in m.content]
    assert len(asked) == 1
    assert world.leads_to in asked[0]
    assert FAILURE in asked[0]


async def test_a_contradiction_in_the_test_is_an_outcome() -> None:
    stop, _, model, _ = await play(World(conflict="lines 4 and 5"), "TEST LOOKS WRONG: it wants 1 and 2.")
    assert isinstance(stop, TestLooksWrong)
    assert str(stop) == "lines 4 and 5"
    assert len(model.requests) == 1


async def test_a_doubt_without_a_visible_contradiction_is_asked_back_once() -> None:
    stop, _, model, _ = await play(World(), "TEST LOOKS WRONG: line 4 should be 3.")
    assert isinstance(stop, TestLooksWrong)
    assert str(stop) == "line 4 should be 3."
    assert len(model.requests) == 2


async def test_a_search_that_found_nothing_ends_as_stuck_or_as_rejected() -> None:
    nothing = Reply("No small change helps.", finish="nothing")
    assert isinstance((await play(World(), nothing))[0], Stuck)
    assert isinstance((await play(World(turned_down=True), nothing))[0], Rejected)


def test_claims_are_told_from_plans() -> None:
    assert claims_done("I have fixed the bug.")
    assert claims_done("All tests pass now.")
    assert not claims_done("I will fix the bug next.")
    assert not claims_done("Let me check whether it is done.")
    assert not claims_done("The total is wrong.")


def test_one_sentence_is_taken_for_the_proposal() -> None:
    assert first_sentence("Adding must add.\n\nMore words. ```python\nx = 1\n```") == "Adding must add."
    assert first_sentence("```python\nx = 1\n```") == ""
    assert len(first_sentence("word " * 200)) <= 300


def test_half_a_surrogate_pair_of_a_test_or_a_file_name_is_shown_and_can_be_sent() -> None:
    message = Message("user", "assert 'a\udcff' == 'b\u00e9\ud800'")
    assert message.content == r"assert 'a\udcff' == 'b" + "\u00e9" + r"\ud800'"


async def test_half_a_surrogate_pair_does_not_end_the_run() -> None:
    broken = ToolCall("search_files", {"pattern": "x\ud800", "more": [{"y": "\udfff"}]})
    world = World(fixed_after=1)
    stop, agent, _, _ = await play(world, calling(broken, text="a\ud800"), calling(EDIT))
    assert isinstance(stop, Fixed)
    assert world.carried[0].arguments == {"pattern": "x\ufffd", "more": [{"y": "\ufffd"}]}
    assert agent.messages[2].content == "a\ufffd"
