"""The timeline of a run as an inline SVG: one lane for each who had the time, one bar for each stretch of it.

All positions are percentages, so the chart fits a phone as well as a screen, and its letters keep their size. A long
wait for a person is drawn shorter than it was, and says so: it would push everything else together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from regreen.run.story import Span, Story

LANES = (("model", "Model"), ("tests", "Tests"), ("person", "You"), ("harness", "Regreen"))
WHO = {
    "model": "Model",
    "loading": "Model loads",
    "tests": "Tests",
    "person": "You decide",
    "harness": "Regreen",
}
_LANE_HEIGHT = 34
_TOP = 22
_BAR = 22
_LEAST_PERCENT = 0.35
_STEPS_OF_AXIS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 36000, 86400)


@dataclass(frozen=True)
class _Piece:
    """A stretch of real time and the percentages it is drawn between."""

    begin: float
    end: float
    left: float
    right: float
    shortened: bool


class _Scale:
    """From seconds to percentages of the width."""

    def __init__(self, length: float, waits: Sequence[Span]) -> None:
        working = max(length - sum(span.end - span.begin for span in waits), 0.001)
        most = max(0.25 * working, 0.5)
        marks: list[tuple[float, float, bool]] = []
        now = 0.0
        for span in waits:
            marks.append((now, span.begin, False))
            marks.append((span.begin, span.end, span.end - span.begin > most))
            now = span.end
        marks.append((now, max(length, now), False))
        drawn = [most if cut else max(end - begin, 0.0) for begin, end, cut in marks]
        whole = sum(drawn) or 1.0
        self.pieces: list[_Piece] = []
        left = 0.0
        for (begin, end, cut), width in zip(marks, drawn, strict=True):
            right = left + 100 * width / whole
            self.pieces.append(_Piece(begin, end, left, right, cut))
            left = right

    def at(self, seconds: float) -> float:
        """The place of a moment, in per cent."""
        for piece in self.pieces:
            if seconds <= piece.end and piece.end > piece.begin:
                share = max(0.0, seconds - piece.begin) / (piece.end - piece.begin)
                return piece.left + share * (piece.right - piece.left)
        return 100.0

    def shortened(self, seconds: float) -> bool:
        """True inside a wait that is drawn shorter than it was."""
        return any(piece.shortened and piece.begin < seconds < piece.end for piece in self.pieces)

    @property
    def per_second(self) -> float:
        """Per cent for a second, where nothing is shortened."""
        plain = [piece for piece in self.pieces if not piece.shortened and piece.end > piece.begin]
        seconds = sum(piece.end - piece.begin for piece in plain)
        return sum(piece.right - piece.left for piece in plain) / seconds if seconds else 100.0


def all_spans(story: Story) -> list[Span]:
    """The spans in order, with the harness's own in between."""
    spans: list[Span] = []
    now, step = 0.0, 0
    for span in sorted(story.spans, key=lambda span: (span.begin, span.end)):
        if span.begin - now >= 0.001:
            spans.append(Span("harness", now, span.begin, step))
        spans.append(span)
        now, step = max(now, span.end), span.step
    if story.length - now >= 0.001:
        spans.append(Span("harness", now, story.length, step))
    return spans


def words_for(seconds: float) -> str:
    """A length of time for people: "0.25 s", "12.3 s", "4 min 05 s"."""
    if seconds >= 60:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest:02d} s"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds:.2f} s"


def span_words(span: Span) -> str:
    """One stretch in words."""
    where = f"step {span.step}" if span.step else "before the first step"
    who = WHO.get(span.activity, span.activity)
    return f"{who}: {words_for(span.end - span.begin)}, from {words_for(span.begin)} on, {where}"


def chart(story: Story) -> str:
    """The chart, or "" for a trace without times."""
    if not story.spans or story.length <= 0:
        return ""
    spans = all_spans(story)
    scale = _Scale(story.length, [span for span in spans if span.activity == "person"])
    height = _TOP + _LANE_HEIGHT * len(LANES)
    labels = "".join(f"<span>{label}</span>" for _, label in LANES)
    parts = [
        '<svg class="chart" width="100%" height="'
        + str(height + 24)
        + '" role="group" aria-labelledby="timeline">',
        '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><rect class="gap" width="3" height="6"/></pattern></defs>',
        *(_lane_line(row) for row in range(len(LANES))),
        *_step_marks(story, scale),
        *(_bar(span, scale) for span in spans),
        *_axis(scale, story.length, height),
        "</svg>",
    ]
    return (
        f'<div class="timeline"><div class="lanes" aria-hidden="true">{labels}</div>{"".join(parts)}</div>'
        '<p class="detail" id="detail">Point at a bar, or reach it with Tab and the arrow keys.</p>'
    )


