"""The page of a run, and the story it is made of: complete, harmless, and the same run whatever the trace lacks."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from regreen.agent.trace import read_trace
from regreen.run.show import show
from regreen.run.show_chart import all_spans
from regreen.run.show_diff import diff_html
from regreen.run.show_page import page
from regreen.run.story import INCOMPLETE, tell

ATTACK = '"><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[2K'
VERDICT = {"target": "failed", "fixed": False, "progress": "forward", "reason": "it still fails"}
DIFF = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = quantity\n+x += quantity\n"


def events(said: str = "Add to it.") -> list[dict[str, Any]]:
    """A run of one step with a refused edit and one that is accepted, which ends as stuck."""
    call = {"event": "call", "name": "edit_file"}
    return [
        {
            "event": "started",
            "run": "20261129-101500-abcd",
            "target": f"tests/test_a.py::test_{said}",
            "workspace": "/w",
            "model": "ollama:m",
            "seal": "bubblewrap",
            "approval": "everyEdit",
            "budget": {"steps": 12, "tokens": 60000, "seconds": 900.0},
            "at": 0.2,
        },
        {"event": "span", "activity": "tests", "begin": 0.3, "end": 1.3, "at": 1.3},
        {
            "event": "evidence",
            "failure": {"type": "AssertionError", "message": said, "text": said},
            "at": 1.3,
        },
        {"event": "step", "n": 1, "at": 1.4},
        {"event": "span", "activity": "loading", "begin": 1.4, "end": 2.0, "at": 2.0},
        {"event": "span", "activity": "model", "begin": 2.0, "end": 4.0, "at": 4.0},
        {
            "event": "reply",
            "n": 1,
            "text": said,
            "usage": {"prompt": 1000, "cached": 750, "generated": 40},
            "seconds": 2.0,
            "at": 4.0,
        },
        {**call, "id": "", "arguments": {"path": "a.py", "find": said, "replace": "b"}, "at": 4.0},
        {**call, "id": "", "arguments": {"path": "../b.py", "find": "a", "replace": "b"}, "at": 4.0},
        {
            "event": "result",
            "id": "",
            "name": "edit_file",
            "ok": False,
            "summary": "refused: outside",
            "at": 4.1,
        },
        {"event": "span", "activity": "tests", "begin": 4.1, "end": 5.1, "at": 5.1},
        {"event": "trial", "verdict": VERDICT, "summary": said, "at": 5.1},
        {"event": "proposal", "id": "p1", "why": said, "files": [{"path": "a.py", "diff": DIFF}], "at": 5.1},
        {"event": "span", "activity": "person", "begin": 5.1, "end": 305.1, "at": 305.1},
        {"event": "decision", "proposal": "p1", "decision": "accept", "reason": said, "at": 305.1},
        {"event": "result", "id": "", "name": "edit_file", "ok": True, "summary": "accepted", "at": 305.2},
        {
            "event": "outcome",
            "outcome": "stuck",
            "explanation": said,
            "summary": f"Not fixed: {said}\nTried: 1 edit.",
            "steps": 1,
            "tokens": {"prompt": 1000, "cached": 750, "generated": 40},
            "seconds": {"model": 2.0, "tests": 2.0, "person": 300.0, "loading": 0.6, "harness": 0.6},
            "edits": [{"path": "a.py", "diff": DIFF}],
            "at": 305.2,
        },
    ]


class _Reader(HTMLParser):
    """What a page is made of. Fails on tags that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "line", "rect", "path"):
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def of(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]


def test_a_story_gives_each_call_its_own_result() -> None:
    story = tell(events())
    assert [step.n for step in story.steps] == [0, 1]
    edits = story.steps[1].of("call")
    assert [call.answer["summary"] for call in edits if call.answer] == ["accepted", "refused: outside"]
    assert story.steps[1].of("proposal")[0].answer == events()[-3]


def test_the_page_shows_outcome_steps_calls_diff_budget_and_the_split_of_the_time() -> None:
    text = " ".join(" ".join(_Reader(page(tell(events()))).texts).split())
    for shown in (
        "Not fixed: stuck",
        "Tried: 1 edit.",
        "ollama:m",
        "290 of 60,000",
        "1 of 12",
        "4.0 of 900",
        "75 % of 1,000 prompt tokens",
        "Step 1",
        "refused: outside",
        "accepted",
        "You decide 5 min 00 s",
        "Model loads 0.60 s",
        "-x = quantity",
    ):
        assert shown in text, shown


