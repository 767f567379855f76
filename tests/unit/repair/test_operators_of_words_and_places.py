"""Slips that show in several places, and what a docstring says that the code does not."""

from __future__ import annotations

import pytest

from regreen.repair.crash import crash_edits
from regreen.repair.operators import candidates
from regreen.repair.operators.site import Hints, Project, signatures
from regreen.repair.source import Source
from regreen.repair.syntax import syntax_edits

DOC = '    """Multiples of 3 and of 4 count for Wednesday.\n\n    >>> f(77)\n    88\n    """\n'


def edits_of(text: str) -> dict[str, float]:
    source = Source("code.py", text)
    lines = range(1, text.count("\n") + 2)
    return {e.apply(text): e.weight for e in candidates(source, Project(signatures(source)), lines)}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(a, b):\n    return a == b\n", "def f(a, b):\n    return a.lower() == b.lower()\n"),
        ("def f(a, b):\n    return g(a) == b\n", "def f(a, b):\n    return sorted(g(a)) == sorted(b)\n"),
        ("def f(a):\n    for x in a:\n        if x:\n            return True\n    return False\n",
         "def f(a):\n    for x in a:\n        if x:\n            return False\n    return True\n"),
        ("def f(a):\n    if a:\n        return ' '\n    return ' '\n", "def f(a):\n    if a:\n        return ''\n    return ''\n"),
        ("def f(a, b, c):\n    return a + b == c or b + c == a\n", "def f(a, b, c):\n    return a + b == c or b + c == a or a + c == b\n"),
        ("def f(t):\n    d, m, y = t\n    return y\n", "def f(t):\n    m, d, y = t\n    return y\n"),
        ("def f(a, n):\n    return a ** 2 * n\n", "def f(a, n):\n    return a ** n\n"),
        ("def f(a, b, n):\n    return a + b * n\n", "def f(a, b, n):\n    return a * n\n"),
        ("def f(a):\n    x = a\n    y = a\n    x = g(y)\n    y = g(x)\n    return x, y\n", "def f(a):\n    x = a\n    y = a\n    return x, y\n"),
        ("def f(a):\n    return [x for x in a]\n", "def f(a):\n    return [x for x in a][1:]\n"),
        ("def f(a):\n    return a[-1]\n", "def f(a):\n    return sum(a)\n"),
        ("def f(a):\n    return a == '('\n", "def f(a):\n    return a == '['\n"),
        ("def f(a, b):\n    for x in a:\n        for y in b:\n            g(x)\n",
         "def f(a, b):\n    for x in a:\n        for y in b:\n            if x == y:\n                g(x)\n"),
        ("def f(a):\n    # a = a + 1\n    return a\n", "def f(a):\n    a = a + 1\n    return a\n"),
        ("def f(a):\n    '''b = a\n    return b'''\n", "def f(a):\n    b = a\n    return b\n"),
    ],
)  # fmt: skip
def test_it_reaches(before: str, after: str) -> None:
    assert after in edits_of(before)


def test_words_in_a_comment_are_left_alone() -> None:
    text = "def f(a):\n    # note: a is never empty, see above\n    return a\n"
    assert not any("\n    note" in changed for changed in edits_of(text))


def test_a_number_of_the_docstring_is_tried_for_another() -> None:
    text = f"def f(n):\n{DOC}    if n % 5 == 0:\n        return 'Wendesday'\n    return n\n"
    made = edits_of(text)
    assert text.replace("% 5", "% 4") in made
    assert text.replace("Wendesday", "Wednesday") in made


def test_what_an_example_gives_is_not_copied() -> None:
    text = f"def f(n):\n{DOC}    return n + 50\n"
    made = edits_of(text)
    assert text.replace("+ 50", "+ 3") in made
    assert text.replace("+ 50", "+ 88") not in made


def test_a_name_that_has_no_first_value_gets_one_before_the_loop() -> None:
    text = "def f(a):\n    n = 0\n    for x in a:\n        found.append(x)\n    return found[n:]\n"
    hints = Hints("NameError", "name 'found' is not defined", crash=("code.py", 4))
    best = max(crash_edits(Source("code.py", text), hints), key=lambda e: e.weight)
    assert best.apply(text) == text.replace("    n = 0\n", "    found = []\n    n = 0\n")


def test_a_parameter_of_another_name_is_what_the_body_means() -> None:
    text = "def f(given):\n    n = len(nums)\n    return nums[n - 1]\n"
    hints = Hints("NameError", "name 'nums' is not defined", crash=("code.py", 2))
    best = max(crash_edits(Source("code.py", text), hints), key=lambda e: e.weight)
    assert best.apply(text) == "def f(given):\n    n = len(given)\n    return given[n - 1]\n"


def test_text_that_is_to_be_hashed_is_encoded() -> None:
    text = "def f(t):\n    return md5(t)\n"
    hints = Hints("TypeError", "Strings must be encoded before hashing", crash=("code.py", 2))
    assert next(e.apply(text) for e in crash_edits(Source("code.py", text), hints)) == text.replace(
        "(t)\n", "(t.encode())\n"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(a):\n    for ''x in a:''\n        g(x)\n", "def f(a):\n    for x in a:\n        g(x)\n"),
        ("def f(a, b):\n    if a = b:\n        g()\n", "def f(a, b):\n    if a < b:\n        g()\n"),
        ("def f(a):\n    b = $a\n", "def f(a):\n    b = a\n"),
    ],
)
def test_a_file_that_does_not_parse_is_mended(before: str, after: str) -> None:
    assert after in [edit.apply(before) for edit in syntax_edits("code.py", before)]
