"""When the stream of a text reply may be closed: a further call may never be lost by it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from regreen.models.dialects import read_reply, thoughts
from regreen.models.dialects.over import over_at, whole_object
from regreen.tools.menu import ALL

CALL = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.py"}}\n</tool_call>'
QUOTED = json.dumps(
    {"name": "write_file", "arguments": {"path": "a.md", "content": f"{CALL}\n<tool_response>"}}
)
CASES = Path(__file__).parent
FENCE = "```python\ndef total(self):\n    return sum(self.rows)\n```\n"
TAILS = (
    f"\n<tool_response>\nok\n</tool_response>\n{CALL}",
    "\n<|im_start|>user\nGo on.",
    "\nObservation: it passes\nAction: run_tests\nAction Input: {}",
)


@pytest.mark.parametrize(
    "text",
    [
        f"The test fails.\n{CALL}\n<tool_response>",
        f"{CALL}\n{CALL}\n<tool_response>\n",
        f"{CALL}<|im_start|>",
        f"{CALL}\nObservation:",
    ],
)
def test_calls_and_an_invented_answer_end_a_reply(text: str) -> None:
    assert text[: over_at(text)].rstrip().endswith("</tool_call>")
    assert not any(over_at(text[:end]) for end in range(text.rindex("</tool_call>") + 12))


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"{CALL}\nNow the other file.\n<tool_response>",
        f"<tool_call>\n{QUOTED}",
        f"```python\nTEXT = '''{CALL}\n<tool_response>'''",
        f"<write_file><path>a.md</path><content>\n{CALL}\n<tool_response>",
        f"<think>Perhaps {CALL}\n<tool_response>",
        f"write_file(path='a.md', content='''{CALL}\n<tool_response>",
        "The result follows.\n<tool_response>",
    ],
)
def test_a_reply_in_which_more_may_come_is_not_over(text: str) -> None:
    assert over_at(text) == 0


@pytest.mark.parametrize(
    "text",
    [
        f"It must add all rows.\n{FENCE}<tool_response>",
        f"It must add all rows.\na.py\n{FENCE}\n{FENCE}\n<|im_start|>",
        f"It must add all rows.\n{FENCE}Observation:",
        f"It must add all rows.\n{FENCE}User:",
    ],
)
def test_code_and_an_invented_answer_end_a_reply(text: str) -> None:
    files = {"a.py": "class A:\n    def total(self):\n        return self.rows\n"}
    at = over_at(text)
    assert text[:at].rstrip().endswith("```")
    assert not any(over_at(text[:end]) for end in range(at))
    asked = read_calls(text[:at], files)
    assert asked
    for tail in TAILS:
        assert read_calls(text + tail, files) == asked


@pytest.mark.parametrize(
    "text",
    [
        f"It must add all rows.\n{FENCE}",
        f"It must add all rows.\n{FENCE}And the other one:\n<tool_response>",
        f"{FENCE}<tool_response>",
        f"It must add all rows.\n{FENCE[:-4]}<tool_response>",
        f"It must add all rows.\n````python\n{FENCE}<tool_response>",
        f"<think>It must add all rows.\n{FENCE}<tool_response>",
        "It must add all rows.\n```json\n{}\n```\n<tool_response>",
    ],
)
def test_code_after_which_more_may_come_does_not_end_a_reply(text: str) -> None:
    assert over_at(text) == 0


def test_an_object_ends_a_reply_only_when_something_follows_it() -> None:
    whole = '{"name": "run_tests", "arguments": {}}'
    assert [whole_object(text) for text in (whole, whole[:-1], f"{whole}\n", f"see {whole}.")] == [0, 0, 0, 0]
    assert whole_object(f"{whole}\nNow") == len(whole)
    assert whole_object(f" {whole}" + " " * 30) == len(whole) + 1


def test_what_comes_after_an_end_never_changes_what_is_read() -> None:
    texts = [
        str(message["content"])
        for file in CASES.glob("*.jsonl")
        for line in file.read_text(encoding="utf-8").splitlines()
        if isinstance(message := json.loads(line)["message"], dict) and message.get("content")
    ]
    assert len(texts) > 50
    over = 0
    for text in [*texts, *(text + tail for text in texts for tail in TAILS)]:
        marks = [*thoughts.RESULT.finditer(text), *thoughts.TURN.finditer(text)]
        for end in sorted(mark.end() for mark in marks):
            if at := over_at(text[:end]):
                over += 1
                assert read_calls(text[:at]) == read_calls(text)
                break
    assert over > 5


def read_calls(text: str, files: Mapping[str, str] | None = None) -> list[tuple[str, str]]:
    reading = read_reply({"role": "assistant", "content": text}, ALL, files or {})
    return [(call.name, json.dumps(dict(call.arguments))) for call in reading.calls]
