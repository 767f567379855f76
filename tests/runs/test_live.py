"""`make live` against a server that speaks Ollama's wire: the report, and what is said when something is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runs.process import PROJECT
from scripted.fixtures import StartScripted

MODELS = ["qwen2.5:3b", "qwen2.5:0.5b"]


def live(host: str, *options: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(PROJECT / "server"), "OLLAMA_HOST": host}
    command = [sys.executable, str(PROJECT / "tests/tour/live.py"), *options]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environ)


@pytest.mark.timeout(600)
def test_a_report_tells_versions_machine_and_every_run(tmp_path: Path, scripted: StartScripted) -> None:
    server = scripted("twopart", models=MODELS)
    out = tmp_path / "reports" / "live.md"
    options = ("--model", MODELS[0], "--out", str(out), "--max-steps", "4")
    done = live(server.url.removeprefix("http://"), *options)
    assert done.returncode == 0, done.stdout + done.stderr
    text = out.read_text(encoding="utf-8")
    assert text in done.stdout
    assert f"Ollama {server.state.version} at {server.url}" in text
    assert "3.1B parameters, Q4_K_M" in text
    assert "cores" in text
    assert "seal: " in text
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if "| qwen" in line
    ]
    assert [(row[0], row[1]) for row in rows] == [
        (MODELS[0], "two-part bug, as shipped"),
        (MODELS[0], "two-part bug, the model alone"),
        (MODELS[0], "several functions, the model alone"),
    ]
    assert rows[0][2] == rows[1][2] == "fixed"
    assert rows[1][3] == "3"
    assert rows[2][2] in ("budget", "stuck")
    assert all(float(row[10]) > 0 for row in rows)
    traces = [line.partition(": ")[2] for line in text.splitlines() if line.startswith("- trace: ")]
    assert len(traces) == 3
    assert all(Path(trace).is_file() for trace in traces)
    assert "must not be:" not in text


def test_without_an_ollama_it_says_what_to_do() -> None:
    done = live("127.0.0.1:9")
    assert done.returncode == 3
    assert "no Ollama answers at http://127.0.0.1:9" in done.stderr
    assert "ollama serve" in done.stderr and "OLLAMA_HOST" in done.stderr
    assert done.stdout == ""


def test_a_missing_model_comes_with_the_command_that_fetches_it(scripted: StartScripted) -> None:
    server = scripted("twopart", models=["qwen2.5:3b", "llama3.2:latest"])
    done = live(server.url)
    assert done.returncode == 3
    assert "ollama pull qwen2.5:0.5b" in done.stderr
    assert "ollama pull qwen2.5:3b" not in done.stderr
    assert not server.turns
    assert "ollama pull qwen2.5:7b" in live(server.url, "--model", "qwen2.5:7b", "--model", "llama3.2").stderr


def test_what_is_no_address_is_one_line() -> None:
    done = live("ftp://nowhere")
    assert done.returncode == 3
    assert "not the address of a server" in done.stderr
    assert "Traceback" not in done.stderr
