"""Calls written as JSON objects, whatever the keys are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from regreen.models.dialects import keys
from regreen.models.dialects.corrective import Scene
from regreen.models.dialects.reading import Asked, as_list, as_mapping, is_mapping

_NAME_KEYS = (
    "name", "tool", "tool_name", "function", "function_name", "action", "recipient_name", "toolName", "functionName",
    "method", "tool_call", "api", "call", "command", "op", "operation", "type", "function_call", "tool_code", "step",
)  # fmt: skip
_ARGUMENT_KEYS = (
    "arguments", "parameters", "args", "params", "input", "action_input", "tool_input", "kwargs", "toolInput", "argument",
    "function_arguments", "tool_args", "inputs", "parameter", "tool_parameters", "tool_arguments", "actionInput", "values",
)  # fmt: skip
_LIST_KEYS = (
    "tool_calls", "calls", "actions", "tool_uses", "function_calls", "toolCalls", "tools", "commands", "steps", "plan",
    "functions", "tool_call", "function_call", "action", "function", "tool", "message", "choices", "response", "output", "next_action",
    "command", "call", "name",
)  # fmt: skip
_AS_KNOWN = {key.lower(): key for key in (*_NAME_KEYS, *_ARGUMENT_KEYS, *_LIST_KEYS)}
_RESULT_ROLES = frozenset(("tool", "user", "function", "system", "observation"))


def calls_in(value: object, scene: Scene, guessed: bool = False, depth: int = 0) -> list[Asked]:
    """The calls that a JSON value is or holds, in order."""
    if depth > 5:
        return []
    items = as_list(value)
    if items:
        return [call for item in items[:60] for call in calls_in(item, scene, guessed, depth + 1)]
    given = _known_keys(as_mapping(value))
    if not given or str(given.get("role")) in _RESULT_ROLES:
        return []
    if call := _one(given, scene, guessed):
        return [call]
    keyed = [
        Asked(key, as_mapping(inner), guessed=guessed)
        for key, inner in given.items()
        if scene.tools.known(key) and (is_mapping(inner) or inner is None or inner == "")
    ]
    if keyed:
        return keyed
    for key in _LIST_KEYS:
        if isinstance(given.get(key), (Mapping, list)) and (
            found := calls_in(given[key], scene, guessed, depth + 1)
        ):
            return found
    return []


def _known_keys(given: dict[str, Any]) -> dict[str, Any]:
    """The same object with its own keys as they are known here, whatever their case: `Name`, `ARGUMENTS`."""
    renamed = {key: _AS_KNOWN.get(key.strip().lower(), key) for key in given}
    if len(set(renamed.values())) < len(given):
        return given
    return {renamed[key]: value for key, value in given.items()}


def _one(given: dict[str, Any], scene: Scene, guessed: bool) -> Asked | None:
    """The object as one call: a name beside arguments, or a real name with the arguments beside it."""
    argument_key = next((key for key in _ARGUMENT_KEYS if key in given), "")
    name_key = next(
        (key for key in _NAME_KEYS if isinstance(given.get(key), str) and key != argument_key), ""
    )
    if not name_key:
        return None
    call_id = given["id"] if isinstance(given.get("id"), str) else ""
    for key in _NAME_KEYS:
        name = given.get(key)
        if not isinstance(name, str) or not scene.tools.known(name):
            continue
        return Asked(name, _beside(given, key, argument_key), call_id, guessed)
    name = given[name_key]
    named = scene.tools.resolve(name)
    if argument_key and name_key not in ("type", "command", "op", "step"):
        if named.kind == "unknown" and not isinstance(given[argument_key], (Mapping, str)):
            return None
        return Asked(name, _beside(given, name_key, argument_key), call_id, guessed)
    rest = {key: value for key, value in given.items() if key != name_key}
    if named.kind == "tool" and rest and all(keys.key_of(named.tool, key) for key in rest):
        return Asked(name, rest, call_id, guessed)
    return None


def _beside(given: dict[str, Any], name_key: str, argument_key: str) -> object:
    """The arguments: what stands under their key, else (or when that is empty) what stands beside the name."""
    rest = {
        key: value
        for key, value in given.items()
        if key not in (name_key, argument_key, "id", "type", "index")
    }
    if argument_key and given[argument_key] not in (None, "", {}, []):
        return given[argument_key]
    return rest
