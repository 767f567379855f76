"""Measure the built-in search on a folder of small pytest projects with held-out tests.

    python bench/repair/run.py [FOLDER] [--python PATH] [--seal off|require] [--seconds 12] [--only NAME] [--json FILE]
        [--truth FOLDER] [--worker fork|spawn]

Each project is a folder with tests/ (what the search sees), held_out/ (what it must not see) and project.json
({"kind": ..., "target": node id}; without one, the first failing test is the target). An edit counts as
plausible when a cold pytest run of the edited copy passes the target and breaks nothing, as right when the
held-out tests pass too.

Where the right version is known (correct/PATH in the project, or TRUTH/NAME/PATH), the rank of the first line that
it changes is told among the lines the search suspected. Times are also told as time on the processors, ours and the
worker's together, which says something on a busy machine too.
"""

from __future__ import annotations

import argparse
import asyncio
import difflib
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "server"))

from regreen.agent.conversation import Reply, Request
from regreen.models.builtin import BuiltinModel
from regreen.repair.ground import SearchGround
from regreen.repair.localise import Place
from regreen.repair.related import is_test
from regreen.repair.warm import WORKERS
from regreen.testing.seal.choose import choose
from regreen.testing.seal.door import Seal

PROPOSALS = 4
"""So many proposals are looked at for one target; the loop's budget is larger, a person's patience is not."""

COLD = 60.0
"""Seconds for a cold run of a project's tests; what takes longer counts as failing."""


@dataclass
class Case:
    """One project's outcome."""

    name: str
    kind: str
    plausible: bool = False
    right: bool = False
    confidence: str = ""
    seconds: float = 0.0
    cpu: float = 0.0
    tried: int = 0
    rank: int | None = None
    survivors: int = 0
    proposals: int = 0
    edits: list[str] = field(default_factory=list)
    said: str = ""
    rivals: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Target:
    """The failing test."""

    nodeid: str

    @property
    def path(self) -> str:
        return self.nodeid.split("::")[0]


class Silent:
    """Hears nothing."""

    def text(self, delta: str) -> None: ...

    def waiting(self, reason: str) -> None: ...

    def working(self) -> None: ...


