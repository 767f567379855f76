"""The words of the loop: the fixed start of the prompt, and the correctives. Byte-stable inside a run."""

from __future__ import annotations

import re

from regreen.agent.conversation import Message

SYSTEM = """\
You fix Python code so that a failing test passes. The tests are run for you after every edit.
Say in one sentence what is wrong, then call edit_file with the exact lines to replace.
Tests are locked; do not special-case them.
If the test contradicts itself, answer TEST LOOKS WRONG: and the lines in conflict."""

ASK_SYSTEM = """\
You work on a Python project, on a copy of it. Look before you change: list_files, read_file, search_files.
Check what you believe with run_python or run_tests. Change code with edit_file; keep edits small.
Never change tests or their configuration: they are locked.
When the task is done, say in a few sentences what was wrong and what you changed, and call no tool."""

_UNLOCKED = {
    "Tests are locked; do not special-case them.": "You may change tests too; do not special-case them.",
    "Never change tests or their configuration: they are locked.": "You may write and change tests too.",
}

TEST_LOOKS_WRONG = re.compile(r"(?i)\btest[ _]looks[ _]wrong\b\s*:?\s*(.*)", re.DOTALL)

_CLAIM = re.compile(
    r"(?i)\b(done|fixed|resolved|solved|completed?|corrected|finished|"
    r"(?:tests?|it|everything|all)\s+(?:now\s+)?(?:pass(?:es|ed)?|succeeds?|works?)|should\s+(?:now\s+)?(?:pass|work))\b"
)
_INTENT = re.compile(
    r"(?i)\b(i\s+(?:will|would|can|could|need|must|should|am\s+going)|i'll|i'd|let\s+me|next|first|going\s+to|please)\b"
)


def opening(evidence: str, earlier: str = "", system: str = SYSTEM) -> tuple[Message, ...]:
    """The first messages of a run. `earlier` tells what a previous run tried."""
    return (Message("system", system), Message("user", f"{evidence}\n\n{earlier}" if earlier else evidence))


def unlocked(system: str) -> str:
    """The rules of a run that the person allowed to change tests."""
    for locked, free in _UNLOCKED.items():
        system = system.replace(locked, free)
    return system


def claims_done(text: str) -> bool:
    """True for a reply without a call that says the work is done, rather than what comes next."""
    return bool(_CLAIM.search(text)) and not _INTENT.search(text)


def holds_code(text: str) -> bool:
    """True when a reply shows code or what may have been meant as a call."""
    return bool(re.search(r"```|[{}]|<\w|^\s*(?:def|class|return|import) ", text, re.MULTILINE))


def looks_wrong(text: str) -> str | None:
    """What the model has against the test; None when it says no such thing."""
    match = TEST_LOOKS_WRONG.search(text)
    return match.group(1).strip() if match else None


def no_call(failure: str, example: str) -> str:
    """The answer to a reply that holds neither a call nor a claim."""
    return f"Your reply held no tool call, so nothing was changed. The target still fails:\n{failure}\nAnswer with one call, like this:\n{example}"


def not_done(failure: str) -> str:
    """The answer to a claim that the runner does not confirm."""
    return f"The runner does not confirm that: the target still fails.\n{failure}\nMake the edit that is missing."


def no_conflict_seen() -> str:
    """The answer to the first claim that the test is wrong, where no contradiction can be seen."""
    return (
        "No contradiction is visible in the test. If you are sure, answer TEST LOOKS WRONG: again and quote "
        "the lines in conflict; otherwise mend the code with edit_file."
    )


QUICK_ALONE = "Quick search for small mistakes, no model asked:"
QUICK_INSTEAD = "Quick search for small mistakes, since the model's own edit failed:"
QUICK_STUCK = "Quick search for small mistakes, since the model went in circles:"
QUICK_NOT_BORNE_OUT = (
    "That edit was tried again, and it does not hold: the target fails, or another test does."
)
"""Where a proposal of the search comes from, as a person reads it, and what a model hears of one that came to nothing."""


def quick_chosen(options: int) -> str:
    """Where a proposal comes from that a model chose."""
    among = (
        f"chosen by the model among {options} edits that pass" if options > 1 else "confirmed by the model"
    )
    return f"Quick search for small mistakes, {among}:"


def other_way(failure: str, unseen: str = "", learned: str = "") -> str:
    """The change of strategy, once a run goes in circles.

    `unseen` is code that the failure leads to, `learned` what a search for small mistakes found out.
    """
    where = (
        "the fault may be in this code, which the failure leads to"
        if unseen
        else "look at a different function of the ones shown, or read the file the failure points to"
    )
    parts = [f"You have tried that before and it did not help. Take another way: {where}."]
    parts += [part for part in (unseen, learned) if part]
    return "\n".join([*parts, f"The target still fails:\n{failure}"])


def first_sentence(text: str) -> str:
    """One sentence for a proposal, out of a reply's prose; "" when there is none."""
    plain = re.sub(r"```.*?(```|\Z)", " ", text, flags=re.DOTALL)
    plain = re.sub(r"<[^>\n]{1,40}>", " ", plain)
    plain = " ".join(plain.split())
    match = re.match(r"(.+?[.!?])(?:\s|$)", plain)
    sentence = match.group(1) if match else plain
    return sentence if len(sentence) <= 300 else sentence[:297] + "…"
