"""The search and a model, each alone and both together: `python bench/together.py [--only NAME] [--sample N] [--json FILE]`.

Real `regreen fix` runs on copies of small projects with held-out tests (bench/repair/projects, bench/together/projects),
with a scripted model on Ollama's wire. The script knows the right edit of each project (bench/together/answers.json) and
is weak in a fixed way, which is printed. An outcome counts as right when the held-out tests pass too.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

BENCH = Path(__file__).resolve().parent
sys.path.insert(0, str(BENCH.parent / "tests"))

from scripted.answers import Answer, Call, Seen  # noqa: E402
from scripted.dialects import write_calls  # noqa: E402
from scripted.policies import Policy  # noqa: E402
from scripted.server import ScriptedServer  # noqa: E402

SETS = (BENCH / "repair" / "projects", BENCH / "together" / "projects")
ANSWERS = BENCH / "together" / "answers.json"
MODES = ("search", "model", "together")
SLIPS = (("<=", "<"), (">=", ">"), (" > ", " >= "), (" < ", " <= "), (" + ", " - "), ("+=", "-="), ("1", "2"))
"""Wrong operators, the first that fits the new code is put in, once."""

WRITES = frozenset(
    ("missing logic", "statement missing", "exception missing", "guard", "base case", "sort key", "statement order",
     "call wrap", "string", "syntax", "import", "name", "condition extended", "call missing")
)  # fmt: skip
"""Kinds that the scripted model gets right at the first try: something has to be written, or the text says it."""
ALMOST = frozenset(
    ("missing logic, almost", "operator", "condition boundary", "condition and/or", "off by one", "two edits", "slice",
     "argument missing", "index", "call another", "assignment")
)  # fmt: skip
"""Kinds for which it writes the right code with one wrong operator, and never finds out which."""
POLICY = f"""\
The scripted model, by kind of bug:
  right at the first try: {", ".join(sorted(WRITES))}
  the right code with one wrong operator, again and again: {", ".join(sorted(ALMOST))}
  all else: a comment above the first line to change, again and again, and then it says that it is done
  asked to choose: the number of the edit that is its right answer, if that is there, else "none"
