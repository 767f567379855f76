"""A model of any OpenAI-compatible server: OpenAI, OpenRouter, llama.cpp, LM Studio, vLLM.

The library is imported when the first request is made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regreen.agent.budget import DEFAULT_COST
from regreen.agent.conversation import Message, Reply, Request, Speed, ToolSpec, Usage
from regreen.agent.model import Listener, TooDear
from regreen.agent.stops import dollars
from regreen.errors import RegreenError
from regreen.models import canary, history, limits, probe
from regreen.models.assemble import OpenAIReply, json_object
from regreen.models.faults import FieldRefused, NoToolSupport, Trouble
from regreen.models.history import PrefixMeter
from regreen.models.hosts import is_local
from regreen.models.loading import load
from regreen.models.openai_words import OpenAIWords
from regreen.models.prices import Price, entry_of, price_of, told_cost
from regreen.models.served import Cut, ServedModel
from regreen.models.text_tools import tools_text

if TYPE_CHECKING:
    from regreen.models.openai_wire import OpenAIWire


LEAST_REPLY = 16
"""Tokens; for a shorter reply, which can hold no call, nothing is sent and nothing paid."""


class OpenAIModel(ServedModel):
    """Implements `agent.model.Model`. `key` may be empty for a server that needs none; `warn` hears what may spoil the
    run (None: `notes` does); `max_cost` is what a person set, in US dollars; see ServedModel for the rest."""

    wire_name = "openai"

    def __init__(
        self,
        model: str,
        url: str,
        *,
        key: str = "",
        notes: Callable[[str], None] = lambda text: None,
        warn: Callable[[str], None] | None = None,
        cache: Path | None = None,
        patience: float = 1.0,
        between_chunks: float = limits.BETWEEN_CHUNKS_SECONDS,
        max_cost: float | None = None,
    ) -> None:
        super().__init__(
            model, url, notes=notes, cache=cache, patience=patience, between_chunks=between_chunks
        )
        self._key = key
        self._tell = warn or notes
        self._words = OpenAIWords(url, model)
        self._wire: OpenAIWire | None = None
        self._listed = False
        self._digest = ""
        self._price: Price | None = None
        self._sells = False
        self._llamacpp = False
        self._max_cost = max_cost
        self._told: set[str] = set()
        self._uncounted = False
        self._canary = canary.Canary()

    @property
    def local(self) -> bool:
        """Whether nothing leaves this machine."""
        return is_local(self._url)

    async def warm(
        self, messages: tuple[Message, ...], tools: tuple[ToolSpec, ...], listener: Listener
    ) -> None:
        """Import the library and look at the server's list of models; a server of one's own is also asked, once, how
        its model calls tools, and evaluates the start of the prompt. Never costs money."""
        async with self._lock:
            await self._connect()
            await self._look_up()
            try:
                if self.local and self._cache is not None and self._digest and not self._finding.known:
                    await self._probe(self._cache)
            except (Trouble, FieldRefused, RegreenError):
                self._finding = probe.Finding()
        if not self.local:
            return
        body = self._body(messages, tools, 0, self._finding)
        body["max_tokens"] = 1
        try:
            await self._send(body, lambda chunk: None)
        except (Trouble, NoToolSupport, FieldRefused):
            return  # only a head start is lost: the first reply meets the same fault, and answers for it

    async def reply(self, request: Request, listener: Listener) -> Reply:
        """Ask for one turn. Raises RegreenError when the server cannot give one, after the tries worth making."""
        reply = await super().reply(request, listener)
        if self._uncounted and self.local and self._canary.due(reply.usage.prompt):
            await self._check_context(request, reply)
        return reply

    async def aclose(self) -> None:
        """Close every connection at once."""
        if self._wire is not None:
            await self._wire.aclose()

    # -- getting ready -------------------------------------------------------------------------------

    async def _prepare(self, request: Request, listener: Listener) -> None:
        async with self._lock:
            await self._connect()
            await self._look_up()

    async def _connect(self) -> OpenAIWire:
        if self._wire is None:
            await load("regreen.models.openai_wire")
            from regreen.models.openai_wire import OpenAIWire

            self._wire = OpenAIWire(self._url, self._key, self._words, self._between)
        return self._wire

    async def _send(self, body: Mapping[str, Any], hear: Callable[[Mapping[str, Any]], None]) -> None:
        await (await self._connect()).stream(body, hear)

    async def _look_up(self) -> None:
        """Once: what the list of models says of this one, and what an earlier probe found."""
        if self._listed or (self.local and self._cache is None and self._max_cost is None):
            return
        self._listed = True
        entry = entry_of(await (await self._connect()).models(), self._model)
        self._price, self._sells = price_of(entry), "pricing" in (entry or {})
        if self._price is not None and (self._price.prompt or self._price.generated):
            most = self._max_cost or DEFAULT_COST
            self._notes(
                f"{self._model} costs {self._price.words}; the run ends at {dollars(most)} (--max-cost)."
            )
        if self._price is None and not self._sells:
            self._tell_no_price()
        self._llamacpp = (entry or {}).get("owned_by") == "llamacpp"
        self._digest = digest_of(self._url, self._model, entry) if entry else ""
        if self.local and self._cache is not None and self._digest:
            self._finding = probe.recall(self._cache, self._digest, "openai")

    async def _probe(self, cache: Path) -> None:
        async def rendered(messages: tuple[Message, ...], tools: tuple[ToolSpec, ...]) -> str:
            return ""  # no server on this wire prints tools unreadably, as far as is known

        self._finding = await self._find_out(rendered)
        probe.remember(cache, self._digest, "openai", self._model, self._finding)
        self._notes(f"{self._model}: {self._finding.words}.")

    async def _check_context(self, request: Request, reply: Reply) -> None:
        """Warn when the model no longer sees the start of its prompt. A check that fails says nothing."""
        body, answer = self._body(request.messages, request.tools, 0, self._finding), OpenAIReply()
        body["messages"] = canary.question(body["messages"], reply.text)
        body.pop("response_format", None)
        body.update(
            {name: canary.ANSWER_TOKENS for name in ("max_tokens", "max_completion_tokens") if name in body}
        )

        def hear(chunk: Mapping[str, Any]) -> None:
            answer.feed(chunk)
            if len(answer.content) > 40 * canary.ANSWER_TOKENS:
                raise Cut("the answer has no end")

        try:
            await self._send(body, hear)
        except (Cut, Trouble, NoToolSupport, FieldRefused, RegreenError):
            return
        if not answer.calls and canary.forgotten(request.messages, answer.content):
            self._tell(
                f"{self._model} no longer sees the start of the conversation, so its answers may miss the point: start "
                f"{self._url} with a larger context (llama.cpp: -c 8192)."
            )

    # -- one turn ------------------------------------------------------------------------------------

    def _new_reply(self) -> OpenAIReply:
        return OpenAIReply()

    def _refused(self, field: str, message: str) -> RegreenError:
        return self._words.refused(message)

    def _notice(self, trouble: Trouble) -> None:
        if trouble.kind == "swallowed" and self.mode == "native":
            self._use_text(
                f"{self._url} dropped a call it could not read, so calls are read from the text from now on."
            )

    def _check(self, body: Mapping[str, Any], reply: OpenAIReply) -> None:
        if not reply.calls and not (reply.content + reply.thinking).strip():
            hidden = json_object(reply.usage.get("completion_tokens_details")) or {}
            generated = (reply.number("completion_tokens") or 0) - int(hidden.get("reasoning_tokens") or 0)
            if "tools" in body and (reply.finish in ("tool_calls", "function_call") or generated > 3):
                raise self._words.swallowed()
            if not generated or not reply.finish:
                raise self._words.empty()
        if not reply.finish and not reply.calls:
            raise self._words.unfinished()

    def _usage(self, flat: str, reply: OpenAIReply) -> tuple[Usage, int]:
        """Token counts: the server's, the cached part included where it tells, else estimates."""
        counted = reply.number("prompt_tokens") or 0
        generated = reply.number("completion_tokens") or limits.estimate(len(reply.written))
        expected = self._expected(flat)
        if counted or not reply.closed:
            self._uncounted = not counted
        if self._uncounted:
            cannot = (
                "from time to time the model is asked whether it still sees the start of its prompt"
                if self.local
                else "a prompt that was cut cannot be noticed"
            )
            self._once(
                "counts", f"{self._url} tells no token counts, so the budget counts estimates, and {cannot}."
            )
        elif counted and counted < len(flat) / limits.MOST_CHARS_PER_TOKEN:
            raise self._words.cut(counted, expected)
        prompt = counted or expected
        cached = _cached(reply)
        if cached is None:
            cached = self._meter.cached_tokens(flat, prompt)
        usage = Usage(prompt, min(cached, prompt), generated, told_cost(reply.usage))
        return self._priced(usage), counted

    def _cut_usage(self, reply: OpenAIReply) -> Usage | None:
        prompt, generated, cached = (
            reply.number("prompt_tokens"),
            reply.number("completion_tokens"),
            _cached(reply),
        )
        if not prompt or generated is None or cached is None:
            return None
        return self._priced(Usage(prompt, cached, generated))

    def _affordable(self, request: Request, body: dict[str, Any]) -> int | None:
        if self._price is None or request.cost_left is None or not self._price.generated:
            return None
        flat = PrefixMeter.flat(body["messages"], body.get("tools", ()))
        prompt = self._price.of(Usage(self._expected(flat)))  # whether the cache still holds it, nobody knows
        most = int((request.cost_left - prompt) / self._price.generated)
        if most < LEAST_REPLY:
            raise TooDear(prompt)
        for name in ("max_tokens", "max_completion_tokens"):
            if name in body:
                body[name] = min(body[name], most)
        return most

    def _priced(self, usage: Usage) -> Usage:
        if usage.cost is None and self._price is not None:
            usage = Usage(usage.prompt, usage.cached, usage.generated, self._price.of(usage))
        if usage.cost is None:
            self._tell_no_price()
        return usage

    def _tell_no_price(self) -> None:
        """Say that a limit cannot be kept, or that money goes uncounted; to no one who runs a model of their own."""
        if self._max_cost is not None:
            what = f"the limit of ${self._max_cost:g} cannot be kept"
        elif not self.local:
            what = "what this run costs is not known"
        else:
            return
        ends = "steps, tokens and seconds still end the run"
        self._once("price", f"{self._url} tells no price for {self._model}, so {what}: {ends}.")

    def _speed(self, reply: OpenAIReply, usage: Usage) -> tuple[Speed, float]:
        """llama.cpp's timings; other servers tell at most what was cached."""
        told = reply.timings
        speed = Speed(
            _cached(reply) or 0,
            int(_number(told, "prompt_n")),
            _number(told, "prompt_per_second"),
            _number(told, "predicted_per_second"),
        )
        return speed, (_number(told, "prompt_ms") + _number(told, "predicted_ms")) / 1000

    def _once(self, kind: str, text: str) -> None:
        """Warn, once a run."""
        if kind not in self._told:
            self._told.add(kind)
            self._tell(text)

    def _body(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], attempt: int, finding: probe.Finding
    ) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "stream_options": {"include_usage": True},
            "temperature": limits.temperature(attempt),
            "max_tokens": limits.NUM_PREDICT,
            "seed": limits.SEED + attempt,
        }
        if self._llamacpp:
            body["timings_per_token"] = True
        if self._sells:
            body["usage"] = {"include": True}  # OpenRouter's way to ask what a reply cost
        if finding.mode == "native":
            body["messages"] = history.for_openai(messages)
            if tools:
                body["tools"] = history.wire_tools(tools)
        else:
            body["messages"] = history.as_text(messages, tools_text(tools) if tools else "", self._raws)
            if finding.mode == "text" and (stops := history.stops(messages)):
                body["stop"] = stops
            if finding.mode == "constrained" and tools:
                schema = {"name": "call", "strict": True, "schema": history.call_schema(tools)}
                body["response_format"] = {"type": "json_schema", "json_schema": schema}
        if "max_tokens" in self._without:
            body["max_completion_tokens"] = body["max_tokens"]
        return {name: value for name, value in body.items() if name not in self._without}


def _cached(reply: OpenAIReply) -> int | None:
    """Prompt tokens that the server had already, by its own count: OpenAI's, DeepSeek's or llama.cpp's."""
    details = json_object(reply.usage.get("prompt_tokens_details")) or {}
    told = (
        details.get("cached_tokens"),
        reply.usage.get("prompt_cache_hit_tokens"),
        reply.timings.get("cache_n"),
    )
    return next((n for n in told if isinstance(n, int) and not isinstance(n, bool) and n >= 0), None)


def _number(values: Mapping[str, Any], name: str) -> float:
    value = values.get(name)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 0.0


def digest_of(url: str, model: str, entry: Mapping[str, Any]) -> str:
    """Tells one model of one server from another, as far as the server's list does."""
    lasting = {name: value for name, value in entry.items() if name != "created"}
    return hashlib.sha256(json.dumps([url, model, lasting], sort_keys=True).encode()).hexdigest()
