"""Text that comes back byte for byte: encoding, byte order mark, line ends and the last line as they were.

Rules: a byte order mark decides; else the encoding line of PEP 263; else UTF-8. Nothing is ever guessed or
replaced: a file that does not survive decoding and encoding unchanged is not opened as text.
"""

from __future__ import annotations

import codecs
import io
import tokenize
from dataclasses import dataclass

from regreen.workspace.names import PathRefused

# UTF-32 before UTF-16: its little-endian mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class UndecodableFile(PathRefused, ValueError):
    """A file that cannot be edited as text without losing something; `str(error)` says why."""


@dataclass(frozen=True, slots=True)
class Text:
    """A file as text. `text` has every character of the file but the byte order mark `bom`, line ends included;
    `newline` is the line end most of its lines have ("\\n" when it has none)."""

    raw: bytes
    text: str
    encoding: str
    bom: bytes
    newline: str

    def encode(self, text: str) -> bytes:
        """The bytes of `text` in this file's encoding, with its byte order mark.

        Raises UndecodableFile when a character cannot be written in that encoding, or when the bytes would be
        read as another text (the edit changes the encoding line, or brings in a mark of its own).
        """
        try:
            raw = self.bom + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            letter = ascii(text[error.start : error.start + 1])
            raise UndecodableFile(
                f"the character {letter} cannot be written in this file's encoding ({self.encoding}): "
                "use only characters of that encoding, or an escape"
            ) from error
        if decode(raw).text != text:
            raise UndecodableFile(
                f"the edit would make the file unreadable in its encoding ({self.encoding}): leave its "
                "encoding line and byte order mark as they are"
            )
        return raw


def decode(raw: bytes) -> Text:
    """The file's text. Raises UndecodableFile unless encoding the text again gives these very bytes."""
    bom, encoding = _encoding(raw)
    try:
        text = raw[len(bom) :].decode(encoding)
        same = bom + text.encode(encoding) == raw
    except (UnicodeError, LookupError) as error:
        raise UndecodableFile(f"the file is not text in its encoding ({encoding})") from error
    if not same:
        raise UndecodableFile(f"the file would not keep its bytes in its encoding ({encoding})")
    if "\0" in text:
        raise UndecodableFile("the file is not text: it holds NUL characters")
    return Text(raw, text, encoding, bom, _newline(text))


def _encoding(raw: bytes) -> tuple[bytes, str]:
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            if mark == codecs.BOM_UTF8:
                _declared(raw)  # A different encoding line contradicts the mark; Python refuses such a file.
            return mark, encoding
    return b"", _declared(raw)


def _declared(raw: bytes) -> str:
    """The encoding of the encoding line, "utf-8" without one."""
    head = io.BytesIO(raw[: 1 << 16])
    try:
        name = tokenize.detect_encoding(head.readline)[0]
        info = codecs.lookup(name)
    except (SyntaxError, LookupError, ValueError) as error:
        raise UndecodableFile(f"the file's encoding cannot be determined ({error})") from error
    if not getattr(info, "_is_text_encoding", True):
        raise UndecodableFile(f"the file's encoding line names no text encoding ({name})")
    return name


def _newline(text: str) -> str:
    both = text.count("\r\n")
    counts = {"\n": text.count("\n") - both, "\r\n": both, "\r": text.count("\r") - both}
    most = max(counts, key=lambda end: counts[end])
    return most if counts[most] else "\n"
