"""What an Ollama server, or a proxy in front of one, answers when it will not: in its own words, with what to do."""

from __future__ import annotations

import pytest

from regreen.models.error_bodies import message_and_code
from regreen.models.faults import ContextTooLong, OllamaWords, QuotaReached, Trouble

WORDS = OllamaWords("http://127.0.0.1:11434", "qwen2.5:3b")


def test_a_long_pause_ends_the_run_and_says_when_to_come_back() -> None:
    fault = WORDS.of_status(429, "weekly limit reached", None, pause=86_400.0)
    assert isinstance(fault, QuotaReached)
    assert "weekly limit reached. Try again in 24 hours." in str(fault)


@pytest.mark.parametrize(("pause", "waits", "exact"), [(20.0, 20.0, True), (None, 5.0, False)])
def test_a_short_pause_is_kept_and_no_pause_is_a_short_one(
    pause: float | None, waits: float, exact: bool
) -> None:
    fault = WORDS.of_status(429, "slow down", None, pause)
    assert isinstance(fault, Trouble)
    assert (fault.wait, fault.exact, fault.retries) == (waits, exact, 2)


@pytest.mark.parametrize(
    "error",
    [
        {"message": "This model's maximum context length is 4096 tokens", "code": "context_length_exceeded"},
        {"message": "Too much.", "code": "context_length_exceeded"},
        "input length 9000 exceeds the context length 4096",
    ],
)
def test_too_long_is_heard_in_other_servers_words(error: object) -> None:
    assert isinstance(WORDS.of_status(400, message_and_code(error)[0], None), ContextTooLong)


def test_an_error_that_is_an_object_is_shown_by_its_words() -> None:
    fault = WORDS.of_status(
        502, message_and_code({"message": "Provider returned error", "code": 502})[0], None
    )
    assert "502 Provider returned error." in str(getattr(fault, "error", fault))
    assert "{" not in str(getattr(fault, "error", fault))
