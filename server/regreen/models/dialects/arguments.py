"""From the arguments a model wrote to the real ones: names, nesting, types; calls re-routed that fit another tool."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from regreen.agent.conversation import ToolSpec
from regreen.models.dialects import corrective, edits, lenient, objects, paths, pythonic, shell
from regreen.models.dialects.corrective import Scene
from regreen.models.dialects.keys import NOTHING, RANGES, key_of
from regreen.models.dialects.packing import unpacked, unreadable
from regreen.models.dialects.reading import Asked, Fault, as_list, as_mapping, is_mapping
from regreen.models.dialects.values import coerced, is_schema, line_range, named_values

_EDIT_LISTS = (
    "edits",
    "changes",
    "replacements",
    "edit",
    "operations",
    "modifications",
    "hunks",
    "diffs",
    "chunks",
)
_PATCHES = (
    "diff",
    "patch",
    "patch_text",
    "input",
    "unified_diff",
    "changes",
    "edits",
    "block",
    "blocks",
    "search_replace",
)

_CHANGES = re.compile(r"old|new|repl|dest|change|updat|fix|correct|after|before|insert", re.IGNORECASE)
"""An argument with such a name says that a text is to be changed, not written as a whole."""


def fit(asked: Asked, scene: Scene, depth: int = 0) -> list[Asked] | Fault:
    """The call with real names and types; more than one when a list of edits or paths was given."""
    if depth > 6:
        name = corrective.quoted(asked.name, 60)
        wrong = f"The arguments of {name} hold calls inside calls, so nothing was run. Send one call with its values."
        return scene.fault("bad_arguments", wrong)
    named = scene.tools.resolve(asked.name)
    raw = unpacked(asked.arguments, scene, named.tool)
    if isinstance(raw, Fault):
        return raw
    if len(raw) > 1:
        return _each([Asked(asked.name, one, asked.id, asked.guessed) for one in raw], scene, depth)
    values = raw[0] if raw else {}
    if not values and "(" in asked.name and (inside := pythonic.only_calls(asked.name, scene.tools)):
        return fit(replace(inside[0], id=asked.id), scene, depth + 1)
    if not named.tool and (several := objects.calls_in(values, scene)):
        return _each(several, scene, depth)
    tool, fault = named.tool, None
    if inner := _whole_call(values, scene):
        return fit(Asked(inner[0], inner[1], asked.id, asked.guessed), scene, depth + 1)
    if named.tool == "run_tests" and "path" not in values and isinstance(values.get("command"), str):
        values = {**values, "path": (shell.as_tool(values["command"]) or ("", {}))[1].get("path")}
    if named.kind == "leaked":
        return corrective.leaked_name(scene, asked.name)
    if named.kind == "shell":
        command = next(
            (
                values[key]
                for key in ("command", "cmd", "commands", "script", "input", "args")
                if key in values
            ),
            "",
        )
        return no_shell(scene, asked.name, command)
    if not named.certain and (sub := _subcommand(values, scene)):
        tool = sub
    elif not named.certain and "path" not in [key_of(tool, key) for key in values] and "command" in values:
        return no_shell(
            scene,
            asked.name,
            values["command"] if " " in str(values["command"]) else [asked.name, values["command"]],
        )
    if named.kind == "unknown":
        tool = _only_fit(values, scene)
        fault = corrective.no_such_tool(scene, asked.name, _example(scene, values))
        if not tool:
            return fault
    tool = _rerouted(tool, values, scene)
    if tool == "edit_file" or (tool == "write_file" and not _has(tool, values, "content")):
        found = _edits_within(values, scene)
        if isinstance(found, Fault):
            return found
        if found:
            return _each(
                [Asked(one.name, one.arguments, asked.id, asked.guessed) for one in found], scene, depth
            )
    return _typed(scene.tools.specs[tool], values, asked, scene)


def _each(calls: list[Asked], scene: Scene, depth: int) -> list[Asked] | Fault:
    done: list[Asked] = []
    for one in calls[:40]:
        fitted = fit(one, scene, depth + 1)
        if isinstance(fitted, Fault):
            return fitted
        done += fitted
    return done


def _whole_call(values: dict[str, Any], scene: Scene) -> tuple[str, object] | None:
    """A whole call nested where the arguments belong."""
    name = values.get("name", values.get("tool_name", values.get("tool")))
    for key in ("arguments", "parameters", "args", "input"):
        if isinstance(name, str) and key in values and scene.tools.resolve(name).tool:
            return name, values[key]
    return None


def _subcommand(values: dict[str, Any], scene: Scene) -> str:
    """The tool behind `{"command": "str_replace", …}`, as editor tools of other harnesses have it."""
    command = values.get("command", values.get("operation", values.get("action")))
    if not isinstance(command, str) or not re.fullmatch(r"\w+", command):
        return ""
    return {"insert": "edit_file"}.get(command, scene.tools.resolve(command).tool)


def no_shell(scene: Scene, written: str, command: object) -> Fault:
    """The corrective for a shell command: the tool that does the same, filled in."""
    said = " ".join(str(part) for part in as_list(command)) or str(command)
    return corrective.no_shell(scene, written, said, shell.as_tool(command))


def _has(tool: str, values: Mapping[str, Any], argument: str) -> bool:
    return any(key_of(tool, key) == argument for key in values)


def _complete(spec: ToolSpec, values: Mapping[str, Any]) -> bool:
    """Whether every required argument has a value (an empty text counts: to replace by nothing is an edit)."""
    given = {key_of(spec.name, key) for key, value in values.items() if value is not None}
    return set(spec.parameters.get("required", ())) <= given


def _only_fit(values: Mapping[str, Any], scene: Scene) -> str:
    """The one tool of two or more required arguments that all of these values fit."""
    fits = [spec.name for spec in scene.tools.specs.values() if _rich(spec) and _complete(spec, values)]
    return fits[0] if len(fits) == 1 else ""


def _rich(spec: ToolSpec) -> bool:
    return len(spec.parameters.get("required", ())) > 1


def by_arguments(values: Mapping[str, Any], scene: Scene) -> str:
    """The tool meant by arguments that came without a name, when only one tool can be meant; else ""."""
    if tool := _only_fit(values, scene):
        return tool
    keys = {key.lower() for key in values}
    if keys & {"start_line", "end_line"} and "path" in {key_of("read_file", key) for key in values}:
        return "read_file" if "read_file" in scene.tools.specs else ""
    return (
        "search_files"
        if "pattern" in keys and keys <= {"pattern", "path"} and "search_files" in scene.tools.specs
        else ""
    )


def _rerouted(tool: str, values: dict[str, Any], scene: Scene) -> str:
    """Another tool when only that one takes what was given: servers pick tools by parts of their names."""
    spec = scene.tools.specs[tool]
    strange = [key for key in values if not key_of(tool, key) and not (tool == "read_file" and key in RANGES)]
    if _complete(spec, values) and not strange:
        return tool
    others = [
        one.name
        for one in scene.tools.specs.values()
        if one.name != tool
        and _rich(one)
        and _complete(one, values)
        and not _rich_and_complete(spec, values)
        and not (
            tool == "edit_file"
            and any(_CHANGES.search(key) for key in values if key_of(one.name, key) != "content")
        )
    ]
    if len(others) != 1:
        return tool
    needed = set(scene.tools.specs[others[0]].parameters["required"]) - {"path"}
    explicit = {key_of(others[0], key) for key in strange or values}
    return others[0] if needed <= explicit else tool


def _rich_and_complete(spec: ToolSpec, values: Mapping[str, Any]) -> bool:
    return _rich(spec) and _complete(spec, values)


def _edits_within(values: dict[str, Any], scene: Scene) -> list[Asked] | Fault:
    """Edits given as a list, as search/replace blocks or as a diff in one argument."""
    path = next((value for key, value in values.items() if key_of("edit_file", key) == "path"), None)
    path = as_list(path)[0] if as_list(path) else path
    for key in _EDIT_LISTS:
        items = values.get(key)
        if isinstance(items, str) and items.lstrip()[:1] in ("[", "{"):
            try:
                items = lenient.parse(items.lstrip()).value
            except lenient.Broken as error:
                return unreadable(error, items, scene)
        pairs = [as_list(one) for one in as_list(items)]
        if pairs and all(len(pair) == 2 for pair in pairs):  # [["old", "new"], …]
            items = [{"find": pair[0], "replace": pair[1]} for pair in pairs]
        listed = [as_mapping(items)] if is_mapping(items) else [as_mapping(item) for item in as_list(items)]
        if listed and all(listed):
            return [Asked("edit_file", {"path": path, **one} if path is not None else one) for one in listed]
    for key in _PATCHES:
        text = values.get(key)
        if isinstance(text, str) and edits.looks_like(text):
            found = edits.read(text, scene, path if isinstance(path, str) else "")
            if isinstance(found, Fault) or found:
                return found
    return []


def _typed(spec: ToolSpec, values: dict[str, Any], asked: Asked, scene: Scene) -> list[Asked] | Fault:
    """The arguments by their real names and of the types of the schema; unknown ones dropped."""
    properties: Mapping[str, Any] = spec.parameters.get("properties", {})
    required = tuple(spec.parameters.get("required", ()))
    given = named_values(spec, values)
    if (
        not given
        and len(required) == 1
        and len(values) == 1
        and isinstance(only := next(iter(values.values())), str)
    ):
        given = {required[0]: only}  # one value under a name of the model's own
    if spec.name == "read_file":
        line_range(given, values)
    if echoed := [name for name, value in given.items() if is_schema(value)]:
        return corrective.missing(
            scene, spec.name, required or echoed, _example(scene, {}),
            f" The schema of {echoed[0]} came back instead of a value: fill in real values.",
        )  # fmt: skip
    several = [str(one) for one in as_list(given.get("path"))] if "path" in given else []
    if len(several) > 1 and not _rich(spec):
        return _each([Asked(spec.name, {**given, "path": one}, asked.id) for one in several[:20]], scene, 1)
    result: dict[str, Any] = {}
    for name in properties:
        if name not in given:
            continue
        value = coerced(
            given[name], as_mapping(properties[name]).get("type", "string"), name, str(result.get("path", ""))
        )
        if value is None and name in required and given[name] is not None:
            return scene.fault(
                "bad_arguments",
                f"{spec.name} was not run: {name} must be text, not {corrective.quoted(json.dumps(given[name], default=str), 80)}.",
                _example(scene, values),
            )
        if value is None or (
            name not in required and isinstance(value, str) and value.strip().lower() in NOTHING
        ):
            continue
        result[name] = value
    lacking = [
        name for name in required if name not in result or (name == "path" and not str(result[name]).strip())
    ]
    if lacking:
        return _lacking(spec.name, lacking, result, values, scene)
    return [Asked(spec.name, result, asked.id, asked.guessed)]


def _example(scene: Scene, values: Mapping[str, Any]) -> str:
    """A call filled in from what was given."""
    written = next((value for key, value in values.items() if key_of("read_file", key) == "path"), None)
    if isinstance(written, str) and written.strip():
        path = paths.clean(written[:200], scene.files)
        if not path.problem or path.closest:
            return scene.next_call(path.closest or path.text)
    return scene.next_call()


def _lacking(
    tool: str, lacking: list[str], given: dict[str, Any], values: dict[str, Any], scene: Scene
) -> Fault:
    if not values and len(lacking) > 1:
        hint = " The arguments came back empty; if the reply was too long, make the change smaller."
        return corrective.missing(scene, tool, lacking, scene.edit_call(), hint)
    if lacking == ["path"]:
        path = scene.path()
        hint = (
            f" '{path}' is the file in play; name it if it is the one you mean."
            if path
            else " Name the file."
        )
        shown = {name: corrective.shortened(str(value)) for name, value in given.items() if name != "path"}
        example = corrective.call(tool, path=path, **shown) if path else _without_path(scene, shown)
        return corrective.missing(scene, tool, lacking, example, hint)
    got = ", ".join(sorted(str(key) for key in values))[:120]
    hint = f" It got: {got}." if got else ""
    path = str(given.get("path", ""))
    if tool == "edit_file":
        find = str(given.get("find", ""))
        if find:
            hint += f' Say what {corrective.quoted(find, 80)} becomes ("" to delete it).'
        return corrective.missing(scene, tool, lacking, scene.edit_call(path, find), hint)
    if tool == "write_file":
        return corrective.missing(scene, tool, lacking, scene.edit_call(path), hint)
    return corrective.missing(scene, tool, lacking, _example(scene, values), hint)


def _without_path(scene: Scene, shown: dict[str, str]) -> str:
    if "content" in shown and "list_files" in scene.tools.specs:
        return corrective.call("list_files")
    return scene.next_call()
