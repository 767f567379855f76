"""A trace read as a story: the steps of a run, with what was said, called, tried, shown and decided in each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

Event = Mapping[str, Any]

INCOMPLETE = "incomplete: the run did not finish"
"""Said of a trace that has no outcome: its process was killed, or is still at work."""


@dataclass
class Happening:
    """One thing that happened, at `at` seconds (None where the trace has no times). `event` is the trace's line.

    A `call` carries its `result`, a `proposal` its `decision`, once they came.
    """

    kind: str
    event: Event
    at: float | None
    answer: Event | None = None


@dataclass
class Step:
    """A turn of the model and what came of it; number 0 is what happened before the first.

    `speed` is what the model's server measured, in generated tokens a second; 0 where it does not tell.
    """

    n: int
    at: float | None
    text: str = ""
    usage: Mapping[str, int] = field(default_factory=lambda: dict[str, int]())
    seconds: float = 0.0
    speed: float = 0.0
    happenings: list[Happening] = field(default_factory=lambda: list[Happening]())

    def of(self, kind: str) -> list[Happening]:
        """What happened of one kind."""
        return [happening for happening in self.happenings if happening.kind == kind]


@dataclass(frozen=True)
class Span:
    """A stretch of time that one activity had, in seconds since the run began, and the step it lies in."""

    activity: str
    begin: float
    end: float
    step: int


@dataclass
class Story:
    """A whole run. `outcome` is empty for one that did not finish."""

    started: Event
    outcome: Event = field(default_factory=lambda: dict[str, Any]())
    evidence: Event = field(default_factory=lambda: dict[str, Any]())
    budget: Event = field(default_factory=lambda: dict[str, Any]())
    steps: list[Step] = field(default_factory=lambda: list[Step]())
    spans: list[Span] = field(default_factory=lambda: list[Span]())
    length: float = 0.0

    @property
    def finished(self) -> bool:
        """False when the trace ends without an outcome."""
        return bool(self.outcome)

    @property
    def name(self) -> str:
        """The outcome, or what stands for it."""
        return str(self.outcome.get("outcome", "incomplete"))

    def tokens(self) -> tuple[int, int, int]:
        """Prompt tokens, those of them that the model server had in its cache, and generated ones."""
        told = _object(self.outcome.get("tokens"))
        if told:
            return _int(told.get("prompt")), _int(told.get("cached")), _int(told.get("generated"))
        sums = [
            sum(_int(step.usage.get(key)) for step in self.steps) for key in ("prompt", "cached", "generated")
        ]
        return sums[0], sums[1], sums[2]

    def seconds(self) -> dict[str, float]:
        """Seconds by activity: as the outcome tells them, else added up from what the trace holds."""
        names = ("model", "tests", "person", "loading", "harness")
        if told := _object(self.outcome.get("seconds")):
            return {name: _float(told.get(name)) for name in names}
        spent: dict[str, float] = dict.fromkeys(names, 0.0)
        for span in self.spans:
            spent[span.activity] = spent.get(span.activity, 0.0) + span.end - span.begin
        if self.spans:
            spent["harness"] = max(0.0, self.length - sum(spent.values()))
        else:
            spent["model"] = sum(step.seconds for step in self.steps)
        return spent


def cache_words(prompt: int, cached: int) -> str:
    """The share of the prompt that the server's cache held: "1.4k of 1.8k prompt tokens (77 %) from the cache"."""
    if not prompt:
        return "no prompt tokens counted"
    return f"{cached:,} of {prompt:,} prompt tokens from the prompt cache ({100 * cached / prompt:.0f} %)"


def tell(events: Iterable[Event]) -> Story:
    """Read the events of a trace as a story. Lines of a kind or shape that is not known are passed over."""
    listed = list(events)
    begun = [event for event in listed if event.get("event") == "started"]
    story = Story(begun[0] if begun else dict[str, Any]())
    story.steps.append(Step(0, 0.0))
    for event in listed:
        _take(story, event)
    ends = [_float(event.get("at")) for event in listed] + [span.end for span in story.spans]
    story.length = max(ends, default=0.0)
    return story


def _take(story: Story, event: Event) -> None:
    kind = str(event.get("event"))
    at = _float(event["at"]) if isinstance(event.get("at"), (int, float)) else None
    step = story.steps[-1]
    if kind == "step":
        story.steps.append(Step(_int(event.get("n")), at))
    elif kind == "reply":
        step.text = str(event.get("text") or step.text)
        step.usage = {name: int(count) for name, count in _numbers(event.get("usage")).items()}
        step.seconds = _float(event.get("seconds"))
        step.speed = _float(_object(event.get("speed")).get("written_per_second"))
    elif kind == "text" and not step.usage:
        step.text += str(event.get("delta", ""))
    elif kind == "budget":
        story.budget = _numbers(event)
    elif kind in ("outcome", "evidence"):
        setattr(story, kind, event)
    elif kind == "span":
        story.spans.append(
            Span(str(event.get("activity")), _float(event.get("begin")), _float(event.get("end")), step.n)
        )
    elif kind == "result":
        _answer(step.of("call"), event)
    elif kind == "decision":
        _answer(step.of("proposal"), event)
    elif kind in ("call", "trial", "proposal", "note", "question"):
        step.happenings.append(Happening(kind, event, at))


def _answer(asked: Sequence[Happening], event: Event) -> None:
    """Give an answer to what was asked: by its id, where there is one, else in order. Of edits that are tried
    together, one that is refused is answered at once, before those that were called earlier."""
    waiting = [happening for happening in asked if happening.answer is None]
    ident = event.get("id") or event.get("proposal")
    same = [happening for happening in waiting if ident and happening.event.get("id") == ident]
    chosen = same[:1] or (waiting[-1:] if event.get("ok") is False else waiting[:1])
    for happening in chosen:
        happening.answer = event


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _numbers(value: object) -> dict[str, float]:
    """The numbers in an object; what else stands there, in a damaged trace, is left out."""
    return {name: number for name, number in _object(value).items() if _is_number(number)}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and abs(value) < _MOST


_MOST = 1e15
"""More is no count and no time, and neither are infinity and what is no number."""


def _int(value: object) -> int:
    return int(cast(float, value)) if _is_number(value) else 0


def _float(value: object) -> float:
    return float(cast(float, value)) if _is_number(value) else 0.0
