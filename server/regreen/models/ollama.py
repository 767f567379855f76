"""A model of an Ollama server, on its native wire. The libraries are imported when the first request is made."""

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
from regreen.models import history, limits, probe
from regreen.models.assemble import OllamaReply
from regreen.models.dialects.over import over_at
from regreen.models.faults import NoThinkingSwitch, NoToolSupport, Progress, Trouble, persist
from regreen.models.history import Mode, PrefixMeter, RawReplies
from regreen.models.hosts import is_local
from regreen.models.reading import cut_reply, to_reply
from regreen.models.text_tools import tools_text

if TYPE_CHECKING:
    from regreen.models.ollama_wire import Facts, OllamaWire

_LOOK_AGAIN_SECONDS = 20.0
"""After so long without a request, another program may have had the model thrown out of memory."""


class _Cut(Exception):
    """The stream leads nowhere; raised through the open stream so that it closes."""


class _Over(Exception):
    """All that can count has been said."""


class _Stream:
    """Assembles one reply while the listener hears it. `text`: calls come as text, and nobody else reads them."""

    def __init__(self, listener: Listener, text: bool = False) -> None:
        self.reply = OllamaReply()
        self._listener = listener
        self._text = text
        self._watch = limits.Repetition()

    def hear(self, chunk: Mapping[str, Any]) -> None:
        """Take one object of the stream; raises _Cut for a reply that only repeats itself, _Over for one that is said."""
        visible, anything = self.reply.feed(chunk)
        if visible:
            self._listener.text(visible)
        why = self._watch.feed(anything)
        if why:
            raise _Cut(why)
        if self._text and not chunk.get("done") and (end := over_at(self.reply.content)):
            self.reply.content = self.reply.content[:end].rstrip()
            self.reply.end = {"done_reason": "stop"}
            raise _Over