def _lane_line(row: int) -> str:
    y = _TOP + row * _LANE_HEIGHT + _LANE_HEIGHT / 2
    return f'<line class="lane" x1="0" x2="100%" y1="{y}" y2="{y}"/>'


def _bar(span: Span, scale: _Scale) -> str:
    lane = "model" if span.activity == "loading" else span.activity
    row = next((i for i, (name, _) in enumerate(LANES) if name == lane), len(LANES) - 1)
    left, right = scale.at(span.begin), scale.at(span.end)
    width = max(right - left, _LEAST_PERCENT)
    left = min(left, 100 - width)
    y = _TOP + row * _LANE_HEIGHT + (_LANE_HEIGHT - _BAR) / 2
    place = f'x="{left:.3f}%" y="{y}" width="{width:.3f}%" height="{_BAR}" rx="3"'
    words = span_words(span)
    hatch = f'<rect class="hatch" {place}/>' if span.activity == "loading" else ""
    if scale.shortened((span.begin + span.end) / 2):
        words += "; drawn shorter than it was"
        hatch = f'<rect class="hatch" {place}/>'
    target = f"step-{span.step}" if span.step else "start"
    return (
        f'<a class="bar" href="#{target}" aria-label="{escape(words)}" data-step="{span.step}">'
        f'<title>{escape(words)}</title><rect class="{escape(span.activity)}" {place}/>{hatch}</a>'
    )


def _step_marks(story: Story, scale: _Scale) -> list[str]:
    marks: list[str] = []
    free = -1.0
    bottom = _TOP + _LANE_HEIGHT * len(LANES)
    for step in story.steps:
        if not step.n or step.at is None:
            continue
        x = scale.at(step.at)
        marks.append(f'<line class="mark" x1="{x:.3f}%" x2="{x:.3f}%" y1="{_TOP - 4}" y2="{bottom}"/>')
        if x >= free:
            anchor = "end" if x > 94 else "start"
            marks.append(f'<text class="label" x="{x:.3f}%" y="13" text-anchor="{anchor}">{step.n}</text>')
            free = x + 4
    return marks


def _axis(scale: _Scale, length: float, y: float) -> list[str]:
    every = next((s for s in _STEPS_OF_AXIS if s * scale.per_second >= 16), _STEPS_OF_AXIS[-1])
    ticks: list[str] = []
    free, tick = -1.0, 0.0
    while tick <= length and len(ticks) < 40:
        x = scale.at(tick)
        if x >= free and x <= 100 and not scale.shortened(tick):
            anchor = "start" if x < 4 else "end" if x > 96 else "middle"
            ticks.append(
                f'<text class="label" x="{x:.3f}%" y="{y + 16}" text-anchor="{anchor}">{_tick(tick)}</text>'
            )
            free = x + 12
        tick = round(tick + every, 6)
        if scale.shortened(tick):  # go on behind the wait
            tick = next(p.end for p in scale.pieces if p.shortened and p.begin < tick < p.end)
            tick = round((tick // every + 1) * every, 6)
    return ticks


def _tick(seconds: float) -> str:
    if seconds >= 60:
        return f"{int(seconds // 60)}:{int(seconds % 60):02d}"
    return f"{seconds:g} s"


def table(story: Story) -> str:
    """The same as a table, for those who cannot see the chart."""
    rows = "".join(
        f"<tr><td>{span.step or 'start'}</td><td>{escape(WHO.get(span.activity, span.activity))}</td>"
        f"<td>{span.begin:.2f}</td><td>{span.end - span.begin:.2f}</td></tr>"
        for span in all_spans(story)
    )
    return (
        "<table><thead><tr><th scope=col>Step</th><th scope=col>Who had the time</th>"
        f"<th scope=col>From second</th><th scope=col>Seconds</th></tr></thead><tbody>{rows}</tbody></table>"
    )
