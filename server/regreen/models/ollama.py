"""A model of an Ollama server, on its native wire. The libraries are imported when the first request is made."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regreen.agent.conversation import Message, Reply, Request, Speed, ToolSpec, Usage
from regreen.agent.model import Listener
from regreen.errors import RegreenError
from regreen.models import history, limits, probe
from regreen.models.assemble import OllamaReply
from regreen.models.faults import FieldRefused, NoToolSupport, Progress, Trouble, persist
from regreen.models.history import PrefixMeter
from regreen.models.hosts import is_local
from regreen.models.loading import load
from regreen.models.served import ServedModel
from regreen.models.text_tools import tools_text

if TYPE_CHECKING:
    from regreen.models.ollama_wire import Facts, OllamaWire

_LOOK_AGAIN_SECONDS = 20.0
"""After so long without a request, another program may have had the model thrown out of memory."""


class OllamaModel(ServedModel):
    """Implements `agent.model.Model`; see ServedModel for what it is made with."""

    wire_name = "ollama"

    _wire: OllamaWire | None = None
    _facts: Facts | None = None
    _window = 0
    _settled = False
    _loaded_at = float("-inf")
    _parser_faults = 0
    _last_count = 0

    @property
    def window(self) -> int:
        """The context length of this run in tokens; 0 before it is chosen."""
        return self._window

    @property
    def room(self) -> int | None:
        """Tokens a prompt may have; None before the context length is chosen."""
        return self._window - limits.NUM_PREDICT if self._window else None

    async def warm(
        self, messages: tuple[Message, ...], tools: tuple[ToolSpec, ...], listener: Listener
    ) -> None:
        """Load the model, find out once how it calls tools, and have the start of the prompt evaluated."""
        async with self._lock:
            wire = await self._ready(listener, self._characters(messages, tools))
            try:
                if self._cache is not None and not self._finding.known and not self._settled:
                    await self._probe(wire, self._cache)
            except (Trouble, FieldRefused, RegreenError):
                self._finding = probe.Finding()
        try:
            body = self._body(messages, tools, 0, self._finding)
            body["options"]["num_predict"] = 1
            await wire.stream(body, lambda chunk: None)
        except NoToolSupport:
            self._use_text(f"{self._model} does not take tools, so they are described in the prompt.")
        except (Trouble, FieldRefused, RegreenError):
            return  # only a head start is lost: the first reply meets the same fault, and answers for it

    async def pull(self, progress: Progress) -> None:
        """Have the server fetch the model. Raises RegreenError; cancelling stops the download."""
        await (await self._connect()).get(progress)

    async def aclose(self) -> None:
        """Close every connection at once."""
        if self._wire is not None:
            await self._wire.aclose()

    # -- getting ready -------------------------------------------------------------------------------

    async def _prepare(self, request: Request, listener: Listener) -> None:
        async with self._lock:
            await self._ready(listener, self._characters(request.messages, request.tools))
            self._settled = True

    async def _connect(self) -> OllamaWire:
        if self._wire is None:
            await load("regreen.models.ollama_wire")
            from regreen.models.ollama_wire import OllamaWire

            self._wire = OllamaWire(self._url, self._model, self._between)
        return self._wire

    async def _send(self, body: Mapping[str, Any], hear: Callable[[Mapping[str, Any]], None]) -> None:
        await (await self._connect()).stream(body, hear)

    async def _ready(self, listener: Listener, characters: int) -> OllamaWire:
        """Connected, the model known, its context length chosen, and loaded with it. The caller holds the lock."""
        wire = await self._connect()
        if self._facts is None:
            self._facts = await persist(lambda fresh: wire.facts(), listener, self._patience)
            self._recall()
        window = self._choose_window(characters)
        if window > self._window and not self._settled:
            self._window = window
            self._loaded_at = float("-inf")
        if time.monotonic() - self._loaded_at > _LOOK_AGAIN_SECONDS:
            await persist(lambda fresh: self._load(wire, listener), listener, self._patience)
            self._loaded_at = time.monotonic()
        return wire

    def _recall(self) -> None:
        assert self._facts is not None
        if self._facts.remote:
            self._notes(
                f"{self._model} runs at {self._facts.remote}: parts of your code are sent there, off this machine."
            )
        if not self._facts.takes_tools:
            self._use_text(f"{self._model} does not take tools, so they are described in the prompt.")
        elif self._cache is not None:
            self._finding = probe.recall(self._cache, self._facts.digest, self._facts.version)

    async def _load(self, wire: OllamaWire, listener: Listener) -> None:
        if await wire.is_loaded(self._window):
            return
        assert self._facts is not None
        listener.waiting(
            f"loading {limits.size_words(self._facts.size)}" if self._facts.size else "loading the model"
        )
        try:
            await wire.load({"options": self._options(0), **self._fixed()})
        finally:
            listener.working()

    def _choose_window(self, characters: int) -> int:
        assert self._facts is not None
        return limits.choose_window(
            limits.estimate(characters),
            self._facts.window,
            self._facts.bytes_per_token,
            self._facts.size,
            limits.machine_memory() if is_local(self._url) else None,
        )

    def _characters(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> int:
        return len(PrefixMeter.flat(history.for_openai(messages), history.wire_tools(tools)))

    async def _probe(self, wire: OllamaWire, cache: Path) -> None:
        assert self._facts is not None

        async def rendered(messages: tuple[Message, ...], tools: tuple[ToolSpec, ...]) -> str:
            body = self._body(messages, tools, 0, probe.Finding("native"))
            body["options"]["num_predict"] = 1
            return await wire.rendered(body)

        self._finding = await self._find_out(rendered)
        probe.remember(cache, self._facts.digest, self._facts.version, self._model, self._finding)
        self._notes(f"{self._model}: {self._finding.words}.")

    # -- one turn ------------------------------------------------------------------------------------

    def _new_reply(self) -> OllamaReply:
        return OllamaReply()

    async def _turn(self, request: Request, listener: Listener, fresh: int) -> Reply:
        reply = await super()._turn(request, listener, fresh)
        self._loaded_at = time.monotonic()
        return reply

    def _refused(self, field: str, message: str) -> RegreenError:
        assert self._wire is not None
        return self._wire.words.refused(field)

    def _notice(self, trouble: Trouble) -> None:
        """After a second fault of the server's own parser, go on without `tools`: its parser then has no say."""
        if trouble.kind == "parser":
            self._parser_faults += 1
            if self._parser_faults >= 2 and self.mode == "native":
                self._use_text("Ollama cannot read this model's calls, so they are read from its text.")
        elif trouble.kind == "swallowed":
            self._use_text(
                "Ollama dropped a call it could not read, so calls are read from the text from now on."
            )

    def _check(self, body: Mapping[str, Any], reply: OllamaReply) -> None:
        assert self._wire is not None
        if reply.end is None:
            raise self._wire.words.unfinished()
        if "tools" in body and self._swallowed(reply):
            raise self._wire.words.swallowed()

    @staticmethod
    def _swallowed(reply: OllamaReply) -> bool:
        """Whether many more tokens were generated than arrived, and no logprobs tell what they were."""
        if reply.calls or reply.raw:
            return False
        arrived = len((reply.content + reply.thinking).encode())
        return (reply.number("eval_count") or 0) > arrived / 1.5 + 3

    def _speed(self, reply: OllamaReply, usage: Usage) -> tuple[Speed, float]:
        """Ollama's durations, in nanoseconds. It tells no count of cached tokens, so how fast it read is an estimate."""
        read, wrote = (reply.number(f"{kind}eval_duration") or 0 for kind in ("prompt_", ""))
        speed = Speed(
            read_per_second=(usage.prompt - usage.cached) / (read / 1e9) if read else 0.0,
            written_per_second=(reply.number("eval_count") or 0) / (wrote / 1e9) if wrote else 0.0,
            load_seconds=(reply.number("load_duration") or 0) / 1e9,
        )
        return speed, (read + wrote) / 1e9

    def _usage(self, flat: str, reply: OllamaReply) -> tuple[Usage, int]:
        """Token counts, and the check that the server read all that it was sent."""
        assert self._wire is not None
        counted = reply.number("prompt_eval_count")
        generated = reply.number("eval_count") or limits.estimate(len(reply.written))
        expected = self._expected(flat)
        if not counted:
            return Usage(expected, self._meter.cached_tokens(flat, expected), generated), 0
        shared = self._meter.shared(flat)
        new = limits.estimate(len(flat) - shared)
        if counted < len(flat) / limits.MOST_CHARS_PER_TOKEN or (
            self._meter.extends(flat) and counted < self._last_count
        ):
            if shared and new / 2 <= counted <= 2 * new + 16 and counted < self._window / 2:
                counted += self._last_count  # this server counts only what was not in its cache
            else:
                raise self._wire.words.cut(counted, expected)
        self._last_count = counted
        return Usage(counted, self._meter.cached_tokens(flat, counted), generated), counted

    # -- the request ---------------------------------------------------------------------------------

    def _options(self, attempt: int) -> dict[str, Any]:
        return {
            "num_ctx": self._window,
            "num_predict": limits.NUM_PREDICT,
            "temperature": limits.temperature(attempt),
            "seed": limits.SEED + attempt,
        }

    def _fixed(self) -> dict[str, Any]:
        """Fields that belong to every request of a run: a change of some of them would reload the model."""
        fields: dict[str, Any] = {"keep_alive": limits.KEEP_ALIVE, "truncate": False, "shift": False}
        return {**fields, "think": False} if "think" not in self._without else fields

    def _body(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], attempt: int, finding: probe.Finding
    ) -> dict[str, Any]:
        assert self._facts is not None
        body: dict[str, Any] = {"model": self._model}
        if finding.mode == "native":
            extra = history.restated(tools) if finding.garbled and tools else ""
            body["messages"] = history.for_ollama(messages, self._raws, self._facts.tags_in_template, extra)
            if tools:
                body["tools"] = history.wire_tools(tools)
                body["logprobs"] = True
        else:
            body["messages"] = history.as_text(messages, tools_text(tools) if tools else "", self._raws)
            if finding.mode == "constrained" and tools:
                body["format"] = history.call_schema(tools)
        options = self._options(attempt)
        if finding.mode == "text" and (stops := history.stops(messages)):
            options["stop"] = [*self._facts.stops, *stops]  # a request's list replaces the model's own
        return {**body, **self._fixed(), "options": options}