def test_the_page_fetches_nothing_and_runs_only_what_its_policy_names() -> None:
    text = page(tell(events()))
    reader = _Reader(text)
    assert not reader.of("link") and not reader.of("img") and not reader.of("iframe")
    assert not re.search(r"https?://|url\((?!#)|@import", text)
    for tag, attributes in reader.tags:
        assert not {"src", "style"} & set(attributes), tag
        assert not [name for name in attributes if name.startswith("on")], tag
    assert all(str(link["href"]).startswith("#") for link in reader.of("a"))
    policy = next(m["content"] for m in reader.of("meta") if m.get("http-equiv") == "Content-Security-Policy")
    assert str(policy).startswith("default-src 'none'")
    for tag in ("style", "script"):
        [inside] = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.S)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in str(policy)


def test_what_a_model_or_a_test_wrote_is_text_in_the_page_and_nothing_else() -> None:
    wicked = events(ATTACK)
    text = page(tell(wicked))
    reader = _Reader(text)
    assert len(reader.of("script")) == 1
    assert not reader.of("img")
    assert "\u202e" not in text and "\x1b" not in text
    assert text.count("\\u202e") >= 8
    plain = page(tell(events("x")))
    assert [tag for tag, _ in reader.tags] == [tag for tag, _ in _Reader(plain).tags]


def test_every_stretch_of_time_is_a_bar_with_words_that_the_keyboard_reaches_and_a_row_of_the_table() -> None:
    story = tell(events())
    reader = _Reader(page(story))
    bars = [link for link in reader.of("a") if link.get("class") == "bar"]
    spans = all_spans(story)
    assert len(bars) == len(spans) == len(reader.of("tr")) - 1
    assert all(bar["aria-label"] and bar["href"] in ("#start", "#step-1") for bar in bars)
    assert sum(span.end - span.begin for span in spans) == pytest.approx(305.2)
    ids = {attributes["id"] for _, attributes in reader.tags if "id" in attributes}
    assert {"start", "step-1", "timeline", "detail"} <= ids


def test_a_long_wait_for_a_person_does_not_push_the_rest_together() -> None:
    text = page(tell(events()))
    assert "drawn shorter than it was" in text
    width = {
        kind: float(w)
        for kind, w in re.findall(r'class="(\w+)" x="[\d.]+%" y="[\d.]+" width="([\d.]+)%"', text)
    }
    assert width["person"] < width["model"]
    places = [
        (float(x), float(w)) for x, w in re.findall(r'x="([\d.]+)%" y="[\d.]+" width="([\d.]+)%"', text)
    ]
    assert all(x >= 0 and x + w <= 100.01 for x, w in places)


def test_a_trace_that_was_cut_is_said_to_be_incomplete() -> None:
    story = tell(events()[:9])
    assert not story.finished
    text = page(story)
    assert INCOMPLETE.capitalize() in text
    assert "No result: the run ended here." in text


def test_a_trace_without_times_has_no_chart_and_all_the_rest() -> None:
    plain = [{k: v for k, v in e.items() if k != "at"} for e in events() if e["event"] != "span"]
    text = page(tell(plain))
    assert "holds no times" in text
    assert "You decide" in text
    assert '<svg class="chart"' not in text


def test_lines_of_a_trace_that_make_no_sense_do_not_keep_it_from_being_shown() -> None:
    odd: list[dict[str, Any]] = [
        {"event": "started"},
        {"event": "step"},
        {"event": "call"},
        {"event": "result"},
        {"event": "proposal", "files": "none"},
        {"event": "trial"},
        {"event": "reply", "usage": 3, "seconds": "long"},
        {"event": "span", "activity": "dance", "begin": "now"},
        {"event": "budget"},
        {"event": "outcome", "tokens": [], "edits": {}},
        {"nothing": True},
    ]
    assert "<h1>" in page(tell(odd))


