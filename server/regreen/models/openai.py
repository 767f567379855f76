"""A model of any OpenAI-compatible server: OpenAI, OpenRouter, llama.cpp, LM Studio, vLLM.

The library is imported when the first request is made.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regreen.agent.conversation import Message, Reply, Request, ToolSpec, Usage
from regreen.agent.model import Listener
from regreen.errors import RegreenError
from regreen.models import canary, history, limits
from regreen.models.assemble import OpenAIReply, json_object
from regreen.models.dialects.over import over_at
from regreen.models.faults import NoToolSupport, Trouble, persist
from regreen.models.history import Mode, PrefixMeter, RawReplies
from regreen.models.hosts import is_local
from regreen.models.openai_words import OpenAIWords, UnknownParameter
from regreen.models.reading import cut_reply, to_reply
from regreen.models.text_tools import tools_text

if TYPE_CHECKING:
    from regreen.models.openai_wire import OpenAIWire


class _Cut(Exception):
    """The stream leads nowhere; raised through the open stream so that it closes."""


class _Over(Exception):
    """All that can count has been said."""


class OpenAIModel:
    """Implements `agent.model.Model`. `key` may be empty for a server that needs none; `warn` hears what may spoil the
    run (None: `notes` does); see OllamaModel for the rest."""

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
    ) -> None:
        self._model = model
        self._url = url
        self._key = key
        self._notes = notes
        self._tell = warn or notes
        self._cache = cache
        self._patience = patience
        self._between = between_chunks
        self._words = OpenAIWords(url, model)
        self._wire: OpenAIWire | None = None
        self._mode: Mode = "native"
        self._without: set[str] = set()
        self._raws = RawReplies()
        self._meter = PrefixMeter()
        self._warned = False
        self._uncounted = False
        self._canary = canary.Canary()

    @property
    def name(self) -> str:
        """As in `--model`."""
        return f"openai:{self._model}"

    @property
    def mode(self) -> Mode:
        """How the tools are offered."""
        return self._mode

    @property
    def local(self) -> bool:
        """Whether nothing leaves this machine."""
        return is_local(self._url)

    async def warm(
        self, messages: tuple[Message, ...], tools: tuple[ToolSpec, ...], listener: Listener
    ) -> None:
        """Import the library; a server of one's own also evaluates the start of the prompt. Never costs money."""
        wire = await self._connect()
        if not self.local:
            return
        body = self._body(messages, tools, 0)
        body["max_tokens"] = 1
        try:
            await wire.stream(body, lambda chunk: None)
        except (Trouble, NoToolSupport, UnknownParameter):
            return  # only a head start is lost: the first reply meets the same fault, and answers for it

    async def reply(self, request: Request, listener: Listener) -> Reply:
        """Ask for one turn. Raises RegreenError when the server cannot give one, after the tries worth making."""
        await self._connect()
        reply = await persist(lambda fresh: self._turn(request, listener, fresh), listener, self._patience)
        if self._uncounted and self.local and self._canary.due(reply.usage.prompt):
            await self._check_context(request, reply)
        return reply

    async def _check_context(self, request: Request, reply: Reply) -> None:
        """Warn when the model no longer sees the start of its prompt. A check that fails says nothing."""
        body, answer = self._body(request.messages, request.tools, 0), OpenAIReply()
        body["messages"] = canary.question(body["messages"], reply.text)
        body.update(
            {name: canary.ANSWER_TOKENS for name in ("max_tokens", "max_completion_tokens") if name in body}
        )

        def hear(chunk: Mapping[str, Any]) -> None:
            answer.feed(chunk)
            if len(answer.content) > 40 * canary.ANSWER_TOKENS:
                raise _Cut("the answer has no end")

        try:
            await (await self._connect()).stream(body, hear)
        except (_Cut, Trouble, NoToolSupport, UnknownParameter, RegreenError):
            return
        if not answer.calls and canary.forgotten(request.messages, answer.content):
            self._tell(
                f"{self._model} no longer sees the start of the conversation, so its answers may miss the point: start "
                f"{self._url} with a larger context (llama.cpp: -c 8192)."
            )

    async def aclose(self) -> None:
        """Close every connection at once."""
        if self._wire is not None:
            await self._wire.aclose()

    async def _connect(self) -> OpenAIWire:
        if self._wire is None:
            await asyncio.to_thread(importlib.import_module, "regreen.models.openai_wire")
            from regreen.models.openai_wire import OpenAIWire

            self._wire = OpenAIWire(self._url, self._key, self._words, self._between)
        return self._wire

    async def _turn(self, request: Request, listener: Listener, fresh: int) -> Reply:
        body = self._body(request.messages, request.tools, request.attempt + fresh)
        wire, reply, started = await self._connect(), OpenAIReply(), time.monotonic()
        watch = limits.Repetition()

        def hear(chunk: Mapping[str, Any]) -> None:
            visible, anything = reply.feed(chunk)
            if visible:
                listener.text(visible)
            why = watch.feed(anything)
            if why:
                raise _Cut(why)
            if self._mode == "text" and not reply.finish and (end := over_at(reply.content)):
                reply.content, reply.finish = reply.content[:end].rstrip(), "stop"
                raise _Over

        try:
            with contextlib.suppress(_Over):
                await wire.stream(body, hear)
        except _Cut as cut:
            usage = self._usage(body, reply)
            return cut_reply(reply.content, str(cut), usage, time.monotonic() - started)
        except NoToolSupport:
            self._mode = "text"
            self._notes(f"{self._url} does not take tools, so they are described in the prompt.")
            return await self._turn(request, listener, fresh)
        except UnknownParameter as unknown:
            if unknown.name in self._without:
                raise self._words.refused(str(unknown)) from None
            self._without.add(unknown.name)
            return await self._turn(request, listener, fresh)
        return self._finished(request, body, reply, time.monotonic() - started)

    def _finished(self, request: Request, body: dict[str, Any], reply: OpenAIReply, wall: float) -> Reply:
        nothing = not reply.calls and not (reply.content + reply.thinking).strip()
        if nothing and not reply.usage.get("completion_tokens"):
            raise self._words.empty()
        if not reply.finish and not reply.calls:
            raise self._words.unfinished()
        usage = self._usage(body, reply)
        out = to_reply(
            reply.body(),
            request,
            "openai",
            usage,
            finish=reply.finish,
            seconds=_seconds(reply) or wall,
            thinking=reply.thinking,
        )
        if self._mode != "native" and not reply.thinking:
            self._raws.keep(len(request.messages), out.text, out.calls, reply.content)
        return out

    def _usage(self, body: dict[str, Any], reply: OpenAIReply) -> Usage:
        """Token counts: the server's, the cached part included where it tells, else estimates."""
        flat = PrefixMeter.flat(body["messages"], body.get("tools", ()))
        written = reply.content + "".join(call["function"]["arguments"] for call in reply.calls)
        counted = _number(reply.usage, "prompt_tokens")
        generated = _number(reply.usage, "completion_tokens") or limits.estimate(len(written))
        expected = limits.estimate(len(flat), self._meter.chars_per_token or limits.CHARS_PER_TOKEN)
        self._uncounted = not counted
        if not counted:
            self._warn()
        elif counted < len(flat) / limits.MOST_CHARS_PER_TOKEN:
            raise self._words.cut(counted, expected)
        prompt = counted or expected
        cached = _number(json_object(reply.usage.get("prompt_tokens_details")) or {}, "cached_tokens")
        if cached is None:
            cached = _number(reply.timings, "cache_n")
        if cached is None:
            cached = self._meter.cached_tokens(flat, prompt)
        self._meter.remember(flat, written, counted or 0)
        return Usage(prompt, min(cached, prompt), generated)

    def _warn(self) -> None:
        """Once a run: nobody counts. Only a server of one's own is asked a question that would cost money elsewhere."""
        if self._warned:
            return
        self._warned = True
        cannot = (
            "from time to time the model is asked whether it still sees the start of its prompt"
            if self.local
            else "a prompt that was cut cannot be noticed"
        )
        self._tell(f"{self._url} tells no token counts, so the budget counts estimates, and {cannot}.")

    def _body(self, messages: Sequence[Message], tools: Sequence[ToolSpec], attempt: int) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "stream_options": {"include_usage": True},
            "temperature": limits.temperature(attempt),
            "max_tokens": limits.NUM_PREDICT,
            "seed": limits.SEED + attempt,
        }
        if self._mode == "native":
            body["messages"] = history.for_openai(messages)
            if tools:
                body["tools"] = history.wire_tools(tools)
        else:
            body["messages"] = history.as_text(messages, tools_text(tools) if tools else "", self._raws)
        if "max_tokens" in self._without:
            body["max_completion_tokens"] = body["max_tokens"]
        return {name: value for name, value in body.items() if name not in self._without}


def _number(values: Mapping[str, Any], name: str) -> int | None:
    value = values.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _seconds(reply: OpenAIReply) -> float:
    """What llama.cpp's timings say the model worked, in seconds; 0 where there are none."""
    parts = [reply.timings.get(name) for name in ("prompt_ms", "predicted_ms")]
    return sum(float(part) for part in parts if isinstance(part, (int, float))) / 1000
