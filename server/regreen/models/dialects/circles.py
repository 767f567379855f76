"""Seeing that a text only goes round in circles: the same words again, or the same words with a number that grows.

Good code repeats itself too (tables, tests with numbers, lists of dictionaries), so text that is code, or stands where
the text of a file does, has to repeat itself exactly, and for much longer, before it counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

TAIL = 4000
"""So many characters at the end of a text are looked at."""
_LEAST_TIMES = 4
_HINT = 16
_HINTED = 4
_FEW = 2
_NUMBERS = re.compile(
    r"(?=[\da-fnost])(?:\b(?=[a-f]*\d)[0-9a-f]{7,40}\b|\d+(?:[.,:/-]\d+)*(?:st|nd|rd|th)?\b|\d+"
    r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
    r"eighteen|nineteen|twenty|thirty|forty|fifty|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)\b)",
    re.IGNORECASE,
)
_SPACE = re.compile(r"(?:\s|\\n)+")
_NOTHING = re.compile(r"n?(?:\s|\\n)*\\?")
_NOTHING_SAID, _NOTHING_FILED = 400, 2400
"""So many characters at the end that are no more than space, or line ends written out, are a circle too."""
_CODE = re.compile(r"[(){}\[\]=;_<>|\"`*/+\\]")
_CODE_SHARE = 0.06
_WORD = re.compile(r"[^\W\d_]{2,}")
_CALL = re.compile(
    r"[\"'](?:name|tool|tool_name|function|action)[\"']\s*:|<function=|<tool_call>|<invoke\b|\b(?:read_file|list_files|search_files|"
    r"edit_file|write_file|run_tests|run_python)\b\W",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*([\w+-]*)", re.MULTILINE)
_CALLS_IN = ("", "json", "xml", "tool_call", "tool_code", "tool", "text")
_OPENS = re.compile(
    r"(?P<tag><(?:parameter|param|arg)\s*(?:=|name=)[\"']?(?:content|replace|find|code)\b|<(?:content|replace|find|code)>)"
    r"|(?P<block>^[ \t]*<{5,9} ?SEARCH|^\*\*\* Begin Patch|^@@ )"
    r"|(?P<json>[\"'](?:content|replace|find|code|\w+_string|\w+_str|diff|patch)[\"']\s*:\s*[\"'`])",
    re.MULTILINE,
)
_CLOSES = {
    "tag": re.compile(r"</(?:parameter|param|arg|content|replace|find|code|function|invoke|tool_call)\b"),
    "block": re.compile(r"^[ \t]*>{5,9}|^\*\*\* End Patch", re.MULTILINE),
    "json": re.compile(r"(?<!\\)[\"'`]\s*,?\s*\}"),
}


@dataclass(frozen=True, slots=True)
class Circle:
    """A piece of text that stands many times at the end; `counts` when only its numbers change."""

    piece: str
    times: int
    counts: bool


def circle(text: str, code: bool = False) -> Circle | None:
    """The circle in which a text goes at its end; None when it does not. `code`: all of it is what a call holds."""
    tail = text[-TAIL:]
    if _ends_in_nothing(tail, _NOTHING_SAID) and (
        _ends_in_nothing(tail, _NOTHING_FILED) or not (code or _in_a_file(text))
    ):
        return Circle("", _NOTHING_SAID, counts=False)
    plain = _SPACE.sub(" ", tail)
    masked = _NUMBERS.sub("#", plain)
    hint = masked.rstrip()[-_HINT:]
    if masked.count(hint) < _HINTED and len(set(hint)) > _FEW:
        return None
    filed = code or _in_a_file(text)
    if found := _best(plain, filed, counts=False):
        return found
    return None if filed else _best(masked, filed, counts=True)


def _ends_in_nothing(text: str, length: int) -> bool:
    return len(text) >= length and _NOTHING.fullmatch(text[-length:]) is not None


def _in_a_file(text: str) -> bool:
    """Whether the end of a text stands where the text of a file does."""
    fences = list(_FENCE.finditer(text))
    if len(fences) % 2 and fences[-1].group(1).lower() not in _CALLS_IN:
        return True
    at = 0
    while opened := _OPENS.search(text, at):
        closed = _CLOSES[opened.lastgroup or "tag"].search(text, opened.end())
        if closed is None:
            return True
        at = closed.end()
    return False


def _best(text: str, filed: bool, counts: bool) -> Circle | None:
    """The first circle, from the shortest end of the text on, that is one by the rules."""
    turned = text.rstrip()[::-1]
    border = [0] * len(turned)
    for index in range(1, len(turned)):
        width = border[index - 1]
        while width and turned[index] != turned[width]:
            width = border[width - 1]
        border[index] = width + 1 if turned[index] == turned[width] else 0
        size = index + 1
        period = size - border[index]
        times = size // period
        if times >= _LEAST_TIMES and size % period == 0:
            piece = turned[:period][::-1]
            if _is_circle(piece, times, filed, counts):
                return Circle(piece.strip(), max(times, text.count(piece)), counts)
    return None


def _is_circle(piece: str, times: int, filed: bool, counts: bool) -> bool:
    size = len(piece) * times
    if not re.search(r"\w", piece):
        return size >= (_NOTHING_FILED if filed else _NOTHING_SAID)
    prose = len(_CODE.findall(piece)) <= _CODE_SHARE * len(piece) and bool(_WORD.search(piece))
    if counts:
        words = len(_WORD.findall(piece))
        return times >= (6 if len(piece) >= 160 else 10 if len(piece) >= 60 else 16) and (
            (prose and words >= 2 and "#" in piece) or bool(_CALL.search(piece))
        )
    if filed or not (prose or _CALL.search(piece)):
        return size >= 2400 and times >= 8
    return size >= 60 and times >= (4 if len(piece) >= 120 else 6)