class OllamaModel:
    """Implements `agent.model.Model`.

    notes: hears what a person should know ("…does not take tools, so they are described in the prompt").
    cache: the folder in which the probe's findings are kept; None neither probes nor remembers.
    patience: factor on the pauses between tries. between_chunks: seconds without a byte before a reply is given up.
    """

    def __init__(
        self,
        model: str,
        url: str,
        *,
        notes: Callable[[str], None] = lambda text: None,
        cache: Path | None = None,
        patience: float = 1.0,
        between_chunks: float = limits.BETWEEN_CHUNKS_SECONDS,
    ) -> None:
        self._model = model
        self._url = url
        self._notes = notes
        self._cache = cache
        self._patience = patience
        self._between = between_chunks
        self._wire: OllamaWire | None = None
        self._facts: Facts | None = None
        self._lock = asyncio.Lock()
        self._finding = probe.Finding()
        self._window = 0
        self._settled = False
        self._loaded_at = float("-inf")
        self._thinks = True
        self._parser_faults = 0
        self._raws = RawReplies()
        self._meter = PrefixMeter()
        self._last_count = 0

    @property
    def name(self) -> str:
        """As in `--model`."""
        return f"ollama:{self._model}"

    @property
    def window(self) -> int:
        """The context length of this run in tokens; 0 before it is chosen."""
        return self._window

    @property
    def room(self) -> int | None:
        """Tokens a prompt may have; None before the context length is chosen."""
        return self._window - limits.NUM_PREDICT if self._window else None

    @property
    def mode(self) -> Mode:
        """How the tools are offered."""
        return self._finding.mode

    async def warm(
        self, messages: tuple[Message, ...], tools: tuple[ToolSpec, ...], listener: Listener
    ) -> None:
        """Load the model, find out once how it calls tools, and have the start of the prompt evaluated."""
        async with self._lock:
            wire = await self._ready(listener, self._characters(messages, tools))
            try:
                if self._cache is not None and not self._finding.known and not self._settled:
                    await self._probe(wire)
            except (Trouble, NoThinkingSwitch, RegreenError):
                self._finding = probe.Finding()
        try:
            body = self._body(messages, tools, 0)
            body["options"]["num_predict"] = 1
            await wire.stream(body, lambda chunk: None)
        except NoToolSupport:
            self._use_text(f"{self._model} does not take tools, so they are described in the prompt.")
        except (Trouble, NoThinkingSwitch, RegreenError):
            return  # only a head start is lost: the first reply meets the same fault, and answers for it

    async def reply(self, request: Request, listener: Listener) -> Reply:
        """Ask for one turn. Raises RegreenError when the server cannot give one, after the tries worth making."""
        async with self._lock:
            await self._ready(listener, self._characters(request.messages, request.tools))
            self._settled = True
        return await persist(lambda fresh: self._turn(request, listener, fresh), listener, self._patience)

    async def pull(self, progress: Progress) -> None:
        """Have the server fetch the model. Raises RegreenError; cancelling stops the download."""
        await (await self._connect()).get(progress)

    async def aclose(self) -> None:
        """Close every connection at once."""
        if self._wire is not None:
            await self._wire.aclose()

    # -- getting ready -------------------------------------------------------------------------------

    async def _connect(self) -> OllamaWire:
        if self._wire is None:
            await asyncio.to_thread(importlib.import_module, "regreen.models.ollama_wire")
            from regreen.models.ollama_wire import OllamaWire

            self._wire = OllamaWire(self._url, self._model, self._between)
        return self._wire

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

    def _use_text(self, note: str) -> None:
        self._finding = probe.Finding("text", known=True)
        self._notes(note)

    async def _probe(self, wire: OllamaWire) -> None:
        assert self._facts is not None and self._cache is not None

        async def ask(mode: Mode, messages: tuple[Message, ...], tools: tuple[ToolSpec, ...]) -> Reply:
            stream = _Stream(_Deaf())
            body = self._body(messages, tools, 0, probe.Finding(mode))
            body["options"]["num_predict"] = probe.NUM_PREDICT
            await wire.stream(body, stream.hear)
            return to_reply(
                stream.reply.body(),
                Request(messages, tools),
                "ollama",
                Usage(),
                finish=stream.reply.finish,
                seconds=0.0,
            )

        async def rendered(messages: tuple[Message, ...], tools: tuple[ToolSpec, ...]) -> str:
            body = self._body(messages, tools, 0, probe.Finding("native"))
            body["options"]["num_predict"] = 1
            return await wire.rendered(body)

        self._finding = await probe.find_out(ask, rendered)
        probe.remember(self._cache, self._facts.digest, self._facts.version, self._model, self._finding)
        self._notes(f"{self._model}: {self._finding.words}.")

    # -- one turn ------------------------------------------------------------------------------------

    async def _turn(self, request: Request, listener: Listener, fresh: int) -> Reply:
        body = self._body(request.messages, request.tools, request.attempt + fresh)
        wire, started = await self._connect(), time.monotonic()
        stream = _Stream(listener, text=self.mode == "text")
        try:
            with contextlib.suppress(_Over):
                await wire.stream(body, stream.hear)
        except _Cut as cut:
            return self._cut(body, stream.reply, str(cut), time.monotonic() - started)
        except NoToolSupport:
            self._use_text(f"{self._model} does not take tools, so they are described in the prompt.")
            return await self._turn(request, listener, fresh)
        except NoThinkingSwitch:
            if not self._thinks:
                raise RegreenError(
                    f"{self._model} cannot be used: Ollama refuses `think`. Choose another model."
                ) from None
            self._thinks = False
            return await self._turn(request, listener, fresh)
        except Trouble as trouble:
            self._notice(trouble)
            raise
        self._loaded_at = time.monotonic()
        return self._finished(request, body, stream.reply, time.monotonic() - started)

    def _notice(self, trouble: Trouble) -> None:
        """After a second fault of the server's own parser, go on without `tools`: its parser then has no say."""
        if trouble.kind == "parser":
            self._parser_faults += 1
            if self._parser_faults >= 2 and self.mode == "native":
                self._use_text("Ollama cannot read this model's calls, so they are read from its text.")

    def _finished(self, request: Request, body: dict[str, Any], reply: OllamaReply, wall: float) -> Reply:
        assert self._wire is not None
        if reply.end is None:
            raise self._wire.words.unfinished()
        if "tools" in body and self._swallowed(reply):
            self._use_text(
                "Ollama dropped a call it could not read, so calls are read from the text from now on."
            )
            error = RegreenError(
                f"{self._model} gives empty replies: choose another model with --model ollama:NAME."
            )
            raise Trouble(error, "swallowed", 1, 0.0, "the reply was dropped by Ollama's parser")
        flat = PrefixMeter.flat(body["messages"], body.get("tools", ()))
        usage = self._usage(flat, reply)
        spent = [reply.number("prompt_eval_duration"), reply.number("eval_duration")]
        seconds = sum(n / 1e9 for n in spent if n) or wall
        raw = reply.raw.strip("\n") if reply.calls else reply.text
        out = to_reply(
            reply.body(),
            request,
            "ollama",
            usage,
            finish=reply.finish,
            seconds=seconds,
            thinking=reply.thinking,
        )
        written = raw or reply.text
        self._meter.remember(flat, written, usage.prompt)
        if written and not reply.thinking:
            self._raws.keep(len(request.messages), out.text, out.calls, written)
        return out

    @staticmethod
    def _swallowed(reply: OllamaReply) -> bool:
        """Whether many more tokens were generated than arrived, and no logprobs tell what they were."""
        if reply.calls or reply.raw:
            return False
        arrived = len((reply.content + reply.thinking).encode())
        return (reply.number("eval_count") or 0) > arrived / 1.5 + 3

    def _cut(self, body: dict[str, Any], reply: OllamaReply, why: str, wall: float) -> Reply:
        flat = PrefixMeter.flat(body["messages"], body.get("tools", ()))
        prompt = limits.estimate(len(flat), self._meter.chars_per_token or limits.CHARS_PER_TOKEN)
        text = reply.text or reply.raw
        usage = Usage(prompt, self._meter.cached_tokens(flat, prompt), limits.estimate(len(text)))
        self._meter.remember(flat, "", 0)
        return cut_reply(text, why, usage, wall)

    def _usage(self, flat: str, reply: OllamaReply) -> Usage:
        """Token counts, and the check that the server read all that it was sent."""
        assert self._wire is not None
        counted = reply.number("prompt_eval_count")
        generated = reply.number("eval_count") or limits.estimate(len(reply.raw or reply.text))
        expected = limits.estimate(len(flat), self._meter.chars_per_token or limits.CHARS_PER_TOKEN)
        if not counted:
            return Usage(expected, self._meter.cached_tokens(flat, expected), generated)
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
        return Usage(counted, self._meter.cached_tokens(flat, counted), generated)

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
        return {**fields, "think": False} if self._thinks else fields

    def _body(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        attempt: int,
        finding: probe.Finding | None = None,
    ) -> dict[str, Any]:
        finding = finding or self._finding
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
        return {**body, **self._fixed(), "options": self._options(attempt)}


class _Deaf:
    """Listens to a probe."""

    def text(self, delta: str) -> None:
        """Nobody reads it."""

    def waiting(self, reason: str) -> None:
        """Nobody waits."""

    def working(self) -> None:
        """Nobody waits."""
