"""The words in the error bodies of model servers, whatever shape they have."""

from __future__ import annotations

import json
from typing import Any, cast

from regreen.models.assemble import json_object


def message_and_code(error: Any) -> tuple[str, int]:
    """The words and the status code (0: none) of an error in any of the shapes that servers use."""
    wrapped = cast("list[Any]", error) if isinstance(error, list) else []  # by Google
    outer = json_object(wrapped[0] if wrapped else error)
    if outer is None:
        return str(cast(Any, error) or ""), 0
    inner = json_object(outer.get("error", outer))
    if inner is None:
        return str(outer.get("error")), _code(outer.get("code"))
    code, kind = inner.get("code"), str(inner.get("type") or "")
    text = str(inner.get("message") or _detail(inner.get("detail")) or inner)
    raw = (json_object(inner.get("metadata")) or {}).get("raw")
    if raw and str(raw) not in text:  # what the provider behind OpenRouter said
        text += f": {raw}"
    for name in (kind if "exceed_context" in kind or "quota" in kind else "", code):
        if isinstance(name, str) and name and not name.isdigit() and name not in text:
            text += f" ({name})"
    return text, _code(code)


def _detail(detail: Any) -> str:
    return detail if isinstance(detail, str) else json.dumps(detail) if detail else ""


def _code(code: Any) -> int:
    if isinstance(code, str) and code.isdigit():
        code = int(code)
    return code if isinstance(code, int) and 100 <= code < 600 else 0
