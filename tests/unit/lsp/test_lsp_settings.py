"""Settings that widen the seal: passed on as options, and only in a form that no workspace can bend."""

from __future__ import annotations

import pytest

from regreen.lsp.settings import Settings


def test_what_is_allowed_becomes_options_of_the_run() -> None:
    settings, problems = Settings().updated(
        {"allowNetwork": True, "readablePaths": ["/srv/data", "~/fixtures"]}
    )
    assert problems == []
    arguments = settings.arguments()
    assert "--allow-network" in arguments
    assert arguments[-2:] == ["--readable=/srv/data", "--readable=~/fixtures"]
    plain = Settings().arguments()
    assert not any(word.startswith(("--allow", "--readable")) for word in plain)


def test_which_tests_decide_and_which_variables_they_see_are_passed_on() -> None:
    settings, problems = Settings().updated({"tests": "all", "environment": ["SHOP_URL", "CI"]})
    assert problems == []
    assert settings.arguments()[-4:] == ["--tests", "all", "--env=SHOP_URL", "--env=CI"]
    assert not any(word.startswith(("--tests", "--env")) for word in Settings().arguments())


def test_the_quick_search_can_be_switched_off() -> None:
    settings, problems = Settings().updated({"search": "off"})
    assert problems == []
    assert settings.arguments()[-2:] == ["--search", "off"]
    assert "--search" not in Settings().arguments()


@pytest.mark.parametrize(("cost", "word"), [(0.25, "0.25"), (2, "2"), (0.000001, "0.000001"), (10.0, "10")])
def test_what_a_run_may_cost_is_passed_on(cost: float, word: str) -> None:
    settings, problems = Settings().updated({"maxCost": cost})
    assert problems == []
    arguments = settings.arguments()
    assert arguments[arguments.index("--max-cost") + 1] == word
    assert "--max-cost" not in Settings().arguments(), "the run has a limit of its own"


@pytest.mark.parametrize(
    "options",
    [
        {"allowNetwork": "yes"},
        {"allowNetwork": 1},
        {"collect": "no"},
        {"readablePaths": "/srv/data"},
        {"readablePaths": ["data"]},
        {"readablePaths": ["../data"]},
        {"readablePaths": ["/srv", 3]},
        {"readablePaths": ["--seal=off"]},
        {"environment": "SHOP_URL"},
        {"environment": ["SHOP_URL=x"]},
        {"environment": ["--seal=off"]},
        {"tests": "some"},
        {"search": True},
        {"maxCost": 0},
        {"maxCost": -1},
        {"maxCost": "1"},
        {"maxCost": True},
        {"maxCost": float("nan")},
        {"maxSteps": float("inf")},
        {"maxTokens": 1.5},
    ],
)
def test_a_value_in_another_form_is_ignored_and_said(options: dict[str, object]) -> None:
    settings, problems = Settings().updated(options)
    assert settings == Settings()
    assert len(problems) == 1
    assert "ignored" in problems[0]


def test_null_takes_it_back() -> None:
    settings, _ = Settings().updated({"allowNetwork": True, "readablePaths": ["/srv"]})
    assert settings.updated({"allowNetwork": None, "readablePaths": None})[0] == Settings()


def test_collecting_is_sealed_whatever_runs_are_and_sees_what_the_person_allows() -> None:
    settings, problems = Settings().updated({"seal": "off", "allowNetwork": True, "collect": False})
    assert problems == [] and not settings.collect
    assert settings.collecting() == ["--seal", "require", "--allow-network"]
