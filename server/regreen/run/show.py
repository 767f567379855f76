"""`regreen show`: a run to look into, in the terminal or as one page."""

from __future__ import annotations

import sys
from pathlib import Path

from regreen.agent.trace import read_trace
from regreen.errors import RegreenError, UsageError
from regreen.run.resume import trace_path
from regreen.run.show_page import page
from regreen.run.story import INCOMPLETE, Event, Story, cache_words, tell
from regreen.run.terminal import TerminalChannel


def show(name: str, html: Path | None) -> int:
    """Render a trace, given by its path or its run's id; on the terminal, or into a file ("-" is standard output).

    Raises UsageError when there is no such trace, RegreenError when
    the page cannot be written.
    """
    path = trace_path(name)
    events = read_trace(path)
    story = tell(events)
    if html is None:
        channel = TerminalChannel()
        for event in events:
            _emit(channel, event)
        _close(channel, story)
        return 0
    text = page(story)
    if str(html) == "-":
        sys.stdout.buffer.write(text.encode("utf-8"))
        return 0
    if html.is_dir():
        raise UsageError(f"{html} is a folder: name a file, for instance {html / 'run.html'}.")
    try:
        html.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RegreenError(f"Cannot write the page to {html}: {error.strerror}.") from error
    print(f"{html.resolve()}{'' if story.finished else f' ({INCOMPLETE})'}")
    return 0


def _emit(channel: TerminalChannel, event: Event) -> None:
    """Show an event; one that a damaged trace holds in another shape is named, and the rest goes on."""
    try:
        channel.emit(event)
    except (KeyError, TypeError, ValueError, AttributeError):
        text = f"A line of the trace cannot be shown: {event.get('event')}, {event.get('at')} s."
        channel.emit({"event": "note", "level": "warning", "text": text})


def _close(channel: TerminalChannel, story: Story) -> None:
    """What the whole run used, below its steps."""
    prompt, cached, generated = story.tokens()
    seconds = story.seconds()
    lines = [
        _time_words(story),
        f"Tokens: {prompt + generated:,} ({cache_words(prompt, cached)}, {generated:,} generated)",
    ]
    if limits := story.budget:
        lines.append(
            f"Budget: step {limits.get('steps', 0):g} of {limits.get('max_steps', 0):g} · "
            f"{limits.get('tokens', 0):,} of {limits.get('max_tokens', 0):,} tokens · "
            f"{seconds['model'] + seconds['tests']:.1f} of {limits.get('max_seconds', 0):.0f} s"
        )
    channel.close_with(lines, "" if story.finished else INCOMPLETE.capitalize() + ".")


def _time_words(story: Story) -> str:
    seconds = story.seconds()
    whole = sum(seconds.values()) or 1.0
    names = {
        "model": "model",
        "tests": "tests",
        "person": "you",
        "loading": "model loading",
        "harness": "Regreen",
    }
    parts = [
        f"{names.get(name, name)} {value:.1f} s ({100 * value / whole:.0f} %)"
        for name, value in seconds.items()
        if value >= 0.05 or name in ("model", "tests", "person")
    ]
    return "Time: " + " · ".join(parts)
