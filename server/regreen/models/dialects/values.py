"""Values in the types of the schema: numbers as text, text as lists, line ranges in one argument."""

from __future__ import annotations

import json
import re
from typing import Any

from regreen.agent.conversation import ToolSpec
from regreen.models.dialects.keys import RANGES, key_of
from regreen.models.dialects.packing import SCHEMA_WORDS
from regreen.models.dialects.reading import as_list, as_mapping, is_mapping


def named_values(spec: ToolSpec, values: dict[str, Any]) -> dict[str, Any]:
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


def line_range(given: dict[str, Any], values: dict[str, Any]) -> None:
    """Line numbers written in one argument ("10-20", [10, 20]) or as offset and limit."""
    for key in RANGES:
        value = values.get(key)
        numbers = [str(one) for one in as_list(value)] or (
            re.findall(r"\d+", value) if isinstance(value, str) else []
        )
        if len(numbers) == 2 and all(number.lstrip("-").isdigit() for number in numbers):
            given["start_line"] = numbers[0]
            if not numbers[1].startswith("-"):
                given["end_line"] = numbers[1]
    start = given.get("start_line")
    if isinstance(start, str) and (both := re.fullmatch(r"\s*L?(\d+)\s*[-:,]\s*L?(\d+)\s*", start)):
        given["start_line"], given["end_line"] = both.groups()
    limit = integer(values.get("limit", values.get("line_count", values.get("num_lines"))))
    first = integer(given.get("start_line"))
    if limit and "end_line" not in given and limit > 0:
        given["start_line"] = first or 1
        given["end_line"] = (first or 1) + limit - 1


def is_schema(value: object) -> bool:
    inner = as_mapping(value)
    return bool(inner) and "type" in inner and set(inner) <= SCHEMA_WORDS and "value" not in inner


def coerced(value: Any, kind: str, name: str, path: str) -> Any:
    """The value in the type of the schema; None when it has none in it."""
    if is_mapping(value):
        inner = as_mapping(value)
        for key in ("value", name, "text", "string", "content", "path", "code"):
            if key in inner and len(inner) <= 2:
                return coerced(inner[key], kind, name, path)
        if name == "content" and path.endswith((".json", ".jsonl")):
            return json.dumps(inner, indent=2, ensure_ascii=False)
        return None
    if kind == "integer":
        number = integer(value)
        return number if number is not None and number > 0 else None
    if name == "path" and isinstance(value, bool):
        return None
    items = as_list(value)
    if isinstance(value, (list, tuple)):
        if name in ("content", "find", "replace", "code") and all(isinstance(item, str) for item in items):
            return "\n".join(item.rstrip("\n") for item in items)
        if name == "content" and path.endswith((".json", ".jsonl")):
            return json.dumps(items, indent=2, ensure_ascii=False)
        return coerced(items[0], kind, name, path) if len(items) == 1 else None
    if value is None:
        return None
    return value.replace("\r\n", "\n") if isinstance(value, str) else str(value)


def integer(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value == value and abs(value) < 1e9 else None
    if isinstance(value, int):
        return value if abs(value) < 10**9 else None
    if isinstance(value, str) and (found := re.fullmatch(r"\s*(?:L|line )?(-?\d{1,9})(?:\.0*)?\s*", value)):
        return int(found.group(1))
    items = as_list(value)
    return integer(items[0]) if len(items) == 1 else None
