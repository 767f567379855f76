"""Localising, explaining, ordering, syntax and confidence: no process needed."""

from __future__ import annotations

import pytest

from regreen.repair import related
from regreen.repair.explain import call_arguments, nothing, sentence
from regreen.repair.frontier import Frontier
from regreen.repair.localise import constants_read, names_read, ochiai, ranked, spread, with_frames
from regreen.repair.patch import Findings
from regreen.repair.related import is_test
from regreen.repair.source import Edit, Part, Source
from regreen.repair.syntax import syntax_edits
from regreen.testing.confidence import confidence, confidence_of
from regreen.testing.verdict import Verdict
from regreen.workspace.changes import FileChange


def edit(text: str, old: str, new: str, line: int = 1, path: str = "a.py") -> Edit:
    start = text.index(old)
    return Edit(path, (Part(start, start + len(old), new),), line, "operator", 1.0, "f")


def test_lines_that_only_failing_tests_execute_come_first() -> None:
    scores = ochiai([{"a.py": [1, 2, 3]}], [{"a.py": [1, 2]}, {"a.py": [1]}])
    assert [place.line for place in ranked(scores)] == [3, 2, 1]
    assert scores["a.py", 3] == 1.0


def test_the_line_that_crashed_rises() -> None:
    scores = ochiai([{"a.py": [1, 2]}], [])
    raised = with_frames(scores, [("a.py", 1), ("a.py", 2)])
    assert raised["a.py", 2] > raised["a.py", 1] > scores["a.py", 1]


def test_a_constant_is_as_suspicious_as_the_lines_that_read_it() -> None:
    source = Source("a.py", "LIMIT = 5\nOTHER = 6\n\n\ndef f(n):\n    return n > LIMIT\n")
    scores = spread(source, {6: 0.8})
    assert scores[1] > 0.3
    assert 2 not in scores
    assert constants_read(Source("b.py", "LIMIT = 5\n"), names_read(source, {6: 1.0})) == {1: 0.55}


def test_what_is_to_be_found_occurs_once() -> None:
    text = "def f():\n    x = 1\n    return x\n\n\ndef g():\n    x = 1\n    return x\n"
    second = text.rindex("x = 1")
    change = Edit("a.py", (Part(second + 4, second + 5, "2"),), 7, "constant", 1.0, "g")
    arguments = call_arguments(text, [change])
    assert text.count(arguments["find"]) == 1
    assert text.replace(arguments["find"], arguments["replace"]) == change.apply(text)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_lines_are_put_in_and_taken_out_exactly(newline: str, last: bool) -> None:
    text = f"def f(a):{newline}    b = a{newline}    return b" + (newline if last else "")
    at = text.index("    return")
    insertion = Edit("a.py", (Part(at, at, f"    b += 1{newline}"),), 3, "statement added", 1.0, "f")
    start = text.index("    b = a")
    deletion = Edit("a.py", (Part(start, at, ""),), 2, "deleted", 1.0, "f")
    for change in (insertion, deletion):
        arguments = call_arguments(text, [change])
        assert text.count(arguments["find"]) == 1
        assert text.replace(arguments["find"], arguments["replace"], 1) == change.apply(text)
    assert sentence(text, [insertion]).startswith("In f (a.py, line 3), add `b += 1`")


def test_a_long_line_is_shown_where_it_changes() -> None:
    text = "    earned = [percent for threshold, percent in OFFERS.items() if subtotal > threshold]\n"
    said = sentence(text, [edit(text, " > ", " >= ")])
    assert "subtotal > threshold]`" in said
    assert "subtotal >= threshold]`" in said


def test_two_edits_of_one_place_become_one_call() -> None:
    text = "a = 1\nb = 2\n"
    first, second = edit(text, "1", "3"), edit(text, "2", "4", 2)
    assert call_arguments(text, [first, second]) == {
        "path": "a.py",
        "find": text[:-1],
        "replace": "a = 3\nb = 4",
    }


