"""The narrow door behind which every model fits: Ollama, OpenAI-compatible servers, the built-in search, a trace."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from regreen.agent.conversation import Message, Reply, Request, ToolSpec
from regreen.agent.stops import dollars
from regreen.errors import RegreenError


class PromptTooLong(RegreenError):
    """The prompt does not fit and nothing was generated. `limit` is the model's room in tokens, if known."""

    def __init__(self, message: str, limit: int | None = None) -> None:
        super().__init__(message)
        self.limit = limit


class TooDear(RegreenError):
    """The prompt alone costs about as much as the request leaves, so it was not sent. `cost` is that, in US dollars."""

    def __init__(self, cost: float) -> None:
        super().__init__(f"The next turn costs more than is left: {dollars(cost)} for its prompt.")
        self.cost = cost


class Listener(Protocol):
    """Hears a reply while it is made."""

    def text(self, delta: str) -> None:
        """A piece of the model's text, as it streams."""
        ...

    def waiting(self, reason: str) -> None:
        """The model is not working yet ("loading 1.9 GB"); the clock of the budget stands until `working`."""
        ...

    def working(self) -> None:
        """The wait announced by `waiting` is over."""
        ...


class Model(Protocol):
    """One model, for one run. Cancelling the awaiting task closes the wire at once."""

    @property
    def name(self) -> str:
        """The full spec, as in `--model`: "ollama:qwen2.5:3b"."""
        ...

    async def warm(
        self, messages: tuple[Message, ...], tools: tuple[ToolSpec, ...], listener: Listener
    ) -> None:
        """Load the model and the fixed start of the prompt while the first test run is going.

        Raises RegreenError when the model cannot be had (no server, model not pulled).
        """
        ...

    async def reply(self, request: Request, listener: Listener) -> Reply:
        """Ask for one turn. Raises PromptTooLong, TooDear, or another RegreenError when the server cannot give one,
        after its own retries."""
        ...

    async def aclose(self) -> None:
        """Let go of the connection."""
        ...


@runtime_checkable
class Bounded(Protocol):
    """A model that knows how long a prompt may be."""

    @property
    def room(self) -> int | None:
        """Tokens a prompt may have, the reply's own left free; None as long as that is not known."""
        ...
