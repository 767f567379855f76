"""From what the search found to what is proposed, offered for a choice, or told to a model."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence, Set

from regreen.agent.conversation import ToolCall
from regreen.agent.search import MOST_OPTIONS, Found, Option, differing
from regreen.repair.choice import alike, compared, doubtful
from regreen.repair.explain import call_arguments, sentence
from regreen.repair.patch import Findings, Patch
from regreen.repair.source import Edit
from regreen.testing.confidence import RISKY, confidence

NEARBY = 12
"""Lines between two edits of one file that are still shown as one."""
RIVAL = 0.4
"""Another edit that passes is a rival from this share of a patch's own score on."""
TOLD_LINES = 2
TOLD_MOVES = 2
TOLD_CHARS = 280
"""What a model is told of a search that found nothing: so many lines, edits, and characters in all."""
LINE_CHARS = 60
CHANCE = RISKY | {"off by one"}
"""Kinds of changes that move the failure of a model's own edit by chance, mostly: another number, one term more."""

Mark = tuple[str, str, str]
Texts = Callable[[str], str | None]


def groups(edits: Sequence[Edit]) -> list[list[Edit]]:
    """Edits that are shown as one: those of one file that lie near each other."""
    made: list[list[Edit]] = []
    for edit in edits:
        for group in made:
            if group[0].path == edit.path and abs(group[0].line - edit.line) <= NEARBY:
                group.append(edit)
                break
        else:
            made.append([edit])
    return made


def mark(call: Mapping[str, object]) -> Mark:
    """The same for the same change, wherever it is in a file that changed elsewhere."""
    old, new = _differing(str(call["find"]), str(call["replace"]))
    return str(call["path"]), "\n".join(old), "\n".join(new)


def _differing(find: str, replace: str) -> tuple[list[str], list[str]]:
    old, new = find.splitlines(), replace.splitlines()
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return old, new


def sure(patch: Patch, found: Findings, more_edits: int = 0) -> str:
    """How sure one may be of a patch that passes; `more_edits` were there before the search began."""
    passing = [
        other for other in found.survivors if other is not patch and len(other.green) >= len(patch.green)
    ]
    equal = [other for other in passing if not alike(other, patch, found.asked)]
    rivals = [other for other in equal if other.score >= RIVAL * patch.score]
    kinds = [edit.kind for edit in patch.edits]
    return confidence(
        None,
        tests=1 + patch.kept + len(patch.green) + patch.wider,
        turned_green=1 + len(patch.green),
        kind=kinds[-1],
        edits=len(kinds) + more_edits,
        others=len(rivals),
        unlikely=len(equal) - len(rivals),
        still_failing=max(0, found.also - len(patch.green)),
        compared=compared(patch, found.asked),
        same=len(passing) - len(equal),
        doubtful=doubtful(patch, found.asked),
    )


def found_by(findings: Findings, text: Texts, around_model: bool = False) -> Found:
    """The findings as the loop takes them. `text` gives a file as it was searched.

    `around_model`: the files held a model's edit. Then only a single small change counts as its mending (with two or
    more, a wrong edit is bent until the test passes), and where to look was said before.
    """
    patches = [p for p in findings.survivors if not around_model or len(p.edits) == 1][:MOST_OPTIONS]
    options = tuple(option(patch, findings, text, int(around_model)) for patch in patches)
    learned = "" if options else told(findings, text, around_model)
    return Found(options, learned, findings.tried, findings.seconds, not findings.finished)


def option(patch: Patch, found: Findings, text: Texts, more_edits: int = 0) -> Option:
    """A patch that passes, as calls with a sentence and the lines it changes."""
    calls: list[ToolCall] = []
    words: list[str] = []
    shown: list[str] = []
    for group in groups(patch.edits):
        whole = text(group[0].path) or ""
        arguments = call_arguments(whole, group)
        calls.append(ToolCall("edit_file", arguments))
        words.append(sentence(whole, group))
        old, new = _differing(arguments["find"], arguments["replace"])
        lines = textwrap.dedent("\n".join([*old, *new])).split("\n")
        signs = "-" * len(old) + "+" * len(new)
        diff = [sign + line for sign, line in zip(signs, lines, strict=False)]
        shown.append("\n".join([f"{group[0].path}:{group[0].line}", *diff]))
    return Option(tuple(calls), "; ".join(words) + ".", sure(patch, found, more_edits), "\n".join(shown))


def told(found: Findings, text: Texts, around_model: bool = False) -> str:
    """Where to look and what moved the failure, for a model: bounded, and "" when nothing was learned."""
    moves = _moves(found, text, CHANCE if around_model else frozenset())
    if around_model:
        none = "No small change of it passes"
        return f"{none}; one moves the failure: {moves[0]}" if moves else f"{none}." if found.tried else ""
    lines = _likely_lines(found, text)
    if not moves and not lines:
        return ""
    parts = [
        "A quick search tried " + (f"{found.tried} small edits; none passes." if found.tried else "no edit.")
    ]
    for head, items in (("These moved the failure:", moves), ("Likeliest lines:", lines)):
        parts += [f"{head}\n{items[0]}", *items[1:]] if items else []
    kept: list[str] = []
    for part in parts:
        if sum(len(line) + 1 for line in kept) + len(part) > TOLD_CHARS:
            break
        kept.append(part)
    return "\n".join(kept)


def _likely_lines(found: Findings, text: Texts) -> list[str]:
    """The likeliest lines with their files, a file named once in a row: a model was shown no numbers of lines."""
    crash = next((frame[:2] for frame in reversed(found.failure.frames)), None) if found.failure else None
    places = [(place.path, place.line) for place in found.places[:TOLD_LINES]]
    if crash and crash not in places and any(crash[0] == place.path for place in found.places):
        places.append(crash)
    lines: list[str] = []
    named = ""
    for path, line in places:
        code = _line(text(path), line)
        if code:
            head = f"{path}: " if path != named else ""
            lines.append(head + code + (" (crashed here)" if (path, line) == crash else ""))
            named = path
    return lines


def _moves(found: Findings, text: Texts, unless: Set[str]) -> list[str]:
    """The edits that moved the failure furthest, with what it is now; not those of the kinds in `unless`."""
    best = sorted(
        (p for p in found.forward if p.edits and p.failure and not unless & {edit.kind for edit in p.edits}),
        key=lambda patch: (patch.failure.place if patch.failure else (0, 0), patch.score),
        reverse=True,
    )
    moves: list[str] = []
    for patch in best[:TOLD_MOVES]:
        assert patch.failure is not None
        path = patch.edits[0].path
        call = call_arguments(text(path) or "", patch.edits)
        changed = _differing(call["find"], call["replace"])
        old, new = differing(*(" ".join(" ".join(lines).split()) for lines in changed))
        now = f"{patch.failure.type}: {patch.failure.message}".strip(": ").split("\n")[0]
        moves.append(
            f"{path}: `{_short(old)}` to `{_short(new)}`, then {_short(now.removeprefix('AssertionError: '))}"
        )
    return moves


def _line(text: str | None, number: int) -> str:
    lines = (text or "").splitlines()
    return _short(lines[number - 1]) if 1 <= number <= len(lines) else ""


def _short(code: str) -> str:
    flat = " ".join(code.split())
    return flat if len(flat) <= LINE_CHARS else flat[: LINE_CHARS - 1] + "…"
