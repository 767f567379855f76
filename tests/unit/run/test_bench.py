"""The bench: what the loop may see of a project while it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from regreen.agent.budget import Clock
from regreen.run.bench import UNSEEN_LINES, Bench
from regreen.testing.report import Failure, Frame
from regreen.testing.target import Target
from regreen.workspace.draft import Draft
from regreen.workspace.root import Workspace


class Failing:
    """A desk of which only the last failure is asked."""

    def __init__(self, *places: tuple[str, int]) -> None:
        frames = tuple(Frame(path, line, "f") for path, line in places)
        self.failure = Failure("AssertionError", "1 != 2", frames=frames)
        self.written: tuple[Any, ...] = ()


def bench(folder: Path, desk: Failing, shown: list[str]) -> Bench:
    (folder / "cart.py").write_text("def total():\n    return rate()\n")
    (folder / "tax.py").write_text("".join(f"LINE_{n} = {n}\n" for n in range(1, 201)))
    draft = Draft(Workspace.open(folder).read)
    nothing = cast(Any, None)
    return Bench(Target("test_cart.py"), draft, cast(Any, desk), nothing, nothing, Clock(), shown)


def test_code_that_the_failure_leads_to_is_shown_once_the_innermost_first(tmp_path: Path) -> None:
    made = bench(
        tmp_path, Failing(("test_cart.py", 3), ("cart.py", 2), ("tax.py", 100), ("gone.py", 1)), ["other.py"]
    )
    first = made.unseen()
    assert first.startswith("tax.py, lines 70-129 of 200:\n```python\nLINE_70 = 70\n")
    assert first.count("LINE_") == UNSEEN_LINES
    assert made.unseen().startswith("cart.py, lines 1-2 of 2:")
    assert made.unseen() == ""
    assert "tax.py" in made.files_in_play()


def test_what_the_evidence_held_is_not_shown_again(tmp_path: Path) -> None:
    assert bench(tmp_path, Failing(("cart.py", 2)), ["cart.py"]).unseen() == ""
