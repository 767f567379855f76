"""Whatever arrives: no exception, no hang, never a call that the model did not finish."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regreen.models.dialects import read_reply
from regreen.models.dialects.reply import read_unguarded
from regreen.tools.menu import ALL

HERE = Path(__file__).parent
CASES: list[dict[str, Any]] = [
    json.loads(line)
    for path in sorted(HERE.glob("*.jsonl"))
    for line in path.read_text(encoding="utf-8").splitlines()
]
REQUIRED = {tool.name: set(tool.parameters["required"]) for tool in ALL}
PIECES = (
    "<tool_call>", "</tool_call>", "<think>", "</think>", "```", "```python\n", "\n```\n", "{", "}", "[", "]", '"', "'", "\\", "\\n",
    "<function=edit_file>", "<parameter=path>", "</parameter>", "[TOOL_CALLS]", "<|im_end|>", "<<<<<<< SEARCH\n", "=======\n",
    ">>>>>>> REPLACE\n", "--- a/x.py\n+++ b/x.py\n@@\n", "Action: read_file\n", "Observation:", '"name": "edit_file"', '"arguments": ',
    "read_file(", ")", ",", ":", "\x00", "\ud800", "“", "”", "\u00a0", "…", "# ... existing code ...", "&lt;", "  3| ", "+", "-",
    "*** Begin Patch\n", "def f():\n    return 1\n", "class A:\n", " " * 50, "((((((((", "{{{{{{{{", "None", "null", "\r\n", "<|channel|>analysis<|message|>",
)  # fmt: skip
SETTINGS = settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def check(message: Any, files: dict[str, str], wire: str) -> None:
    reading = read_unguarded(message, ALL, files, wire, True)
    assert bool(reading.calls) != bool(reading.corrective)
    assert bool(reading.corrective) == bool(reading.reason)
    for call in reading.calls:
        assert REQUIRED[call.name] <= set(call.arguments)
        assert all(isinstance(value, (str, int)) for value in call.arguments.values())
    json.dumps([dict(call.arguments) for call in reading.calls])


def strings_in(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a message that holds a string: (container, key)."""
    found: list[tuple[Any, Any]] = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if isinstance(item, str):
            found.append((value, key))
        else:
            found += strings_in(item)
    return found


def damaged(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 3)):
        at = chance.randint(0, len(text))
        kind = chance.randint(0, 5)
        if kind == 0:
            text = text[:at]
        elif kind == 1:
            text = text[:at] + text[at + chance.randint(1, 8) :]
        elif kind == 2:
            text = text[:at] + text[max(0, at - chance.randint(1, 40)) :]
        else:
            text = text[:at] + chance.choice(PIECES) * chance.choice((1, 1, 1, 2, 30)) + text[at:]
    return text


@SETTINGS
@given(case=st.sampled_from(CASES), chance=st.randoms(use_true_random=False))
def test_a_known_reply_damaged_anywhere_is_still_answered(
    case: dict[str, Any], chance: random.Random
) -> None:
    message = copy.deepcopy(case["message"])
    places = strings_in(message)
    for container, key in chance.sample(places, min(len(places), chance.randint(1, 2))):
        container[key] = damaged(container[key], chance)
    check(message, case.get("files", {}), case["wire"])


@SETTINGS
@given(pieces=st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=12)), max_size=25))
def test_any_heap_of_markers_and_text_is_answered(pieces: list[str]) -> None:
    text = "".join(pieces)
    check({"role": "assistant", "content": text}, {"a.py": "def f():\n    return 1\n"}, "ollama")
    check({"role": "assistant", "content": "", "thinking": text}, {}, "ollama")


JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.sampled_from(PIECES)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.one_of(
                st.sampled_from(
                    [
                        "role",
                        "content",
                        "thinking",
                        "tool_calls",
                        "function",
                        "name",
                        "arguments",
                        "message",
                        "choices",
                        "delta",
                        "error",
                        "stream",
                        "done",
                        "done_reason",
                        "finish_reason",
                        "index",
                        "id",
                        "path",
                        "find",
                        "replace",
                        "edits",
                        "start_line",
                        "lines",
                        "usage",
                        "logprobs",
                        "token",
                    ]
                ),
                st.text(max_size=6),
            ),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=25,
)


@SETTINGS
@given(
    message=st.dictionaries(
        st.sampled_from(
            ["message", "choices", "error", "stream", "content", "tool_calls", "role", "response"]
        ),
        JSON,
    )
)
def test_any_json_in_place_of_a_message_is_answered(message: dict[str, Any]) -> None:
    check(message, {}, "openai")


@SETTINGS
@given(name=st.sampled_from([*REQUIRED, "bash", "str_replace_editor", "apply_patch", "view"]), arguments=JSON)
def test_any_json_in_place_of_arguments_is_answered(name: str, arguments: Any) -> None:
    call = {"id": "c", "function": {"name": name, "arguments": arguments}}
    check({"role": "assistant", "content": None, "tool_calls": [call]}, {"a.py": "x = 1\n"}, "openai")


# Where a text has no end of its own (a bare diff's last line, a plus sign that may follow a string), only the server can
# say whether it was cut.
ENDLESS = (
    "joined_strings",
    "unified_diff_two_hunks",
    "unified_diff_git",
    "unified_diff_new_file",
    "bare_diff",
)
IN_TEXT = [
    case
    for case in CASES
    if isinstance(case["message"].get("content"), str)
    and "tool_calls" not in case["message"]
    and "calls" in case["expect"]
    and not case["kind"].startswith(ENDLESS)
]


@pytest.mark.parametrize("case", IN_TEXT, ids=lambda case: case["id"])
def test_a_reply_cut_anywhere_never_writes_a_part_of_its_text(case: dict[str, Any]) -> None:
    """Every beginning of a reply gives its calls, some of them, or none: never one with a shortened text."""
    text = case["message"]["content"]
    meant = [(call["name"], call["arguments"]) for call in case["expect"]["calls"]]
    for end in range(len(text)):
        message = {**case["message"], "content": text[:end]}
        reading = read_unguarded(message, ALL, case.get("files", {}), case["wire"], True)
        for call in reading.calls:
            if call.name in ("edit_file", "write_file"):
                assert (call.name, dict(call.arguments)) in meant, text[:end]


@pytest.mark.parametrize("depth", [10, 1000, 100_000])
@pytest.mark.parametrize(
    "piece",
    ["[", "{", "(", '{"name":', "read_file(", "<think>", "```", "<function=read_file>", "-", "'", "\\"],
)
def test_deep_nesting_and_long_repeats_end(piece: str, depth: int) -> None:
    reading = read_reply({"role": "assistant", "content": piece * depth}, ALL)
    assert reading.corrective
    assert reading.reason != "internal"


def test_what_goes_wrong_inside_comes_out_as_a_corrective(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("broken")

    monkeypatch.setattr("regreen.models.dialects.read_unguarded", fail)
    reading = read_reply({"role": "assistant", "content": "x"}, ALL)
    assert reading.reason == "internal"
    assert "ValueError" in reading.corrective
