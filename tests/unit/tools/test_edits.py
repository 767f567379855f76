"""An edit fits exactly one place, or the refusal shows the real lines."""

from __future__ import annotations

import pytest

from regreen.tools.edits import EditRefused, keeping_ends, replace_once

SHOP = """\
def subtotal(items):
    total = 0
    for item in items:
        total += item.price
    return total


def count(items):
    total = 0
    for item in items:
        total += 1
    return total
"""


def refused(text: str, find: str, replace: str = "something else") -> str:
    with pytest.raises(EditRefused) as error:
        replace_once(text, find, replace, "shop.py")
    return str(error.value)


def test_the_one_occurrence_is_replaced_and_nothing_else() -> None:
    after = replace_once(SHOP, "total += item.price", "total += item.price * item.count", "shop.py")
    assert after == SHOP.replace("item.price", "item.price * item.count")


def test_several_occurrences_are_listed_with_their_functions() -> None:
    said = refused(SHOP, "total = 0")
    assert "occurs 2 times" in said
    assert "line 2 in subtotal" in said
    assert "line 9 in count" in said


def test_a_fragment_that_occurs_often_may_still_be_one_whole_line() -> None:
    text = "return a\nreturn a + b\n"
    assert replace_once(text, "return a\n", "return b\n", "x.py") == "return b\nreturn a + b\n"


def test_line_ends_of_the_file_are_kept() -> None:
    text = "a = 1\r\nb = 2\r\nc = 3\r\n"
    assert replace_once(text, "a = 1\nb = 2", "a = 1\nb = 4", "x.py") == "a = 1\r\nb = 4\r\nc = 3\r\n"


def test_trailing_white_space_does_not_matter() -> None:
    text = "def f():  \n    return 1   \n"
    assert (
        replace_once(text, "def f():\n    return 1\n", "def f():\n    return 2\n", "x.py")
        == "def f():\n    return 2\n"
    )


def test_the_same_lines_at_another_depth_are_moved_back() -> None:
    find = "total = 0\nfor item in items:\n    total += 1"
    replace = "total = len(items)\nfor item in items:\n    pass"
    after = replace_once(SHOP, find, replace, "shop.py")
    assert "    total = len(items)\n    for item in items:\n        pass\n    return total\n" in after


def test_lost_indentation_is_not_guessed() -> None:
    text = "def drop(d):\n    for k in d:\n        if d[k] is None:\n            del d[k]\n"
    said = refused(
        text, "for k in d:\nif d[k] is None:\ndel d[k]", "for k in list(d):\nif d[k] is None:\ndel d[k]"
    )
    assert "indentation" in said
    assert "    for k in d:\n        if d[k] is None:\n            del d[k]" in said


def test_typographic_quotes_in_the_file_are_found_with_straight_ones() -> None:
    text = "TITLE = 'chef’s menu'\n"
    assert replace_once(text, "'chef's menu'", "'set menu'", "menu.py") == "TITLE = 'set menu'\n"


def test_other_blanks_inside_a_line_do_not_matter() -> None:
    after = replace_once(SHOP, "total+=item.price", "total+=item.price*2", "shop.py")
    assert after == SHOP.replace("total += item.price", "total+=item.price*2")


def test_a_line_end_taken_by_find_is_put_back() -> None:
    assert replace_once("x = 1\ny = 1\n", "x = 1\n", "x = 2", "a.py") == "x = 2\ny = 1\n"


def test_quotes_around_both_texts_are_taken_off() -> None:
    assert replace_once("x = 1\ny = 1\n", "'x = 1'", "'x = 2'", "a.py") == "x = 2\ny = 1\n"
    assert replace_once("x = 'a'\n", "'a'", "'b'", "a.py") == "x = 'b'\n"


def test_an_edit_that_is_made_already_is_said() -> None:
    assert "already" in refused("def a():\n    return 2 + 2 + 2\n", "return 1 + 1 + 1", "return 2 + 2 + 2")


def test_a_text_that_is_not_there_is_answered_with_the_closest_lines() -> None:
    said = refused(SHOP, "    total += item.prize", "    total += 2")
    assert "is not in shop.py" in said
    assert "total += item.price" in said


@pytest.mark.parametrize(
    ("find", "replace", "said"), [("", "x", "empty"), ("a", "a", "nothing would change")]
)
def test_empty_and_idle_edits_are_refused(find: str, replace: str, said: str) -> None:
    assert said in refused(SHOP, find, replace)


def test_a_rewrite_keeps_the_ends_of_lines_that_stay() -> None:
    before = "a = 1\r\nb = 2\nc = 3\r\nd = 4"
    assert keeping_ends(before, "a = 1\nb = 2\nx = 0\nc = 3\nd = 4", "\r\n") == (
        "a = 1\r\nb = 2\nx = 0\r\nc = 3\r\nd = 4"
    )
    assert keeping_ends(before, "a = 1\nb = 2\nc = 3\nd = 4\n", "\r\n") == before + "\r\n"
    assert keeping_ends("", "a\nb\n", "\n") == "a\nb\n"
