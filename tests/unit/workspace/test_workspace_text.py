"""Text survives the way through the editor's eyes byte for byte, or is not touched at all."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regreen.workspace.text import UndecodableFile, decode

KINDS = {
    "plain": (b"a = 1\nb = 2\n", "utf-8", b"", "\n"),
    "windows": (b"a = 1\r\nb = 2\r\n", "utf-8", b"", "\r\n"),
    "old mac": (b"a = 1\rb = 2\r", "utf-8", b"", "\r"),
    "mixed": (b"a = 1\r\nb = 2\nc = 3\r\n", "utf-8", b"", "\r\n"),
    "mark": (codecs.BOM_UTF8 + b"a = 1\r\n", "utf-8", codecs.BOM_UTF8, "\r\n"),
    "mark and line": (codecs.BOM_UTF8 + b"# coding: utf-8\na = 1\n", "utf-8", codecs.BOM_UTF8, "\n"),
    "no last line end": (b"a = 1\nb = 2", "utf-8", b"", "\n"),
    "latin-1": (b"# -*- coding: latin-1 -*-\ns = '\xe9'\n", "iso-8859-1", b"", "\n"),
    "second line": (
        b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\ns = '\x80'\n",
        "cp1252",
        b"",
        "\n",
    ),
    "japanese": ("# coding: shift_jis\ns = '日本'\n".encode("shift_jis"), "shift_jis", b"", "\n"),
    "utf-16": (
        codecs.BOM_UTF16_LE + "a = 'é'\r\n".encode("utf-16-le"),
        "utf-16-le",
        codecs.BOM_UTF16_LE,
        "\r\n",
    ),
    "utf-16 big": (codecs.BOM_UTF16_BE + "a\n".encode("utf-16-be"), "utf-16-be", codecs.BOM_UTF16_BE, "\n"),
    "utf-32": (codecs.BOM_UTF32_LE + "a\n".encode("utf-32-le"), "utf-32-le", codecs.BOM_UTF32_LE, "\n"),
    "empty": (b"", "utf-8", b"", "\n"),
    "one line": (b"a", "utf-8", b"", "\n"),
    "form feed": (b"a\x0c\nb\x1c\xc2\x85\n", "utf-8", b"", "\n"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_known_for_what_it_is(kind: str):
    raw, encoding, bom, newline = KINDS[kind]
    text = decode(raw)
    assert (text.encoding, text.bom, text.newline) == (encoding, bom, newline)
    assert text.encode(text.text) == raw


@pytest.mark.parametrize("kind", [kind for kind, (raw, *_) in KINDS.items() if "a =" in decode(raw).text])
def test_one_replaced_word_leaves_every_other_byte(kind: str):
    raw = KINDS[kind][0]
    text = decode(raw)
    edited = text.encode(text.text.replace("a =", "long_name =", 1))
    old, new = (("a =").encode(text.encoding), ("long_name =").encode(text.encoding))
    at = raw.index(old)
    assert edited == raw[:at] + new + raw[at + len(old) :]


@pytest.mark.parametrize(
    "raw",
    [
        b"s = '\xff'\n",
        b"# coding: utf-8\ns = '\xe9'\n",
        b"# coding: no-such-thing\n",
        b"# coding: rot13\nnop\n",
        b"# coding: hex\n00\n",
        codecs.BOM_UTF8 + b"# coding: latin-1\n",
        codecs.BOM_UTF16_LE + b"a",
        b"\x89PNG\r\n\x1a\n\0",
        b"text with \0 in it",
        b"# coding: utf-7\ns = '+AGE-'\n",
        b"\xed\xa0\x80",
    ],
)
def test_what_would_not_keep_its_bytes_is_refused(raw: bytes):
    with pytest.raises(UndecodableFile):
        decode(raw)


def test_a_character_the_encoding_lacks_is_refused_with_its_name():
    text = decode(b"# coding: latin-1\nprice = 1\n")
    with pytest.raises(UndecodableFile, match=r"u20ac.*iso-8859-1"):
        text.encode(text.text + "# 5 €\n")


@pytest.mark.parametrize(
    ("raw", "edit"),
    [
        (b"s = 'x'\n", "# coding: latin-1\ns = 'é'\n"),
        (b"# coding: latin-1\ns = '\xe9'\n", "# coding: utf-8\ns = 'é'\n"),
        (b"x = 1\n", "\ufeffx = 1\n"),
        (b"x = 1\n", "x = '\0'\n"),
        (b"x = 1\n", "x = '\ud800'\n"),
    ],
)
def test_an_edit_that_changes_how_the_file_is_read_is_refused(raw: bytes, edit: str):
    with pytest.raises(UndecodableFile):
        decode(raw).encode(edit)


@given(st.binary(max_size=200))
def test_any_bytes_come_back_or_are_refused(raw: bytes):
    try:
        text = decode(raw)
    except UndecodableFile:
        return
    assert text.encode(text.text) == raw
    assert text.newline in ("\n", "\r\n", "\r")


@given(
    st.lists(st.tuples(st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=12),
                       st.sampled_from(["\n", "\r\n", "\r", ""])), max_size=12),
    st.sampled_from([b"", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE]),
    st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff"), max_size=12),
    st.data(),
)  # fmt: skip
def test_an_edit_changes_nothing_outside_itself(
    lines: list[tuple[str, str]], bom: bytes, new: str, data: st.DataObject
):
    encodings = {
        b"": "utf-8",
        codecs.BOM_UTF8: "utf-8",
        codecs.BOM_UTF16_LE: "utf-16-le",
        codecs.BOM_UTF16_BE: "utf-16-be",
        codecs.BOM_UTF32_BE: "utf-32-be",
    }
    content = "".join(line + end for line, end in lines)
    raw = bom + content.encode(encodings[bom])
    try:
        text = decode(raw)
    except UndecodableFile:
        return  # Something in it looked like an encoding line.
    assert text.text == content or not bom
    start = data.draw(st.integers(0, len(text.text)))
    end = data.draw(st.integers(start, len(text.text)))
    edited = text.text[:start] + new + text.text[end:]
    try:
        result = text.encode(edited)
    except UndecodableFile:
        return
    head = text.bom + text.text[:start].encode(text.encoding)
    tail = text.text[end:].encode(text.encoding)
    assert result.startswith(head)
    assert result.endswith(tail)
    assert raw.startswith(head)
    assert raw.endswith(tail)
    assert result == head + new.encode(text.encoding) + tail
