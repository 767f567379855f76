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


@pytest.mark.parametrize(
    "options",
    [
        {"allowNetwork": "yes"},
        {"allowNetwork": 1},
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
