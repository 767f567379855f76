"""The budget of a run, and the clock that knows who is being waited for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from regreen.agent.conversation import Usage
from regreen.agent.stops import MoneyUsedUp, SecondsUsedUp, StepsUsedUp, TokensUsedUp

Activity = Literal["harness", "model", "tests", "loading", "person"]
CHARGED: tuple[Activity, ...] = ("model", "tests")
"""What the seconds of a budget pay for; a model that loads and a person who thinks cost nothing."""

T = TypeVar("T")


SHORTEST_SPAN = 0.001
"""Seconds; what took less is not told."""


class Clock:
    """Splits the time of a run by activity; the innermost `spend` gets the time.

    `on_span`, when set, hears of each stretch of time that one activity had: its name, begin and end in seconds
    since the clock was made. The harness's own stretches are what is left, and are not told.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._begun = self._since = self._span_since = now()
        self.on_span: Callable[[Activity, float, float], None] | None = None
        self._stack: list[Activity] = ["harness"]
        self._spent: dict[Activity, float] = dict.fromkeys(
            ("harness", "model", "tests", "loading", "person"), 0.0
        )

    def _settle(self) -> None:
        now = self._now()
        self._spent[self._stack[-1]] += now - self._since
        self._since = now

    def elapsed(self) -> float:
        """Seconds since the clock was made."""
        return self._now() - self._begun

    def _end_span(self) -> None:
        begin, self._span_since = self._span_since, self._since
        activity = self._stack[-1]
        if self.on_span and activity != "harness" and self._since - begin >= SHORTEST_SPAN:
            self.on_span(activity, begin - self._begun, self._since - self._begun)

    @contextmanager
    def spend(self, activity: Activity) -> Generator[None]:
        """Charge the time inside the block to `activity`."""
        self.enter(activity)
        try:
            yield
        finally:
            self.leave()

    def enter(self, activity: Activity) -> None:
        """Charge the time from now on to `activity`, until the matching `leave`."""
        self._settle()
        self._end_span()
        self._stack.append(activity)

    def leave(self) -> None:
        """End the innermost activity."""
        self._settle()
        self._end_span()
        if len(self._stack) > 1:
            self._stack.pop()

    @property
    def doing(self) -> Activity:
        """The innermost activity."""
        return self._stack[-1]

    def spent(self, activity: Activity) -> float:
        """Seconds spent so far on one activity."""
        self._settle()
        return self._spent[activity]

    @property
    def charged(self) -> float:
        """Seconds the budget has paid for."""
        self._settle()
        return sum(self._spent[activity] for activity in CHARGED)

    def to_json(self) -> dict[str, float]:
        """Seconds by activity, to the millisecond."""
        self._settle()
        return {activity: round(seconds, 3) for activity, seconds in self._spent.items()}


DEFAULT_COST = 1.0
"""US dollars. What a run may cost where the server tells its prices and nobody set a limit: a whole budget of tokens costs
less with most models, and a surprise stays small with the dearest ones."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a run may use. `tokens` are new prompt tokens and generated ones, `seconds` those of model and tests, `cost`
    US dollars (None: DEFAULT_COST where anything costs)."""

    steps: int = 12
    tokens: int = 60_000
    seconds: float = 900.0
    cost: float | None = None


class Budget:
    """Counts what a run uses and ends it, by a named exception, when nothing is left."""

    def __init__(self, allowance: Allowance, clock: Clock | None = None) -> None:
        self.allowance = allowance
        self.clock = clock or Clock()
        self.steps = 0
        self.prompt = 0
        self.cached = 0
        self.generated = 0
        self.cost: float | None = None

    @property
    def max_cost(self) -> float | None:
        """US dollars that the run may cost; None where nothing costs."""
        return self.allowance.cost or (DEFAULT_COST if self.cost else None)

    @property
    def cost_left(self) -> float:
        """US dollars that the rest of the run may cost, if anything costs."""
        return max(0.0, (self.allowance.cost or DEFAULT_COST) - (self.cost or 0.0))

    def too_dear(self, needed: float) -> MoneyUsedUp:
        """The stop for a turn whose prompt costs `needed`, which is more than is left."""
        return MoneyUsedUp(self.allowance.cost or DEFAULT_COST, self.cost_left, needed)

    @property
    def tokens(self) -> int:
        """Tokens charged so far."""
        return self.prompt - self.cached + self.generated

    def begin_step(self) -> int:
        """Start the next step and return its number. Raises the BudgetUsedUp that there is."""
        self.check()
        if self.steps >= self.allowance.steps:
            raise StepsUsedUp(self.allowance.steps)
        self.steps += 1
        return self.steps

    def charge(self, usage: Usage) -> None:
        """Add the tokens of one reply, and its cost where that is known."""
        self.prompt += usage.prompt
        self.cached += min(usage.cached, usage.prompt)
        self.generated += usage.generated
        if usage.cost is not None:
            self.cost = (self.cost or 0.0) + usage.cost

    def check(self) -> None:
        """Raise when tokens, seconds or money are used up."""
        if self.max_cost is not None and (self.cost or 0.0) >= self.max_cost:
            raise MoneyUsedUp(self.max_cost)
        if self.tokens >= self.allowance.tokens:
            raise TokensUsedUp(self.allowance.tokens)
        if self.clock.charged >= self.allowance.seconds:
            raise SecondsUsedUp(self.allowance.seconds)

    def extend(self, steps: int = 0, tokens: int = 0, seconds: float = 0.0) -> None:
        """Allow more; a person asked for it."""
        old = self.allowance
        self.allowance = Allowance(old.steps + steps, old.tokens + tokens, old.seconds + seconds, old.cost)

    async def within(self, work: Awaitable[T], every: float = 0.1) -> T:
        """Await `work`, but cancel it and raise SecondsUsedUp once the clock has run out."""
        task = asyncio.ensure_future(work)
        try:
            while True:
                left = self.allowance.seconds - self.clock.charged
                done, _ = await asyncio.wait({task}, timeout=max(every, min(left, 5.0)))
                if done:
                    return task.result()
                if self.clock.charged >= self.allowance.seconds:
                    raise SecondsUsedUp(self.allowance.seconds)
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    def to_json(self) -> dict[str, Any]:
        """The `budget` event of the run protocol, without its name; `cost` and `max_cost` where the cost is known."""
        event: dict[str, Any] = {
            "steps": self.steps,
            "max_steps": self.allowance.steps,
            "tokens": self.tokens,
            "max_tokens": self.allowance.tokens,
            "seconds": round(self.clock.charged, 2),
            "max_seconds": self.allowance.seconds,
        }
        if self.cost is not None:
            event["cost"] = round(self.cost, 6)
            if self.max_cost is not None:
                event["max_cost"] = self.max_cost
        return event
