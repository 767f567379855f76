"""What is at the cursor."""

from __future__ import annotations

import textwrap

import pytest

from regreen.testing.locate import Located, at
from regreen.testing.locate import tests_in as all_tests

EVERYTHING = textwrap.dedent(
    '''\
    import unittest
    import pytest


    class Base(unittest.TestCase):
        def helper(self):
            pass


    @pytest.mark.parametrize(
        "a",
        [
            1,
    ])
    @pytest.mark.slow
    def test_decorated(a):
        def test_inner():
            pass
        assert a


    async def test_async():
        pass


    class TestOuter:
        value = """
    def test_in_a_string(): pass
    """

        class TestInner:
            @staticmethod
            def test_deep():
                assert True

        def helper(self):
            pass

        def test_shallow(self): assert True


    class Cart(Base):
        def test_of_a_case(self):
            pass


    class Async(unittest.IsolatedAsyncioTestCase):
        async def test_awaits(self):
            pass


    if True:
        def test_in_if():
            pass
    else:
        def test_in_else():
            pass

    try:
        import numpy
    except ImportError:
        def test_in_except():
            pass
    finally:
        def test_in_finally():
            pass

    with open("x"):
        def test_in_with():
            pass

    match 3:
        case 3:
            def test_in_match():
                pass


    class TestWithConstructor:
        def __init__(self):
            pass

        def test_never_collected(self):
            pass


    class TestOff:
        __test__ = False

        def test_off(self):
            pass


    @pytest.fixture
    def test_client():
        return 1


    def helper():
        assert 0
    '''
)

LINES = EVERYTHING.splitlines()


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(LINES, 1) if text in line)


def test_every_test_of_a_module_is_found_and_nothing_else() -> None:
    assert ["::".join(test.names) for test in all_tests(EVERYTHING)] == [
        "Base",
        "test_decorated",
        "test_async",
        "TestOuter",
        "TestOuter::TestInner",
        "TestOuter::TestInner::test_deep",
        "TestOuter::test_shallow",
        "Cart",
        "Cart::test_of_a_case",
        "Async",
        "Async::test_awaits",
        "test_in_if",
        "test_in_else",
        "test_in_except",
        "test_in_finally",
        "test_in_with",
        "test_in_match",
    ]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("    [", ("test_decorated",)),
        ('    "a",', ("test_decorated",)),
        ("@pytest.mark.parametrize", ("test_decorated",)),
        ("@pytest.mark.slow", ("test_decorated",)),
        ("def test_inner", ("test_decorated",)),
        ("async def test_async", ("test_async",)),
        ("class TestOuter", ("TestOuter",)),
        ("value =", ("TestOuter",)),
        ("def test_in_a_string", ("TestOuter",)),
        ("@staticmethod", ("TestOuter", "TestInner", "test_deep")),
        ("def test_shallow", ("TestOuter", "test_shallow")),
        ("def test_of_a_case", ("Cart", "test_of_a_case")),
        ("def test_awaits", ("Async", "test_awaits")),
        ("def test_in_else", ("test_in_else",)),
        ("def test_in_match", ("test_in_match",)),
    ],
)
def test_the_cursor_finds_its_test(text: str, names: tuple[str, ...]) -> None:
    found = at(EVERYTHING, line_of(text))
    assert found is not None
    assert found.names == names


@pytest.mark.parametrize(
    "text", ["import pytest", "def helper():", "def test_client", "def test_off", "def test_never_collected"]
)
def test_helpers_fixtures_and_switched_off_classes_give_nothing(text: str) -> None:
    assert at(EVERYTHING, line_of(text)) is None


def test_the_cursor_and_the_whole_file_agree_on_every_line() -> None:
    tests = all_tests(EVERYTHING)
    for number in range(1, len(LINES) + 1):
        hits = [t for t in tests if t.first_line <= number <= t.last_line]
        whole = max(hits, key=lambda t: (t.first_line, len(t.names)), default=None)
        found = at(EVERYTHING, number)
        assert found == whole, (number, LINES[number - 1])


def test_decorators_count_to_the_test() -> None:
    first = line_of("@pytest.mark.parametrize")
    assert at(EVERYTHING, first) == Located(("test_decorated",), first, first + 9, "function")


def test_a_file_that_does_not_parse_is_a_syntax_error() -> None:
    with pytest.raises(SyntaxError):
        all_tests("def test_a(:\n    pass\n")


def test_a_broken_line_elsewhere_does_not_hide_the_test_at_the_cursor() -> None:
    source = "def test_a():\n    assert 1\n\n\ndef broken(:\n    pass\n"
    found = at(source, 2)
    assert found is not None
    assert found.names == ("test_a",)


def test_lines_outside_the_file_give_nothing() -> None:
    assert at("def test_a(): pass\n", 0) is None
    assert at("def test_a(): pass\n", 9) is None


def test_windows_line_ends_and_an_empty_file() -> None:
    assert all_tests("") == []
    assert all_tests("def test_a():\r\n    pass\r\n") == [Located(("test_a",), 1, 2, "function")]


def test_a_definition_inside_a_string_at_the_margin_is_no_test() -> None:
    source = 'TEXT = """\ndef test_no():\n    pass\n"""\n\n\ndef test_yes():\n    pass\n'
    assert [test.names for test in all_tests(source)] == [("test_yes",)]
    assert at(source, 2) is None
    found = at(source, 7)
    assert found is not None
    assert found.names == ("test_yes",)


def test_a_class_below_its_base_of_the_same_file_is_a_test_case_wherever_it_stands() -> None:
    source = "class Cart(Base):\n    def test_a(self): pass\n\n\nclass Base(TestCase):\n    pass\n"
    assert [test.names for test in all_tests(source)] == [("Cart",), ("Cart", "test_a"), ("Base",)]


def test_form_feeds_and_odd_separators_do_not_shift_lines() -> None:
    source = "A = 'x\u2028y'\n\x0c\ndef test_a():\n    pass\n"
    assert [(test.first_line, test.last_line) for test in all_tests(source)] == [(3, 4)]
