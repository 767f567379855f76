"""What can go wrong with a model server, each in its own words, and which of it is worth another try."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from regreen.agent.model import Listener, PromptTooLong
from regreen.errors import RegreenError
from regreen.models.pauses import LONGEST_PAUSE, duration_words

T = TypeVar("T")


class ServerDown(RegreenError):
    """Nothing answers at the address."""


Progress = Callable[[str, "float | None"], None]
"""Hears ("pulling 5ee4f07cdb9b", 42.0): what goes on, and per cent of it where that is known."""

Pull = Callable[[Progress], Awaitable[None]]


class MissingModel(RegreenError):
    """The server has no such model. `model` is its name, and `pull` has the server fetch it.

    `pull` raises RegreenError when the server cannot; cancelling it stops the download, which a later pull goes
    on with.
    """

    def __init__(self, message: str, model: str, pull: Pull | None = None) -> None:
        super().__init__(message)
        self.model = model
        self._pull = pull

    @property
    def can_pull(self) -> bool:
        """Whether the server is one that fetches models."""
        return self._pull is not None

    async def pull(self, progress: Progress) -> None:
        """Fetch the model."""
        if self._pull is None:
            raise self
        await self._pull(progress)


class ContextTooLong(PromptTooLong):
    """The server refused the prompt as too long. The loop cuts old tool results and asks again, once."""


class ContextCut(RegreenError):
    """The server read less than it was sent, and said nothing: its reply cannot be relied on."""


class QuotaReached(RegreenError):
    """The server will not answer before its quota is renewed; asking again would be in vain."""


class ModelFault(RegreenError):
    """The server failed, also after the tries that were worth it."""


class NoToolSupport(Exception):
    """The server refuses `tools` for this model; the tools have to be described in the prompt instead."""


class FieldRefused(Exception):
    """The server refuses a field that the request can do without; `name` is the field."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


@dataclass
class Trouble(Exception):
    """A failed try. `retries`: how many more of this kind are worth it. `wait`: seconds before the first,
    doubled each time. `why` is what the person reads meanwhile. `kind` groups tries that count together.
    `fresh`: another seed is needed, the same request would fail again. `exact`: the server named the pause."""

    error: RegreenError
    kind: str
    retries: int = 0
    wait: float = 0.5
    why: str = ""
    fresh: bool = False
    exact: bool = False


async def persist(
    once: Callable[[int], Awaitable[T]], listener: Listener, patience: float = 1.0, longest: float = 30.0
) -> T:
    """Call `once(n)` until it gives a value; `n` counts the tries that need another seed.

    Waits between tries with doubling pauses (times `patience`, at most `longest` seconds each), during which the
    listener knows that the model is not at work. Raises the RegreenError of the Trouble that was one too many.
    """
    counts: dict[str, int] = {}
    fresh = 0
    while True:
        try:
            return await once(fresh)
        except Trouble as trouble:
            n = counts[trouble.kind] = counts.get(trouble.kind, 0) + 1
            if n > trouble.retries:
                raise trouble.error from trouble
            fresh += trouble.fresh
            pause = trouble.wait if trouble.exact else min(trouble.wait * 2 ** (n - 1), longest)
            listener.waiting(f"{trouble.why or trouble.error}; trying again")
            try:
                await asyncio.sleep(pause * patience)
            finally:
                listener.working()


def looks_like_html(text: str) -> bool:
    """Whether a body is a web page: then a proxy or another kind of server answered."""
    start = text.lstrip()[:200].lower()
    return start.startswith(("<!doctype html", "<html", "<head", "<?xml"))


def one_line(text: str, limit: int = 200) -> str:
    """A server's own words, short enough for one line."""
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


