"""The faults of an OpenAI-compatible server, each in its own words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from regreen.errors import RegreenError
from regreen.models.assemble import json_object
from regreen.models.faults import (
    ContextCut,
    ContextTooLong,
    MissingModel,
    ModelFault,
    NoToolSupport,
    QuotaReached,
    ServerDown,
    Trouble,
    looks_like_html,
    one_line,
)

_TOO_LONG = ("context length", "context size", "exceed_context_size", "maximum context", "too many tokens")
_NOT_TAKEN = re.compile(
    r"(?i)unsupported|unrecognized|unknown|unexpected|not supported|not permitted|does not support"
)
_DROPPABLE = ("max_tokens", "temperature", "seed", "stream_options")
_LONGEST_RETRY_AFTER = 60.0


class UnknownParameter(Exception):
    """The server refuses a field that the request can do without; `name` is the field."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


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
        message, code = _message(error)
        low = message.lower()
        status = code if status == 200 and code else status
        if looks_like_html(message):
            return Trouble(self.not_a_server(), "html", 1 if status in (502, 503, 504) else 0)
        if status == 429 or "rate limit" in low:
            return self._rate(message, low, headers)
        if status in (401, 403):
            return ModelFault(
                f"{self.url} refuses the key: set OPENAI_API_KEY or OPENROUTER_API_KEY in the environment. "
                f"({one_line(message, 80)})"
            )
        if status == 402 or "insufficient_quota" in low or "credit" in low:
            return QuotaReached(f"The account at {self.url} has no credit left: {one_line(message)}")
        if any(words in low for words in _TOO_LONG):
            return ContextTooLong(
                f"The prompt is longer than {self.name} has room for: choose a smaller target, or start the server "
                "with a larger context.",
                _limit(error),
            )
        return self._request_or_server(status, message, low)

    def _request_or_server(self, status: int, message: str, low: str) -> Exception:
        if (
            status in (400, 404, 422, 500, 501)
            and "tool" in low
            and ("support" in low or "jinja" in low or "tool-call-parser" in low or "tool choice" in low)
        ):
            return NoToolSupport(message)
        if status in (400, 422) and _NOT_TAKEN.search(message):
            for name in _DROPPABLE:
                if re.search(rf"\b{name}\b", message):
                    return UnknownParameter(name, message)
        if status == 404:
            if "model" in low:
                return MissingModel(
                    f"{self.url} has no model {self.name}: check the name (its list is at {self.url}/models).",
                    self.name,
                )
            return self.not_a_server()
        if status in (400, 405, 413, 422):
            return self.refused(message)
        if 300 <= status < 400:
            return self.not_a_server()
        loading = status == 503 and "load" in low
        error = ModelFault(
            f"{self.url} failed: {status} {one_line(message)}. Try again later, or another model."
        )
        why = "the model is loading" if loading else "the model server failed"
        return Trouble(error, "loading" if loading else "failure", 60 if loading else 3, 1.0, why)

    def _rate(self, message: str, low: str, headers: Mapping[str, str]) -> Exception:
        if "per-day" in low or "per day" in low or "daily" in low or "insufficient_quota" in low:
            return QuotaReached(
                f"The daily quota of {self.url} is used up: {one_line(message, 120)}. Use another model, for instance "
                "--model builtin, or go on tomorrow."
            )
        wait = _retry_after(headers)
        error = QuotaReached(
            f"{self.url} takes no more requests for now: {one_line(message, 120)}. Try again later."
        )
        if wait is not None and wait > _LONGEST_RETRY_AFTER:
            return error
        return Trouble(error, "rate", 4, wait or 2.0, "the server asks for a pause")

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

    def stalled(self, seconds: float) -> Trouble:
        """Nothing came for a long time after the reply had begun."""
        error = ModelFault(
            f"{self.url} stopped in the middle of a reply and sent nothing for {seconds:.0f} s."
        )
        return Trouble(error, "stalled", 1, 0.5, "the model server sends nothing any more")


def _message(error: Any) -> tuple[str, int]:
    """The words and the code of an error in any of the shapes that servers use."""
    outer = json_object(error)
    if outer is None:
        return str(error or ""), 0
    inner = json_object(outer.get("error", outer))
    if inner is None:
        return str(outer.get("error")), 0
    code, kind = inner.get("code"), str(inner.get("type") or "")
    text = str(inner.get("message") or inner.get("detail") or inner)
    if "exceed_context" in kind or (isinstance(code, str) and code not in text):
        text += f" ({kind if 'exceed_context' in kind else code})"
    return text, code if isinstance(code, int) else 0


def _limit(error: Any) -> int | None:
    outer = json_object(error) or {}
    limit = (json_object(outer.get("error", outer)) or {}).get("n_ctx")
    return limit if isinstance(limit, int) else None


def _retry_after(headers: Mapping[str, str]) -> float | None:
    value = next((text for name, text in headers.items() if name.lower() == "retry-after"), "")
    try:
        return max(0.0, float(value))
    except ValueError:
        return None
