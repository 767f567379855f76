"""Damaged file text made whole: escaped newlines, entities, line numbers, plus signs, fences, curly quotes.

The one rule: nothing is changed in text that parses, and only what then parses is taken.
"""

from __future__ import annotations

import html
import json
import re
import textwrap
from collections.abc import Callable

from regreen.models.dialects import unfenced
from regreen.models.dialects.blocks import CONFLICT
from regreen.models.dialects.punctuation import ODD, PUNCTUATION
from regreen.models.dialects.python_text import (
    code_only,
    fragment_parses,
    has_entities,
    is_python,
    parses,
    syntax_error,
)

_NUMBERED = re.compile(r"^[ \t]*(?:L(?:ine )?|\[)?(\d{1,5})(?:[ ]?[|│:→)]|\]|\t|\.(?=[ \t]|$)|(?= |$))(.*)$")
_BARRED = re.compile(r"^[ \t]*L?\d+[ ]?[|│→\t]")
_MARK = re.compile(r"^[ \t]*(?:<{5,9}|>{5,9}|={5,9}[ \t]*$|\+{7} ?REPLACE|-{7} ?SEARCH)")
_MARKED = re.compile(r"^[ \t]*(?:<{5,9}|>{5,9}|={5,9}|\+{7} ?REPLACE|-{7} ?SEARCH)", re.MULTILINE)
_TAG_LINE = re.compile(r"^[ \t]*(?:</?[A-Za-z_][\w:.=-]*>|<\|[^<>\n]{1,40}\|>|</s>|`{3,}\w*)?[ \t]*$")
_STRING_OR_CODE = re.compile(
    r'(?P<triple>"""(?:[^\\]|\\.)*?"""|\'\'\'(?:[^\\]|\\.)*?\'\'\')'
    r'|(?P<string>"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\')'
    r"|(?P<code>(?:[^\"'\\]|\\.)+|[\"'\\])",
    re.DOTALL,
)
_BACKSLASHED = {"n": "\n", "t": "\t", "r": "", '"': '"', "'": "'", "\\": "\\"}
_BROKEN_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"""'
    r"|'''(?:[^\\]|\\.)*?'''"
    r"|#[^\n]*"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'(?:[^'\\\n]|\\.)*'"
    r"""|(?P<broken>(?P<quote>["'])(?:[^\\]|\\.)*?(?P=quote))""",
    re.DOTALL,
)

Repair = Callable[[str], "str | None"]


def repaired_file(path: str, text: str) -> str:
    """The whole text of a file, repaired when it has to be; other files than Python lose only a fence around all."""
    if not is_python(path):
        return _unfenced_other(path, text)
    whole = _decoded_twice(text)
    if whole is not None:
        text = whole
    if parses(text) and not has_entities(text):
        return text
    return (
        _first(text, _FILE_REPAIRS, lambda candidate: parses(candidate) and not has_entities(candidate))
        or text
    )


def repaired_fragment(path: str, text: str) -> str:
    """The `find` or `replace` of an edit, repaired when it cannot be part of a Python file as it is."""
    if not is_python(path) or not _suspect(text):
        return text
    if _plausible(text):
        return text
    fixed = _first(text, _FRAGMENT_REPAIRS, _plausible)
    if fixed is not None:
        return fixed
    # Half an expression (`* 9 &lt; x`) parses neither way: then only what no Python can hold counts as damage.
    if not _impossible(text):
        return text
    for repair in (_entities_in_code, _entities, _newlines):
        candidate = repair(text)
        if candidate is not None and not _impossible(candidate):
            return candidate
    return text


def _suspect(text: str) -> bool:
    return bool(re.search(r"[\\&`]|^[ \t]*(?:[+-]|L?\d|<\w)", text, re.MULTILINE) or ODD.search(text))


def _impossible(text: str) -> bool:
    """Signs of damage that valid code, whole or in part, cannot show outside its strings."""
    code = code_only(text)
    return has_entities(text) or re.search(r"\\[nt\"']", code) is not None


def _plausible(text: str) -> bool:
    if has_entities(text) or (_BARRED.match(text) and _line_numbers(text) is not None):
        return False
    return fragment_parses(text)


def _first(text: str, repairs: tuple[Repair, ...], good: Callable[[str], bool]) -> str | None:
    """The first repair that makes the text good; after all singles, each pair with the cheap ones first."""
    changed: list[str] = []
    for repair in repairs:
        candidate = repair(text)
        if candidate is None or candidate == text or candidate in changed:
            continue
        if good(candidate):
            return candidate
        changed.append(candidate)
    for once in changed[:3]:
        for repair in repairs:
            candidate = repair(once)
            if candidate is not None and candidate not in (once, text) and good(candidate):
                return candidate
    return None


def _unfenced_other(path: str, text: str) -> str:
    if path.lower().endswith((".md", ".markdown", ".rst", ".txt")):
        return text
    found = unfenced.FENCE.fullmatch(text.strip())
    text = found.group(2) if found and "```" not in found.group(2) else text
    if path.lower().endswith(".json") and not _is_json(text) and _is_json(_resolve(text)):
        return _resolve(text)
    return text


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _decoded_twice(text: str) -> str | None:
    """The code inside a text that is one JSON string: `"def f():\\n    …"` with its quotes."""
    text = text.strip()
    if len(text) < 8 or "\n" in text or text[0] != '"' or text[-1] != '"' or "\\n" not in text:
        return None
    inner = _resolve(text[1:-1])
    return inner if "\n" in inner.strip() and re.search(r"^\w.*[:=(]", inner) and parses(inner) else None


def _marks_gone(text: str) -> str | None:
    """Search/replace and conflict markers at either end."""
    lines = text.split("\n")
    while len(lines) > 1 and (_MARK.match(lines[-1]) or (not lines[-1].strip() and _MARK.match(lines[-2]))):
        lines.pop()
    while lines and _MARK.match(lines[0]):
        lines.pop(0)
    return "\n".join(lines)


def _tags_gone(text: str) -> str | None:
    """Lines at either end that are only a tag or a chat token: `</content>`, `<|im_end|>`."""
    lines = text.strip("\n").split("\n")
    while lines and _TAG_LINE.match(lines[-1]):
        lines.pop()
    while lines and _TAG_LINE.match(lines[0]):
        lines.pop(0)
    return "\n".join(lines) + "\n" if lines else None


def _dedented(text: str) -> str | None:
    """A file that is indented as a whole, or whose first line alone is."""
    indent = len(text) - len(text.lstrip(" \t"))
    plain = textwrap.dedent(text)
    return plain if indent % 4 == 0 and plain != text and not plain[:1].isspace() else text.lstrip(" \t")


def _prompts(text: str) -> str | None:
    """Interpreter prompts or mail quotes before every line."""
    lines = text.split("\n")
    marked = [line for line in lines if line.strip()]
    for pattern in (r"(?:>>>|\.\.\.)(?: |$)", r">(?: |$)"):
        if marked and all(re.match(pattern, line) for line in marked):
            return "\n".join(re.sub(pattern, "", line) for line in lines)
    return None


def _element(text: str) -> str | None:
    """What is inside one element around all: `<find>…</find>`."""
    found = re.fullmatch(r"\s*<([A-Za-z_]\w*)>\n?(.*?)\n?</\1>\s*", text, re.DOTALL)
    return found.group(2) if found else None


def _backticks(text: str) -> str | None:
    """Markdown's backticks around a piece of code."""
    plain = text.strip()
    inside = plain.strip("`")
    return inside if plain[:1] == "`" and plain[-1:] == "`" and "`" not in inside else None


def _fence_of_fragment(text: str) -> str | None:
    inside = unfenced.inside(text)
    return None if inside is None else inside.rstrip("\n")


def _line_numbers(text: str) -> str | None:
    """`  3| code`, `3: code`, `3<tab>code`: only when every line has one and they count up."""
    lines = text.rstrip("\n").split("\n")
    last = -1
    rest: list[str] = []
    for line in lines:
        found = _NUMBERED.match(line)
        if not found:
            if line.strip():
                return None
            rest.append("")
            continue
        number = int(found.group(1))
        if last >= 0 and number <= last:
            return None
        last = number
        rest.append(found.group(2))
    if last < 0:
        return None
    widths = [len(line) - len(line.lstrip(" ")) for line in rest if line.strip()]
    extra = min(widths, default=0) % 4  # blanks that belong to the separator
    rest = [line[extra:] for line in rest]
    return "\n".join(rest) + ("\n" if text.endswith("\n") else "")


def _plus(text: str) -> str | None:
    """A diff's plus sign before every line, or a whole hunk with minus lines too."""
    lines = text.split("\n")
    marked = [line for line in lines if line.strip()]
    if not any(line.startswith("+") for line in marked):
        return None
    if all(line.startswith("+") for line in marked):
        return "\n".join(line[1:] for line in lines)
    if all(line[0] in "+- @" for line in marked):
        return "\n".join(line[1:] for line in lines if not line.startswith(("-", "@@")))
    return None


def _minus(text: str) -> str | None:
    lines = text.split("\n")
    marked = [line for line in lines if line.strip()]
    if marked and all(line.startswith("-") for line in marked):
        return "\n".join(line[1:] for line in lines)
    return None


def _entities(text: str) -> str | None:
    if "&" not in text:
        return None
    once = html.unescape(text)
    return once if not has_entities(once) else html.unescape(once)


def _entities_in_code(text: str) -> str | None:
    """Entities outside strings only: what a string holds may be meant."""
    return _outside_strings(text, html.unescape) if "&" in text else None


def _newlines(text: str) -> str | None:
    """`\\n` between the lines, and in docstrings; strings of one line keep theirs."""
    if "\\" not in text:
        return None
    return _outside_strings(text, _resolve, triple=_resolve)


def _escapes(text: str) -> str | None:
    """Every escape resolved once: the text was escaped as a whole."""
    return _resolve(text) if "\\" in text else None


def _quotes_only(text: str) -> str | None:
    return text.replace('\\"', '"').replace("\\'", "'") if "\\" in text else None


def _resolve(text: str) -> str:
    return re.sub(r"\\([ntr\"'\\])", lambda found: _BACKSLASHED[found.group(1)], text)


def _outside_strings(
    text: str, change: Callable[[str], str], triple: Callable[[str], str] | None = None
) -> str:
    def one(found: re.Match[str]) -> str:
        if found.lastgroup == "code":
            return change(found.group())
        if found.lastgroup == "triple" and triple:
            return triple(found.group())
        return found.group()

    return _STRING_OR_CODE.sub(one, text)


def _punctuation_in_code(text: str) -> str | None:
    if not ODD.search(text):
        return None
    return _outside_strings(text, lambda code: code.translate(PUNCTUATION))


def _punctuation(text: str) -> str | None:
    return text.translate(PUNCTUATION) if ODD.search(text) else None


def _broken_strings(text: str) -> str | None:
    """A newline where a string meant `\\n`: `'` at the end of one line, the rest on the next."""
    error = syntax_error(text)
    if error is None or not re.search(r"unterminated string|EOL while", error.msg or ""):
        return None
    return _BROKEN_STRING.sub(_rejoined, text)


def _rejoined(found: re.Match[str]) -> str:
    return found.group().replace("\n", "\\n") if found.group("broken") else found.group()


_FILE_REPAIRS: tuple[Repair, ...] = (
    unfenced.inside,
    _line_numbers,
    _plus,
    _entities_in_code,
    _entities,
    _punctuation_in_code,
    _punctuation,
    _marks_gone,
    _newlines,
    _escapes,
    _quotes_only,
    _broken_strings,
    _dedented,
    _tags_gone,
    _prompts,
)
_FRAGMENT_REPAIRS: tuple[Repair, ...] = (
    _fence_of_fragment,
    _element,
    _backticks,
    _line_numbers,
    _plus,
    _minus,
    _entities_in_code,
    _entities,
    _punctuation_in_code,
    _punctuation,
    _newlines,
    _escapes,
    _quotes_only,
    _broken_strings,
)


def without_markers(path: str, text: str, held: str = "") -> str:
    """A `find` or `replace` without search/replace marks left at either end. Lines that its file holds are no marks,
    nor, outside Python, is a line of equal signs below a heading."""
    if not _MARKED.search(text) or CONFLICT.search(text):
        return text
    stripped = _marks_gone(text) or ""
    if not stripped.strip():
        return text
    gone = text.replace(stripped, "\n", 1).split("\n")
    marks = [line.strip() for line in gone if line.strip()]
    if held and set(marks) <= {line.strip() for line in held.splitlines()}:
        return text
    underlined = re.search(r"^(\S[^\n]*)\n(={5,9})[ \t]*\Z", text.rstrip("\n"), re.MULTILINE)
    if (
        underlined
        and not is_python(path)
        and len(underlined[1].rstrip()) <= len(underlined[2])
        and len(marks) == 1
    ):
        return text
    return stripped
