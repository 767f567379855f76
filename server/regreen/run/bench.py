"""The bench: what the loop and the tools may see and run of the project, over the draft of one run."""

from __future__ import annotations

from collections.abc import Mapping

from regreen.agent.budget import Clock
from regreen.run.proposals import Desk
from regreen.testing.evidence import cut
from regreen.testing.looks_wrong import lines_in_conflict
from regreen.testing.report import Report
from regreen.testing.runner import TestRunner
from regreen.testing.seal.door import Finished
from regreen.testing.target import Target
from regreen.tools.results import failure_text
from regreen.workspace.changes import sha256
from regreen.workspace.draft import Draft
from regreen.workspace.names import PathRefused
from regreen.workspace.trial import Trial

SHOWN_FAILURES = 3
UNSEEN_LINES = 60
"""Code shown around a frame that the evidence did not hold."""

SNIPPET_SECONDS = 20.0
SNIPPET_CHARS = 4_000


class Bench:
    """Runs the target, other tests and snippets on the draft, sealed; answers the loop's questions."""

    def __init__(
        self,
        target: Target,
        draft: Draft,
        desk: Desk,
        trial: Trial,
        runner: TestRunner,
        clock: Clock,
        shown: list[str],
    ) -> None:
        self._target = target
        self._draft = draft
        self._desk = desk
        self._trial = trial
        self._runner = runner
        self._clock = clock
        self._shown = list(shown)

    # -- for the tools -------------------------------------------------------------------------------

    async def run(self, path: str | None) -> str:
        """Run the target, or the tests of a path, on the draft; the result as text for the model."""
        return await self._run_selection([path or self._target.nodeid])

    async def _run_selection(self, selection: list[str]) -> str:
        with self._clock.spend("tests"):
            tree = self._trial.prepare(self._draft.overlay())
            report = await self._runner.run(tree, selection)
        return report_text(report)

    async def python(self, code: str) -> str:
        """Run a snippet on the draft; what it printed and how it ended."""
        with self._clock.spend("tests"):
            tree = self._trial.prepare(self._draft.overlay())
            finished = await self._runner.python(tree, code, wall=SNIPPET_SECONDS)
        return snippet_text(finished)

    # -- for the loop --------------------------------------------------------------------------------

    def files_in_play(self) -> Mapping[str, str]:
        """The files shown to the model and those it has edited, as they are in the draft."""
        edited = [change.path for change in (*self._draft.pending(), *self._desk.written)]
        texts: dict[str, str] = {}
        for path in dict.fromkeys([*self._shown, *edited]):
            try:
                text = self._draft.text(path)
            except (PathRefused, OSError):
                continue
            if text is not None:
                texts[path] = text
        return texts

    def fingerprint(self) -> str:
        """Equal when the draft holds the same files."""
        texts = sorted(self.files_in_play().items())
        return sha256(repr(texts).encode("utf-8", "backslashreplace"))

    def failure(self) -> str:
        """The target's last known failure, as text for the model."""
        return failure_text(self._desk.failure)

    def failure_key(self) -> str:
        """Equal for failures that are the same as far as progress is concerned."""
        return repr(self._desk.failure.signature) if self._desk.failure else ""

    def unseen(self) -> str:
        """The lines around the innermost frame of the failure whose file was not shown yet, or ""."""
        failure = self._desk.failure
        for frame in reversed(failure.frames if failure else ()):
            if frame.path in self._shown or frame.path == self._target.path:
                continue
            try:
                lines = (self._draft.text(frame.path) or "").splitlines()
            except (PathRefused, OSError):
                continue
            if 1 <= frame.line <= len(lines):
                self._shown.append(frame.path)
                first = max(1, frame.line - UNSEEN_LINES // 2)
                part = lines[first - 1 : first - 1 + UNSEEN_LINES]
                title = f"{frame.path}, lines {first}-{first - 1 + len(part)} of {len(lines)}"
                return "\n".join([f"{title}:", "```python", *part, "```"])
        return ""

    async def confirmed(self) -> bool:
        """Whether the runner agrees that the draft is fixed. Raises the Stop a late proposal leads to."""
        settled = await self._desk.confirm()
        if settled.stop:
            raise settled.stop
        return bool(settled.verdict and settled.verdict.fixed)

    def conflict_in_test(self) -> str:
        """The lines in which the target contradicts itself, or ""."""
        source = self._draft.text(self._target.path)
        return lines_in_conflict(source or "", self._target.names)

    @property
    def rejected(self) -> bool:
        """True when the last proposal was turned down by the person."""
        return self._desk.rejected


def report_text(report: Report) -> str:
    """A run as a model reads it: counts, and the first failures."""
    if report.problem:
        return report.problem
    failed = [report.tests[nodeid] for nodeid in report.failed]
    lines = [f"{len(report.passed)} passed, {len(failed)} failed."]
    for record in failed[:SHOWN_FAILURES]:
        lines.append(f"{record.nodeid} {record.outcome}:")
        lines.append(failure_text(record.failure) or "no details")
    if len(failed) > SHOWN_FAILURES:
        lines.append(f"[{len(failed) - SHOWN_FAILURES} more failures]")
    if report.timed_out:
        lines.append("The run took too long and was ended.")
    return "\n".join(lines)


def snippet_text(finished: Finished) -> str:
    """How a snippet ended, with head and tail of what it printed."""
    printed = finished.output.decode("utf-8", "replace").strip()
    printed = cut(printed, SNIPPET_CHARS)
    if finished.status == "timeout":
        return f"The program was ended after {finished.seconds:.0f} s.\n{printed}"
    if finished.status != "exited":
        return f"The program was ended: {finished.status.replace('_', ' ')}.\n{printed}"
    return (
        f"exit code {finished.returncode}\n{printed}"
        if printed
        else f"exit code {finished.returncode}, no output"
    )
