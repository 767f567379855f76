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
