"""From the arguments a model wrote to the real ones: names, nesting, types; calls re-routed that fit another tool."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from regreen.agent.conversation import ToolSpec
from regreen.models.dialects import corrective, edits, lenient, paths, shell
from regreen.models.dialects.corrective import Scene
from regreen.models.dialects.reading import Asked, Fault, as_list, as_mapping

_NAMES: dict[str, dict[str, str]] = {
    "path": {
        "*": """path file filename file_name filepath file_path absolute_path relative_path target_file pathname
        relative_workspace_path path_to_file uri file_uri full_path target_path source_path document paths files
        filenames file_paths abs_path absolute_file_path source_file the_path path_name rel_path""",
        "list_files": "dir directory folder dirname dir_path directory_path folder_path root base_path location target",
        "search_files": "dir directory folder include glob location root in scope where search_path search_directory",
        "run_tests": """test test_file test_path tests target nodeid node_id test_name testname test_case test_files
        test_id selector name test_target test_module nodeids""",
        "read_file": "name target location input source key url",
        "edit_file": "target location name",
        "write_file": "target location name destination dest",
    },
    "find": {
        "edit_file": """find old old_string old_str old_text search search_text search_string search_block original
        original_text before from target_text match text_to_find old_code old_content find_text to_replace needle
        text_to_replace pattern original_code original_content string_to_replace search_for current current_code
        search_content find_string from_text existing existing_code oldcode oldvalue old_value old_lines old_snippet
        search_pattern what target_code original_snippet old_block""",
    },
    "replace": {
        "edit_file": """replace new new_string new_str new_text replacement replace_with replace_text updated after to
        with new_code new_content replacement_text updated_code with_text new_value replace_string to_text by
        replace_block replacement_code replacement_string updated_content new_lines substitute new_snippet
        modified modified_code replace_content updated_text fixed fixed_code new_block""",
    },
    "content": {
        "write_file": """content contents text code body data file_text file_content file_contents source new_content
        code_edit value full_content file_body file_data string source_code updated_content lines
        file_code new_file_content text_content content_to_write input""",
    },
    "start_line": {
        "read_file": """start_line start from_line line_start begin first_line from begin_line start_line_number
        startline line line_number lineno offset start_line_one_indexed start_lineno from_lineno startrow""",
    },
    "end_line": {
        "read_file": """end_line end to_line line_end stop last_line to end_line_number endline
        end_line_one_indexed end_line_one_indexed_inclusive end_lineno stop_line""",
    },
    "pattern": {
        "search_files": """pattern query regex search text q search_term term keyword string search_text regexp
        search_query search_string search_pattern find expression keywords needle search_regex content""",
    },
    "code": {"run_python": "code script source python program input content text command snippet"},
}
_ALIASES: dict[tuple[str, str], str] = {
    (tool, word): real for real, by_tool in _NAMES.items() for tool, words in by_tool.items() for word in words.split()
}
_WRAPPERS = frozenset(
    """arguments parameters properties input args kwargs params json data tool_input action_input payload
    tool_arguments function_arguments toolinput request body fields options""".split()
)
_EDIT_LISTS = ("edits", "changes", "replacements", "edit", "operations", "modifications", "hunks", "diffs", "chunks")
_PATCHES = ("diff", "patch", "patch_text", "input", "unified_diff", "changes", "edits", "block", "blocks", "search_replace")
_RANGES = ("lines", "range", "line_range", "view_range", "lines_range", "line_numbers", "line")
_SCHEMA_WORDS = frozenset("type description properties required enum default title items format $schema".split())
_NOTHING = frozenset(("", "none", "null", "undefined", "nil", "n/a", "nan", "<none>", "optional"))


def key_of(tool: str, written: str) -> str:
    """The real argument name for one that a model wrote; "" when the tool has none like it."""
    plain = written.strip(" \t\n\"'`:*<>/=“”‘’").strip()
    plain = re.sub(r"</?[\w_]+>.*$", "", plain, flags=re.DOTALL)
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain)
    plain = re.sub(r"[\s\-.]+", "_", plain).lower().strip("_")
    return _ALIASES.get((tool, plain)) or _ALIASES.get(("*", plain), "")


def is_argument(written: str) -> bool:
    """Whether some tool has an argument of this name, or of one of its aliases."""
    return any(key_of(tool, written) for tool in ("edit_file", "write_file", "read_file", "search_files", "run_tests"))


def fit(asked: Asked, scene: Scene) -> list[Asked] | Fault:
    """The call with real names and types; more than one when a list of edits or paths was given."""
    named = scene.tools.resolve(asked.name)
    raw = unpacked(asked.arguments, scene, named.tool)
    if isinstance(raw, Fault):
        return raw
    if len(raw) > 1:
        return _each([Asked(asked.name, one, asked.id, asked.guessed) for one in raw], scene)
    values = raw[0] if raw else {}
    tool, fault = named.tool, None
    if inner := _whole_call(values, scene):
        return fit(Asked(inner[0], inner[1], asked.id, asked.guessed), scene)
    if named.kind == "leaked":
        return corrective.leaked_name(scene, asked.name)
    if named.kind == "shell":
        command = next((values[key] for key in ("command", "cmd", "commands", "script", "input", "args") if key in values), "")
        return _no_shell(scene, asked.name, command)
    if not named.certain and (sub := _subcommand(values, scene)):
        tool = sub
    elif not named.certain and "path" not in [key_of(tool, key) for key in values] and "command" in values:
        return _no_shell(scene, asked.name, values["command"] if " " in str(values["command"]) else [asked.name, values["command"]])
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
            return _each([Asked(one.name, one.arguments, asked.id, asked.guessed) for one in found], scene)
    return _typed(scene.tools.specs[tool], values, asked, scene)


def _each(calls: list[Asked], scene: Scene) -> list[Asked] | Fault:
    done: list[Asked] = []
    for one in calls[:40]:
        fitted = fit(one, scene)
        if isinstance(fitted, Fault):
            return fitted
        done += fitted
    return done


def unpacked(value: object, scene: Scene, tool: str = "") -> list[dict[str, Any]] | Fault:
    """The argument objects inside what stands for arguments: text, a list, objects wrapped in each other."""
    for _ in range(6):
        if value is None:
            return [{}]
        if isinstance(value, str):
            value = _from_text(value, scene, tool)
            if isinstance(value, Fault):
                return value
            if isinstance(value, list):
                return value
            continue
        if isinstance(value, (list, tuple)):
            items = as_list(value)
            if items and all(isinstance(item, Mapping) for item in items):
                objects = [as_mapping(item) for item in items]
                if len(objects) > 1 and len({key for one in objects for key in one}) == sum(map(len, objects)):
                    return [{key: item for one in objects for key, item in one.items()}]
                return objects
            return [_positional(items, scene.tools.specs.get(tool))]
        given = as_mapping(value)
        inner = _unwrapped(given, tool)
        if inner is None:
            return [given]
        value = inner
    return [as_mapping(value)]


def _unwrapped(given: dict[str, Any], tool: str) -> object | None:
    """What is inside one wrapping key; None when the object holds the arguments itself."""
    if "properties" in given and set(given) <= _SCHEMA_WORDS:
        return as_mapping(given["properties"])
    if len(given) != 1:
        return None
    key, inner = next(iter(given.items()))
    plain = key.lower().replace("-", "_")
    if isinstance(inner, Mapping) and (plain in _WRAPPERS or plain == tool):
        return as_mapping(inner)
    if plain in _WRAPPERS and isinstance(inner, str) and inner.lstrip()[:1] == "{":
        return inner
    if plain in ("arguments", "parameters", "args", "kwargs") and (inner is None or inner == "" or inner == []):
        return {}
    return None


def _from_text(text: str, scene: Scene, tool: str) -> list[dict[str, Any]] | dict[str, Any] | list[Any] | str | Fault:
    """Arguments given as text: JSON in any state, several objects in a row, or the one value itself."""
    plain = text.strip().strip("\ufeff")
    if plain.lower() in _NOTHING or plain in ('""', "''", "()"):
        return {}
    if fenced := re.fullmatch(r"```\w*\s*(.*?)\s*```", plain, re.DOTALL):
        plain = fenced.group(1)
    if plain[0] == '"' or (plain[0] == "'" and plain[1:2] in "{["):
        try:
            value = lenient.parse(plain).value
        except lenient.Broken as error:
            return _unreadable(error, plain, scene)
        if isinstance(value, str) and value != text:
            return value if value.lstrip()[:1] in ("{", "[") else [_positional([value], scene.tools.specs.get(tool))]
    if plain[0] not in "{[":
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
            return objects or _unreadable(error, plain[at:], scene)
        if isinstance(parsed.value, list):
            return parsed.value
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


def _unreadable(error: lenient.Broken, text: str, scene: Scene) -> Fault:
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
    if len(items) == 1 and isinstance(items[0], Mapping):
        return as_mapping(items[0])
    return dict(zip(names, items, strict=False))


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


def _no_shell(scene: Scene, written: str, command: object) -> Fault:
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
    return "search_files" if "pattern" in keys and keys <= {"pattern", "path"} and "search_files" in scene.tools.specs else ""


def _rerouted(tool: str, values: dict[str, Any], scene: Scene) -> str:
    """Another tool when only that one takes what was given: servers pick tools by parts of their names."""
    spec = scene.tools.specs[tool]
    strange = [key for key in values if not key_of(tool, key)]
    if _complete(spec, values) and not strange:
        return tool
    others = [
        one.name
        for one in scene.tools.specs.values()
        if one.name != tool and _rich(one) and _complete(one, values) and not _rich_and_complete(spec, values)
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
                return _unreadable(error, items, scene)
        listed = [as_mapping(items)] if isinstance(items, Mapping) else [as_mapping(item) for item in as_list(items)]
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
    given = _named(spec, values)
    if spec.name == "read_file":
        _line_range(given, values)
    if echoed := [name for name, value in given.items() if _is_schema(value)]:
        return corrective.missing(
            scene, spec.name, required or echoed, _example(scene, {}),
            f" The schema of {echoed[0]} came back instead of a value: fill in real values.",
        )  # fmt: skip
    several = [str(one) for one in as_list(given.get("path"))] if "path" in given else []
    if len(several) > 1 and not _rich(spec):
        return _each([Asked(spec.name, {**given, "path": one}, asked.id) for one in several[:20]], scene)
    result: dict[str, Any] = {}
    for name in properties:
        if name not in given:
            continue
        value = _coerced(given[name], as_mapping(properties[name]).get("type", "string"), name, str(result.get("path", "")))
        if value is None and name in required and given[name] is not None:
            return scene.fault(
                "bad_arguments",
                f"{spec.name} was not run: {name} must be text, not {corrective.quoted(json.dumps(given[name], default=str), 80)}.",
                _example(scene, values),
            )
        if value is None or (name not in required and isinstance(value, str) and value.strip().lower() in _NOTHING):
            continue
        result[name] = value
    lacking = [name for name in required if name not in result or (name == "path" and not str(result[name]).strip())]
    if lacking:
        return _lacking(spec.name, lacking, result, values, scene)
    return [Asked(spec.name, result, asked.id, asked.guessed)]


def _named(spec: ToolSpec, values: dict[str, Any]) -> dict[str, Any]:
    """Values by real argument name; the real name wins over its aliases, and what is set over what is not."""
    given: dict[str, Any] = {}
    exact: set[str] = set()
    properties = spec.parameters.get("properties", {})
    for key, value in values.items():
        real = key_of(spec.name, key)
        if real not in properties or (real in exact and key != real):
            continue
        if real in given and key != real and (given[real] not in (None, "") or value in (None, "")):
            continue
        given[real] = value
        if key == real:
            exact.add(real)
    return given


def _line_range(given: dict[str, Any], values: dict[str, Any]) -> None:
    """Line numbers written in one argument ("10-20", [10, 20]) or as offset and limit."""
    for key in _RANGES:
        value = values.get(key)
        numbers = [str(one) for one in as_list(value)] or (re.findall(r"\d+", value) if isinstance(value, str) else [])
        if len(numbers) == 2 and all(number.lstrip("-").isdigit() for number in numbers):
            given["start_line"] = numbers[0]
            if not numbers[1].startswith("-"):
                given["end_line"] = numbers[1]
    start = given.get("start_line")
    if isinstance(start, str) and (both := re.fullmatch(r"\s*L?(\d+)\s*[-:,]\s*L?(\d+)\s*", start)):
        given["start_line"], given["end_line"] = both.groups()
    limit = _integer(values.get("limit", values.get("line_count", values.get("num_lines"))))
    first = _integer(given.get("start_line"))
    if limit and "end_line" not in given and limit > 0:
        given["start_line"] = first or 1
        given["end_line"] = (first or 1) + limit - 1


def _is_schema(value: object) -> bool:
    inner = as_mapping(value)
    return bool(inner) and "type" in inner and set(inner) <= _SCHEMA_WORDS and "value" not in inner


def _coerced(value: Any, kind: str, name: str, path: str) -> Any:
    """The value in the type of the schema; None when it has none in it."""
    if isinstance(value, Mapping):
        inner = as_mapping(value)
        for key in ("value", name, "text", "string", "content", "path", "code"):
            if key in inner and len(inner) <= 2:
                return _coerced(inner[key], kind, name, path)
        if name == "content" and path.endswith((".json", ".jsonl")):
            return json.dumps(inner, indent=2, ensure_ascii=False)
        return None
    if kind == "integer":
        return _integer(value)
    items = as_list(value)
    if isinstance(value, (list, tuple)):
        if name in ("content", "find", "replace", "code") and all(isinstance(item, str) for item in items):
            return "\n".join(item.rstrip("\n") for item in items)
        if name == "content" and path.endswith((".json", ".jsonl")):
            return json.dumps(items, indent=2, ensure_ascii=False)
        return _coerced(items[0], kind, name, path) if len(items) == 1 else None
    if value is None:
        return None
    return value.replace("\r\n", "\n") if isinstance(value, str) else str(value)


def _integer(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value == value and abs(value) < 1e9 else None
    if isinstance(value, int):
        return value if abs(value) < 10**9 else None
    if isinstance(value, str) and (found := re.fullmatch(r"\s*(?:L|line )?(-?\d{1,9})(?:\.0*)?\s*", value)):
        return int(found.group(1))
    items = as_list(value)
    return _integer(items[0]) if len(items) == 1 else None


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
        hint = f" '{path}' is the file in play; name it if it is the one you mean." if path else " Name the file."
        shown = {name: corrective.shortened(str(value)) for name, value in given.items()}
        example = corrective.call(tool, path=path, **shown) if path else _without_path(scene, shown)
        return corrective.missing(scene, tool, lacking, example, hint)
    got = ", ".join(sorted(str(key) for key in values))[:120]
    hint = f" It got: {got}." if got else ""
    path = str(given.get("path", ""))
    if tool == "edit_file":
        find = str(given.get("find", ""))
        if find:
            hint += f" Say what {corrective.quoted(find, 80)} becomes (\"\" to delete it)."
        return corrective.missing(scene, tool, lacking, scene.edit_call(path, find), hint)
    if tool == "write_file":
        return corrective.missing(scene, tool, lacking, scene.edit_call(path), hint)
    return corrective.missing(scene, tool, lacking, _example(scene, values), hint)


def _without_path(scene: Scene, shown: dict[str, str]) -> str:
    if "content" in shown and "list_files" in scene.tools.specs:
        return corrective.call("list_files")
    return scene.next_call()