It needs {{load:g}} s to load."""


@dataclass
class Case:
    """One run. `tokens` are new prompt tokens and generated ones; `turns` of the model."""

    project: str
    kind: str
    mode: str
    plausible: bool
    right: bool
    confidence: str
    turns: int
    tokens: int


class Weak:
    """The scripted model for one project."""

    def __init__(self, folder: Path, kind: str, edits: Sequence[dict[str, str]]) -> None:
        self.kind = kind
        self.edits = edits
        self.lines = [_changed(edit) for edit in edits]
        self.texts = {edit["path"]: (folder / edit["path"]).read_text() for edit in edits}

    def __call__(self, seen: Seen) -> Answer:
        if "Answer with the number" in seen.news:
            return Answer(self._choice(seen.news))
        if seen.turns >= 3:
            return Answer("I have fixed the bug, the test passes now.")
        calls = tuple(Call("edit_file", edit) for edit in self._answer())
        return write_calls("native", "This is what the text asks for.", calls, bool(seen.tools))

    def _choice(self, asked: str) -> str:
        question = asked[
            asked.rindex("This edit passes" if "This edit passes" in asked else "These edits pass") :
        ]
        right = {line for lines in self.lines for line in lines}
        first: dict[str, list[str]] = {}
        for number, option in re.findall(r"(?ms)^(\d)\. (.*?)(?=^\d\. |^Answer with)", question):
            mine = _places(option.removeprefix("Like 1, but "))
            first = first or mine
            places = {**first, **mine} if option.startswith("Like 1") else mine
            new = {line for lines in places.values() for line in lines}
            if len(new) == len(right) and all(any(_is(line, whole) for whole in right) for line in new):
                return str(number)
        return "none"

    def _answer(self) -> list[dict[str, str]]:
        if self.kind in WRITES:
            return list(self.edits)
        if self.kind in ALMOST:
            first, *rest = self.edits
            return [{**first, "replace": _slipped(first["replace"])}, *rest]
        first = self.edits[0]
        line = first["find"].strip("\n").split("\n")[0]
        whole = next(text for text in self.texts[first["path"]].splitlines() if line.strip() in text)
        indent = whole[: len(whole) - len(whole.lstrip())]
        return [{"path": first["path"], "find": whole, "replace": f"{indent}# looks right\n{whole}"}]


def _slipped(code: str) -> str:
    for right, wrong in SLIPS:
        if right in code:
            return code.replace(right, wrong, 1)
    return code.replace("return", "return not", 1)


def _changed(edit: dict[str, str]) -> list[str]:
    old = {_flat(line) for line in edit["find"].splitlines()}
    return [_flat(line) for line in edit["replace"].splitlines() if _flat(line) not in old]


def _places(option: str) -> dict[str, list[str]]:
    """The new lines of an option by the file they are in."""
    found: dict[str, list[str]] = {}
    path = ""
    for line in option.splitlines():
        if line[:1] not in ("+", "-"):
            path = line.partition(":")[0]
        elif line[0] == "+":
            found.setdefault(path, []).append(_flat(line[1:]))
    return found


def _is(shown: str, whole: str) -> bool:
    """Whether a line as it was shown, shortened perhaps, is that line."""
    return re.fullmatch(".*".join(map(re.escape, shown.split("…"))), whole) is not None


def _flat(code: str) -> str:
    return "".join(code.split())


def run(folder: Path, about: dict[str, Any], edits: Sequence[dict[str, str]], mode: str, load: float) -> Case:
    """One project in one mode."""
    with tempfile.TemporaryDirectory(prefix="regreen-together-") as name:
        work = Path(name) / folder.name
        shutil.copytree(
            folder, work, ignore=shutil.ignore_patterns("__pycache__", "held_out", "correct", "project.json")
        )
        policy = Policy(Weak(folder, about["kind"], edits), load_seconds=load if mode == "together" else 0.0)
        with ScriptedServer(policy) as server:
            model = ["--model", "ollama:qwen2.5:3b", "--base-url", server.url]
            options = {
                "search": ["--model", "builtin"],
                "model": [*model, "--search", "off"],
                "together": model,
            }
            command = [sys.executable, "-m", "regreen", "fix", about["target"], "--workspace", ".", "--json"]
            command += ["--approval", "never", "--seal", "prefer", "--python", sys.executable, *options[mode]]
            folders = {"REGREEN_STATE_DIR": f"{name}/state", "REGREEN_CACHE_DIR": f"{name}/cache"}
            done = subprocess.run(
                command, cwd=work, env={**os.environ, **folders}, stdin=subprocess.DEVNULL,
                capture_output=True, text=True, timeout=600, check=False,
            )  # fmt: skip
            turns = len(server.turns)
        if not done.stdout:
            raise SystemExit(done.stderr)
        outcome: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        fixed = outcome["outcome"] == "fixed"
        tokens = outcome["tokens"]
        used = tokens["prompt"] - tokens["cached"] + tokens["generated"]
        right = fixed and _held(folder, work)
        return Case(folder.name, about["kind"], mode, fixed, right, outcome["confidence"], turns, used)


def _held(folder: Path, work: Path) -> bool:
    shutil.copytree(folder / "held_out", work / "held_out")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", "held_out"]
    return subprocess.run(command, cwd=work, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0


def projects(only: str, sample: int) -> Iterator[tuple[Path, dict[str, Any], list[dict[str, str]]]]:
    """The projects with an answer; of each set every `sample`-th."""
    answers: dict[str, list[dict[str, str]]] = json.loads(ANSWERS.read_text())
    for folder in (path for each in SETS for path in sorted(each.iterdir())[::sample]):
        if folder.name in answers and only in folder.name:
            yield folder, json.loads((folder / "project.json").read_text()), answers[folder.name]


def main() -> int:
    """Run all, print the table; 0 when both together are right more often than either alone."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="projects whose name holds this")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="every N-th project of each set")
    parser.add_argument("--load", type=float, default=4.0, help="seconds the model takes to load")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    print(POLICY.format(load=options.load))
    cases: list[Case] = []
    for folder, about, edits in projects(options.only, options.sample):
        row = [run(folder, about, edits, mode, options.load) for mode in MODES]
        cases += row
        words = ["right" if c.right else "wrong" if c.plausible else "-" for c in row]
        print(f"{folder.name:20} {about['kind']:22} " + "  ".join(f"{w:6}" for w in words), flush=True)
    right: dict[str, int] = {}
    for mode in MODES:
        of = [case for case in cases if case.mode == mode]
        right[mode] = sum(case.right for case in of)
        wrong = sum(case.plausible and not case.right for case in of)
        turns, tokens = sum(case.turns for case in of), sum(case.tokens for case in of)
        print(
            f"{mode:9} right {right[mode]:3} of {len(of)}, wrong {wrong:2}; {turns} turns and {tokens} tokens of the model"
        )
    if options.json:
        options.json.write_text(json.dumps([asdict(case) for case in cases], indent=1) + "\n")
    return 0 if right["together"] > max(right["search"], right["model"]) else 1


if __name__ == "__main__":
    sys.exit(main())
