"""The built-in search as the loop sees it, with real processes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regreen.repair.learned import PASSES_NOW

Open = Callable[..., Any]
CART = "tests/test_cart.py::test_adding_more_of_a_product_reaches_the_offer"
RECEIPT = "tests/test_receipts.py::test_a_receipt_shows_discount_and_tax_by_rate"


async def test_a_bug_of_two_parts_falls_in_two_proposals(toy_shop: Path, open_desk: Open) -> None:
    desk = open_desk(toy_shop, CART)
    first = await desk.ask()
    assert [call.name for call in first.calls] == ["edit_file"]
    assert first.calls[0].arguments["path"] == "shop/cart.py"
    assert first.confidence in ("medium", "low")
    desk.accept(first)
    assert "self.quantities[sku] += quantity" in desk.text("shop/cart.py")
    second = await desk.ask()
    desk.accept(second)
    assert "if subtotal >= threshold" in desk.text("shop/discounts.py")
    assert (await desk.ask()).finish == "nothing"


async def test_the_second_part_is_not_proposed_when_the_first_was_turned_down(
    toy_shop: Path, open_desk: Open
) -> None:
    desk = open_desk(toy_shop, CART)
    first = await desk.ask()
    second = await desk.ask()
    for call in second.calls:
        assert call.arguments != first.calls[0].arguments
        assert call.arguments["path"] != "shop/discounts.py"


async def test_it_gives_up_and_says_where_to_look(toy_shop: Path, open_desk: Open) -> None:
    desk = open_desk(toy_shop, RECEIPT, 1.5)
    reply = await desk.ask()
    assert reply.finish == "nothing"
    assert not reply.calls
    assert reply.text.startswith("Nothing found")
    assert "shop/receipts.py:" in reply.text
    assert reply.usage.charged == 0


async def test_the_person_s_files_are_not_touched(toy_shop: Path, open_desk: Open) -> None:
    before = {path: path.read_bytes() for path in toy_shop.rglob("*") if path.is_file()}
    await open_desk(toy_shop, CART).ask()
    assert {path: path.read_bytes() for path in toy_shop.rglob("*") if path.is_file()} == before


async def test_no_edit_is_proposed_twice(open_desk: Open) -> None:
    files = {
        "area.py": "def area(a, b):\n    return a + b\n",
        "tests/test_area.py": "from area import area\n\n\ndef test_area():\n    assert area(2, 3) == 6\n",
    }
    desk = open_desk(files, "tests/test_area.py::test_area")
    seen: list[object] = []
    for _ in range(8):
        reply = await desk.ask()
        if not reply.calls:
            break
        assert [dict(call.arguments) for call in reply.calls] not in seen
        seen.append([dict(call.arguments) for call in reply.calls])
    assert seen
    assert "`return a * b`" in " ".join(desk.ears.heard)


async def test_an_endless_loop_is_mended_and_the_worker_survives_it(open_desk: Open) -> None:
    files = {
        "digits.py": "def digits(n):\n    count = 1\n    while n > 9:\n        count += 1\n        n //= 1\n    return count\n",
        "tests/test_digits.py": "from digits import digits\n\n\ndef test_one():\n    assert digits(7) == 1\n\n\n"
        "def test_three():\n    assert digits(123) == 3\n\n\ndef test_two():\n    assert digits(90) == 2\n",
    }
    desk = open_desk(files, "tests/test_digits.py::test_three")
    desk.accept(await desk.ask())
    assert "n //= 10" in desk.text("digits.py")


async def test_a_file_that_does_not_parse(open_desk: Open) -> None:
    files = {
        "greet.py": "# says hello\ndef greet(name)\n    return 'hello ' + name  # politely\n",
        "tests/test_greet.py": "from greet import greet\n\n\ndef test_greet():\n    assert greet('a') == 'hello a'\n",
    }
    desk = open_desk(files, "tests/test_greet.py::test_greet")
    desk.accept(await desk.ask())
    assert desk.text("greet.py") == files["greet.py"].replace("(name)\n", "(name):\n")


async def test_line_ends_comments_and_other_letters_are_kept(open_desk: Open) -> None:
    source = "# größer als?\r\ndef is_large(größe):  # in cm\r\n\treturn größe < 200  # naïve\r\n"
    files = {
        "size.py": source,
        "tests/test_size.py": "from size import is_large\n\n\ndef test_large():\n    assert is_large(250)\n\n\n"
        "def test_small():\n    assert not is_large(30)\n    assert is_large(200)\n",
    }
    desk = open_desk(files, "tests/test_size.py::test_small")
    desk.accept(await desk.ask())
    assert desk.text("size.py") == source.replace(" < 200", " >= 200")


async def test_a_candidate_that_writes_or_deletes_leaves_nothing(open_desk: Open) -> None:
    files = {
        "store.py": "import os\n\n\ndef clean(keep, path):\n    if keep:\n        os.remove(path)\n    return keep\n",
        "data.txt": "precious\n",
        "tests/test_store.py": "from pathlib import Path\n\nfrom store import clean\n\n\n"
        "def test_kept():\n    clean(True, 'data.txt')\n    assert Path('data.txt').read_text() == 'precious\\n'\n",
    }
    desk = open_desk(files, "tests/test_store.py::test_kept")
    desk.accept(await desk.ask())
    assert desk.read("data.txt") == b"precious\n"
    assert desk.text("store.py") != files["store.py"]


async def test_a_test_that_skips_itself_does_not_pass(open_desk: Open) -> None:
    files = {
        "ready.py": "def ready():\n    return True\n",
        "tests/test_ready.py": "import pytest\n\nfrom ready import ready\n\n\ndef test_ready():\n"
        "    if not ready():\n        pytest.skip('not ready')\n    assert False, 'always'\n",
    }
    reply = await open_desk(files, "tests/test_ready.py::test_ready", 5.0).ask()
    assert reply.finish == "nothing"


async def test_what_breaks_another_test_file_is_not_proposed_first(open_desk: Open) -> None:
    files = {
        "limits.py": "LIMIT = 10\n\n\ndef over(n):\n    return n > LIMIT\n",
        "tests/test_a.py": "from limits import over\n\n\ndef test_ten_is_over():\n    assert over(10)\n",
        "tests/test_b.py": "import limits\n\n\ndef test_limit():\n    assert limits.LIMIT == 10\n    assert not limits.over(9)\n",
    }
    desk = open_desk(files, "tests/test_a.py::test_ten_is_over")
    desk.accept(await desk.ask())
    assert desk.text("limits.py") == files["limits.py"].replace("n > LIMIT", "n >= LIMIT")


async def test_the_number_of_rivals_lowers_the_confidence(open_desk: Open) -> None:
    files = {
        "pick.py": "def pick(values):\n    return values[1]\n",
        "tests/test_pick.py": "from pick import pick\n\n\ndef test_pick():\n    assert pick([5, 2, 5]) == 5\n",
    }
    desk = open_desk(files, "tests/test_pick.py::test_pick")
    first = await desk.ask()
    assert first.confidence == "low"
    assert "reject this one to see the next" in first.text
    second = await desk.ask()
    assert second.calls
    assert second.calls[0].arguments != first.calls[0].arguments


async def test_a_passing_test_needs_nothing(open_desk: Open) -> None:
    files = {"tests/test_ok.py": "def test_ok():\n    assert True\n"}
    reply = await open_desk(files, "tests/test_ok.py::test_ok").ask()
    assert reply.text == f"Nothing found: {PASSES_NOW}."


async def test_cancelling_leaves_no_process(toy_shop: Path, open_desk: Open) -> None:
    desk = open_desk(toy_shop, RECEIPT)
    before = _children()
    asking = asyncio.create_task(desk.ask())
    while not _children() - before:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.3)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await desk.model.aclose()
    assert _children() <= before


async def test_a_worker_started_ahead_is_used(toy_shop: Path, open_desk: Open) -> None:
    desk = open_desk(toy_shop, CART)
    await desk.model.warm((), (), desk.ears)
    reply = await desk.ask()
    assert reply.calls


async def test_a_worker_started_ahead_and_never_used_is_killed(toy_shop: Path, open_desk: Open) -> None:
    before = _children()
    desk = open_desk(toy_shop, CART)
    await desk.model.warm((), (), desk.ears)
    await asyncio.sleep(0.2)
    await desk.model.aclose()
    assert _children() <= before


def _children() -> set[int]:
    """Processes below this one that still live."""
    found: set[int] = set()
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                parents[int(entry.name)] = int(fields[1])
    grown = True
    while grown:
        grown = False
        for pid, parent in parents.items():
            if pid not in found and (parent == os.getpid() or parent in found):
                found.add(pid)
                grown = True
    return found


async def test_a_test_fails_by_its_subtests(open_desk: Open) -> None:
    files = {
        "roman.py": "def roman(n):\n    text = ''\n    for value, digit in [(10, 'X'), (5, 'V'), (1, 'I')]:\n"
        "        if n >= value:\n            text += digit\n            n -= value\n    return text\n",
        "test_roman.py": "import unittest\nfrom roman import roman\n\n\nclass RomanTest(unittest.TestCase):\n"
        "    def test_all(self):\n        for n, text in [(1, 'I'), (6, 'VI'), (3, 'III'), (27, 'XXVII')]:\n"
        "            with self.subTest(n=n):\n                self.assertEqual(roman(n), text)\n",
    }
    desk = open_desk(files, "test_roman.py::RomanTest::test_all")
    desk.accept(await desk.ask())
    assert "while n >= value:" in desk.text("roman.py")
