"""What stands where arguments belong, taken out of its wrapping: text, lists, objects inside each other."""

from __future__ import annotations

import re
from typing import Any, cast

from regreen.agent.conversation import ToolSpec
from regreen.models.dialects import corrective, lenient, tagged
from regreen.models.dialects.corrective import Scene
from regreen.models.dialects.keys import NOTHING, is_argument
from regreen.models.dialects.reading import Fault, as_list, as_mapping, is_mapping

_WRAPPERS = frozenset(
    [
        "arguments",
        "parameters",
        "properties",
        "input",
        "args",
        "kwargs",
        "params",
        "json",
        "data",
        "tool_input",
        "action_input",
        "payload",
        "tool_arguments",
        "function_arguments",
        "toolinput",
        "request",
        "body",
        "fields",
        "options",
    ]
)
SCHEMA_WORDS = frozenset(
    [
        "type",
        "description",
        "properties",
        "required",
        "enum",
        "default",
        "title",
        "items",
        "format",
        "$schema",
    ]
)
_PAIRS = ({"name", "value"}, {"key", "value"}, {"parameter", "value"}, {"argument", "value"})


def unpacked(value: object, scene: Scene, tool: str = "") -> list[dict[str, Any]] | Fault:
    """The argument objects inside what stands for arguments: text, a list, objects wrapped in each other."""
    for _ in range(6):
        if value is None:
            return [{}]
        if isinstance(value, str):
            value = _from_text(value, scene, tool)
            if isinstance(value, Fault):
                return value
            if isinstance(value, list) and all(is_mapping(item) for item in value):
                return [as_mapping(item) for item in value]
            continue
        if isinstance(value, (list, tuple)):
            items = as_list(value)  # pyright: ignore[reportUnknownArgumentType]
            if items and all(is_mapping(item) for item in items):
                objects = [as_mapping(item) for item in items]
                if named := _named(objects):
                    return [named]
                if len(objects) > 1 and len({key for one in objects for key in one}) == sum(
                    map(len, objects)
                ):
                    return [{key: item for one in objects for key, item in one.items()}]
                return objects
            return [_positional(items, scene.tools.specs.get(tool))]
        given = as_mapping(value)
        inner = _unwrapped(given, tool)
        if inner is None:
            return [given]
        value = inner
    return [as_mapping(value)]


def _named(objects: list[dict[str, Any]]) -> dict[str, Any]:
    """Arguments as a list of names and values, `[{"name": "path", "value": "a.py"}]`; {} when it is something else."""
    if not all(set(one) in _PAIRS for one in objects):
        return {}
    pairs = [(next(one[key] for key in one if key != "value"), one["value"]) for one in objects]
    return (
        {str(name): value for name, value in pairs}
        if all(is_argument(str(name)) for name, _ in pairs)
        else {}
    )


def _unwrapped(given: dict[str, Any], tool: str) -> object | None:
    """What is inside one wrapping key; None when the object holds the arguments itself."""
    if "properties" in given and set(given) <= SCHEMA_WORDS:
        return as_mapping(given["properties"])
    if len(given) != 1:
        return None
    key, inner = next(iter(given.items()))
    plain = key.lower().replace("-", "_")
    if isinstance(inner, dict) and (plain in _WRAPPERS or plain == tool):
        return cast(object, inner)
    if plain in _WRAPPERS and isinstance(inner, str) and inner.lstrip()[:1] == "{":
        return inner
    if plain in ("arguments", "parameters", "args", "kwargs"):
        if inner is None or inner == "" or inner == []:
            return {}
        if isinstance(inner, list):
            return cast(object, inner)
    return None


def _from_text(
    text: str, scene: Scene, tool: str
) -> list[dict[str, Any]] | dict[str, Any] | list[Any] | str | Fault:
    """Arguments given as text: JSON in any state, several objects in a row, or the one value itself."""
    plain = text.strip().strip("\ufeff")
    if plain.lower() in NOTHING or plain in ('""', "''", "()"):
        return {}
    if fenced := re.fullmatch(r"```\w*\s*(.*?)\s*```", plain, re.DOTALL):
        plain = fenced.group(1)
    if plain[0] == '"' or (plain[0] == "'" and plain[1:2] in "{["):
        try:
            value = lenient.parse(plain).value
        except lenient.Broken as error:
            return unreadable(error, plain, scene)
        if isinstance(value, str) and value != text:
            return (
                value
                if value.lstrip()[:1] in ("{", "[")
                else [_positional([value], scene.tools.specs.get(tool))]
            )
    if plain[0] == "<" and (values := tagged.parameters(plain)):
        return values
    if plain[0] not in "{[":
        if single := re.fullmatch(r"([A-Za-z_]\w*)\s*[:=]\s*([^\s\"'{\[]\S*)", plain):
            return {single.group(1): single.group(2)}
        if re.match(r"""["']?\w+["']?\s*[:=]\s*["'\d\[{]""", plain):  # the braces were forgotten
            plain = "{" + plain + ("" if plain.endswith("}") else "}")
        else:
            return [_positional([plain], scene.tools.specs.get(tool))]
    objects: list[dict[str, Any]] = []
    at = 0
    while at >= 0 and len(objects) < 40:
        try:
            parsed = lenient.parse(plain, at)
        except lenient.Broken as error:
            return objects or unreadable(error, plain[at:], scene)
        if as_list(parsed.value) or parsed.value == []:
            return as_list(parsed.value)
        objects.append(as_mapping(parsed.value))
        at = plain.find("{", parsed.end)
        if at >= 0 and plain[parsed.end : at].strip(" \t\r\n,;"):
            at = -1
    distinct = [one for index, one in enumerate(objects) if one not in objects[:index]]
    full = [one for one in distinct if one]
    return [inner for one in full or distinct for inner in _again(one, scene, tool)]


def _again(one: dict[str, Any], scene: Scene, tool: str) -> list[dict[str, Any]]:
    inner = unpacked(one, scene, tool)
    return [one] if isinstance(inner, Fault) else inner


def unreadable(error: lenient.Broken, text: str, scene: Scene) -> Fault:
    around = text[max(0, error.at - 30) : error.at + 40]
    if error.kind == "cut":
        return corrective.cut(scene, f"inside the arguments, after {corrective.quoted(text[-60:], 60)}")
    if error.kind == "ambiguous":
        return corrective.ambiguous(scene, around, scene.edit_call())
    return corrective.broken(scene, around, scene.next_call())


def _positional(items: list[Any], spec: ToolSpec | None) -> dict[str, Any]:
    """Values without names, in the order of the tool's arguments."""
    if spec is None:
        return {}
    names = list(spec.parameters.get("properties", {}))
    if len(items) == 1 and is_mapping(items[0]):
        return as_mapping(items[0])
    return dict(zip(names, items, strict=False))
