"""Limits, addresses and the putting together of streams: the pure parts."""

from __future__ import annotations

from typing import Any

import pytest

from regreen.errors import UsageError
from regreen.models.assemble import OllamaReply, OpenAIReply
from regreen.models.history import PrefixMeter
from regreen.models.hosts import is_local, ollama_url
from regreen.models.limits import Repetition, choose_window, machine_memory, size_words, temperature

GB = 10**9


@pytest.mark.parametrize(
    ("setting", "environ", "url"),
    [
        (None, {}, "http://127.0.0.1:11434"),
        (None, {"OLLAMA_HOST": ""}, "http://127.0.0.1:11434"),
        (None, {"OLLAMA_HOST": "0.0.0.0"}, "http://127.0.0.1:11434"),
        (None, {"OLLAMA_HOST": "0.0.0.0:8000"}, "http://127.0.0.1:8000"),
        (None, {"OLLAMA_HOST": "[::]:8000"}, "http://[::1]:8000"),
        (None, {"OLLAMA_HOST": "::1"}, "http://[::1]:11434"),
        (None, {"OLLAMA_HOST": "box"}, "http://box:11434"),
        (None, {"OLLAMA_HOST": " box:1 "}, "http://box:1"),
        (None, {"OLLAMA_HOST": "http://box"}, "http://box:80"),
        (None, {"OLLAMA_HOST": "https://box/ollama/"}, "https://box:443/ollama"),
        ("http://other:5", {"OLLAMA_HOST": "box"}, "http://other:5"),
        (None, {"OLLAMA_HOST": ":5000"}, "http://127.0.0.1:5000"),
    ],
)
def test_the_address_of_ollama(setting: str | None, environ: dict[str, str], url: str) -> None:
    assert ollama_url(setting, environ) == url


@pytest.mark.parametrize("text", ["http://h:99999", "ssh://h", "http://[::1"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(UsageError, match="is not the address of a server"):
        ollama_url(text, {})


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:1", True),
        ("http://127.0.0.9:1", True),
        ("http://[::1]:1", True),
        ("http://0.0.0.0:8000/v1", True),
        ("http://[::]:8000/v1", True),
        ("http://[::ffff:127.0.0.1]:8000/v1", True),
        ("http://10.0.0.1:1", False),
        ("https://example.org", False),
        ("http://localhost.example.org", False),
    ],
)
def test_what_is_this_machine(url: str, local: bool) -> None:
    assert is_local(url) is local


@pytest.mark.parametrize(
    ("needed", "model_max", "memory", "window"),
    [
        (600, 32768, 16 * GB, 8192),
        (600, 32768, None, 8192),
        (6000, 32768, 16 * GB, 16384),
        (20000, 32768, 16 * GB, 32768),
        (90000, 32768, None, 32768),
        (600, 4096, 16 * GB, 4096),
        (6000, 32768, 4 * GB, 8192),
        (6000, 32768, 3 * GB, 4096),
    ],
)
def test_the_context_fits_the_evidence_the_model_and_the_machine(
    needed: int, model_max: int, memory: int | None, window: int
) -> None:
    assert choose_window(needed, model_max, 36864, int(1.93 * GB), memory) == window


def test_this_machine_has_memory() -> None:
    assert (machine_memory() or 0) > 2**28


def test_words_and_temperatures() -> None:
    assert [size_words(size) for size in (1_929_912_432, 397_821_319)] == ["1.9 GB", "398 MB"]
    assert [temperature(n) for n in range(5)] == [0.1, 0.5, 0.7, 0.7, 0.7]


def _cut_at(pieces: list[str]) -> int | None:
    watch = Repetition()
    return next((n for n, piece in enumerate(pieces) if watch.feed(piece)), None)


@pytest.mark.parametrize(
    "period",
    [["same line\n"], ["line a\n", "line b\n"], ["one\n", "two\n", "three\n", "four\n"], ["ha "], ["@"]],
)
def test_text_that_goes_in_circles_is_noticed(period: list[str]) -> None:
    at = _cut_at(period * 400)
    assert at is not None
    assert len("".join((period * 400)[:at])) < 600


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    if x:\n        return [\n" + "            0,\n" * 3 + "        ]\n" + "    )\n" * 3,
        "".join(f"self.assertEqual(f({n}), {n * n})\n" for n in range(60)),
        "}\n" * 40,
        "\n" * 100,
        "# " + "=" * 100 + "\n",
    ],
)
def test_good_code_is_not_taken_for_a_circle(text: str) -> None:
    assert _cut_at(list(text)) is None


