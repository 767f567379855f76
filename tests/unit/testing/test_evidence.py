"""What the model is told of a failure."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from regreen.testing.evidence import Evidence, failure_lines, gather
from regreen.testing.report import Failure, Frame, Report, TestRecord
from regreen.testing.target import Target

CART = '''\
"""The cart."""

from shop.offers import discount


class Cart:
    def __init__(self):
        self.quantities = {}

    def add(self, sku, quantity=1):
        self.quantities[sku] = quantity

    def total(self):
        return sum(self.quantities.values()) - discount(self)
'''
TEST = """\
import pytest

from shop.cart import Cart


@pytest.fixture
def cart():
    return Cart()


def test_other(cart):
    assert cart.total() == 0


def test_adding(cart):
    cart.add("apple")
    cart.add("apple")
    assert cart.total() == 2


def test_third(cart):
    assert cart.total() == 3
"""
FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": CART,
    "shop/offers.py": "def discount(cart):\n    return 0\n\n\ndef unrelated():\n    return 1\n",
    "tests/test_cart.py": TEST,
}
TARGET = Target("tests/test_cart.py", ("test_adding",))
FAILURE = Failure(
    "AssertionError",
    "assert 1 == 2\n +  where 1 = total()",
    "1",
    "2",
    (Frame("tests/test_cart.py", 18, "test_adding", "    assert cart.total() == 2"),),
    text=textwrap.dedent(
        """\
        cart = <shop.cart.Cart object at 0x7f0011223344>

            def test_adding(cart):
                cart.add("apple")
        >       assert cart.total() == 2
        E       assert 1 == 2
        E        +  where 1 = <bound method Cart.total of <shop.cart.Cart object at 0x7f0011223344>>()

        tests/test_cart.py:18: AssertionError"""
    ),
    output="Captured stdout call:\nlooking\n",
)


def report_of(failure: Failure = FAILURE, executed: Mapping[str, tuple[int, ...]] | None = None) -> Report:
    ran = {"shop/cart.py": (8, 11, 14), "shop/offers.py": (2,)} if executed is None else executed
    records = {
        f"tests/test_cart.py::{name}": TestRecord(f"tests/test_cart.py::{name}", "failed", failure=failure)
        for name in ("test_third", "test_adding")
    }
    return Report(tests=records, collected=tuple(records), finished=True, executed=ran)


def read_from(files: Mapping[str, str]):
    return lambda path: files.get(path)


def pack(files: Mapping[str, str] = FILES, report: Report | None = None, budget: int = 1500) -> Evidence:
    return gather(TARGET, report or report_of(), read_from(files), budget)


def test_the_pack_speaks_of_the_picked_test_only() -> None:
    text = pack().render()
    assert "test_adding" in text
    assert "test_third" not in text
    assert "test_other" not in text


def test_it_holds_the_test_the_failure_and_the_code_under_test() -> None:
    text = pack().render()
    assert '    cart.add("apple")\n    cart.add("apple")\n    assert cart.total() == 2' in text
    assert "E       assert 1 == 2" in text
    assert "shop/cart.py (the whole file):" in text
    assert "self.quantities[sku] = quantity" in text
    assert "looking" in text
    assert "def cart():" in text


def test_the_order_is_fixed_and_the_text_repeats_byte_for_byte() -> None:
    one = pack().render()
    assert one == pack().render()
    places = [
        one.index(part)
        for part in ("Failing test:", "It fails with:", "Used by the test", "Code under test:")
    ]
    assert places == sorted(places)
    assert one.index("shop/cart.py") < one.index("shop/offers.py")


def test_addresses_of_objects_are_left_out() -> None:
    assert "0x7f" not in pack().render()


def test_in_a_long_file_only_the_functions_that_matter_are_shown() -> None:
    long = CART + "\n\n" + "\n\n".join(f"def filler_{n}():\n    return {n}" for n in range(40))
    evidence = pack({**FILES, "shop/cart.py": long})
    names = [unit.qualname for unit in evidence.functions if unit.path == "shop/cart.py"]
    assert {"Cart.add", "Cart.total"} <= set(names)
    assert not any(name.startswith("filler") for name in names)


def test_the_budget_is_kept_and_what_is_missing_is_said() -> None:
    long = "\n\n".join(f"def step_{n}(x):\n    return step_{n + 1}(x)  # {'.' * 60}" for n in range(80))
    files = {**FILES, "shop/steps.py": long, "shop/cart.py": CART + "\nfrom shop.steps import *\n"}
    ran = {"shop/cart.py": (8, 11, 14), "shop/steps.py": tuple(range(1, 240))}
    evidence = pack(files, report_of(executed=ran), budget=600)
    assert len(evidence.render()) < 600 * 3.3 * 1.15
    assert "Not shown for lack of room" in evidence.note
    assert "shop/steps.py" in evidence.note


def test_a_long_test_keeps_its_head_and_the_lines_before_the_failing_one() -> None:
    body = "\n".join(f"    step_{n} = {n}  # {'.' * 40}" for n in range(200))
    source = f"def test_adding():\n{body}\n    assert step_0 == 1\n    assert step_1 == 2\n"
    failure = Failure(
        "AssertionError", "assert 0 == 1", frames=(Frame("tests/test_cart.py", 202, "test_adding"),)
    )
    evidence = pack({**FILES, "tests/test_cart.py": source}, report_of(failure))
    assert evidence.test_source.startswith("def test_adding():")
    assert "assert step_0 == 1" in evidence.test_source
    assert "lines cut" in evidence.test_source
    assert len(evidence.test_source) < 2500


def test_code_is_found_by_imports_when_nothing_ran() -> None:
    failure = Failure(
        "ImportError", "cannot import name 'Cart'", text="E   ImportError: cannot import name 'Cart'"
    )
    evidence = pack(report=report_of(failure, executed={}))
    assert evidence.functions[0].path == "shop/cart.py"


def test_a_file_that_does_not_parse_is_shown_around_its_error() -> None:
    broken = CART + "\n" * 60 + "def total(:\n    pass\n"
    frames = (
        Frame("tests/test_cart.py", 3, "<module>"),
        Frame("shop/cart.py", 75, "<module>", "def total(:"),
    )
    failure = Failure("SyntaxError", "invalid syntax (cart.py, line 75)", frames=frames)
    evidence = pack({**FILES, "shop/cart.py": broken}, report_of(failure, executed={}))
    assert evidence.functions[0].path == "shop/cart.py"
    assert "def total(:" in evidence.functions[0].source


def test_an_inherited_test_is_shown_from_the_file_of_its_base() -> None:
    files = {
        **FILES,
        "tests/base.py": "class Shared:\n    def test_adding(self):\n        assert self.value == 2\n",
        "tests/test_cart.py": "from base import Shared\n\n\nclass TestOne(Shared):\n    value = 1\n",
    }
    target = Target("tests/test_cart.py", ("TestOne", "test_adding"))
    failure = Failure(
        "AssertionError", "assert 1 == 2", frames=(Frame("tests/base.py", 3, "Shared.test_adding"),)
    )
    report = Report(
        tests={target.nodeid: TestRecord(target.nodeid, "failed", failure=failure)}, finished=True
    )
    evidence = gather(target, report, read_from(files))
    assert evidence.test.path == "tests/base.py"
    assert "assert self.value == 2" in evidence.test_source


def test_a_refusal_to_read_is_no_error() -> None:
    def read(path: str) -> str | None:
        if path != "tests/test_cart.py":
            raise PermissionError(path)
        return TEST

    evidence = gather(TARGET, report_of(), read)
    assert evidence.functions == ()
    assert "test_adding" in evidence.render()


def test_without_any_record_the_problem_is_told() -> None:
    evidence = gather(TARGET, Report(problem="pytest does not find the test"), read_from(FILES))
    assert evidence.failure is None
    assert "pytest does not find the test" in evidence.render()


def test_more_failing_cases_are_counted() -> None:
    ids = [f"tests/test_cart.py::test_adding[{n}]" for n in range(3)]
    report = Report(tests={i: TestRecord(i, "failed", failure=FAILURE) for i in ids}, finished=True)
    evidence = gather(TARGET, report, read_from(FILES))
    assert evidence.nodeid == ids[0]
    assert "2 more cases of this test fail" in evidence.note


def test_long_failures_keep_head_and_tail() -> None:
    text = "\n".join(f"E   line {n}" for n in range(500))
    shown = failure_lines(Failure("AssertionError", "x", text=text), 800)
    assert len(shown) < 900
    assert shown.startswith("E   line 0")
    assert shown.endswith("E   line 499")
    assert "characters cut" in shown


def test_the_protocol_form_holds_what_the_editor_needs() -> None:
    data = pack().to_json()
    assert data["target"] == TARGET.nodeid
    assert data["test"]["line"] == 15
    assert data["failure"]["left"] == "1"
    assert data["functions"][0]["path"] == "shop/cart.py"
