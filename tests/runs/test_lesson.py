"""The lesson of toy_repo/README.md: every command in it does what the text around it says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from runs.process import PROJECT, contents, passes
from scripted.fixtures import StartScripted
from scripted.policies import POLICIES

LESSON = (PROJECT / "toy_repo/README.md").read_text(encoding="utf-8")
EXERCISES = re.split(r"(?m)^\d\. ", LESSON.partition("Four exercises")[2])[1:]
TYPED = ("r it forgets what was there\ny\ny\n", "", "", "")
ENDS = ((0, "Fixed: "), (1, "the budget is used up"), (1, "Not fixed"), (0, "Fixed: "))
SHOWN = (
    ("assert 300 == 400", "assert 350 == 400", "rejected: it forgets what was there", "assert 380 == 360"),
    ("Tried: ", "Where it stands: ", "What to try next: "),
    ("outside the workspace", "locked"),
    ("self.quantities[sku] += quantity",),
)


def regreen(line: str, folder: Path, host: str, typed: str) -> subprocess.CompletedProcess[str]:
    program, *arguments = shlex.split(line)
    assert program == "regreen"
    environ = {
        **os.environ,
        "PYTHONPATH": str(PROJECT / "server"),
        "OLLAMA_HOST": host.removeprefix("http://"),
    }
    return subprocess.run(
        [sys.executable, "-m", "regreen", *arguments],
        cwd=folder,
        input=typed,
        capture_output=True,
        text=True,
        env=environ,
    )


@pytest.mark.parametrize("number", range(4))
def test_an_exercise_of_the_lesson_goes_as_the_text_says(
    number: int, toy_shop: Path, scripted: StartScripted
) -> None:
    text = EXERCISES[number]
    policy = re.search(r"`--policy (\w+)", text)
    assert policy and policy[1] in POLICIES
    commands = re.findall(r"(?m)^ +(regreen .*)$", text)
    assert commands
    before = contents(toy_shop)
    server = scripted(policy[1])
    done = regreen(commands[0], toy_shop, server.url, TYPED[number])
    code, said = ENDS[number]
    assert done.returncode == code, done.stdout + done.stderr
    assert said in done.stdout
    for words in SHOWN[number]:
        assert words in done.stdout, words
    assert server.turns
    fixed = code == 0
    assert (contents(toy_shop) != before) == fixed
    if fixed:
        assert passes(toy_shop, "tests/test_cart.py")
        assert regreen("regreen undo", toy_shop, server.url, "").returncode == 0
    assert contents(toy_shop) == before
    assert [entry.name for entry in toy_shop.parent.iterdir()] == [toy_shop.name]


def test_the_scripted_model_starts_as_the_lesson_says() -> None:
    [line] = re.findall(r"(?m)^cd tests && \S+python (-m scripted .*)$", LESSON)
    arguments = [*shlex.split(line.replace("11500", "0"))]
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=PROJECT / "tests",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        assert process.stdout.readline().startswith("http://127.0.0.1:")
    finally:
        process.kill()
        process.wait(10)
        if process.stdout:
            process.stdout.close()
