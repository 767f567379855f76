"""Text of others, made harmless to look at."""

from __future__ import annotations

import unicodedata


def visible(text: str) -> str:
    """The text with every character that a terminal would act on, or that cannot be seen, spelled out.

    A model writes into the diff that a person approves: it must not move the cursor or hide a line.
    """
    return "".join(c if c in "\n\t" or not _acts(c) else f"\\u{ord(c):04x}" for c in text)


def writable(text: str, encoding: str) -> str:
    """The text as an output of this encoding can show it: our own signs in letters, anything else spelled out."""
    try:
        text.encode(encoding)
        return text
    except (UnicodeEncodeError, LookupError):
        pass
    known = "".join(_IN_LETTERS.get(character, character) for character in text)
    try:
        return known.encode(encoding, "backslashreplace").decode(encoding)
    except LookupError:
        return known.encode("ascii", "backslashreplace").decode("ascii")


_IN_LETTERS = {
    "·": "-",
    "→": "->",
    "✓": "ok:",
    "✗": "no:",
    "…": "...",
    "⏎": " / ",
    "“": '"',
    "”": '"',
    "–": "-",
}


def _acts(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
