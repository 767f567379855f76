"""What every model behind an HTTP server has in common: one turn, its tries, its stream, how tools are offered."""

from __future__ import annotations

import asyncio
import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from regreen.agent.conversation import Message, Reply, Request, Speed, ToolSpec, Usage
from regreen.agent.model import Listener
from regreen.errors import RegreenError
from regreen.models import limits, probe
from regreen.models.dialects.over import over_at, whole_object
from regreen.models.faults import FieldRefused, ModelFault, NoToolSupport, Trouble, persist
from regreen.models.history import Mode, PrefixMeter, RawReplies
from regreen.models.reading import Wire, cut_reply, to_reply


class Cut(Exception):
    """The stream leads nowhere; raised through the open stream so that it closes."""


class Unpaid(Cut):
    """What was generated costs more than is left of the budget."""


class Over(Exception):
    """All that can count has been said."""


class Assembled(Protocol):
    """A reply that is being put together (`models.assemble`)."""

    content: str
    thinking: str

    @property
    def calls(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def finish(self) -> str: ...
    @property
    def written(self) -> str: ...
    @property
    def counted(self) -> int: ...
    def feed(self, chunk: Mapping[str, Any]) -> tuple[str, str]: ...
    def end_at(self, offset: int) -> None: ...
    def body(self) -> dict[str, Any]: ...


class Stream:
    """Assembles one reply while the listener hears it, and ends it early where nothing more can count.

    In `text` mode calls come as text, and a reply is over where the model makes up the answer to its own call; in
    `constrained` mode it is one JSON object, and over with it. With native calls nobody can tell. `most` tokens may be
    generated, since no more of them can be paid (None: as many as it will).
    """

    def __init__(
        self, reply: Assembled, listener: Listener | None, mode: Mode, most: int | None = None
    ) -> None:
        self._reply = reply
        self._listener = listener
        self._mode = mode
        self._most = most
        self._watch = limits.Repetition()
        self._characters = 0

    def hear(self, chunk: Mapping[str, Any]) -> None:
        """Take one piece; raises Cut for a reply that only repeats itself or gets too dear, Over for one that is said."""
        thought = len(self._reply.thinking)
        visible, anything = self._reply.feed(chunk)
        self._characters += len(anything)
        if visible and self._listener is not None:
            self._listener.text(visible)
        if self._reply.finish:
            return
        kind = "text" if visible else "thinking" if len(self._reply.thinking) > thought else "call"
        if why := self._watch.feed(anything, kind):
            raise Cut(why)
        if not visible and limits.same_calls(self._reply.calls):
            raise Cut("the reply makes the same call again and again and only counts on")
        if self._most is not None and self._tokens() > self._most:
            raise Unpaid("it costs more than is left")
        if end := self._over():
            self._reply.end_at(end)
            raise Over

    def _tokens(self) -> int:
        """Tokens generated so far: the server's count where it tells one with every piece, else an estimate."""
        return self._reply.counted or limits.estimate(self._characters)

    def _over(self) -> int:
        if self._mode == "text":
            return over_at(self._reply.content)
        return whole_object(self._reply.content) if self._mode == "constrained" else 0


class ServedModel(ABC):
    """The skeleton of `agent.model.Model` for one server; a subclass knows its wire.

    notes: hears what a person should know ("…does not take tools, so they are described in the prompt").
    cache: the folder in which the probe's findings are kept; None neither probes nor remembers.
    patience: factor on the pauses between tries. between_chunks: seconds without a byte before a reply is given up.
    """

    wire_name: Wire

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
        self._finding = probe.Finding()
        self._raws = RawReplies()
        self._meter = PrefixMeter()
        self._without: set[str] = set()
        self._lock = asyncio.Lock()

    @property
    def name(self) -> str:
        """As in `--model`."""
        return f"{self.wire_name}:{self._model}"

    @property
    def mode(self) -> Mode:
        """How the tools are offered."""
        return self._finding.mode

    async def reply(self, request: Request, listener: Listener) -> Reply:
        """Ask for one turn. Raises RegreenError when the server cannot give one, after the tries worth making."""
        await self._prepare(request, listener)
        return await persist(lambda fresh: self._turn(request, listener, fresh), listener, self._patience)

    # -- what a subclass knows -----------------------------------------------------------------------

    @abstractmethod
    async def _prepare(self, request: Request, listener: Listener) -> None:
        """Be ready for a turn: connected, the model loaded."""

    @abstractmethod
    async def _send(self, body: Mapping[str, Any], hear: Callable[[Mapping[str, Any]], None]) -> None:
        """Send a request and hand over the reply piece by piece."""

    @abstractmethod
    def _body(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], attempt: int, finding: probe.Finding
    ) -> dict[str, Any]:
        """The request."""

    @abstractmethod
    def _new_reply(self) -> Any:
        """An empty reply of this wire."""

    @abstractmethod
    def _check(self, body: Mapping[str, Any], reply: Any) -> None:
        """Raise the Trouble of a reply that is none."""

    @abstractmethod
    def _usage(self, flat: str, reply: Any) -> tuple[Usage, int]:
        """What a reply cost, and the server's own count of the prompt (0: it has none). Raises ContextCut."""

    @abstractmethod
    def _speed(self, reply: Any, usage: Usage) -> tuple[Speed, float]:
        """What the server measured, and the seconds that the model worked by its own clock (0: not told)."""

    @abstractmethod
    def _refused(self, field: str, message: str) -> RegreenError:
        """The words for a field that the request cannot do without after all."""

    @abstractmethod
    def _notice(self, trouble: Trouble) -> None:
        """Learn from a failed try."""

    # -- one turn ------------------------------------------------------------------------------------

    async def _turn(self, request: Request, listener: Listener, fresh: int) -> Reply:
        body = self._body(request.messages, request.tools, request.attempt + fresh, self._finding)
        most = self._affordable(request, body)
        reply, started = self._new_reply(), time.monotonic()
        try:
            with contextlib.suppress(Over):
                await self._send(body, Stream(reply, listener, self.mode, most).hear)
            return self._finished(request, body, reply, time.monotonic() - started)
        except Cut as cut:
            out = self._cut(body, reply, str(cut), time.monotonic() - started)
            if isinstance(cut, Unpaid):
                cost = max(out.usage.cost or 0.0, request.cost_left or 0.0)
                out = replace(out, usage=replace(out.usage, cost=cost))
            return out
        except NoToolSupport:
            self._use_text(f"{self._model} does not take tools, so they are described in the prompt.")
        except FieldRefused as refused:
            if refused.name in self._without:
                raise self._refused(refused.name, str(refused)) from None
            self._without.add(refused.name)
        except Trouble as trouble:
            self._notice(trouble)
            raise
        return await self._turn(request, listener, fresh)

    def _finished(self, request: Request, body: dict[str, Any], reply: Any, wall: float) -> Reply:
        self._check(body, reply)
        flat = PrefixMeter.flat(body["messages"], body.get("tools", ()))
        usage, counted = self._usage(flat, reply)
        speed, seconds = self._speed(reply, usage)
        out = to_reply(
            reply.body(),
            request,
            self.wire_name,
            usage,
            finish=reply.finish,
            seconds=seconds or wall,
            thinking=reply.thinking,
            speed=speed,
        )
        self._meter.remember(flat, reply.written, counted)
        if reply.as_text and not reply.thinking:
            self._raws.keep(len(request.messages), out.text, out.calls, reply.as_text)
        return out

    def _cut(self, body: dict[str, Any], reply: Any, why: str, wall: float) -> Reply:
        """What remains of a stream that was cut. Most servers never came to tell their counts, so they are estimates."""
        flat = PrefixMeter.flat(body["messages"], body.get("tools", ()))
        prompt = self._expected(flat)
        written = reply.written or reply.thinking
        usage = Usage(prompt, self._meter.cached_tokens(flat, prompt), limits.estimate(len(written)))
        usage = self._cut_usage(reply) or self._priced(usage)
        speed, seconds = self._speed(reply, usage)
        self._meter.remember(flat, reply.written, 0)
        return replace(cut_reply(reply.content or written, why, usage, seconds or wall), speed=speed)

    def _cut_usage(self, reply: Any) -> Usage | None:
        """The counts of a reply that was cut, where the server tells them as it goes."""
        return None

    def _affordable(self, request: Request, body: dict[str, Any]) -> int | None:
        """How many tokens of a reply can be paid, put into the request where it asks for more; None where nothing costs,
        or nobody knows what. Raises TooDear when the prompt leaves too few."""
        return None

    def _priced(self, usage: Usage) -> Usage:
        """The same usage with what it costs, where that is known."""
        return usage

    def _expected(self, flat: str) -> int:
        """About how many tokens a prompt has."""
        return limits.estimate(len(flat), self._meter.chars_per_token or limits.CHARS_PER_TOKEN)

    def _use_text(self, note: str) -> None:
        self._finding = probe.Finding("text", known=True)
        self._notes(note)

    # -- the probe -----------------------------------------------------------------------------------

    async def _find_out(self, rendered: probe.Rendered) -> probe.Finding:
        """Have the tiny task of the probe done in each mode. A mode that the server refuses has failed."""

        async def ask(mode: Mode, messages: tuple[Message, ...], tools: tuple[ToolSpec, ...]) -> Reply:
            reply = self._new_reply()
            body = probe.short(self._body(messages, tools, 0, probe.Finding(mode)))
            try:
                with contextlib.suppress(Over, Cut):
                    await self._send(body, Stream(reply, None, mode).hear)
            except (NoToolSupport, ModelFault):
                return Reply()
            return to_reply(
                reply.body(),
                Request(messages, tools),
                self.wire_name,
                Usage(),
                finish=reply.finish,
                seconds=0.0,
            )

        return await probe.find_out(ask, rendered)
