"""Calls in plain words: `tool: read_file` with its arguments on the lines below, or a command line of one tool."""

from __future__ import annotations

import html
import re

from regreen.models.dialects.corrective import Scene
from regreen.models.dialects.keys import is_argument
from regreen.models.dialects.reading import Asked

_LABEL = re.compile(
    r"^[ \t>*\-#]*(?:tool(?:[ _]name|[ _]call)?|name|function|action)[ \t*]*:[ \t*`\"']*([A-Za-z_][\w.-]*)[`\"'*]*[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_PAIR = re.compile(r"^[ \t>*\-]*[`\"'*]*([A-Za-z_]\w*)[`\"'*]*[ \t]*[:=][ \t]*(.*?)[ \t]*$")
_COMMAND = re.compile(r"[`/@$ \t]*([A-Za-z_]\w*)((?:[ \t]+[^\s`]+){0,4})[`.; \t]*")
_LOOSE_CALL = re.compile(r"[`/@ \t]*([A-Za-z_]\w*)\(\s*([\w./\\-]*)\s*\)[`.; \t]*")
_HARMLESS = frozenset(("read_file", "list_files", "search_files", "run_tests"))


def decoded(text: str) -> str:
    """A reply that was escaped as a whole (entities, or a backslash before each quote), unescaped once; "" when not."""
    if re.search(r"&quot;(?:name|tool|function|path)&quot;", text):
        return html.unescape(text)
    if re.search(r'\{\s*\\"(?:name|tool|function|tool_calls)\\"', text) and '{"' not in text:
        inner = re.sub(r'\\(["\\])', r"\1", text)
        return inner.strip().strip('"')
    return ""


def read(text: str, scene: Scene) -> list[Asked]:
    """The calls of a reply that is nothing but labelled lines or one command; empty when it is prose."""
    if found := _LABEL.search(text):
        return _labelled(text, found, scene)
    lines = [line for line in text.strip().split("\n") if line.strip()]
    if len(lines) != 1 or len(lines[0]) > 200:
        return []
    return _command(lines[0], scene)


def _labelled(text: str, found: re.Match[str], scene: Scene) -> list[Asked]:
    name = found.group(1)
    if (
        scene.tools.known(name) not in _HARMLESS
    ):  # where a text on one line ends, nothing tells whether it was cut
        return []
    values: dict[str, str] = {}
    for line in text[found.end() :].lstrip("\n").split("\n"):
        pair = _PAIR.match(line)
        if not pair or (not is_argument(pair.group(1)) and pair.group(2)):
            break
        if pair.group(2):
            values[pair.group(1)] = pair.group(2).strip("`\"'")
    tool = scene.tools.specs[scene.tools.known(name)]
    needed = set(tool.parameters.get("required", ()))
    return [Asked(name, values)] if values or not needed else []


def _command(line: str, scene: Scene) -> list[Asked]:
    """`read_file src/a.py`, `run_tests path=tests/test_a.py`, `read_file(src/a.py)`: only tools that change nothing."""
    found = _LOOSE_CALL.fullmatch(line) or _COMMAND.fullmatch(line)
    tool = scene.tools.known(found.group(1), aliases=False) if found else ""
    if not found or tool not in _HARMLESS:
        return []
    words = found.group(2).split()
    pairs = [word.lstrip("-").partition("=") for word in words]
    if words and all(separator for _, separator, _ in pairs):
        return [Asked(tool, {key: value.strip("\"'") for key, _, value in pairs})]
    if len(words) == 1 and re.search(r"[./]", words[0]):
        return [Asked(tool, words[0])]
    return [Asked(tool, {})] if not words and not scene.tools.specs[tool].parameters.get("required") else []
