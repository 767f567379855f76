"""What a model costs, where its server tells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regreen.agent.conversation import Usage
from regreen.agent.stops import dollars
from regreen.models.assemble import json_object

_MOST = 0.01
"""US dollars. No model costs more for one token, so a larger number is one for a million tokens, or none at all: a price
whose unit is not certain is no price."""


@dataclass(frozen=True)
class Price:
    """US dollars for one token of each kind."""

    prompt: float
    cached: float
    generated: float
    request: float = 0.0

    @property
    def words(self) -> str:
        """For a person: "$2.50 for a million prompt tokens and $10.00 for a million generated ones"."""
        prompt, generated = dollars(self.prompt * 1e6), dollars(self.generated * 1e6)
        return f"{prompt} for a million prompt tokens and {generated} for a million generated ones"

    def of(self, usage: Usage) -> float:
        """What a reply cost."""
        new = max(0, usage.prompt - usage.cached)
        return (
            self.request + new * self.prompt + usage.cached * self.cached + usage.generated * self.generated
        )


def price_of(entry: Mapping[str, Any] | None) -> Price | None:
    """The price in an entry of /models; None where there is none.

    OpenRouter tells `pricing` as texts, in dollars a token: {"prompt": "0.0000025", "completion": "0.00001",
    "input_cache_read": "0.00000125", "request": "0"}; the Vercel gateway calls the first two `input` and `output`.
    A negative price ("-1", OpenRouter's router models) depends on where the request goes: unknown.
    """
    pricing = json_object((entry or {}).get("pricing")) or {}
    prompt = _dollars(pricing, "prompt", "input")
    generated = _dollars(pricing, "completion", "output")
    if prompt is None or generated is None:
        return None
    cached = _dollars(pricing, "input_cache_read", "cached_input")
    request = _dollars(pricing, "request", most=10.0)
    return Price(prompt, prompt if cached is None else cached, generated, request or 0.0)


def told_cost(usage: Mapping[str, Any]) -> float | None:
    """What the server says a reply cost (OpenRouter's `usage.cost`, in dollars), what went to a provider on a key of
    one's own included; None where it does not say."""
    cost = usage.get("cost")
    if not isinstance(cost, (int, float)) or isinstance(cost, bool) or cost < 0:
        return None
    upstream = (json_object(usage.get("cost_details")) or {}).get("upstream_inference_cost")
    own_key = usage.get("is_byok") is True and isinstance(upstream, (int, float))
    return float(cost) + (float(upstream) if own_key and upstream else 0.0)


def entry_of(entries: Sequence[Mapping[str, Any]], model: str) -> Mapping[str, Any] | None:
    """The entry of a model; a server with only one model has that one under any name."""
    named = next((entry for entry in entries if entry.get("id") == model), None)
    return named or (entries[0] if len(entries) == 1 else None)


def _dollars(pricing: Mapping[str, Any], *names: str, most: float = _MOST) -> float | None:
    for name in names:
        try:
            value = float(pricing[name])
        except (KeyError, TypeError, ValueError):
            continue
        return value if 0 <= value <= most else None
    return None
