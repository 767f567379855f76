"""Where nothing can be sealed: the person is asked once, and the answer is kept for the folder alone."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from regreen.cli import main
from regreen.run import consent
from regreen.run.protocol import NOBODY, Decision, Event, Hearing
from regreen.settings import RunSettings, state_folder
from regreen.testing.seal import bubblewrap, choose, landlock

ASKS = RunSettings(interactive=True)


class Person:
    """A channel whose person answers every question the same way."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.asked: list[Event] = []
        self.events: list[Event] = []

    def emit(self, event: Event) -> None:
        self.events.append(event)

    def listen(self, hearing: Hearing) -> None:
        pass

    async def decide(self, proposal: Event) -> Decision:
        return NOBODY

    async def ask(self, question: Event) -> str:
        self.asked.append(question)
        return self.answer


@pytest.fixture
def no_seal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "_chosen", {})
    monkeypatch.setattr(bubblewrap, "PLACES", ())
    monkeypatch.setattr(landlock, "usable", lambda: "this kernel has no Landlock")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


async def test_with_a_seal_nobody_is_asked(folder: Path) -> None:
    person = Person(consent.NO)
    assert await consent.seal_mode(ASKS, folder, person) == "require"
    assert person.asked == []


@pytest.mark.usefixtures("no_seal")
@pytest.mark.parametrize(
    ("answer", "mode", "asked_again"),
    [(consent.ONCE, "prefer", True), (consent.ALWAYS, "prefer", False), (consent.NO, "require", True)],
)
async def test_the_answer_holds_as_long_as_it_says(
    folder: Path, answer: str, mode: str, asked_again: bool
) -> None:
    first, second = Person(answer), Person(consent.NO)
    assert await consent.seal_mode(ASKS, folder, first) == mode
    question = first.asked[0]
    assert (question["default"], question["choices"][-1]) == (consent.NO, consent.NO)
    assert "apt install bubblewrap" in question["text"]
    await consent.seal_mode(ASKS, folder, second)
    assert bool(second.asked) is asked_again
    if not asked_again:
        assert "NOT sealed" in str(second.events[0]["text"])


@pytest.mark.usefixtures("no_seal")
async def test_without_anybody_to_ask_it_stays_closed_but_a_kept_answer_counts(folder: Path) -> None:
    alone = replace(ASKS, interactive=False)
    person = Person(consent.ALWAYS)
    assert await consent.seal_mode(alone, folder, person) == "require"
    assert person.asked == []
    consent.keep(folder)
    assert await consent.seal_mode(alone, folder, person) == "prefer"


@pytest.mark.usefixtures("no_seal")
async def test_another_folder_and_another_one_at_the_same_place_are_asked_for(folder: Path) -> None:
    consent.keep(folder)
    (folder / "inner").mkdir()
    assert not consent.is_kept(folder / "inner")
    folder.rename(folder.with_name("moved"))
    folder.mkdir()
    assert not consent.is_kept(folder)
    assert list(folder.iterdir()) == []
    shutil.rmtree(folder)


def test_the_answer_is_private_and_a_damaged_one_is_none(folder: Path) -> None:
    assert not consent.is_kept(folder)
    consent.keep(folder)
    (file,) = (state_folder() / "unsealed").iterdir()
    assert file.stat().st_mode & 0o077 == 0
    assert consent.is_kept(folder)
    for damaged in ("", "[]", "null", "{}", '{"workspace": 3}'):
        file.write_text(damaged)
        assert not consent.is_kept(folder)


@pytest.mark.usefixtures("no_seal")
def test_doctor_shows_a_kept_answer_and_takes_it_back(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def seal(*options: str) -> dict[str, Any]:
        main(["doctor", "--json", "--workspace", str(folder), *options])
        findings = json.loads(capsys.readouterr().out)["findings"]
        return next(finding for finding in findings if finding["name"] == "seal")

    assert seal()["level"] == "missing"
    consent.keep(folder)
    shown = seal()
    assert (shown["level"], "NOT sealed" in shown["text"]) == ("optional", True)
    assert "you allowed that" in shown["text"]
    assert shown["mend"] == f"regreen doctor --ask-again --workspace {folder}"
    assert seal("--ask-again")["level"] == "missing"
    assert not consent.is_kept(folder)
