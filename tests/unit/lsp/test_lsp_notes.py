"""Words of a run that our extension listens for: they are a contract, like the names of events."""

from __future__ import annotations

import re
from pathlib import Path

from regreen.models.builtin import BuiltinModel
from regreen.models.choose import choose

RENDER = Path(__file__).parents[3] / "vscode-extension" / "src" / "render.ts"


def no_search() -> BuiltinModel:
    raise AssertionError("a named model is no search")


async def test_a_run_that_sends_code_away_says_so_in_the_words_that_the_status_bar_knows() -> None:
    (pattern,) = re.findall(r"return /(.+?)/\.test\(note\)", RENDER.read_text())
    for spec, url in (("openai:x", "http://192.0.2.1:1/v1"), ("ollama:x", "http://192.0.2.1:1")):
        said: list[str] = []
        model = await choose(spec, base_url=url, make_builtin=no_search, notes=said.append, environ={})
        await model.aclose()
        assert [note for note in said if re.search(pattern, note)], said
    said = []
    local = await choose(
        "openai:x", base_url="http://127.0.0.1:1/v1", make_builtin=no_search, notes=said.append, environ={}
    )
    await local.aclose()
    assert not [note for note in said if re.search(pattern, note)], said
