"""`regreen doctor`: what it tells of the models that were tried."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from regreen.doctor import examine
from regreen.models.probe import Finding, remember


async def test_doctor_shows_how_each_model_calls_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("REGREEN_CACHE_DIR", str(cache))
    monkeypatch.setenv("REGREEN_STATE_DIR", str(tmp_path / "state"))
    remember(cache, "d1", "0.12.0", "qwen2.5:3b", Finding("native", garbled=True, known=True))
    remember(cache, "d1", "0.32.15", "qwen2.5:3b", Finding("text", known=True))
    remember(cache, "d2", "0.32.15", "phi4-mini", Finding("constrained", known=True))
    place = tmp_path / "project"
    place.mkdir()
    await examine(place, None, "http://127.0.0.1:9", as_json=True)
    found = json.loads(capsys.readouterr().out)["findings"]
    told = {finding["name"]: finding["text"] for finding in found if finding["name"].startswith("model ")}
    assert told == {
        "model phi4-mini": "calls held to a JSON schema by the server; found out with Ollama 0.32.15",
        "model qwen2.5:3b": "calls as text (the tools are described in the prompt); found out with Ollama 0.32.15",
        "model libraries": told["model libraries"],
    }