def processor_seconds() -> float:
    """Time on the processors of this process and of every child that has ended."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def changed_lines(folder: Path, truth: Path | None) -> set[tuple[str, int]]:
    """Lines of the wrong version that the right one changes; for an insertion those around it."""
    right = next(
        (f for f in (folder / "correct", truth / folder.name if truth else None) if f and f.is_dir()), None
    )
    found: set[tuple[str, int]] = set()
    if right is None and truth is not None and (truth / f"{folder.name}.py").is_file():
        pairs = [(f"{folder.name}.py", truth / f"{folder.name}.py")]
    else:
        files = sorted(right.rglob("*.py")) if right else []
        pairs = [(file.relative_to(right).as_posix(), file) for file in files] if right else []
    for path, file in pairs:
        old, new = (folder / path).read_text().splitlines(), file.read_text().splitlines()
        for tag, low, high, _, _ in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag != "equal":
                found |= {
                    (path, line) for line in (range(low + 1, high + 1) if high > low else (low, low + 1))
                }
    return found


def rank_of(changed: set[tuple[str, int]], places: Sequence[Place]) -> int | None:
    """Rank from 1 of the first suspected line that is to change; 0 when none is, None when nobody knows."""
    if not changed:
        return None
    return next((i for i, place in enumerate(places, 1) if (place.path, place.line) in changed), 0)


def outcomes(python: str, folder: Path, *selection: str) -> dict[str, bool]:
    """Test results of a cold run: node id to passed."""
    command = [
        python,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--tb=no",
        "--no-header",
        "-rA",
        *selection,
    ]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=COLD, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return {}
    lines = re.findall(r"(?m)^(PASSED|FAILED|ERROR) (\S+)", done.stdout)
    return {node: word == "PASSED" for word, node in lines}


async def one(folder: Path, python: str, seal: Seal, seconds: float, truth: Path | None) -> Case:
    """Play the loop on one project, accepting what a cold run bears out."""
    with tempfile.TemporaryDirectory(prefix="regreen-bench-") as temporary:
        work, scratch = Path(temporary) / "work", Path(temporary) / "scratch"
        shutil.copytree(
            folder, work, ignore=shutil.ignore_patterns("__pycache__", "held_out", "correct", "project.json")
        )
        scratch.mkdir()
        about = (
            json.loads((folder / "project.json").read_text()) if (folder / "project.json").exists() else {}
        )
        before = outcomes(python, work, "tests") if (work / "tests").is_dir() else outcomes(python, work)
        failing = [node for node, passed in before.items() if not passed and "::" in node]
        target = about.get("target") or (failing[0] if failing else "")
        case = Case(folder.name, about.get("kind", ""))
        if not target:
            case.said = "no failing test"
            return case
        overlay: dict[str, bytes | None] = {}

        def read(path: str) -> bytes | None:
            file = work / path
            return overlay[path] if path in overlay else file.read_bytes() if file.is_file() else None

        ground = SearchGround(
            target=Target(target), python=Path(python), workspace=work, seal=seal, scratch=scratch,
            overlay=lambda: overlay, read=read, writable=lambda path: not is_test(path), seconds=seconds,
        )  # fmt: skip
        model = BuiltinModel(ground)
        try:
            changed = changed_lines(folder, truth)
            await propose_and_try(model, case, target, before, overlay, read, folder, work, python, changed)
        finally:
            await model.aclose()
        return case


async def propose_and_try(
    model: BuiltinModel,
    case: Case,
    target: str,
    before: dict[str, bool],
    overlay: dict[str, bytes | None],
    read: Callable[[str], bytes | None],
    folder: Path,
    work: Path,
    python: str,
    changed: set[tuple[str, int]],
) -> None:
    """Ask for proposals until one is borne out; held-out tests then say whether it is right."""
    for _ in range(PROPOSALS):
        begun, used = time.monotonic(), processor_seconds()
        reply: Reply = await model.reply(Request((), ()), Silent())
        case.seconds += time.monotonic() - begun
        case.cpu += processor_seconds() - used
        if model.learned is not None and not case.proposals:
            case.rank = rank_of(changed, model.learned.places)
            case.tried, case.survivors = model.learned.tried, len(model.learned.survivors)
            case.rivals = [
                f"{p.score:.3f} {len(p.green)} {p.kept} "
                + " & ".join(f"{e.line} {e.kind} {[q.new for q in e.parts]}" for e in p.edits)
                for p in model.learned.survivors
            ]
        if not reply.calls:
            case.said = reply.text
            return
        case.proposals += 1
        kept = dict(overlay)
        for call in reply.calls:
            path, find = str(call.arguments["path"]), str(call.arguments["find"])
            text = (read(path) or b"").decode()
            assert text.count(find) == 1, (case.name, find)
            overlay[path] = text.replace(find, str(call.arguments["replace"])).encode()
        for path, data in overlay.items():
            (work / path).write_bytes(data or b"")
        after = outcomes(python, work, "tests")
        fixed = after.get(target, False) and all(after.get(node) for node, passed in before.items() if passed)
        forward = "moves on" in reply.text or "the first of" in reply.text
        if fixed or forward:
            case.edits.append(f"{reply.confidence}: {reply.text}")
            case.confidence = reply.confidence
        if fixed:
            case.plausible = True
            shutil.copytree(folder / "held_out", work / "held_out")
            held = outcomes(python, work, "tests", "held_out")
            case.right = bool(held) and all(held.values())
            return
        if not forward:
            for path in set(overlay) - set(kept):
                shutil.copy(folder / path, work / path)
            overlay.clear()
            overlay.update(kept)
            for path, data in overlay.items():
                (work / path).write_bytes(data or b"")


def show(cases: list[Case]) -> None:
    """The table, by kind, and the figures that matter."""
    kinds = sorted({case.kind for case in cases})
    for kind in kinds:
        of_kind = [case for case in cases if case.kind == kind]
        right = sum(case.right for case in of_kind)
        plausible = sum(case.plausible for case in of_kind)
        print(f"{kind or '-':24} {len(of_kind):3}   plausible {plausible:3}   right {right:3}")
    fixed = [case for case in cases if case.plausible]
    right = [case for case in fixed if case.right]
    total = max(1, len(cases))
    times = sorted(case.seconds for case in fixed)
    median = statistics.median(times) if times else 0.0
    print(
        f"{len(cases)} projects: plausible {len(fixed)} ({len(fixed) / total:.0%}), right {len(right)}",
        end=" ",
    )
    print(f"({len(right) / total:.0%}), wrong {len(fixed) - len(right)}; median {median:.2f} s to a proposal")
    tried = sum(case.tried for case in cases)
    print(
        f"{1000 * sum(case.cpu for case in cases) / max(1, tried):.1f} ms of processor time a candidate, start "
        f"and collection included ({tried} candidates); median {statistics.median(c.cpu for c in cases):.2f} s a project"
    )
    known = [case for case in cases if case.rank is not None]
    if known:
        ranks = [sum(0 < (case.rank or 0) <= most for case in known) for most in (1, 3, 5, 10)]
        print("a line to change is among the first 1/3/5/10 for", *ranks, f"of {len(known)}")
    for level in ("high", "medium", "low"):
        said = [case for case in fixed if case.confidence == level]
        print(f"  {level:6} {len(said):3}, of them wrong {sum(not case.right for case in said)}")


async def main() -> None:
    """Run them all, one after the other."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).with_name("projects"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--seal", choices=("off", "require"), default="off")
    parser.add_argument("--seconds", type=float, default=12.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--truth", type=Path, help="folder with the right versions")
    parser.add_argument(
        "--worker", choices=("fork", "spawn"), default="fork", help="spawn: as where there is no fork"
    )
    options = parser.parse_args()
    if options.worker == "spawn":
        os.environ[WORKERS] = "spawn"
    seal = (await choose(options.seal)).seal
    cases: list[Case] = []
    for folder in sorted(p for p in options.folder.iterdir() if (p / "held_out").is_dir()):
        if options.only and options.only not in folder.name:
            continue
        case = await one(folder, options.python, seal, options.seconds, options.truth)
        cases.append(case)
        word = "right" if case.right else "WRONG" if case.plausible else "-"
        print(
            f"{word:6} {case.seconds:6.2f} s {case.cpu:6.2f} s  {case.name:22} {case.kind:20} "
            f"{'; '.join(case.edits) or case.said.splitlines()[:1]}",
            flush=True,
        )
    show(cases)
    if options.json:
        options.json.write_text(json.dumps([asdict(case) for case in cases], indent=1))


if __name__ == "__main__":
    asyncio.run(main())
