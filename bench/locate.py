"""How fast the tests of a large file are found: `python bench/locate.py [--lines N] [--limit MS]`.

The file holds decorated, parametrized and class tests. Measured are the test at a cursor (a code action) in a file
seen for the first time, all tests (code lenses) for the first time, and both after one more keystroke. With
`--limit` the exit code is 1 when an answer at the cursor, or one of the lenses after the first, takes longer.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "server"))

from regreen.testing import locate

FUNCTION = '''\
@pytest.mark.parametrize("a,b", [(1, 2), (3, 4)])
def test_case_{n}(a, b):
    """Adds up."""
    cart = Cart(prices={{"a": 3, "b": 4}})
    cart.add("a", quantity=a)
    cart.add("b", quantity=b)
    total = cart.total(discount=0.1)
    assert total == pytest.approx(a * 3 + b * 4)


'''
CLASS = """\
class TestGroup{n}:
    def test_one(self, cart):
        assert cart.total() == 0

    def test_two(self, cart):
        cart.add("a")
        assert cart.total() == 3


"""


def file_of(lines: int) -> str:
    """A test file of about so many lines."""
    parts = ["import pytest\n\n\n"]
    count = 3
    number = 0
    while count < lines:
        part = (CLASS if number % 5 == 4 else FUNCTION).format(n=number)
        parts.append(part)
        count += part.count("\n")
        number += 1
    return "".join(parts)


def main() -> int:
    """Print the table; the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", type=int, default=5000)
    parser.add_argument("--limit", type=float)
    options = parser.parse_args()
    source = file_of(options.lines)
    middle = source.count("\n") // 2
    seen = 0

    def typed() -> str:
        nonlocal seen
        seen += 1
        before, _, after = source.partition("total = cart")
        return f"{before}total{'_' * (seen % 7)} = cart{after}\n{'#' * seen}\n"

    def cursor() -> None:
        assert locate.at(typed(), middle) is not None

    def lenses() -> None:
        assert len(locate.tests_in(typed())) > options.lines // 20

    rows: list[tuple[str, float]] = [
        ("test at the cursor", _median(cursor)),
        ("all tests, first time", _first(source)),
        ("all tests, after a keystroke", _median(lenses)),
        ("all tests, asked again", _median(lambda: locate.tests_in(source))),
    ]
    print(f"{source.count(chr(10))} lines, {len(locate.tests_in(source))} tests; milliseconds, median of 15")
    for name, value in rows:
        print(f"  {name:32} {value:8.2f}")
    slow = [
        name
        for name, value in rows
        if options.limit is not None and value > options.limit and "first" not in name
    ]
    if slow:
        print(f"over the limit of {options.limit:g} ms: {', '.join(slow)}")
    return 1 if slow else 0


def _first(source: str) -> float:
    locate.forget()
    begun = time.perf_counter()
    locate.tests_in(source)
    return (time.perf_counter() - begun) * 1000


def _median(call: Callable[[], object], rounds: int = 15) -> float:
    times: list[float] = []
    for _ in range(rounds):
        begun = time.perf_counter()
        call()
        times.append((time.perf_counter() - begun) * 1000)
    return statistics.median(times)


if __name__ == "__main__":
    raise SystemExit(main())
