"""What a small model's answer to "which of these edits?" means, in every form in which it may come."""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen.agent.choice import chosen, question, refuses
from regreen.agent.conversation import Reply, Request, ToolCall, Usage
from regreen.agent.search import Option, differing, found_from, search_event
from regreen.models.reading import to_reply
from regreen.tools import menu

CART = "def add(self, sku, quantity=1):\n    self.quantities[sku] = quantity\n"


def option(new: str) -> Option:
    call = ToolCall(
        "edit_file",
        {
            "path": "shop/cart.py",
            "find": "    self.quantities[sku] = quantity",
            "replace": f"    self.quantities[sku] {new}",
        },
    )
    return Option(
        (call,), f"Sets it to {new}.", "low", f"shop/cart.py:2\n-self.quantities[sku] = quantity\n+{new}"
    )


OPTIONS = tuple(option(new) for new in ("= 3", "+= quantity", "-= quantity", "= quantity + 1"))


def read(content: str, **call: object) -> Reply:
    """A reply as it comes off Ollama's wire."""
    message: dict[str, object] = {"role": "assistant", "content": content}
    if call:
        message["tool_calls"] = [{"function": call}]
    request = Request((), menu.FIX, {"shop/cart.py": CART})
    return to_reply({"message": message}, request, "ollama", Usage(), finish="stop", seconds=0.0)


@pytest.mark.parametrize(
    "said",
    [
        "2",
        "2.",
        "**2**",
        " 2\n",
        "#2",
        "(2)",
        '"2"',
        "[2]",
        "Option 2",
        "option 2.",
        "Edit 2 is right.",
        "Number 2",
        "Answer: 2",
        "The answer is 2.",
        "The correct edit is number 2.",
        "I choose 2 because adding must add up.",
        "I would go with option 2.",
        "2 - adding must add to what is there",
        "2. The quantity must be added to, not replaced by 3 or 4.",
        "The second one.",
        "The second edit, since it adds up.",
        "Option 1 is wrong; option 2 is right.",
        "1 is not right, 2 is correct",
        "Not 1, 3 or 4. The right one is 2.",
        '{"choice": 2}',
        '{"option": "2"}',
        '{"answer": "Option 2"}',
        '{"edit_number": 2}',
        '```json\n{"number": 2}\n```',
        "```\n2\n```",
        '{"name": "choose", "arguments": {"option": 2}}',
        '<tool_call>\n{"name": "choose", "arguments": {"number": 2}}\n</tool_call>',
        '<tool_call>\n{"name": "edit_file", "arguments": {"option": 2}}\n</tool_call>',
        "<tool_call>2</tool_call>",
        "edit_file(2)",
        "choose(option=2)",
        "<think>\nOption 1 sets it to 3, which only fits this test.\n</think>\n\n2",
    ],
)
def test_the_second_edit_is_chosen(said: str) -> None:
    assert chosen(read(said), OPTIONS) == 1


@pytest.mark.parametrize(
    "call",
    [
        {"name": "choose", "arguments": {"option": 2}},
        {"name": "select_edit", "arguments": {"choice": "2"}},
        {"name": "edit_file", "arguments": {"number": 2}},
        {
            "name": "edit_file",
            "arguments": {
                "path": "shop/cart.py",
                "find": "self.quantities[sku] = quantity",
                "replace": "self.quantities[sku] += quantity",
            },
        },
        {
            "name": "edit_file",
            "arguments": {"path": "./shop/cart.py", "find": CART, "replace": CART.replace(" = q", " += q")},
        },
    ],
)
def test_a_call_of_some_tool_chooses_too(call: dict[str, object]) -> None:
    assert chosen(read("", **call), OPTIONS) == 1


def test_a_whole_function_that_is_an_option_is_that_option() -> None:
    whole = CART.replace(" = q", " += q")
    assert chosen(read(f"It must add.\n```python\n{whole}```"), OPTIONS) == 1


@pytest.mark.parametrize(
    "said",
    [
        "none",
        "None.",
        "None of them is right.",
        "none of these",
        "Neither.",
        "No.",
        "0",
        '{"choice": "none"}',
        '{"choice": null}',
        '{"choice": 0}',
        "All of them are wrong.",
        "7",
        "",
        "I would look at how the cart computes its lines.",
        "Options 1 and 3 both seem plausible.",
        "In line 16 the value is replaced.",
        '{"name": "choose", "arguments": {"option": "none"}}',
    ],
)
def test_no_edit_is_chosen(said: str) -> None:
    assert chosen(read(said), OPTIONS) is None