class OllamaWords:
    """The faults of an Ollama server at `url` with the model `name`."""

    def __init__(self, url: str, name: str, pull: Pull | None = None) -> None:
        self.url = url
        self.name = name
        self.pull = pull

    def down(self) -> ServerDown:
        """Nobody listens."""
        return ServerDown(
            f"Ollama does not answer at {self.url}: start it with `ollama serve`, or use --model builtin."
        )

    def missing(self) -> MissingModel:
        """The model was not pulled."""
        return MissingModel(
            f"The model {self.name} is not on this machine yet: get it with `ollama pull {self.name}`.",
            self.name,
            self.pull,
        )

    def not_ollama(self) -> ModelFault:
        """Something else answers, most often a proxy."""
        return ModelFault(
            f"{self.url} does not answer as Ollama does, but with a page of some other server: check the address "
            "(--base-url, OLLAMA_HOST) and the proxy."
        )

    def too_long(self, limit: int | None) -> ContextTooLong:
        """The prompt does not fit."""
        room = f"the {limit} tokens that {self.name} has room for" if limit else f"{self.name} has room for"
        return ContextTooLong(
            f"The prompt is longer than {room}: choose a smaller target, or a model with a larger context.",
            limit,
        )

    def cut(self, counted: int, expected: int) -> ContextCut:
        """The server read only a part of the prompt."""
        return ContextCut(
            f"Ollama read only {counted} tokens of a prompt of about {expected}: its context is too small and it "
            "cuts in silence. Update Ollama to 0.12.4 or later, or set OLLAMA_CONTEXT_LENGTH=8192 for the server."
        )

    def refused(self, field: str) -> ModelFault:
        """A request that cannot be made right."""
        return ModelFault(f"{self.name} cannot be used: Ollama refuses `{field}`. Choose another model.")

    def of_status(self, status: int, text: str, window: int | None, pause: float | None = None) -> Exception:
        """The fault that an answer with an error status, or an error line (status 200), tells.

        `pause`: the seconds after which the server wants to be asked again, where it says so.
        """
        low = text.lower()
        if looks_like_html(text):
            return Trouble(
                self.not_ollama(), "html", 1 if status in (502, 503, 504) else 0, why="a proxy error"
            )
        if "does not support tools" in low:
            return NoToolSupport(text)
        if "does not support thinking" in low or "think value" in low:
            return FieldRefused("think", text)
        if status == 404 or ("model" in low and "not found" in low):
            known = "model" in low or "not found, try pulling" in low
            return self.missing() if known else self.not_ollama()
        if any(
            words in low
            for words in (
                "longer than the context",
                "exceeds the context",
                "available context size",
                "maximum context length",
                "context_length_exceeded",
                "prompt is too long",
            )
        ):
            return self.too_long(window)
        if "does not support chat" in low:
            return ModelFault(f"{self.name} cannot chat: choose another model with --model ollama:NAME.")
        if status in (401, 403):
            return ModelFault(
                f"Ollama at {self.url} refuses the request ({status}): set OLLAMA_API_KEY, or use a model that is "
                "on this machine."
            )
        return self._quota(text, pause) if status == 429 else self._failure(status, text, low)

    def _quota(self, text: str, pause: float | None) -> Exception:
        when = f" Try again in {duration_words(pause)}." if pause else ""
        error = QuotaReached(f"Ollama refuses more requests for now: {one_line(text)}.{when}")
        if pause is None:
            return Trouble(error, "quota", 2, 5.0)
        if pause > LONGEST_PAUSE:
            return error
        why = f"Ollama asks for a pause of {duration_words(pause)}"
        return Trouble(error, "quota", 2, pause, why, exact=True)

    def _failure(self, status: int, text: str, low: str) -> Exception:
        said = one_line(text)
        if status == 503 or "server busy" in low:
            error = ModelFault(
                f"Ollama at {self.url} is busy with other requests: try again when they are done."
            )
            return Trouble(error, "busy", 5, 0.5, "Ollama is busy")
        if "unexpectedly stopped" in low or "resource limitations" in low:
            error = ModelFault(
                f"Ollama's model process stopped while it ran {self.name}, most likely for lack of memory: close "
                "other programs, or choose a smaller model with --model ollama:NAME."
            )
            return Trouble(error, "stopped", 1, 1.0, "the model process stopped")
        if any(
            words in low
            for words in ("has terminated", "waiting for llama", "out of memory", "more system memory")
        ):
            return ModelFault(
                f"Ollama could not load {self.name}: {said}. Choose a smaller model with --model ollama:NAME, or "
                "use --model builtin."
            )
        if "error parsing tool call" in low or "xml syntax error" in low:
            error = ModelFault(f"Ollama could not read what {self.name} wrote: {said}. Try another model.")
            return Trouble(error, "parser", 2, 0.0, "the reply could not be read by Ollama", fresh=True)
        where = f"{status} " if status != 200 else ""
        error = ModelFault(
            f"Ollama failed at {self.url}: {where}{said}. Look at its log, or use --model builtin."
        )
        retries = 2 if status in (200, 500, 502, 504) else 0
        return Trouble(error, "failure", retries, 0.5, "Ollama failed", fresh=True)

    def broken(self, cause: str) -> Trouble:
        """The connection ended in mid-reply."""
        error = ModelFault(
            f"The connection to Ollama at {self.url} broke in the middle of a reply, again and again ({cause}): "
            "look at its log, then start the run again."
        )
        return Trouble(error, "broken", 2, 0.5, "the connection to Ollama broke")

    def unfinished(self) -> Trouble:
        """The stream ended with status 200 but without its last line, as after the repeat guard."""
        error = ModelFault(
            f"Ollama ended its reply without finishing it, again and again: {self.name} may have been repeating "
            "itself, or its process stopped. Start the run again, or choose another model with --model ollama:NAME."
        )
        return Trouble(error, "unfinished", 2, 0.2, "Ollama ended its reply unfinished", fresh=True)

    def swallowed(self) -> Trouble:
        """Many more tokens were generated than arrived: the server's parser dropped a call."""
        error = ModelFault(f"{self.name} gives empty replies: choose another model with --model ollama:NAME.")
        return Trouble(error, "swallowed", 1, 0.0, "the reply was dropped by Ollama's parser")

    def stalled(self, seconds: float) -> Trouble:
        """Nothing came for a long time after the reply had begun."""
        error = ModelFault(
            f"Ollama at {self.url} stopped in the middle of a reply and sent nothing for {seconds:.0f} s: restart it, "
            "then start the run again."
        )
        return Trouble(error, "stalled", 1, 0.5, "Ollama sends nothing any more")
