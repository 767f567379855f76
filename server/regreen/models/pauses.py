"""How long a server asks us to wait, in any of the ways in which servers say so."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, cast

from regreen.models.assemble import json_object

LONGEST_PAUSE = 90.0
"""Seconds that a run waits when a server asks for a pause; a longer one ends it."""

_RESETS = (
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens",
    "x-ratelimit-reset",
    "ratelimit-reset",
    "x-ratelimit-reset-after",
)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = r"(\d+(?:\.\d+)?)\s*(ms|h(?:ours?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)(?![a-z])"
_DURATION = re.compile(rf"(?:{_PART}\s*(?:and\s+)?)+", re.IGNORECASE)
_SPOKEN = re.compile(
    r"(?:again|retry|retrying|wait|waiting|resets?)\b[^.\d]{0,30}?(?=\d)(?P<time>"
    + _DURATION.pattern.replace("(\\d", "(?:\\d")
    + ")",
    re.IGNORECASE,
)


def asked_pause(
    headers: Mapping[str, str], error: Any, message: str, now: float | None = None
) -> float | None:
    """Seconds to wait before another try; None where the server does not tell.

    Looks at `retry-after-ms` and `Retry-After` (seconds or an HTTP date), at the same in the error's metadata
    (OpenRouter) and its details (`retryDelay`, Google), at the words ("try again in 1m2.5s"), and last at the
    rate-limit headers that tell when the limit is reset (a duration, or a time in seconds or milliseconds).
    """
    now = time.time() if now is None else now
    told = {name.lower(): str(value).strip() for name, value in headers.items()}
    inner = _inner(error)
    metadata = json_object(inner.get("metadata")) or {}
    more = json_object(metadata.get("headers")) or {}
    told = {**{str(name).lower(): str(value).strip() for name, value in more.items()}, **told}
    ways = (
        _number(told.get("retry-after-ms", ""), 0.001),
        _after(told.get("retry-after", ""), now),
        _after(str(inner.get("retry_after") or metadata.get("retry_after_seconds") or ""), now),
        _google(inner),
        _spoken(message),
        *(_reset(told[name], now) for name in _RESETS if _spent(told, name)),
    )
    return next((max(0.0, seconds) for seconds in ways if seconds is not None), None)


def duration_words(seconds: float) -> str:
    """Seconds as a person says them: "0.5 s", "20 s", "12 minutes", "3 hours"."""
    if seconds < 10:
        return f"{seconds:.2g} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.0f} hours"


def _inner(error: Any) -> Mapping[str, Any]:
    if isinstance(error, list) and error:
        error = cast("list[Any]", error)[0]
    outer = json_object(error) or {}
    return json_object(outer.get("error", outer)) or {}


def _number(text: str, unit: float = 1.0) -> float | None:
    try:
        return float(text) * unit
    except ValueError:
        return None


def _after(text: str, now: float) -> float | None:
    """A Retry-After header: seconds or an HTTP date (RFC 9110, 10.2.3); some servers send "20s"."""
    seconds = _number(text)
    if seconds is not None or not text:
        return seconds
    try:
        return parsedate_to_datetime(text).timestamp() - now
    except (ValueError, TypeError):
        return _duration(text)


def _duration(text: str) -> float | None:
    """ "1m2.5s", "120ms", "20 seconds" in seconds."""
    if not _DURATION.fullmatch(text.strip()):
        return None
    parts = re.findall(_PART, text.lower())
    return sum(float(number) * _SECONDS["ms" if unit == "ms" else unit[0]] for number, unit in parts)


def _spoken(message: str) -> float | None:
    """ "Please try again in 1m2.5s." """
    found = _SPOKEN.search(message)
    return _duration(re.sub(r"\s*and\s*$", "", found["time"])) if found else None


def _google(inner: Mapping[str, Any]) -> float | None:
    details = inner.get("details")
    for detail in cast("list[Any]", details) if isinstance(details, list) else ():
        delay = (json_object(detail) or {}).get("retryDelay")
        if isinstance(delay, str):
            return _duration(delay)
    return None


def _spent(told: Mapping[str, str], name: str) -> bool:
    """Whether a reset header is there and its own limit is the one that is used up, as far as that is told."""
    return name in told and told.get(name.replace("reset", "remaining"), "0").strip() in ("0", "")


def _reset(text: str, now: float) -> float | None:
    """A duration, or a point of time in seconds or milliseconds since 1970."""
    number = _number(text)
    if number is None:
        return _after(text, now)
    if number > 1e12:
        return number / 1000 - now
    return number - now if number > 1e9 else number
