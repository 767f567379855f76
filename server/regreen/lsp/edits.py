"""Line-granular edits between two texts.

All columns are 0, except behind a last line without a line end, so the client's way of counting hardly
matters, and no byte outside the changed lines is touched.
"""

from __future__ import annotations

from difflib import SequenceMatcher

from lsprotocol import types as lsp

from regreen.lsp.documents import Units
from regreen.workspace.changes import split_lines


def text_edits(
    before: str, after: str, units: Units, annotation: str | None = None
) -> list[lsp.TextEdit | lsp.AnnotatedTextEdit]:
    """The edits that turn `before` into `after`, in order, none overlapping.

    `units` counts the client's code units in a string. With `annotation`, each edit carries that id.
    """
    old, new = split_lines(before), split_lines(after)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    matcher = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)

    def position(index: int) -> lsp.Position:
        if index == len(old) and old and not old[-1].endswith(("\n", "\r")):
            return lsp.Position(index - 1, units(old[-1]))
        return lsp.Position(index, 0)

    edits: list[lsp.TextEdit | lsp.AnnotatedTextEdit] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            continue
        span = lsp.Range(position(head + i1), position(head + i2))
        text = "".join(new[head + j1 : head + j2])
        edits.append(
            lsp.AnnotatedTextEdit(annotation_id=annotation, range=span, new_text=text)
            if annotation
            else lsp.TextEdit(range=span, new_text=text)
        )
    return edits


def _common(one: list[str], other: list[str]) -> int:
    """How many lines both lists begin with."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count
