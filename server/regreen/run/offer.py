"""What a run offers at its end where no test could decide: that a test is written."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from regreen.run.protocol import Channel
from regreen.settings import RunSettings

YES = "yes"
NO = "no"


@dataclass(frozen=True)
class Offer:
    """A follow-up run that writes a test. `task` is what is asked of it, `command` the whole command, `resume` the run
    whose change the test shall be about ("": nothing was changed)."""

    task: str
    command: str
    resume: str

    @classmethod
    def of(cls, task: str, workspace: Path, run: str, changed: bool, settings: RunSettings) -> Offer:
        """The offer of a run on a task in words."""
        told = " ".join(task.split())
        if changed:
            text = (
                f'Write a test for the change that was made for the task "{told}". It must fail without that change '
                "and pass with it. Change nothing but tests."
            )
        else:
            text = f'Write a test for the task "{told}", to see whether it is done. Change nothing but tests.'
        words = ["regreen", "ask", text, "--workspace", str(workspace), "--unlock-tests"]
        words += ["--resume", run] if changed else []
        words += ["--model", settings.model] if settings.model != "auto" else []
        words += ["--base-url", settings.base_url] if settings.base_url else []
        return cls(text, shlex.join(words), run if changed else "")

    def to_json(self) -> dict[str, str]:
        """For the outcome: what a client starts when the person wants a test."""
        return {"task": self.task, "command": self.command, "resume": self.resume}


async def wanted(channel: Channel) -> bool:
    """Ask the person whether a test shall be written now."""
    answer = await channel.ask(
        {
            "event": "question",
            "id": "write_test",
            "kind": "write_test",
            "text": "Shall a test be written that shows it? It may then change tests, and each change is shown to you.",
            "choices": [YES, NO],
            "default": NO,
        }
    )
    return answer == YES
