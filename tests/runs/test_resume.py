"""Going on from an earlier run's best state: it comes as a proposal, and nothing is called fixed that is not written."""

from __future__ import annotations

from pathlib import Path

from runs.process import ACCEPT_ALL, TWO_PART, Run, contents, fix, passes
from scripted.fixtures import StartScripted


def model(server: object) -> tuple[str, ...]:
    """The scripted model, and nothing beside it."""
    return ("--model", "ollama:qwen2.5:3b", "--base-url", str(getattr(server, "url")), "--search", "off")  # noqa: B009


def rejected(toy_shop: Path, *options: str) -> str:
    """A run whose every proposal is turned down; its id."""
    run = fix(toy_shop, TWO_PART, *options, said=({"decision": "reject", "proposal": "*"},))
    code, outcome = run.end()
    assert outcome["outcome"] != "fixed" and code != 0
    assert outcome["partial"]
    return str(outcome["run"])


def resume(toy_shop: Path, run: str, *options: str, said: tuple[dict[str, str], ...] = (ACCEPT_ALL,)) -> Run:
    return fix(toy_shop, TWO_PART, "--resume", run, *options, said=said)


def test_the_earlier_edits_are_shown_before_they_count(toy_shop: Path) -> None:
    before = contents(toy_shop)
    first = rejected(toy_shop, "--model", "builtin")
    assert contents(toy_shop) == before
    run = resume(toy_shop, first, "--model", "builtin")
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (0, "fixed")
    shown = {file["path"] for proposal in run.of("proposal") for file in proposal["files"]}
    assert "shop/cart.py" in shown
    assert shown == {edit["path"] for edit in outcome["edits"]}
    assert passes(toy_shop, "tests/test_cart.py"), "what is called fixed is in the files"


def test_an_earlier_fix_that_was_not_written_is_no_test_that_passes_already(
    toy_shop: Path, scripted: StartScripted
) -> None:
    options = ("--approval", "whenGreen", *model(scripted("direct")))
    first = rejected(toy_shop, *options)
    run = resume(toy_shop, first, *options)
    code, outcome = run.end()
    assert (code, outcome["outcome"]) == (0, "fixed")
    assert len(run.of("proposal")) == 1
    assert passes(toy_shop, "tests/test_cart.py")


def test_earlier_edits_of_a_file_that_changed_since_are_left_out_and_said(toy_shop: Path) -> None:
    first = rejected(toy_shop, "--model", "builtin")
    cart = toy_shop / "shop" / "cart.py"
    cart.write_text(cart.read_text() + "\n# what the person wrote since\n")
    run = resume(toy_shop, first, "--model", "builtin")
    _, outcome = run.end()
    assert any("shop/cart.py changed since then" in note["text"] for note in run.of("note"))
    assert outcome["outcome"] == "fixed"
    assert cart.read_text().endswith("# what the person wrote since\n")


def test_a_fix_that_was_turned_down_is_not_offered_as_ready(toy_shop: Path, scripted: StartScripted) -> None:
    run = fix(
        toy_shop,
        TWO_PART,
        "--approval",
        "whenGreen",
        *model(scripted("direct")),
        said=({"decision": "reject", "proposal": "*"},),
    )
    _, outcome = run.end()
    assert outcome["partial"], "it can still be looked at again"
    assert "ready" not in outcome["summary"]
    assert "that you rejected is kept" in outcome["summary"]