def test_a_refusal_is_told_from_an_answer_that_says_nothing() -> None:
    for said in ("none", "None of them is right.", "0", '{"choice": null}', "All of them are wrong."):
        assert refuses(read(said)), said
    for said in ("2", "", "I would look at the cart.", "Options 1 and 3 both seem plausible."):
        assert not refuses(read(said)), said


def test_another_edit_is_no_choice() -> None:
    arguments = {"path": "shop/cart.py", "find": "quantity=1", "replace": "quantity=2"}
    reply = read("2 looks close, but:", name="edit_file", arguments=arguments)
    assert [call.name for call in reply.calls] == ["edit_file"]
    assert chosen(reply, OPTIONS) is None


def test_a_number_beyond_the_options_is_none() -> None:
    assert chosen(read("4"), OPTIONS[:2]) is None


def test_the_question_is_short_and_numbers_every_edit() -> None:
    text = question(OPTIONS)
    assert [f"\n{n}. shop/cart.py:2\n" in text for n in (1, 2, 3, 4)] == [True] * 4
    assert "+= quantity" in text
    long = Option((), "", "low", "x.py:1\n" + "\n".join(["+" + "value " * 30] * 40))
    assert len(question([long] * 5)) < 2600


SHOWN = """Code under test:
    self.quantities[sku] = quantity
    earned = [percent for threshold, percent in OFFERS.items() if subtotal > threshold]
"""
ADDED = "shop/cart.py:16\n-self.quantities[sku] = quantity\n+self.quantities[sku] += quantity\n"
EARNED = "[percent for threshold, percent in OFFERS.items() if subtotal"


def _two_places(new: str) -> Option:
    old = f"-earned = {EARNED} > threshold]"
    return Option((), "", "low", f"{ADDED}shop/discounts.py:13\n{old}\n+earned = {new}")


def test_what_the_model_has_seen_is_not_said_again() -> None:
    options = [_two_places(f"{EARNED} >= threshold]"), _two_places(f"{EARNED} + 1 > threshold]")]
    assert question(options, SHOWN).split("\n")[1:-1] == [
        "1. shop/cart.py",
        "+self.quantities[sku] += quantity",
        "shop/discounts.py",
        "+… if subtotal >= threshold]",
        "2. Like 1, but shop/discounts.py",
        "+…) if subtotal + 1 > threshold]",
    ]
    assert question(options[:1]).split("\n")[1:-1] == [
        f"1. {ADDED.splitlines()[0]}",
        *options[0].diff.split("\n")[1:],
    ]


def test_an_added_line_says_where_and_a_removed_one_what() -> None:
    added = Option((), "", "low", "shop/cart.py:9\n+x = 1")
    removed = Option((), "", "low", "shop/cart.py:3\n-self.quantities[sku] = quantity")
    assert question([added, removed], SHOWN).split("\n")[1:-1] == [
        "1. shop/cart.py:9",
        "+x = 1",
        "2. shop/cart.py:3",
        "-self.quantities[sku] = quantity",
    ]


@pytest.mark.parametrize(
    ("old", "new", "shortened"),
    [
        ("x = 1", "x = 2", ("x = 1", "x = 2")),
        ("return subtotal - discount_for(subtotal)", "return subtotal + discount_for(subtotal)", None),
        ("total = sum(price for price in self.prices) + 1", "total = sum(price for price in self.prices)", ("…in self.prices) + 1", "…in self.prices)")),
        ("value = compute(first, second, third, fourth, fifth)", "value += compute(first, second, third, fourth, fifth)", ("value = compute(first…", "value += compute(first…")),
        ("same", "same", ("same", "same")),
    ],
)  # fmt: skip
def test_of_a_long_line_the_spot_that_changes_is_shown(
    old: str, new: str, shortened: tuple[str, str] | None
) -> None:
    assert differing(old, new) == (shortened or (old, new))


def test_findings_go_through_a_trace_unchanged(tmp_path: Path) -> None:
    from regreen.agent.search import Found

    found = Found(OPTIONS, "told", 12, 1.5, True)
    assert found_from(search_event("near", found)) == found
