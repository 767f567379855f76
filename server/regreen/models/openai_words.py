"""The faults of an OpenAI-compatible server, each in its own words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from regreen.errors import RegreenError
from regreen.models.assemble import json_object
from regreen.models.error_bodies import message_and_code
from regreen.models.faults import (
    ContextCut,
    ContextTooLong,
    FieldRefused,
    MissingModel,
    ModelFault,
    NoToolSupport,
    QuotaReached,
    ServerDown,
    Trouble,
    looks_like_html,
    one_line,
)
from regreen.models.pauses import LONGEST_PAUSE, asked_pause, duration_words

_TOO_LONG = re.compile(
    r"context[ _](?:length|size|window|limit)|max(?:imum)?[ _](?:context|model|prompt|sequence|seq|input)[ _]?len|max_model_len"
    r"|maximum context|exceed_context|too many (?:input )?tokens|(?:prompt|input|request)s? (?:is|are) too (?:long|large)"
    r"|input token count|reduce the length|longer than the (?:maximum|model)|`inputs` (?:tokens|must have)"
    r"|number of (?:input )?tokens.{0,40}exceed|string_above_max_length|maximum number of tokens"
)
"""OpenAI, Azure, OpenRouter, DeepSeek, Groq, Mistral, xAI, Google, Anthropic, Bedrock, Cohere, Fireworks, Cerebras,
llama.cpp, LM Studio, Ollama, vLLM, SGLang, TGI: each says it otherwise."""

_ROOM = re.compile(
    r"(?:(?:maximum|model's) (?:context|model|prompt|input)(?: window)? length(?: is| of)?|context size|context length|limit(?: is)?"
    r"|maximum number of tokens allowed|max(?:imum)? tokens|cannot exceed|less than|<=|tokens >)[\s:(]*(?:of |only )*(\d{3,8})\b"
)
_NO_CREDIT = re.compile(
    r"insufficient[_ ](?:quota|credit|balance|fund)|exceeded your current quota|out of credit|no credit|more credits|credit balance"
    r"|payment required|billing[_ ](?:hard[_ ])?limit|spend(?:ing)?[_ ]limit|key limit exceeded|requires? (?:a )?(?:paid|payment)|never purchased credits"
)
_DAILY = re.compile(r"per[-_ ]?day|daily|\bTPD\b|\bRPD\b", re.IGNORECASE)
_NOT_TAKEN = re.compile(
    r"(?i)unsupported|unrecognized|unknown|unexpected|not supported|not permitted|does not support|not allowed|invalid parameter"
)
_DROPPABLE = ("max_tokens", "temperature", "seed", "stream_options", "usage", "stop")


class OpenAIWords:
    """The faults of the server at `url` with the model `name`."""

    def __init__(self, url: str, name: str) -> None:
        self.url = url
        self.name = name

    def down(self) -> RegreenError:
        """Nobody listens."""
        return ServerDown(f"No model server answers at {self.url}: start it, or check --base-url.")

    def refused(self, message: str) -> RegreenError:
        """A request that cannot be made right."""
        return ModelFault(
            f"{self.url} refuses the request: {one_line(message)}. Try another model or server."
        )

    def not_a_server(self) -> RegreenError:
        """Something else answers."""
        return ModelFault(
            f"{self.url} does not answer as a model server does, but with a page of some other server: check "
            "--base-url (it most often ends in /v1) and the proxy."
        )

    def cut(self, counted: int, expected: int) -> RegreenError:
        """The server read only a part of the prompt."""
        return ContextCut(
            f"{self.url} read only {counted} tokens of a prompt of about {expected}: its context is too small and it "
            "cuts in silence. Start it with a larger context (llama.cpp: -c 8192)."
        )

    def of_status(self, status: int, error: Any, headers: Mapping[str, str]) -> Exception:
        """The fault of an error status, or of an error in a 200 (its own code, else 200, is the status then)."""
        message, code = message_and_code(error)
        low = message.lower()
        status = code if status == 200 and code else status
        if status == 413:
            return self._too_long(error, message)
        if looks_like_html(message):
            return Trouble(self.not_a_server(), "html", 1 if status in (502, 503, 504) else 0)
        pause = asked_pause(headers, error, message)
        if status == 402 or (
            status in (200, 400, 403, 429)
            and _NO_CREDIT.search(low)
            and pause is None
            and not _DAILY.search(low)
        ):
            return QuotaReached(
                f"The account at {self.url} has no credit left: {one_line(message)}. Add credit there, or use a model "
                "of your own, for instance --model builtin."
            )
        if status == 429 or "rate limit" in low or "too many requests" in low:
            return self._rate(message, pause)
        if status in (401, 403):
            return self._key(status, message, low)
        if (status < 500 and _TOO_LONG.search(low)) or "exceed_context" in low:
            return self._too_long(error, message)
        return self._request_or_server(status, message, low, pause)

    def _too_long(self, error: Any, message: str) -> Exception:
        return ContextTooLong(
            f"The prompt is longer than {self.name} has room for: choose a smaller target, or start the server "
            "with a larger context.",
            _limit(error, message),
        )

    def _key(self, status: int, message: str, low: str) -> Exception:
        if status == 403 and ("moderation" in low or "flagged" in low):
            return ModelFault(
                f"{self.url} will not work on this text, its moderation says: {one_line(message)}. Try another model."
            )
        if status == 403 and ("country" in low or "region" in low or "territory" in low):
            return ModelFault(
                f"{self.url} does not serve {self.name} here: {one_line(message)}. Try another model."
            )
        return ModelFault(
            f"{self.url} refuses the key: set OPENAI_API_KEY or OPENROUTER_API_KEY in the environment. "
            f"({one_line(message, 80)})"
        )

    def _request_or_server(self, status: int, message: str, low: str, pause: float | None) -> Exception:
        if (
            status in (200, 400, 404, 422, 500, 501)
            and "tool" in low
            and ("support" in low or "jinja" in low or "tool-call-parser" in low or "tool choice" in low)
        ):
            return NoToolSupport(message)
        if status in (400, 422) and _NOT_TAKEN.search(message):
            for name in _DROPPABLE:
                if re.search(rf"\b{name}\b", message):
                    return FieldRefused(name, message)
        if status == 404:
            if "model" in low or "endpoints" in low:
                return MissingModel(
                    f"{self.url} has no model {self.name}: check the name (its list is at {self.url}/models).",
                    self.name,
                )
            return self.not_a_server()
        if status in (400, 405, 422):
            return self.refused(message)
        if 300 <= status < 400:
            return self.not_a_server()
        loading = status == 503 and "load" in low and "overload" not in low
        error = ModelFault(
            f"{self.url} failed: {status} {one_line(message)}. Try again later, or another model."
        )
        why = "the model is loading" if loading else "the model server failed"
        if pause is not None and pause <= LONGEST_PAUSE:
            return Trouble(error, "failure", 3, pause, why, exact=True)
        return Trouble(error, "loading" if loading else "failure", 60 if loading else 3, 1.0, why)

    def _rate(self, message: str, pause: float | None) -> Exception:
        if _DAILY.search(message):
            return QuotaReached(
                f"The daily quota of {self.url} is used up: {one_line(message, 120)}. Use another model, for instance "
                "--model builtin, or go on tomorrow."
            )
        when = f"in {duration_words(pause)}" if pause else "later"
        error = QuotaReached(
            f"{self.url} takes no more requests for now: {one_line(message, 120)}. Try again {when}."
        )
        if pause is None:
            return Trouble(error, "rate", 4, 2.0, "the server asks for a pause")
        if pause > LONGEST_PAUSE:
            return error
        return Trouble(
            error, "rate", 4, pause, f"the server asks for a pause of {duration_words(pause)}", exact=True
        )

    def broken(self, cause: str) -> Trouble:
        """The connection ended in mid-reply."""
        error = ModelFault(
            f"The connection to {self.url} broke in the middle of a reply, again and again ({cause}): start the run again."
        )
        return Trouble(error, "broken", 2, 0.5, "the connection to the model server broke")

    def unfinished(self) -> Trouble:
        """The stream ended without saying why."""
        error = ModelFault(
            f"{self.url} ended its reply without finishing it, again and again: start the run again."
        )
        return Trouble(error, "unfinished", 2, 0.2, "the reply ended unfinished", fresh=True)

    def empty(self) -> Trouble:
        """A reply of no tokens at all is a failure of the provider, no finished turn (pi#8462)."""
        error = ModelFault(f"{self.url} gives empty replies for {self.name}: try another model.")
        return Trouble(error, "empty", 2, 0.5, "the reply was empty", fresh=True)

    def swallowed(self) -> Trouble:
        """The model wrote something, and nothing of it arrived: the server's parser dropped a call."""
        error = ModelFault(f"{self.url} gives empty replies for {self.name}: try another model.")
        return Trouble(error, "swallowed", 1, 0.0, "the reply was dropped by the server's parser")

    def stalled(self, seconds: float) -> Trouble:
        """Nothing came for a long time after the reply had begun."""
        error = ModelFault(
            f"{self.url} stopped in the middle of a reply and sent nothing for {seconds:.0f} s."
        )
        return Trouble(error, "stalled", 1, 0.5, "the model server sends nothing any more")


def error_in(body: Mapping[str, Any]) -> Any:
    """The error that a body or an event of a stream with status 200 holds, in any of the usual places; else None.

    OpenRouter puts it beside the choices or into the first one, vLLM makes the whole body one, FastAPI says `detail`.
    """
    if body.get("error"):
        return body
    choices = body.get("choices")
    first = json_object(cast("list[Any]", choices)[0]) if isinstance(choices, list) and choices else None
    if first is not None and first.get("error"):
        return {"error": first["error"]}
    if not choices and (body.get("object") == "error" or (body.get("detail") and "id" not in body)):
        return {"error": dict(body)}
    return None


def _limit(error: Any, message: str) -> int | None:
    """The room that the server tells, in tokens."""
    outer = json_object(error) or {}
    limit = (json_object(outer.get("error", outer)) or {}).get("n_ctx")
    if isinstance(limit, int):
        return limit
    found = _ROOM.search(message.lower().replace(",", ""))
    return int(found.group(1)) if found else None
