"""Calls written as elements: `<function=…>`, `<invoke name=…>`, one element per tool, key and value pairs."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import Any

from regreen.models.dialects import keys, lenient
from regreen.models.dialects.names import Toolset
from regreen.models.dialects.python_text import fragment_parses
from regreen.models.dialects.reading import as_mapping

_LONGEST_VALUE = 200_000
_MOST_ENDS = 60
_LOOKED_AT = 4

HEAD = re.compile(
    r"<(?:｜DSML｜)?(?P<tag>function|invoke|tool|call|tool_use|tool_call|use_tool|action|command|antml:invoke)"
    r"(?:\s*=\s*[\"']?(?P<equals>[\w.:-]+)[\"']?|\((?P<round>[\w.:-]+)\)|\s+(?:name|tool|function)\s*=\s*[\"']?(?P<attr>[\w.:-]+)[\"']?)(?P<more>[^<>]*?)(?P<empty>/?)>",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"<(?P<tag>name|tool_name|function_name|tool|function|invoke|action)>\s*(?P<name>[\w.:-]{2,60})\s*</(?P=tag)>",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"<(?P<name>[A-Za-z_][\w.-]{2,40})(?P<attrs>(?:\s+[\w-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*)\s*(?P<empty>/?)>"
)
_ATTRIBUTE = re.compile(r"([\w-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_PAIR = re.compile(r"<arg_key>\s*([^<\s]+)\s*</arg_key>\s*<arg_value>", re.IGNORECASE)
_PARAMETER = re.compile(
    r"<(?P<tag>parameter|param|arg|argument|｜DSML｜parameter)(?:\s*=\s*[\"']?(?P<equals>[\w.-]+)[\"']?|\s+(?:name|key)\s*=\s*[\"']?(?P<attr>[\w.-]+)[\"']?)[^<>]*>",
    re.IGNORECASE,
)
_WRAPPER = re.compile(r"\s*</?(?:parameters|arguments|args|params|input|tool_input)>", re.IGNORECASE)
_CLOSERS = r"</(?:function|invoke|tool|call|tool_use|tool_call|tools|function_calls|use_tool|action|parameters|arguments|args|antml:\w+|minimax:\w+|seed:\w+|｜DSML｜\w+)\b"
_CLOSER = re.compile(_CLOSERS, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Element:
    """A call found as an element. `cut_in` names the parameter in which the text ended; "" when it did not."""

    name: str
    values: Any
    end: int
    cut_in: str = ""


def read(text: str, start: int, tools: Toolset) -> Element | None:
    """The call whose element begins at `start`; None when the tag there is no call."""
    if found := HEAD.match(text, start):
        name = found.group("equals") or found.group("attr") or found.group("round")
        if found.group("tag").lower() in ("command", "action", "call", "tool") and not tools.known(name):
            return None
        given = _attributes(found.group("more"))
        if "{" in found.group("more"):
            return _json(text, found.start("more") + found.group("more").index("{"), name)
        if found.group("empty"):
            return Element(name, _json_attribute(given), found.end())
        return _body(text, found.end(), name, given)
    if found := _NAMED.match(text, start):
        if tools.resolve(found.group("name")).kind in ("tool", "shell"):
            return _body(text, found.end(), found.group("name"), {})
        return None
    found = _OWN.match(text, start)
    if found and tools.known(found.group("name")):
        given = _attributes(found.group("attrs"))
        if found.group("empty"):
            return Element(found.group("name"), given, found.end())
        return _body(text, found.end(), found.group("name"), given)
    return None


def read_pairs(text: str, start: int, name: str) -> Element | None:
    """The call whose `<arg_key>` list begins at `start`, after its bare name."""
    return _body(text, start, name, {}) if _PAIR.match(text, start) else None


def parameters(text: str) -> dict[str, Any]:
    """The parameters of a text that holds nothing but parameter elements; empty when it does not."""
    element = _body(text, 0, "", {})
    return {} if element.cut_in else as_mapping(element.values)


def _attributes(text: str) -> dict[str, Any]:
    return {
        found.group(1): found.group(2) or found.group(3) or "" for found in _ATTRIBUTE.finditer(text or "")
    }


def _json_attribute(given: dict[str, Any]) -> Any:
    return next((given[key] for key in ("arguments", "parameters", "args", "input") if key in given), given)


def _body(text: str, at: int, name: str, given: dict[str, Any]) -> Element:
    """The parameters from `at` to the end of the call; JSON, elements, or one bare value."""
    values = dict(given)
    own = re.escape(name)
    closing = re.compile(rf"\s*(?:{_CLOSERS}|</{own}\s*>)", re.IGNORECASE)
    while True:
        if wrapper := _WRAPPER.match(text, at):
            at = wrapper.end()
            continue
        if found := closing.match(text, at):
            end = text.find(">", found.end() - 1)
            return Element(name, values, end + 1 if end >= 0 else found.end())
        blank = re.compile(r"\s*(?:```\w*\s*)?").match(text, at)
        at = blank.end() if blank else at
        if text[at : at + 1] == "{" and not values:
            return _json(text, at, name)
        if text[at : at + 1] != "<":
            return _bare(text, at, name, values, closing)
        opened = _parameter(text, at)
        if opened is None:
            return Element(name, values, at)
        key, ends, at = opened
        value, at, whole = _value(text, at, ends, closing)
        if not whole:
            return Element(name, values, at, key)
        values[key] = value


def _json(text: str, at: int, name: str) -> Element:
    try:
        parsed = lenient.parse(text, at)
    except lenient.Broken:
        found = _CLOSER.search(text, at)
        body = text[at : found.start() if found else len(text)]
        return Element(name, body, found.end() if found else len(text))
    return Element(name, parsed.value, parsed.end)


def _bare(text: str, at: int, name: str, values: dict[str, Any], closing: re.Pattern[str]) -> Element:
    """Text where a parameter was expected: the one value of the call, if a closing tag ends it."""
    found = closing.search(text, at, at + 4000)
    body = text[at : found.start()].strip() if found else ""
    if found and body and not values and "\n" not in body:
        end = text.find(">", found.end() - 1)
        return Element(name, body, end + 1 if end >= 0 else found.end())
    return Element(name, values, at)


def _parameter(text: str, at: int) -> tuple[str, re.Pattern[str], int] | None:
    """The name of the parameter that opens at `at`, what closes it, and where its value begins."""
    if found := _PAIR.match(text, at):
        return found.group(1), re.compile(r"</arg_value\s*>", re.IGNORECASE), found.end()
    if found := _PARAMETER.match(text, at):
        key = found.group("equals") or found.group("attr")
        return (
            key,
            re.compile(rf"</(?:{found.group('tag')}|{re.escape(key)})\s*>", re.IGNORECASE),
            found.end(),
        )
    found = re.compile(r"<([A-Za-z_][\w-]*)\s*>").match(text, at)
    if found and keys.is_argument(found.group(1)):
        key = found.group(1)
        return key, re.compile(rf"</(?:{re.escape(key)}|parameter)\s*>", re.IGNORECASE), found.end()
    return None


def _value(text: str, at: int, ends: re.Pattern[str], closing: re.Pattern[str]) -> tuple[str, int, bool]:
    """The value that begins at `at`. Its end is the first closing tag after which the call goes on or ends, so that
    text which holds such a tag itself stays whole."""
    last: re.Match[str] | None = None
    fits: list[re.Match[str]] = []
    for found in itertools.islice(ends.finditer(text, at), _MOST_ENDS):
        last = found
        if found.end() - at > _LONGEST_VALUE:
            break
        if _goes_on(text, found.end(), closing):
            fits.append(found)
            if len(fits) == _LOOKED_AT:
                break
    if fits:
        own = _own_end(text, at, fits)
        return _trimmed(text[at : own.start()]), own.end(), True
    if last is not None:
        first = ends.search(text, at)
        assert first is not None
        return _trimmed(text[at : first.start()]), first.end(), True
    following = re.compile(rf"\n?\s*(?:<parameter\b|<arg_key>|{_CLOSERS})", re.IGNORECASE).search(text, at)
    if following:
        return _trimmed(text[at : following.start()]), following.start(), True
    return "", len(text), False


def _own_end(text: str, at: int, fits: list[re.Match[str]]) -> re.Match[str]:
    """The end that is the value's own: the first, unless it breaks a Python string that a later one leaves whole."""
    first = _trimmed(text[at : fits[0].start()])
    if len(fits) > 1 and re.search(r"[\"']", first) and not fragment_parses(first):
        for found in fits[1:]:
            if fragment_parses(_trimmed(text[at : found.start()])):
                return found
    return fits[0]


def _goes_on(text: str, at: int, closing: re.Pattern[str]) -> bool:
    rest = re.compile(r"\s*").match(text, at)
    at = rest.end() if rest else at
    return at == len(text) or bool(closing.match(text, at)) or _parameter(text, at) is not None


def _trimmed(value: str) -> str:
    """One newline belongs to the markup at each end."""
    if value.startswith("<![CDATA[") and value.rstrip().endswith("]]>"):
        value = value.rstrip()[len("<![CDATA[") : -len("]]>")]
    value = value.replace("\r\n", "\n")
    return value.removeprefix("\n").removesuffix("\n")
