"""Line-granular edits, applied the way an editor applies them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types as lsp

from regreen.lsp.documents import Document, unit_counter
from regreen.lsp.edits import text_edits

ENCODINGS = ("utf-8", "utf-16", "utf-32")
PIECES = st.sampled_from(["a", "b", "é", "😋", "\n", "\r\n", "\r", "\u2028", "\x0c", "\x1c", "\ud800"])
TEXTS = st.lists(PIECES, max_size=24).map("".join)


def applied(text: str, edits: list[lsp.TextEdit | lsp.AnnotatedTextEdit], encoding: str) -> str:
    """All edits refer to the text as it was: carry them out from the last to the first."""
    units = unit_counter(encoding)
    document = Document("file:///a.py", text, 1)
    spans = [
        (document.offset(edit.range.start, units), document.offset(edit.range.end, units), edit.new_text)
        for edit in edits
    ]
    for start, end, new in reversed(spans):
        text = text[:start] + new + text[end:]
    return text


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(max_examples=400, deadline=None)
@given(before=TEXTS, after=TEXTS)
def test_the_edits_lead_from_one_text_to_the_other(encoding: str, before: str, after: str) -> None:
    edits = text_edits(before, after, unit_counter(encoding))
    assert applied(before, edits, encoding) == after


@settings(max_examples=200, deadline=None)
@given(before=TEXTS, start=st.integers(0, 6), end=st.integers(0, 6), column=st.integers(0, 5), new=TEXTS)
def test_incremental_changes_hit_the_same_place_as_offsets(
    before: str, start: int, end: int, column: int, new: str
) -> None:
    document = Document("file:///a.py", before, 1)
    units = unit_counter("utf-16")
    first, last = sorted((start, end))
    span = lsp.Range(lsp.Position(first, column), lsp.Position(last, column))
    a, b = document.offset(span.start, units), document.offset(span.end, units)
    document.apply(lsp.TextDocumentContentChangePartial(range=span, text=new), units)
    assert document.text == before[:a] + new + before[b:]


def test_only_the_changed_lines_are_touched() -> None:
    before = "".join(f"line {n}\n" for n in range(5000))
    after = before.replace("line 2500\n", "line 2500 changed\n")
    (edit,) = text_edits(before, after, len, "p1")
    assert isinstance(edit, lsp.AnnotatedTextEdit)
    assert edit.annotation_id == "p1"
    assert edit.range == lsp.Range(lsp.Position(2500, 0), lsp.Position(2501, 0))
    assert edit.new_text == "line 2500 changed\n"


def test_a_last_line_without_an_end_is_replaced_up_to_its_last_column() -> None:
    (edit,) = text_edits('x = "😋"', 'x = "!"', unit_counter("utf-16"))
    assert edit.range == lsp.Range(lsp.Position(0, 0), lsp.Position(0, 8))