ODD: tuple[Any, ...] = (None, -1, "", "x", [], {}, [1], {"a": 1}, 10**30, float("nan"), float("inf"))


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_a_value_of_another_kind_hides_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], value: Any
) -> None:
    told: list[dict[str, Any]] = []
    for event in events("Add to it"):
        for name in event:
            told += [{**event, name: value}] if name != "event" else []
        told.append(event)
    trace = tmp_path / "trace.jsonl"
    trace.write_text("".join(json.dumps(event) + "\n" for event in told))
    assert show(str(trace), None) == 0
    assert "Add to it" in capsys.readouterr().out
    assert show(str(trace), tmp_path / "run.html") == 0
    assert "Add to it" in (tmp_path / "run.html").read_text(encoding="utf-8")


def test_a_line_that_cannot_be_shown_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = tmp_path / "trace.jsonl"
    told = [{"event": "started", "at": 0.0}, *events()[1:]]
    trace.write_text("".join(json.dumps(event) + "\n" for event in told))
    show(str(trace), None)
    assert "A line of the trace cannot be shown: started, 0.0 s." in capsys.readouterr().out


@pytest.mark.parametrize(
    "left", [b'{"event": "text", "delta": "gr\xc3', b"\x00\x00\x00", b"{" * 5, b"\xff\xfe"]
)
def test_a_trace_that_was_cut_in_the_middle_is_shown_up_to_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], left: bytes
) -> None:
    trace = tmp_path / "trace.jsonl"
    whole = "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in events("größer")[:-1])
    trace.write_bytes(whole.encode() + left)
    assert show(str(trace), None) == 0
    assert "größer" in (out := capsys.readouterr().out) and INCOMPLETE.capitalize() in out
    assert "größer" in page(tell(read_trace(trace)))


def test_what_is_not_verified_says_why_on_its_page_too() -> None:
    outcome = {
        "event": "outcome",
        "outcome": "not_verified",
        "explanation": "It divides by the number now.",
        "summary": "Not verified: There are no tests. What a check printed: 3.0\nNo file was changed.",
    }
    text = page(tell([*events()[:-1], outcome]))
    assert "There are no tests. What a check printed: 3.0" in text
    assert "It divides by the number now." in text and "No file was changed." in text


def test_text_that_streams_stays_on_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = tmp_path / "trace.jsonl"
    stream = [
        {"event": "step", "n": 1},
        {"event": "text", "delta": "It adds "},
        {"event": "span", "activity": "model", "begin": 0.0, "end": 1.0},
        {"event": "text", "delta": "twice."},
        {"event": "note", "text": "next"},
    ]
    told = [events()[0], *stream]
    trace.write_text("".join(json.dumps(event) + "\n" for event in told))
    show(str(trace), None)
    assert "It adds twice.\nnext\n" in capsys.readouterr().out


def test_a_changed_line_shows_where_it_changes() -> None:
    html = diff_html("-x = quantity\n+x += quantity\n")
    assert 'class="del">-x = quantity' in html
    assert "+x <mark>+</mark>= quantity" in html


def test_a_page_is_written_where_it_was_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_text("".join(json.dumps(event) + "\n" for event in events()))
    assert show(str(trace), tmp_path / "run.html") == 0
    assert str(tmp_path / "run.html") in capsys.readouterr().out
    assert (tmp_path / "run.html").read_text(encoding="utf-8") == page(tell(read_trace(trace)))


def test_the_terminal_ends_with_time_tokens_cache_and_budget(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "trace.jsonl"
    told = [*events()[:-1], {"event": "budget", "steps": 1, "max_steps": 12, "tokens": 290, "max_tokens": 60000,
            "seconds": 4.0, "max_seconds": 900.0}, events()[-1]]  # fmt: skip
    trace.write_text("".join(json.dumps(event) + "\n" for event in told))
    show(str(trace), None)
    out = capsys.readouterr().out
    assert "Time: model 2.0 s (1 %) · tests 2.0 s (1 %) · you 300.0 s (98 %)" in out
    assert "750 of 1,000 prompt tokens from the prompt cache (75 %)" in out
    assert "Budget: step 1 of 12 · 290 of 60,000 tokens · 4.0 of 900 s" in out
    assert INCOMPLETE not in out
