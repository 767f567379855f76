"""A run as one self-contained HTML page: it fetches nothing, runs nothing but its own few lines, and escapes all text."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, cast

from regreen import __version__
from regreen.run.show_chart import WHO, chart, table, words_for
from regreen.run.show_diff import diff_html
from regreen.run.show_style import SCRIPT, STYLE
from regreen.run.story import INCOMPLETE, Event, Happening, Step, Story
from regreen.run.visible import visible

_TONES = {"fixed": "good", "already_passing": "good", "error": "bad", "rejected": "mid", "cancelled": "mid"}
_PROGRESS_TONES = {"fixed": "good", "forward": "mid", "changed": "mid", "same": "bad", "worse": "bad"}
_OUTCOME_WORDS = {
    "fixed": "Fixed",
    "already_passing": "Already passing",
    "test_looks_wrong": "The test looks wrong",
    "setup_problem": "Not a code bug",
    "not_verified": "Not verified",
    "budget": "Not fixed: the budget is used up",
    "stuck": "Not fixed: stuck",
    "rejected": "Rejected",
    "cancelled": "Cancelled",
    "error": "Error",
    "incomplete": INCOMPLETE.capitalize(),
}


def page(story: Story) -> str:
    """The whole page."""
    target = str(story.started.get("target", ""))
    body = "".join(
        (
            _outcome(story),
            _facts(story),
            _timeline(story),
            _start(story),
            *(_step(step) for step in story.steps if step.n),
            _edits(story),
        )
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy()}">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{_text(_words(story))}: {_text(target)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<p class="eyebrow">Regreen run {_text(story.started.get("run", ""))}</p>\n<h1>{_text(target)}</h1>\n'
        f"{body}</main>\n{_footer(story)}<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def _policy() -> str:
    """Only this page's own style and script; no network at all."""

    def source(text: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    return (
        f"default-src 'none'; style-src {source(STYLE)}; script-src {source(SCRIPT)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _text(value: object) -> str:
    return escape(visible(str(value if value is not None else "")))


def _words(story: Story) -> str:
    return _OUTCOME_WORDS.get(story.name, story.name)


# -- the top: what came of it ------------------------------------------------------------------------------


def _outcome(story: Story) -> str:
    outcome = story.outcome
    tone = _TONES.get(story.name, "mid" if not story.finished else "bad")
    if not story.finished:
        text = "The trace ends before an outcome: the run was killed, or is still at work."
        return (
            f'<section class="outcome mid"><strong>{_text(_words(story))}</strong><p>{text}</p></section>\n'
        )
    explanation = str(outcome.get("explanation", ""))
    first, *rest = str(outcome.get("summary", "")).split("\n")
    if (
        story.name == "not_verified"
    ):  # the explanation is the model's; why nothing is verified stands here alone
        rest = [first.partition(": ")[2] or first, *rest]
    more = "\n".join(line for line in rest if line and line not in explanation)
    badge = (
        f' <span class="badge">confidence: {_text(outcome["confidence"])}</span>'
        if outcome.get("confidence")
        else ""
    )
    return (
        f'<section class="outcome {tone}"><strong>{_text(_words(story))}</strong>{badge}<p>{_text(explanation)}</p>'
        + (f"<p>{_text(more)}</p>" if more else "")
        + "</section>\n"
    )


def _facts(story: Story) -> str:
    started, outcome = story.started, story.outcome
    budget = _as_object(started.get("budget"))
    prompt, cached, generated = story.tokens()
    used = _as_object(story.budget)
    steps = int(outcome.get("steps") or max((step.n for step in story.steps), default=0))
    most = used or {f"max_{name}": value for name, value in budget.items()}
    facts = [
        ("Model", _text(outcome.get("model") or started.get("model"))),
        ("Seal", _text(started.get("seal"))),
        ("Approval", _text(started.get("approval"))),
        ("Began", _text(_when(started))),
        ("Steps", _used(steps, most.get("max_steps"), "")),
        ("Tokens", _used(prompt - cached + generated, most.get("max_tokens"), "")),
        ("Seconds of model and tests", _used(_charged(story), most.get("max_seconds"), " s")),
        ("Prompt cache", f"{100 * cached / prompt:.0f} % of {prompt:,} prompt tokens" if prompt else ""),
    ]
    cells = "".join(f"<div><dt>{name}</dt><dd>{value or '–'}</dd></div>" for name, value in facts)
    return f'<dl class="facts">{cells}</dl>\n'


def _when(started: Event) -> str:
    time, run = str(started.get("time", "")), str(started.get("run", ""))
    if time:
        return time[:16].replace("T", " ")
    return f"{run[:4]}-{run[4:6]}-{run[6:8]} {run[9:11]}:{run[11:13]}" if run[:8].isdigit() else ""


def _charged(story: Story) -> float:
    seconds = story.seconds()
    return seconds["model"] + seconds["tests"]


def _used(amount: float, most: object, unit: str) -> str:
    shown = f"{amount:,.1f}" if unit else f"{amount:,.0f}"
    if not isinstance(most, (int, float)) or most <= 0:
        return f"{shown}{unit}"
    share = min(100.0, 100 * amount / most)
    return (
        f'{shown} of {most:,.0f}{unit}<svg class="meter" width="100%" height="5" aria-hidden="true">'
        f'<rect class="rail" width="100%" height="5" rx="2"/><rect class="used" width="{share:.1f}%" height="5" rx="2"/></svg>'
    )


def _timeline(story: Story) -> str:
    seconds = {name: value for name, value in story.seconds().items() if value >= 0.001}
    whole = sum(seconds.values())
    if not whole:
        return ""
    bars, key, left = "", "", 0.0
    for name, value in seconds.items():
        share = 100 * value / whole
        bars += f'<rect class="{name}" x="{left:.3f}%" width="{share:.3f}%" height="14"/>'
        key += (
            f'<li><span class="dot {name}"></span>{WHO.get(name, name)} '
            f"<b>{words_for(value)}</b> <span class=meta>{share:.0f} %</span></li>"
        )
        left += share
    drawn = chart(story)
    if drawn:
        drawn += f'<details class="table"><summary>The timeline as a table</summary>{table(story)}</details>'
    else:
        drawn = '<p class="meta">This trace holds no times of its events, so there is no chart.</p>'
    return (
        '<h2 id="timeline">Where the time went</h2>\n<div class="panel">'
        f'<svg class="split" width="100%" height="14" aria-hidden="true">{bars}</svg><ul class="key">{key}</ul>{drawn}</div>\n'
    )


# -- the steps ---------------------------------------------------------------------------------------------


def _start(story: Story) -> str:
    failure = _as_object(story.evidence.get("failure"))
    test = _as_object(story.evidence.get("test"))
    first = story.steps[0]
    parts = "".join(_happening(happening) for happening in first.happenings)
    if failure:
        head = f"{failure.get('type', '')}: {str(failure.get('message', '')).split(chr(10), 1)[0]}"
        place = f"{test.get('path', '')}, line {test.get('line', '')}"
        text = str(failure.get("text") or failure.get("message") or "")
        parts = (
            f'<p class="line bad">{_text(head)}</p>{parts}'
            f"<details><summary>The failure, and {_text(place)}</summary>{_code(text)}{_code(test.get('source', ''))}</details>"
        )
    return (
        '<h2>Step by step</h2>\n<section class="step" id="start"><header><h3>The failing test</h3></header>'
        f"{parts or '<p class=note>Nothing was recorded before the first step.</p>'}</section>\n"
    )


def _step(step: Step) -> str:
    said = f'<div class="said">{_text(step.text)}</div>' if step.text.strip() else ""
    tried = bool(step.of("trial"))
    return (
        f'<section class="step" id="step-{step.n}"><header><h3>Step {step.n}</h3>'
        f'<span class="meta">{_text(_turn_words(step))}</span></header>{said}'
        + "".join(_happening(happening, tried) for happening in step.happenings)
        + "</section>\n"
    )


def _turn_words(step: Step) -> str:
    words = [f"model {words_for(step.seconds)}"] if step.seconds else []
    prompt, cached = step.usage.get("prompt", 0), step.usage.get("cached", 0)
    if prompt:
        words.append(f"{prompt:,} prompt tokens, {100 * cached / prompt:.0f} % from the cache")
    if generated := step.usage.get("generated", 0):
        words.append(f"{generated:,} generated")
        if step.speed:
            words.append(f"{step.speed:.0f} tokens/s")
    return " · ".join(words)


def _happening(happening: Happening, tried: bool = False) -> str:
    """One thing that happened. In a step with a trial, the trial and the decision say how its edits ended."""
    event = happening.event
    if happening.kind == "call":
        told = tried and event.get("name") in ("edit_file", "write_file") and happening.answer is not None
        return _call(event, happening.answer, silent=told and bool((happening.answer or {}).get("ok")))
    if happening.kind == "proposal":
        return _proposal(event, happening.answer)
    if happening.kind == "trial":
        verdict = _as_object(event.get("verdict"))
        tone = _PROGRESS_TONES.get(str(verdict.get("progress")), "mid")
        return f'<p class="line {tone}">Trial: {_text(event.get("summary") or verdict.get("reason"))}</p>'
    return f'<p class="note">{_text(event.get("text"))}</p>'


def _call(event: Event, result: Event | None, silent: bool) -> str:
    rows = "".join(
        f'<div><span class="meta">{_text(name)}</span><pre>{_text(value if isinstance(value, str) else json.dumps(value))}</pre></div>'
        for name, value in _as_object(event.get("arguments")).items()
    )
    if silent:
        answer = ""
    elif result is None:
        answer = '<p class="line note">No result: the run ended here.</p>'
    else:
        tone = "good" if result.get("ok") else "bad"
        mark = "✓" if result.get("ok") else "✗"
        answer = (
            f'<p class="line"><span class="badge {tone}">{mark}</span> {_text(result.get("summary"))}</p>'
        )
    return f'<p class="call">Calls <code>{_text(event.get("name"))}</code></p><div class="arguments">{rows}</div>{answer}'


def _proposal(event: Event, decision: Event | None) -> str:
    words, tone = {
        "accept": ("accepted", "good"),
        "reject": ("rejected", "bad"),
        "partly": ("kept partly", "mid"),
    }.get(str((decision or {}).get("decision")), ("no decision", "mid"))
    reason = (
        f' <span class="note">“{_text(decision["reason"])}”</span>'
        if decision and decision.get("reason")
        else ""
    )
    confidence = (
        f' <span class="meta">confidence {_text(event["confidence"])}</span>'
        if event.get("confidence")
        else ""
    )
    return (
        f'<div class="proposal"><p><b>Proposal {_text(event.get("id"))}</b> <span class="badge {tone}">{words}</span>'
        f"{reason}{confidence}</p><p>{_text(event.get('why'))}</p>{_diffs(event.get('files'))}</div>"
    )


def _diffs(files: object) -> str:
    listed = cast("Sequence[object]", files) if isinstance(files, list) else ()
    return "".join(diff_html(str(_as_object(file).get("diff", ""))) for file in listed)


def _edits(story: Story) -> str:
    """What was written, or the best that was not."""
    if written := _diffs(story.outcome.get("edits")):
        return f"<h2>What was written</h2>\n{written}\n"
    if partial := _diffs(story.outcome.get("partial")):
        return f"<h2>The best edit, which was not written</h2>\n{partial}\n"
    return ""


def _footer(story: Story) -> str:
    started, outcome = story.started, story.outcome
    lines = [
        f"Workspace {started.get('workspace', '')}",
        f"Trace {outcome.get('trace') or started.get('trace', '')}",
    ]
    if outcome.get("edits"):
        lines.append(f"Take it back with: regreen undo {started.get('run', '')}")
    lines.append(f"Made by regreen show, version {__version__}. This page fetches nothing and sends nothing.")
    return "<footer>" + "".join(f"<p>{_text(line)}</p>" for line in lines) + "</footer>\n"


def _code(text: object) -> str:
    return f'<pre class="code" tabindex="0">{_text(str(text).rstrip())}</pre>' if str(text).strip() else ""


def _as_object(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
