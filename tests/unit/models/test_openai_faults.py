"""What vendors say when they refuse: long prompts, limits, empty accounts, and how long they ask to wait."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from regreen.models.faults import (
    ContextTooLong,
    FieldRefused,
    MissingModel,
    ModelFault,
    NoToolSupport,
    QuotaReached,
    Trouble,
)
from regreen.models.openai import OpenAIModel
from regreen.models.openai_words import OpenAIWords
from regreen.models.pauses import asked_pause, duration_words
from scripted import POLICIES, Fault, ScriptedServer
from scripted.fixtures import StartScripted
from scripted.policies import Policy
from scripted.talk import Chat

WORDS = OpenAIWords("https://api.example/v1", "some-model")
NOW = 1_800_000_000.0


def fault(status: int, message: Any, headers: dict[str, str] | None = None, **more: Any) -> Exception:
    error = message if isinstance(message, (dict, list)) else {"error": {"message": message, **more}}
    return WORDS.of_status(status, error, headers or {})


@pytest.mark.parametrize(
    ("status", "message", "more", "room"),
    [
        (400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.", {"code": "context_length_exceeded"}, 8192),
        (400, "Your input exceeds the context window of this model. Please adjust your input and try again.", {"code": "context_length_exceeded"}, None),
        (400, "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens", {}, 32768),
        (400, "request (9012 tokens) exceeds the available context size (8192 tokens), try increasing it", {"type": "exceed_context_size_error", "n_ctx": 8192}, 8192),
        (400, "the prompt is longer than the context length currently available to the model", {}, None),
        (400, "The decoder prompt (length 9000) is longer than the maximum model length of 8192.", {}, 8192),
        (400, "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", {}, None),
        (422, "Input validation error: `inputs` must have less than 4095 tokens. Given: 5000", {}, 4095),
        (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000", {}, 8193),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", {}, 200000),
        (400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).", {}, 1048575),
        (400, "This model's maximum prompt length is 131072 but the request contains 200000 tokens.", {}, 131072),
        (400, "Input is too long for requested model.", {}, None),
        (400, "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192", {"code": "context_length_exceeded"}, 8192),
        (400, "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000", {}, 4081),
        (413, "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 7012", {"code": "rate_limit_exceeded"}, 6000),
        (413, "<html><body>413 Request Entity Too Large</body></html>", {}, None),
        (400, "The prompt is too long: 9000, model maximum context length: 8191", {}, 8191),
        (400, "The input (9000 tokens) is longer than the model's context length (8192 tokens).", {}, 8192),
        (400, "Trying to keep the first 5000 tokens when context overflows. However, the model is loaded with context length of only 4096 tokens", {}, 4096),
        (200, "This model's maximum context length is 4,096 tokens.", {"code": 400}, 4096),
    ],
)  # fmt: skip
def test_a_prompt_that_is_too_long_is_known_in_every_vendors_words(
    status: int, message: str, more: dict[str, Any], room: int | None
) -> None:
    found = fault(status, message, **more)
    assert isinstance(found, ContextTooLong), found
    assert found.limit == room


@pytest.mark.parametrize(
    ("status", "message", "more"),
    [
        (402, "This request requires more credits, or fewer max_tokens.", {"code": 402}),
        (402, "Payment Required", {}),
        (429, "You exceeded your current quota, please check your plan and billing details.", {"type": "insufficient_quota", "code": "insufficient_quota"}),
        (403, "Key limit exceeded (total limit). Manage it using https://openrouter.ai/settings/keys", {"code": 403}),
        (400, "Your credit balance is too low to access the API.", {}),
        (402, "Insufficient Balance", {"code": "invalid_request_error"}),
        (200, "Insufficient credits. Add more using the settings", {"code": 402}),
    ],
)  # fmt: skip
def test_an_empty_account_is_not_a_wrong_key_and_not_tried_again(
    status: int, message: str, more: dict[str, Any]
) -> None:
    found = fault(status, message, **more)
    assert isinstance(found, QuotaReached)
    assert "has no credit left" in str(found)
    assert "--model builtin" in str(found)


@pytest.mark.parametrize(
    "message",
    [
        "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day",
        "Rate limit exceeded: free-models-per-day-high-balance. ",
        "Rate limit reached for model `x` on tokens per day (TPD): Limit 100000, Used 99999. Please try again in 7m12s.",
        "You exceeded your current quota. Quota exceeded for metric: x, quotaId: GenerateRequestsPerDayPerProjectPerModel-FreeTier",
        "You have reached your daily limit.",
    ],
)
def test_a_quota_of_the_day_ends_the_run(message: str) -> None:
    found = fault(429, message, {"Retry-After": "3"})
    assert isinstance(found, QuotaReached)
    assert "daily quota" in str(found)


@pytest.mark.parametrize(
    ("headers", "error", "seconds"),
    [
        ({"Retry-After": "20"}, "", 20.0),
        ({"retry-after": "0.5"}, "", 0.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, "", 0.25),
        ({"Retry-After": "Fri, 15 Jan 2027 08:00:30 GMT"}, "", 30.0),
        ({"Retry-After": "Fri, 15 Jan 2027 07:00:00 GMT"}, "", 0.0),
        ({"Retry-After": "20s"}, "", 20.0),
        ({"Retry-After": "soon"}, "", None),
        ({}, "", None),
        ({"x-ratelimit-reset-requests": "1m2.5s", "x-ratelimit-remaining-requests": "0"}, "", 62.5),
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-remaining-requests": "9", "x-ratelimit-reset-tokens": "120ms", "x-ratelimit-remaining-tokens": "0"}, "", 0.12),
        ({"x-ratelimit-reset-requests": "9h", "x-ratelimit-remaining-requests": "9"}, "", None),
        ({"X-RateLimit-Reset": "1800000012000"}, "", 12.0),
        ({"X-RateLimit-Reset": "1800000012"}, "", 12.0),
        ({}, "Rate limit reached for x. Please try again in 1.242s. Visit the page", 1.242),
        ({}, "Please try again in 7m12s.", 432.0),
        ({}, "Please retry in 34.07s.", 34.07),
        ({}, "Please wait 20 seconds and try again", 20.0),
        ({}, "Try again in 2 hours and 5 minutes.", 7500.0),
        ({}, "Please retry after 250 ms.", 0.25),
        ({}, "You can retry with 3 smaller messages", None),
    ],
)  # fmt: skip
def test_the_pause_that_a_server_asks_for(headers: dict[str, str], error: str, seconds: float | None) -> None:
    found = asked_pause(headers, {"error": {"message": error}}, error, NOW)
    assert found == (None if seconds is None else pytest.approx(seconds))


def test_a_pause_may_stand_in_the_error_itself() -> None:
    google = [{"error": {"code": 429, "details": [{"@type": "x"}, {"@type": "y", "retryDelay": "34s"}]}}]
    router = {"error": {"code": 429, "metadata": {"headers": {"X-RateLimit-Reset": "1800000005000"}}}}
    assert asked_pause({}, google, "", NOW) == 34
    assert asked_pause({}, router, "", NOW) == 5
    assert asked_pause({}, {"error": {"retry_after": 7}}, "", NOW) == 7


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.25, "0.25 s"), (20, "20 s"), (432, "7 minutes"), (7500, "2 hours")]
)
def test_a_pause_in_words(seconds: float, words: str) -> None:
    assert duration_words(seconds) == words


def test_a_short_pause_is_kept_to_the_second_and_a_long_one_ends_the_run() -> None:
    short = fault(429, "Slow down", {"Retry-After": "45"})
    assert isinstance(short, Trouble)
    assert (short.wait, short.exact, short.why) == (45.0, True, "the server asks for a pause of 45 s")
    long = fault(429, "Slow down", {"Retry-After": "720"})
    assert isinstance(long, QuotaReached)
    assert "Try again in 12 minutes." in str(long)
    free = fault(
        429, "You exceeded your current quota, check your plan and billing details. Please retry in 34.07s."
    )
    assert isinstance(free, Trouble)
    assert free.wait == pytest.approx(34.07)
    busy = fault(503, "The model is overloaded.", {"Retry-After": "5"})
    assert isinstance(busy, Trouble)
    assert (busy.wait, busy.exact) == (5.0, True)


@pytest.mark.parametrize(
    ("status", "message", "kind", "words"),
    [
        (401, "Incorrect API key provided", ModelFault, "refuses the key"),
        (403, "Your chosen model requires moderation and your input was flagged", ModelFault, "moderation"),
        (403, "Country, region, or territory not supported", ModelFault, "does not serve"),
        (404, "No endpoints found for x/y", MissingModel, "has no model"),
        (404, "The model `x` does not exist or you do not have access to it.", MissingModel, "has no model"),
        (404, "Not Found", ModelFault, "--base-url"),
        (400, "tool use is not supported with this model", NoToolSupport, "tool use"),
        (404, "No endpoints found that support tool use.", NoToolSupport, "tool use"),
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', NoToolSupport, "auto"),
        (500, "tools param requires --jinja flag", NoToolSupport, "jinja"),
        (400, "Unsupported value: 'temperature' does not support 0.1 with this model.", FieldRefused, "temperature"),
        (400, "Invalid JSON payload", ModelFault, "refuses the request: Invalid JSON"),
    ],
)  # fmt: skip
def test_other_refusals_have_their_own_words(
    status: int, message: str, kind: type[Exception], words: str
) -> None:
    found = fault(status, message)
    assert type(found) is kind, found
    assert words in str(found)


def test_what_the_provider_behind_a_router_said_is_told() -> None:
    found = fault(
        502,
        {"error": {"message": "Provider returned error", "code": 502, "metadata": {"raw": "GPU fell off"}}},
    )
    assert isinstance(found, Trouble)
    assert "GPU fell off" in str(found.error)


# -- on the wire -------------------------------------------------------------------------------------

Talk = Callable[..., Awaitable[tuple[ScriptedServer, Chat]]]


@pytest.fixture
async def talk(scripted: StartScripted) -> AsyncIterator[Talk]:
    models: list[OpenAIModel] = []

    async def start(
        status: int, message: Any, headers: dict[str, str], times: int | None
    ) -> tuple[ScriptedServer, Chat]:
        body = json.dumps({"error": message if isinstance(message, dict) else {"message": message}})
        fault = Fault("raw", status, body, {"Content-Type": "application/json", **headers})
        server = scripted(Policy(POLICIES["direct"].decide, fault=fault, times=times))
        models.append(OpenAIModel("qwen2.5:3b", f"{server.url}/v1"))
        return server, Chat(models[-1])

    yield start
    for model in models:
        await model.aclose()


@pytest.mark.parametrize("headers", [{"Retry-After": "0.05"}, {"retry-after-ms": "50"}, {"Retry-After": "Fri, 15 Jan 2021 08:00:30 GMT"}])  # fmt: skip
async def test_a_server_is_asked_again_after_its_own_pause(talk: Talk, headers: dict[str, str]) -> None:
    server, chat = await talk(429, "Too many requests", headers, 2)
    assert (await chat.ask()).calls
    assert len(server.turns) == 3
    assert all("asks for a pause of" in wait for wait in chat.ear.waits)


@pytest.mark.parametrize(
    ("status", "message", "headers"),
    [
        (429, "Rate limit exceeded: free-models-per-day", {}),
        (429, "Slow down", {"Retry-After": "3600"}),
        (429, {"message": "You exceeded your current quota", "code": "insufficient_quota"}, {}),
        (402, "Insufficient credits", {}),
    ],
)
async def test_what_no_pause_mends_is_asked_once(
    talk: Talk, status: int, message: Any, headers: dict[str, str]
) -> None:
    server, chat = await talk(status, message, headers, None)
    with pytest.raises(QuotaReached):
        await chat.ask()
    assert len(server.turns) == 1
    assert chat.ear.waits == []
