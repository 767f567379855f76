"""JSON as small models write it: wrong quotes, missing commas and braces, raw newlines, comments.

A string that never ends is an error, never completed: what the model did not write must not run.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

_STRICT = json.JSONDecoder(strict=False)
_DEEPEST = 16

_QUOTES: tuple[tuple[str, str], ...] = (
    ('"""', '"""'),
    ("'''", "'''"),
    ("<escape>", "<escape>"),
    ('<|"|>', '<|"|>'),
    ('"', '"'),
    ("'", "'"),
    ("`", "`"),
    ("“", "”"),
    ("„", "“"),
    ("‘", "’"),
    ("«", "»"),
)
_TRIPLE = ('"""', "'''")
_BY_FIRST = {
    first: [pair for pair in _QUOTES if pair[0][0] == first] for first in {pair[0][0] for pair in _QUOTES}
}
_SPACE = re.compile(r"(?:[\s\u00a0\ufeff]+|//[^\n]*|/\*.*?\*/|#[^\n]*)+", re.DOTALL)
_BLANK = re.compile(r"[\s\u00a0]*")
_KEY = re.compile(r"[A-Za-z_$][\w$.-]*")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?=\s*(?:[,}\])]|$))")
_WORD = re.compile(r"(?:true|false|null|none|undefined|nan)\b", re.IGNORECASE)
_BARE = re.compile(r"[\w./\\@*~-][\w./\\@*~: -]*")
_NEXT_KEY = re.compile(r"""\s*(?:["'“‘`][^"'“”‘’`\n:]{1,40}["'”’`]|[A-Za-z_]\w*)\s*(?:[:=]|：)""")
_AFTER_COMMA = re.compile(r"""\s*(?:[},\])]|$|//|/\*|\#|["']?\w*["']?\s*\Z)""")
_CONCATENATION = re.compile(r"""\s*\+\s*(?=["'`])""")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\", "/": "/", "`": "`"}
_WORDS: dict[str, object] = {"true": True, "false": False}


class Broken(Exception):
    """No value can be read. `kind`: "cut" (the text ends too early), "ambiguous" (its strings can be read in more
    than one way) or "broken"; `at` is the offset."""

    def __init__(self, kind: Literal["cut", "ambiguous", "broken"], at: int) -> None:
        super().__init__(f"{kind} at {at}")
        self.kind: Literal["cut", "ambiguous", "broken"] = kind
        self.at = at


@dataclass(frozen=True, slots=True)
class Parsed:
    """A value and where it ends. `closed` is False when closing braces were missing at the end of the text;
    `guessed` is True when quotes inside a string were not escaped and one reading fitted."""

    value: Any
    end: int
    closed: bool = True
    guessed: bool = False


Ends = dict[tuple[str, bool, bool], tuple[int, int]]
"""What is known of the ends of strings in one text, from one try to read a value of it to the next: by closing quote,
inside an array or not, key or value, a stretch in which no such quote ends a string, and the one behind it that does
(-1: none)."""


def parse(text: str, start: int = 0, ends: Ends | None = None) -> Parsed:
    """Read the value that begins at `start` (an opening brace, bracket or quote). Raises Broken.

    `ends` is filled and used where several values of the same text are read.
    """
    try:
        value, end = _STRICT.raw_decode(text, start)
        return Parsed(value, end)
    except (ValueError, RecursionError):
        pass
    reader = _Reader(text, start, {} if ends is None else ends)
    value = reader.value(0)
    if reader.guessed and re.match(r"[\s}\])]*[\"']", text[reader.at : reader.at + 40]):
        raise Broken("ambiguous", reader.at)
    return Parsed(value, reader.at, reader.closed, reader.guessed)


