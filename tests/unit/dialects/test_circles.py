"""A reply that goes round in circles is cut early; code that repeats itself for a reason never is."""

from __future__ import annotations

import ast
import json

import pytest

from regreen.models.dialects.thoughts import looping
from regreen.models.limits import Repetition, same_calls

WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
FIRST = "Let me look at the cart once more.\nThe quantity is set instead of added.\nSo the total is too small.\n\n"
SECOND = "Wait, that is not right.\nThe discount might be at fault as well.\nI should look at the cart.\n\n"

LOOPS = {
    "an attempt with a growing number": [f"Attempt {n}: let me check the cart again.\n" for n in range(1, 200)],
    "attempts on one line": [f"Attempt {n}: I will change the cart and run the test. " for n in range(1, 200)],
    "numbers written out": [f"This is attempt {WORDS[n % 12]} to mend the total of the cart.\n" for n in range(200)],
    "timestamps": [f"[12:{n // 60:02d}:{n % 60:02d}] Checking the cart for the error.\n" for n in range(200)],
    "dates": [f"On 2024-01-{n % 28 + 1:02d} the test was still failing, so I try again.\n" for n in range(200)],
    "two numbers": [f"The total is {n * 7} but the test expects {n * 11}, so I look again.\n" for n in range(200)],
    "a revision id": [f"Looking at revision {n * 2654435761 % 2**32:08x}a of the cart.\n" for n in range(200)],
    "two paragraphs in turn": [FIRST, SECOND] * 60,
    "three paragraphs in turn": [FIRST, SECOND, "Let me think about what the test wants.\n\n"] * 60,
    "two sentences on one line in turn": ["Let me check the cart once more. ", "No, the discount is at fault. "] * 90,
    "paragraphs with a number": [f"Round {n}.\n{FIRST}" for n in range(90)],
    "ordinals": [f"For the {n}th time, the quantity is wrong in the cart.\n" for n in range(4, 200)],
    "a call with a growing number": [
        f'<tool_call>\n{{"name": "read_file", "arguments": {{"path": "shop/cart.py", "start_line": {n}}}}}\n</tool_call>\n'
        for n in range(1, 90)
    ],
    "a bare call with a growing number": [
        f'{{"name": "read_file", "arguments": {{"path": "shop/cart.py", "start_line": {n * 10}}}}}\n' for n in range(90)
    ],
    "a pythonic call with a growing number": [f"read_file(path='shop/cart.py', start_line={n})\n" for n in range(150)],
    "a fenced call with a growing number": [
        f'```json\n{{"name": "run_tests", "arguments": {{"path": "tests/test_{n}.py"}}}}\n```\n' for n in range(150)
    ],
    "a tag with a growing number": [
        f"<function=read_file>\n<parameter=path>\nshop/cart.py\n</parameter>\n<parameter=start_line>\n{n}\n</parameter>\n</function>\n"
        for n in range(90)
    ],
    "the same line inside code without end": ["```python\n", *["    self.assertEqual(cart.total(), 360)\n"] * 300],
    "a circle after a code block": ["```python\nx = 1\n```\n", *[f"Step {n}: run the test again.\n" for n in range(200)]],
}  # fmt: skip

