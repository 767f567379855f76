"""The scripted model does the toy's job whatever the harness keeps or takes back."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from scripted.fixtures import StartScripted

TOY = Path(__file__).parents[3] / "toy_repo"
TOOLS = [{"type": "function", "function": {"name": "edit_file", "parameters": {"type": "object"}}}]


def _post(url: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode())) as reply:
        return [json.loads(line) for line in reply.read().splitlines()]


class _Harness:
    """As little of a harness as the policies need: it edits, and tells the numbers of the failed assertion."""

    def __init__(self, keeps: bool) -> None:
        self.keeps = keeps
        self.files = {p: (TOY / p).read_text() for p in ("shop/cart.py", "shop/discounts.py")}
        self.before = dict(self.files)

    def failure(self) -> str:
        cart, offers = self.files["shop/cart.py"], self.files["shop/discounts.py"]
        subtotal = 400 if "+= quantity" in cart else 350 if "max(" in cart else 300
        if subtotal != 400:
            return f"E       assert {subtotal} == 400"
        return "" if ">= threshold" in offers else "E       assert 400 == 360"

    def edit(self, path: str, find: str, replace: str) -> str:
        if self.files[path].count(find) != 1:
            return f"The text was not found in {path}. {self.failure()}"
        old, worse = self.files[path], self.failure()
        self.files[path] = old.replace(find, replace)
        now = self.failure()
        if not self.keeps and now[-5:] == worse[-5:]:
            self.files[path] = old
            return f"The test still fails, so the edit was undone: {now}"
        return f"Edited. {now}" if now else "Edited. The test passes."


@pytest.mark.parametrize("keeps", [True, False])
def test_the_two_part_bug_is_wrong_at_first_and_then_right(scripted: StartScripted, keeps: bool) -> None:
    server, harness = scripted("twopart"), _Harness(keeps)
    messages: list[dict[str, Any]] = [{"role": "user", "content": harness.failure()}]
    edits: list[dict[str, str]] = []
    while harness.failure():
        chunks = _post(
            f"{server.url}/api/chat", {"model": "qwen2.5:3b", "messages": messages, "tools": TOOLS}
        )
        calls = [call for chunk in chunks for call in chunk["message"].get("tool_calls", [])]
        messages.append({"role": "assistant", "content": "", "tool_calls": calls})
        edits.append(calls[0]["function"]["arguments"])
        messages.append({"role": "tool", "content": harness.edit(**edits[-1])})
        assert len(edits) < 5
    assert [edit["path"] for edit in edits] == ["shop/cart.py", "shop/cart.py", "shop/discounts.py"]
    assert "max(" in edits[0]["replace"]
    assert "self.quantities[sku] += quantity" in harness.files["shop/cart.py"]


def test_a_repeated_start_of_the_prompt_is_counted_as_cached(scripted: StartScripted) -> None:
    server = scripted("prose")
    messages = [{"role": "system", "content": "x" * 400}, {"role": "user", "content": "assert 300 == 400"}]
    for _ in range(2):
        _post(f"{server.url}/api/chat", {"model": "qwen2.5:3b", "messages": messages})
    first, second = server.turns
    assert first.new_tokens == first.prompt_tokens > 100
    assert second.new_tokens == 0


def test_it_can_be_started_from_a_shell() -> None:
    command = [sys.executable, "-m", "scripted", "--policy", "done", "--port", "0"]
    tests = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=tests, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            chunks = _post(
                f"{url}/api/chat", {"model": "qwen2.5:3b", "messages": [{"role": "user", "content": "?"}]}
            )
            assert "done" in "".join(chunk["message"]["content"] for chunk in chunks)
            with urllib.request.urlopen(f"{url}/scripted/requests") as reply:
                assert [record["kind"] for record in json.load(reply)] == ["turn"]
        finally:
            process.terminate()