class _Reader:
    def __init__(self, text: str, at: int, ends: Ends) -> None:
        self.text = text
        self.said = len(text.rstrip())  # behind it is nothing but blanks
        self.at = at
        self.ends = ends
        self.closed = True
        self.guessed = False
        self.arrays = 0

    def space(self) -> str:
        """Skip blanks and comments; the next character, "" at the end."""
        found = _SPACE.match(self.text, self.at)
        if found:
            self.at = found.end()
        return self.text[self.at : self.at + 1]

    def value(self, depth: int) -> Any:
        if depth > _DEEPEST:
            raise Broken("broken", self.at)
        char = self.space()
        if not char:
            raise Broken("cut", self.at)
        if char == "{":
            return self.object(depth)
        if char in "[(":
            return self.array(depth)
        if self.quote():
            return self.strings()
        return self.bare()

    def quote(self) -> tuple[str, str] | None:
        for opening, closing in _BY_FIRST.get(self.text[self.at : self.at + 1], ()):
            if self.text.startswith(opening, self.at):
                return opening, closing
        return None

    def object(self, depth: int) -> dict[str, Any]:
        self.at += 1
        result: dict[str, Any] = {}
        while True:
            char = self.space()
            if not char or char == "<":
                self.closed = False
                return result
            if char in ",;":
                self.at += 1
                continue
            if char in "}])":
                if char == "}" or not self.arrays:
                    self.at += 1
                return result
            key = self.key()
            char = self.space()
            if not char:
                raise Broken("cut", self.at)
            if char not in ":=：":
                raise Broken("broken", self.at)
            self.at += 2 if self.text.startswith("=>", self.at) else 1
            result[key] = self.value(depth + 1)
            self.between("}")

    def array(self, depth: int) -> list[Any]:
        self.at += 1
        self.arrays += 1
        result: list[Any] = []
        while True:
            char = self.space()
            if not char or (char == "<" and not self.quote()):
                self.closed = False
                break
            if char in ",;":
                self.at += 1
                continue
            if char in "])":
                self.at += 1
                break
            if char == "}":
                break
            result.append(self.value(depth + 1))
            self.between("]")
        self.arrays -= 1
        return result

    def between(self, closing: str) -> None:
        """After a member: a comma, a closing brace, the end, or (comma forgotten) the next member."""
        char = self.space()
        if not char or char in ",;}])<":
            return
        if closing == "}" and _NEXT_KEY.match(self.text, self.at):
            return
        if closing == "]" and (char in "{[" or self.quote()):
            return
        raise Broken("ambiguous" if self.guessed else "broken", self.at)

    def key(self) -> str:
        if self.quote():
            return self.string(is_key=True)
        found = _KEY.match(self.text, self.at)
        if not found:
            raise Broken("ambiguous" if self.guessed else "broken", self.at)
        self.at = found.end()
        return found.group()

    def strings(self) -> str:
        """A string, or several joined by plus signs."""
        parts = [self.string()]
        while found := _CONCATENATION.match(self.text, self.at):
            self.at = found.end()
            parts.append(self.string())
        return "".join(parts)

    def string(self, is_key: bool = False) -> str:
        quote = self.quote()
        if quote is None:
            raise Broken("broken", self.at)
        opening, closing = quote
        start = self.at + len(opening)
        at = start
        raw = opening == "<escape>"
        if opening in _TRIPLE and (last := self._own_triple(start, opening)) >= 0:
            self.guessed, at = True, last
        end = self._closing(at, closing, raw)
        while True:
            if end < 0:
                whole = self.text[self.said - 1 : self.said] in ("}", "]", ")", "`", ">")
                raise Broken("ambiguous" if self.guessed and whole else "cut", start)
            after = end + len(closing)
            if (self.guessed or len(closing) > 1 or end == start) and after >= self.said:
                raise Broken(
                    "cut", start
                )  # perhaps it was only the first half of what the model meant to write
            if len(closing) > 1 or self._ends_here(after, is_key):
                self.at = after
                body = self.text[start:end]
                return body if raw or "\\" not in body else unescape(body)
            if closing in "'’":
                raise Broken("ambiguous", end)  # an apostrophe: where the string ends is anybody's guess
            if not is_key:
                self.guessed = True
            end = self._next_end(after, closing, is_key)

    def _own_triple(self, start: int, quote: str) -> int:
        """Where triple quotes close their string, when the first that might are those of a docstring inside; else -1."""
        end = self._closing(start, quote, False)
        if end < 0 or self._ends_here(end + len(quote), False):
            return -1
        return self._next_end(end + len(quote), quote, False)

    def _next_end(self, start: int, closing: str, is_key: bool) -> int:
        """The first closing quote from `start` on that may end a string by what follows it; -1 when there is none."""
        kind = (closing, self.arrays > 0, is_key)
        first, last = self.ends.get(kind, (0, 0))
        at = start
        while True:
            end = self._closing(at, closing, False)
            if end >= first and (end < last or last < 0):
                end = last
                break
            if end < 0 or self._ends_here(end + len(closing), is_key):
                break
            at = end + len(closing)
        self.ends[kind] = start, end
        return end

    def _closing(self, at: int, closing: str, raw: bool) -> int:
        while True:
            end = self.text.find(closing, at)
            if end < 0 and closing == "”":
                end = self.text.find('"', at)
            if end < 0 or raw:
                return end
            slashes = 0
            while end - slashes > at and self.text[end - slashes - 1] == "\\":
                slashes += 1
            if slashes % 2 == 0:
                return end
            at = end + 1

    def _ends_here(self, at: int, is_key: bool) -> bool:
        """Whether a quote just before `at` may close its string, judged by what follows it."""
        found = _BLANK.match(self.text, at)
        at = found.end() if found else at
        char = self.text[at : at + 1]
        if is_key:
            return char in ":=：" or not char
        if not char or char in "}]" or (char == ")" and self.arrays):
            return True
        if char == "<":  # a closing tag where braces were forgotten
            return self.text.startswith(("</", "<|", "<｜"), at)
        if char == ",":
            if self.arrays or _AFTER_COMMA.match(self.text, at + 1):
                return True
            return _NEXT_KEY.match(self.text, at + 1) is not None
        if char in "+/#":
            return bool(_CONCATENATION.match(self.text, at)) or self.text.startswith(("//", "/*", "#"), at)
        return char in "\"'“‘`" and _NEXT_KEY.match(self.text, at) is not None

    def bare(self) -> Any:
        if found := _NUMBER.match(self.text, self.at):
            self.at = found.end()
            number = found.group()
            if len(number) > 30:
                return number
            return float(number) if re.search(r"[.eE]", number) else int(number)
        if found := _WORD.match(self.text, self.at):
            self.at = found.end()
            return _WORDS.get(found.group().lower())
        found = _BARE.match(self.text, self.at)
        if not found:
            raise Broken("broken", self.at)
        if found.end() == len(self.text):
            raise Broken("cut", self.at)
        self.at = found.end()
        return found.group().strip()


def unescape(body: str) -> str:
    """The escapes of a JSON or Python string resolved; unknown ones (`\\d`) keep their backslash."""

    def one(found: re.Match[str]) -> str:
        code = found.group(1)
        if code[0] == "u" and len(code) == 5:
            return chr(int(code[1:], 16))
        return _SIMPLE.get(code, "\\" + code)

    text = _ESCAPE.sub(one, body)
    if any("\ud800" <= char <= "\udfff" for char in text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