TABLE = "PRICES = [\n" + "".join(f"    [{n}, {n * 3}, {n * 7}, 0],\n" for n in range(90)) + "]\n"
ZEROS = "GRID = [\n" + "    [0, 0, 0, 0, 0, 0, 0, 0],\n" * 40 + "]\n"
ONE_LINE = "MASK = [" + ", ".join(["0"] * 300) + "]\n"
TESTS = "".join(
    f"def test_total_{n}():\n    cart = Cart()\n    cart.add('apple', {n})\n    assert cart.total() == {n * 50}\n\n\n"
    for n in range(1, 40)
)
ENUM = "class Colour(Enum):\n" + "".join(
    f'    COLOUR_{n} = {n}\n    """The colour number {n}."""\n' for n in range(60)
)
DICTS = "ITEMS = [\n" + "".join(
    f'    {{\n        "name": "item {n}",\n        "price": {n * 10},\n        "stock": 100,\n    }},\n' for n in range(40)
) + "]\n"  # fmt: skip
SAME_DICTS = "ROWS = [\n" + '    {"sku": "apple", "count": 1, "price": 50},\n' * 30 + "]\n"
COMMENTS = "".join(
    f"# Case {n}: the price of product {n} is {n * 10} cents.\nCASES.append(({n}, {n * 10}))\n"
    for n in range(60)
)
DOCSTRING = 'def prices():\n    """The prices.\n\n' + "".join(
    f"    Product {n} costs {n * 10} cents in the shop.\n" for n in range(60)
) + '    """\n'  # fmt: skip
CASES = (
    "CASES = [\n"
    + "".join(f'    ("adds {n} apples to the cart", {n}, {n * 50}),\n' for n in range(60))
    + "]\n"
)
JSON_LINES = "CALLS = '''\n" + "".join(
    f'{{"name": "read_file", "arguments": {{"path": "a{n}.py"}}}}\n' for n in range(40)
) + "'''\n"  # fmt: skip
CODE = {
    "a table": TABLE, "a grid of zeros": ZEROS, "a list on one line": ONE_LINE, "tests with numbers": TESTS, "an enum": ENUM,
    "dictionaries": DICTS, "the same dictionary": SAME_DICTS, "comments": COMMENTS, "a docstring": DOCSTRING,
    "cases in words": CASES, "calls as data": JSON_LINES,
}  # fmt: skip
CARRIERS = {
    "a fence": lambda code: ("text", f"The cart is wrong.\n```python\n{code}```\n"),
    "the arguments of a call": lambda code: ("call", json.dumps({"path": "a.py", "content": code})),
    "JSON in the text": lambda code: ("text", json.dumps({"name": "write_file", "arguments": {"path": "a.py", "content": code}})),
    "a parameter": lambda code: ("text", f"<function=write_file>\n<parameter=path>\na.py\n</parameter>\n<parameter=content>\n{code}"),
    "a search/replace block": lambda code: ("text", f"a.py\n<<<<<<< SEARCH\nx = 1\n=======\n{code}>>>>>>> REPLACE\n"),
}  # fmt: skip
TALK = [
    "1. tests/test_cart.py::test_add checks the sum.\n2. tests/test_cart.py::test_total checks the total.\n"
    "3. tests/test_cart.py::test_offer checks the offer.\n4. tests/test_cart.py::test_tax checks the tax.\n",
    "".join(f"Step {n}: quantity is {n}, so the total is {n * 50}.\n" for n in range(1, 11)),
    "".join(f"- test_{n} passes\n" for n in range(1, 13)),
    "| price | count |\n|-------|-------|\n" + "".join(f"| {n * 10} | {n} |\n" for n in range(30)),
]


def cut_at(text: str, kind: str = "text", step: int = 5) -> int | None:
    """How much of a text came before its stream was cut; None when it was not."""
    watch = Repetition()
    return next((at for at in range(0, len(text), step) if watch.feed(text[at : at + step], kind)), None)


@pytest.mark.parametrize("pieces", LOOPS.values(), ids=LOOPS)
@pytest.mark.parametrize("kind", ["text", "thinking"])
def test_a_reply_in_circles_is_cut_long_before_its_limit(pieces: list[str], kind: str) -> None:
    at = cut_at("".join(pieces), kind)
    assert at is not None
    assert at < 3000
    assert at < 22 * max(map(len, pieces)) + 1000 * any("```" in piece for piece in pieces[:1]) + 900


@pytest.mark.parametrize("code", CODE.values(), ids=CODE)
@pytest.mark.parametrize("carrier", CARRIERS.values(), ids=CARRIERS)
def test_code_that_repeats_itself_is_left_alone(code: str, carrier: object) -> None:
    ast.parse(code)
    kind, text = carrier(code)  # type: ignore[operator]
    assert cut_at(text, kind) is None


@pytest.mark.parametrize("text", TALK)
def test_words_that_count_for_a_reason_are_left_alone(text: str) -> None:
    assert cut_at(text) is None


def test_calls_of_a_server_that_only_count_on_are_seen() -> None:
    def call(n: int, name: str = "read_file") -> dict[str, object]:
        return {"function": {"name": name, "arguments": {"path": "shop/cart.py", "start_line": n}}}

    assert same_calls([call(n) for n in range(12)])
    assert not same_calls([call(n) for n in range(11)])
    assert not same_calls([call(n, "read_file" if n % 2 else "list_files") for n in range(30)])
    files = [
        "cart",
        "prices",
        "discounts",
        "receipts",
        "stock",
        "tax",
        "basket",
        "shop",
        "user",
        "mail",
        "log",
        "io",
    ]
    assert not same_calls(
        [{"function": {"name": "read_file", "arguments": {"path": f"{f}.py"}}} for f in files]
    )


def test_a_finished_reply_that_counted_on_says_what_it_repeats() -> None:
    text = "".join(f"Attempt {n}: let me check the cart again.\n" for n in range(1, 40))
    assert looping(text).endswith("39: let me check the cart again.")
    assert looping("I looked at the cart. " * 2 + "The total is wrong.") == ""