def test_a_reply_beyond_every_limit_is_noticed() -> None:
    assert _cut_at([f"{n} {n * 7919}\n" for n in range(5000)]) is not None


# -- streams -----------------------------------------------------------------------------------------


def _openai(*deltas: dict[str, Any], finish: str = "tool_calls") -> list[tuple[str, str]]:
    reply = OpenAIReply()
    for delta in deltas:
        reply.feed({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    reply.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    reply.feed({"choices": [], "usage": {"prompt_tokens": 3}})
    assert reply.finish == finish
    assert reply.usage == {"prompt_tokens": 3}
    ids = [call["id"] for call in reply.calls]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    return [(call["function"]["name"], call["function"]["arguments"]) for call in reply.calls]


def _part(arguments: Any, name: Any = None, call_id: Any = None, **more: Any) -> dict[str, Any]:
    return {"tool_calls": [{"id": call_id, "function": {"name": name, "arguments": arguments}, **more}]}


def test_fragments_of_one_call() -> None:
    assert _openai(
        _part("", "run_tests", "a", index=0), _part('{"path": ', index=0), _part('"t.py"}', "", "", index=0)
    ) == [("run_tests", '{"path": "t.py"}')]


def test_calls_that_are_mixed_by_index() -> None:
    assert _openai(
        _part('{"a"', "one", "a", index=0),
        _part('{"b"', "two", "b", index=1),
        _part(": 1}", index=0),
        _part(": 2}", index=1),
    ) == [("one", '{"a": 1}'), ("two", '{"b": 2}')]


def test_two_whole_calls_on_one_index_are_two() -> None:
    assert _openai(_part('{"a": 1}', "one", "a", index=0), _part('{"b": 2}', "two", "b", index=0)) == [
        ("one", '{"a": 1}'),
        ("two", '{"b": 2}'),
    ]


def test_a_name_in_pieces_and_a_name_sent_again() -> None:
    assert _openai(_part("", "read_", "a", index=0), _part("{}", "file", index=0)) == [("read_file", "{}")]
    assert _openai(_part('{"a"', "one", "a", index=0), _part(": 1}", "one", "a", index=0)) == [
        ("one", '{"a": 1}')
    ]


def test_no_index_no_id_no_arguments_or_arguments_as_an_object() -> None:
    assert _openai(_part("", "list_files"), finish="stop") == [("list_files", "{}")]
    assert _openai(_part({"path": "a"}, "read_file")) == [("read_file", '{"path": "a"}')]


def test_an_ollama_stream_with_a_withheld_call_shows_its_text_from_the_logprobs() -> None:
    reply = OllamaReply()
    for token, content in (("I ", "I "), ("see.", "see."), ("<tool_", ""), ("call>{'n", ""), ("ö", "")):
        reply.feed({"message": {"content": content}, "logprobs": [{"token": token}], "done": False})
    reply.feed({"message": {"content": ""}, "done": True, "done_reason": "stop", "eval_count": 5})
    assert reply.content == "I see."
    assert reply.text == "I see.<tool_call>{'nö"
    assert reply.body()["done_reason"] == "stop"


def test_a_letter_split_over_two_tokens_survives() -> None:
    reply = OllamaReply()
    for byte in "é".encode():
        reply.feed({"message": {"content": ""}, "logprobs": [{"token": "\ufffd", "bytes": [byte]}]})
    assert reply.raw == "é"


def test_the_meter_counts_the_longest_common_start() -> None:
    meter = PrefixMeter()
    first = meter.flat([{"role": "user", "content": "a" * 100}], [])
    assert meter.cached_tokens(first, 25) == 0
    meter.remember(first, "answer", 25)
    second = meter.flat(
        [
            {"role": "user", "content": "a" * 100},
            {"role": "assistant", "content": "answer"},
            {"role": "user", "content": "b" * 20},
        ],
        [],
    )
    assert meter.extends(second)
    assert meter.shared(second) >= len(first) + len("answer")
