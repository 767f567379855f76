"""Letting a model choose among edits that all pass: the question, and the answer in whatever form it comes."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from regreen.agent.conversation import Reply
from regreen.agent.search import MOST_OPTIONS, Option, differing, same_edit

DIFF_CHARS = 420
"""An option's lines are cut above this, so that five of them stay a short question."""

_KEY = r"(?:choice|choose|chosen|option|number|edit|answer|pick|selection|selected)"
_KEYED = re.compile(
    rf'(?i)\\*["\']{_KEY}(?:_?(?:number|id|index))?\\*["\']\s*:\s*\\*["\']?\s*(?:{_KEY}\s*)?#?(\d+|none|null)\b'
)
_CALLED = re.compile(r"(?i)\b\w+\(\s*(?:" + _KEY + r"\s*=\s*)?[\"']?#?(\d|none)[\"']?\s*\)")
_BARE = re.compile(
    r"^[\W_]*(?:(?:the\s+)?" + _KEY + r"\b[\W_]*(?:is\b[\W_]*)?)?(\d+)\b(?!\s*[/%:]\s*\d)", re.IGNORECASE
)
_PICKED = re.compile(
    r"(?i)\b(?:choose|chose|pick|picked|select|take|prefer|apply|go(?:ing)?\s+with|answer(?:\s+is)?|choice(?:\s+is)?|"
    r"best(?:\s+\w+)?\s+is|right(?:\s+\w+)?\s+is|correct(?:\s+\w+)?\s+is)\b[^.\n\d]{0,30}?(\d+)\b"
)
_PRAISED = re.compile(
    r"(?i)\b(\d+)\b[)\]`*:.]*\s+(?:is|looks|seems|would\s+be)\s+(?:the\s+)?(?:most\s+|only\s+)?"
    r"(?:right|correct|best|better|good|likely|natural|proper|one\b)"
)
_NAMED = re.compile(r"(?i)(?:\b(?:option|edit|number|choice|no\.)\s*[#:]?\s*|#\s*)(\d+)\b")
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_NONE = re.compile(
    r"(?i)^\W*(?:none\b|neither\b|no\W*$|0\W*$|null\b|nothing\b)|\b(?:none|neither|not\s+any|no\s+one)\s+(?:of|is|are)\b|"
    r"\ball\s+(?:of\s+(?:them|these)\s+)?(?:are\s+)?wrong\b|(?:answer|choice|choose|pick)\W{1,4}(?:is\W{1,3})?none\b"
)


def question(options: Sequence[Option], shown: str = "") -> str:
    """The question put to a model once, behind the evidence. `shown` is that evidence: lines in it are not said again."""
    many = len(options) > 1
    lines = [
        "These edits pass, perhaps by chance. Is one right?"
        if many
        else "This edit passes, perhaps by chance. Is it right?"
    ]
    known = {line.strip() for line in shown.splitlines()}
    parts = [_parts(option.diff) for option in options[:MOST_OPTIONS]]
    for number, mine in enumerate(parts, 1):
        other = [part for part in mine if part not in parts[0]] if number > 1 else mine
        alike = 0 < len(other) < len(mine)
        told = "\n".join(_told(part, known) for part in (other if alike else mine))
        lines.append(f"{number}. {'Like 1, but ' if alike else ''}{_cut(told)}")
    lines.append('Answer with the number or "none".')
    return "\n".join(lines)


def _parts(diff: str) -> list[list[str]]:
    """The places of an option, each with its lines out and in."""
    parts: list[list[str]] = []
    for line in diff.split("\n"):
        if line[:1] in ("-", "+") and parts:
            parts[-1].append(line)
        else:
            parts.append([line])
    return parts


def _told(part: Sequence[str], known: Set[str]) -> str:
    """One place: its new lines, and the old ones where the model has not seen them. Of a long line that changes in one
    spot, that spot."""
    place, *lines = part
    old, new = ([line for line in lines if line[0] == sign] for sign in "-+")
    if new and all(line[1:].strip() in known for line in old):
        if len(old) == len(new):
            new = [f"+{differing(was[1:], now[1:])[1]}" for was, now in zip(old, new, strict=True)]
        if old:  # it knows the place by the line; numbers of lines it has never seen
            place = place.rpartition(":")[0]
        return "\n".join([place, *new])
    return "\n".join([place, *lines])


def own_edit(result: str = "") -> str:
    """What a model is told when it chose none, or its choice came to nothing (`result` says how)."""
    said = result or "None of them, then."
    return f"{said}\nMake the edit yourself with edit_file."


def chosen(reply: Reply, options: Sequence[Option]) -> int | None:
    """What a reply chose: the index of an option, or None when it refuses all, or says something else altogether.

    Calls count when they are the very edit of an option; any other call is an edit of the model's own.
    """
    if reply.calls:
        return next((i for i, option in enumerate(options) if same_edit(reply.calls, option)), None)
    number = _number(reply.text.strip(), len(options))
    if number is None and reply.raw:
        number = _keyed(reply.raw)
    return number - 1 if number is not None and 1 <= number <= len(options) else None


def refuses(reply: Reply) -> bool:
    """Whether a reply says in so many words that none of the options is right."""
    if reply.calls:
        return False
    number = _number(reply.text.strip(), 0)
    return (_keyed(reply.raw) if number is None and reply.raw else number) == 0


def _number(text: str, most: int) -> int | None:
    """The one number that a text means; 0 for a refusal, None when it cannot be told."""
    if not text:
        return None
    keyed = _keyed(text)
    if keyed is not None:
        return keyed
    if _NONE.search(text):
        return 0
    text = _without_denials(text)
    if bare := _BARE.match(text):
        rest = text[bare.end() :].strip(" .):*`\"'\n")
        if not rest or not re.search(r"(?m)^\W*[1-9]\b", rest):
            return int(bare.group(1))
    for pattern in (_PICKED, _PRAISED, _NAMED):
        found = {int(number) for number in pattern.findall(text)}
        if len(found) == 1:
            return found.pop()
    words = {
        i for i, word in enumerate(_ORDINALS[:most], 1) if re.search(rf"(?i)\bthe\s+{word}\b(?!\s+add)", text)
    }
    if len(words) == 1:
        return words.pop()
    numbers = {int(n) for n in re.findall(r"(?<![\w.])(\d)(?![\w.]*\d)", text)}
    return numbers.pop() if len(numbers) == 1 and len(text) <= 60 else None


def _keyed(text: str) -> int | None:
    """The value in JSON of some kind, `{"choice": 2}`, wherever it stands."""
    found = {int(n) if n.isdigit() else 0 for n in (*_KEYED.findall(text), *_CALLED.findall(text))}
    return found.pop() if len(found) == 1 else None


def _without_denials(text: str) -> str:
    """The text without the numbers that it speaks against."""
    text = re.sub(
        r"(?i)\b(?:not|never|than|instead\s+of|rather\s+than|unlike)\s+(?:options?|edits?|numbers?|#)?\s*\d+\b"
        r"(?:(?:\s*,|\s*,?\s*(?:or|and|nor))\s*\d+\b)*",
        " ",
        text,
    )
    return re.sub(
        r"(?i)\b(?:option|edit|number|#)?\s*\d+\b\W{0,3}(?:is|are|would|only|just|does|looks|seems)\s+"
        r"(?:not|n't|be\s+wrong|wrong|incorrect|hides?|a\s+hack|only|just|special)[^.,;\n]*",
        " ",
        text,
    )


def _cut(diff: str) -> str:
    return diff if len(diff) <= DIFF_CHARS else diff[: DIFF_CHARS - 1].rstrip() + "…"
