"""What never becomes a proposal."""

from __future__ import annotations

from regreen.tools.checks import refusal
from regreen.workspace.changes import FileChange

WRAP = "def wrap(s):\n    return s\n\n\ndef fill(s):\n    return s\n\n\nclass Box:\n    def draw(self):\n        return 1\n"


def change(after: str, before: str | None = WRAP, path: str = "text/wrap.py") -> FileChange:
    return FileChange(path, before, after, None if before is None else before.encode())


def test_a_rewrite_that_loses_functions_names_them() -> None:
    said = refusal(change("def wrap(s):\n    return s.strip()\n"), rewrite=True)
    assert "loses fill, Box, Box.draw" in said
    assert "edit_file" in said


def test_an_edit_may_remove_a_function() -> None:
    assert refusal(change(WRAP.replace("def fill(s):\n    return s\n", "")), rewrite=False) == ""


def test_code_that_does_not_parse_is_shown_with_its_line() -> None:
    said = refusal(change(WRAP.replace("return 1", "return (1")), rewrite=False)
    assert "does not parse" in said
    assert "return (1" in said


def test_a_file_that_did_not_parse_before_may_be_mended_in_two_steps() -> None:
    before = "def a(:\n    pass\n\ndef b(:\n    pass\n"
    assert refusal(change(before.replace("a(:", "a():"), before), rewrite=False) == ""


def test_nothing_changed_and_everything_gone_are_refused() -> None:
    assert "nothing would change" in refusal(change(WRAP), rewrite=False)
    assert "would empty" in refusal(change(""), rewrite=True)


def test_a_shrunk_text_file_is_refused() -> None:
    before = "\n".join(f"line {n}" for n in range(40))
    assert "would shrink" in refusal(change("line 1\n", before, "notes.txt"), rewrite=True)


def test_a_new_file_is_fine() -> None:
    assert refusal(change("X = 1\n", None), rewrite=True) == ""


def test_characters_that_nobody_can_see_are_refused_unless_the_file_has_them() -> None:
    for hidden in ("\x1b[2K", "\u202e", "\ufffd", "\x00"):
        assert "nobody can see" in refusal(change(f"X = 1  # {hidden}\n", "X = 0\n", "x.txt"), rewrite=False)
    assert refusal(change("X = 1  # \x1b\n", "X = 0  # \x1b\n", "x.txt"), rewrite=False) == ""