def test_lines_that_never_touch_the_failure_sink() -> None:
    queue = Frontier()
    text = "aaaaaaaaaa\nb\n"
    dull = [Edit("a.py", (Part(i, i + 1, "x"),), 1, "name", 1.0) for i in range(9)]
    other = edit(text, "b", "c", 2)
    queue.push([(1.0, (one,)) for one in dull])
    queue.push([(0.6, (other,))])
    order: list[int] = []
    while (following := queue.pop()) is not None:
        order.append(following[1][0].line)
        queue.heard(following[1], moved=False, nearer=False)
    assert sorted(order) == [1] * 9 + [2]
    assert order[-1] == 1


@pytest.mark.parametrize(
    ("broken", "mended"),
    [
        ("def f(x)\n    return x\n", "def f(x):\n    return x\n"),
        ("x = (1 + 2\ny = 3\n", "x = (1 + 2)\ny = 3\n"),
        ("x = 'abc\n", "x = 'abc'\n"),
        ("def f(x):\nreturn x\n", "def f(x):\n    return x\n"),
        ("if x = 1:\n    pass\n", "if x == 1:\n    pass\n"),
        ("x = 1\nif x:\n    y = 2\nelse if x:\n    y = 3\n", "x = 1\nif x:\n    y = 2\nelif x:\n    y = 3\n"),
        ("x = [1, 2\r\ny = 3\r\n", "x = [1, 2]\r\ny = 3\r\n"),
    ],
)
def test_a_file_that_does_not_parse_is_mended(broken: str, mended: str) -> None:
    assert mended in [change.apply(broken) for change in syntax_edits("a.py", broken)]


def test_related_tests_are_found_through_imports() -> None:
    files = {
        "pkg/core.py": "",
        "pkg/api.py": "from pkg.core import x",
        "tests/test_core.py": "from pkg import core",
        "tests/test_api.py": "import pkg.api",
        "tests/test_other.py": "import json",
    }
    found = related.test_files(["pkg/core.py"], list(files), files.get, "tests/test_core.py")
    assert found == ["tests/test_api.py"]


@pytest.mark.parametrize(
    "path", ["tests/helper.py", "test_x.py", "a/x_test.py", "conftest.py", "a/conftest.py"]
)
def test_tests_are_known_as_such(path: str) -> None:
    assert is_test(path)
    assert not is_test("src/latest.py")


def test_many_tests_and_no_rivals_are_high() -> None:
    assert confidence(None, tests=12, turned_green=3, kind="name") == "high"
    assert confidence(None, tests=12, turned_green=3, kind="deleted") == "medium"
    assert confidence(None, tests=1, kind="constant") == "low"
    assert confidence(None, tests=12, turned_green=3, kind="comparison", others=9) != "high"
    assert confidence(None, tests=12, turned_green=2, kind="off by one", still_failing=3) != "high"
    assert confidence(None, tests=12, turned_green=3, kind="name", unlikely=2) == "medium"


def test_an_edit_that_does_not_fix_is_low() -> None:
    unfixed = Verdict("failed", False, "forward", passed=30)
    assert confidence(unfixed, tests=30, turned_green=5, kind="name") == "low"


def test_a_large_change_is_less_sure_than_a_small_one() -> None:
    verdict = Verdict("passed", True, "fixed", passed=20)
    small = {"a.py": FileChange("a.py", "x = 1\n", "x = 2\n", b"x = 1\n")}
    before = "".join(f"x{i} = 1\n" for i in range(60))
    after = before.replace("1", "2")
    large = {"a.py": FileChange("a.py", before, after, before.encode())}
    order = ("low", "medium", "high")
    assert order.index(confidence_of(verdict, large)) < order.index(confidence_of(verdict, small))


@pytest.mark.parametrize(
    ("tried", "left", "said"),
    [
        (91, 0, "none of 91 small edits makes the test pass"),
        (
            91,
            300,
            "no edit of the 91 that were tried makes the test pass; 300 less likely ones were not tried",
        ),
        (0, 300, "the tests took all the time, and none of 300 small edits could be tried"),
        (0, 0, "the test runs no line that may be changed and that a small edit fits"),
    ],
)
def test_a_search_that_found_nothing_says_how_far_it_came(tried: int, left: int, said: str) -> None:
    assert nothing(Findings(tried=tried, left=left)) == f"Nothing found: {said}."
