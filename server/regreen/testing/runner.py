"""Running the person's tests, sealed, and reading what the probe saw."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import secrets
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from regreen.testing.crashes import ENDED, crashed, stopped_import
from regreen.testing.host import Host
from regreen.testing.installed import installed_elsewhere
from regreen.testing.records import Reading, read_records, understand
from regreen.testing.report import Failure, Report, TestRecord
from regreen.testing.seal.allowed import allowed_in
from regreen.testing.seal.door import Access, Finished, Limits, Seal
from regreen.testing.setup_problem import problem_of
from regreen.testing.suspects import suspects_of
from regreen.testing.target import Target
from regreen.testing.warm import WarmPytest
from regreen.workspace.remove import remove_tree

PROBE = Path(__file__).parent / "probe"
"""The one folder of ours that a child process can import from."""

_RECORDS_LIMIT = 64 << 20
"""Bytes of records that are read; project code can write to the file too."""

_ALWAYS = (
    "--color=no", "--capture=fd", "--continue-on-collection-errors", "-o", "cache_dir={folder}/cache",
)  # fmt: skip
"""After the project's own addopts, so that these win. A cache folder of our own, not `-p no:cacheprovider`: that
would turn `--lf` in somebody's addopts into an unknown option. One file that cannot be imported does not keep the
others from being run."""


_ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONBREAKPOINT": "0"}


@dataclass(frozen=True, slots=True)
class _Run:
    folder: Path
    root: Path
    key: bytes


class TestRunner:
    """Runs tests of one workspace with one interpreter under one seal. Runs may overlap.

    `scratch` is a private folder outside the workspace; each run has a folder of its own in it.
    """

    __test__: ClassVar[bool] = False

    def __init__(
        self, python: Path, workspace: Path, seal: Seal, scratch: Path, limits: Limits | None = None
    ) -> None:
        self.interpreter = python
        self.workspace = workspace
        self.seal = seal
        self.limits = limits or Limits()
        self._scratch = scratch
        self._number = 0
        self._warm: WarmPytest | None = None
        self._warm_scratch = scratch

    async def run(
        self,
        tree: Path,
        selection: Sequence[str] = (),
        *,
        trace_lines: bool = False,
        wall: float | None = None,
        warm: bool = False,
        environ: Mapping[str, str] | None = None,
    ) -> Report:
        """Run the selected tests in `tree`, a trial copy of the workspace (or the workspace itself).

        `selection` holds node ids and paths relative to the workspace; nothing means whatever pytest collects
        by itself. Named tests run although the project's options deselect them. `wall` is a limit in seconds.
        `warm` allows the process that `warm_up` started; what counts for good is to be run cold as well. `environ` are
        variables that such a cold run sees beside its own. A cold run that is traced also tells what it missed.
        """
        job: dict[str, Any] = {"trace": trace_lines, "lookups": trace_lines and not warm}
        job["explicit"] = bool(selection) and all("::" in item for item in selection)
        return await self._pytest(tree, selection, job, wall, warm, environ)

    async def warm_up(self, tree: Path) -> bool:
        """Start a process that has pytest imported, for later runs in the same `tree`; False where that fails."""
        if self._warm is None or not self._warm.alive or self._warm.tree != tree:
            await self.cool_down()
            scratch = self._scratch / f"warm-{self._next()}"
            scratch.mkdir(parents=True, mode=0o700)
            access = Access(self.workspace, tree, scratch, self.interpreter, (PROBE,))
            self._warm = await WarmPytest.start(
                self.seal, access, self.limits, PROBE / "regreen_warm.py", _ENVIRONMENT
            )
            self._warm_scratch = scratch
        return self._warm is not None

    @property
    def staged(self) -> bool:
        """Whether the last warm run found all that comes before its collection done; see probe/regreen_stage.py."""
        return self._warm is not None and self._warm.staged

    async def cool_down(self) -> None:
        """End the warm process; runs are cold from now on."""
        if self._warm is not None:
            await self._warm.close()
            self._warm = None

    async def collect(self, tree: Path, selection: Sequence[str] = ()) -> Report:
        """What pytest collects, without running it."""
        return await self._pytest(tree, selection, {"collect": True}, None, False)

    async def python(self, tree: Path, code: str, wall: float = 20) -> Finished:
        """Run a text as a program in `tree`, sealed the same way as tests."""
        run = self._prepare(tree, self._scratch)
        try:
            self._write_job(run, tree, {"code": code})
            return await self._start(run, tree, wall)
        finally:
            remove_tree(run.folder)

    async def aclose(self) -> None:
        """End the warm process and remove what is left in the scratch folder."""
        await self.cool_down()
        await asyncio.to_thread(remove_tree, self._scratch)

    async def _pytest(
        self,
        tree: Path,
        selection: Sequence[str],
        job: dict[str, Any],
        wall: float | None,
        warm: bool,
        environ: Mapping[str, str] | None = None,
    ) -> Report:
        server = self._warm if warm and self._warm and self._warm.alive and self._warm.tree == tree else None
        run = self._prepare(tree, self._warm_scratch if server else self._scratch)
        try:
            shared = self._warm_scratch if server else run.folder
            job["args"] = self._arguments(run, selection, shared)
            job["cache"], job["links"] = str(shared / "cache"), str(shared / "paths")
            # pytest before 7 splits ids at every "::"; the probe then keeps the cases that are wanted.
            # A project may keep ids from being escaped, so that the one that was typed is not the one that pytest has.
            job["only"] = [item for item in selection if _needs_sorting(item)]
            self._write_job(run, tree, job)
            finished = await server.run(run.folder, _shape(job), self._limits(wall)) if server else None
            if finished is None and server:
                # It has gone meanwhile: the same once more, cold.
                return await self._pytest(tree, selection, job, wall, False)
            finished = finished or await self._start(run, tree, wall, environ)
            records = _read(run.folder / "records")
        finally:
            remove_tree(run.folder)
        timed_out = finished.status == "timeout"
        reading = understand(read_records(records, run.key), timed_out)
        collect_only = bool(job.get("collect"))
        allowed = allowed_in(self.seal)
        missed = tuple(reading.missed) if reading.listened else None
        given = frozenset(allowed.variables())
        host = Host(self.workspace, tree, allowed.network, missed=missed, given=given)
        return _report(reading, finished, selection, collect_only, self.interpreter, host)

    def _next(self) -> str:
        self._number += 1
        return f"{os.getpid()}-{self._number:05d}"

    def _limits(self, wall: float | None) -> Limits:
        return replace(self.limits, wall=wall) if wall is not None else self.limits

    def _prepare(self, tree: Path, scratch: Path) -> _Run:
        folder = scratch / f"run-{self._next()}"
        folder.mkdir(parents=True, mode=0o700)
        root = self.workspace if self.seal.mounts else tree
        return _Run(folder, root, secrets.token_bytes(32))

    def _arguments(self, run: _Run, selection: Sequence[str], folder: Path) -> list[str]:
        options = [option.format(folder=folder) for option in _ALWAYS]
        wanted = [item.partition("[")[0] if _needs_sorting(item) else item for item in selection]
        return [*options, *dict.fromkeys(_absolute(run.root, item) for item in wanted)]

    def _write_job(self, run: _Run, tree: Path, job: dict[str, Any]) -> None:
        job = {
            **job,
            "key": run.key.hex(),
            "records": str(run.folder / "records"),
            "root": str(run.root),
            "workspace": "" if run.root == self.workspace else str(self.workspace),
        }
        file = run.folder / "job.json"
        file.touch(mode=0o600)
        file.write_text(json.dumps(job), encoding="utf-8")

    async def _start(
        self, run: _Run, tree: Path, wall: float | None, environ: Mapping[str, str] | None = None
    ) -> Finished:
        access = Access(self.workspace, tree, run.folder, self.interpreter, (PROBE,))
        argv = [str(self.interpreter), str(PROBE / "regreen_pytest.py"), str(run.folder / "job.json")]
        running = await self.seal.start(argv, access, self._limits(wall), {**(environ or {}), **_ENVIRONMENT})
        try:
            return await running.wait()
        finally:
            await asyncio.shield(running.kill())


def _needs_sorting(item: str) -> bool:
    param = item.partition("[")[2]
    return "::" in param or "\\" in param or not param.isascii()


def _shape(job: Mapping[str, Any]) -> str:
    """Equal for jobs that can follow each other on the same stage, see probe/regreen_stage.py."""
    return hashlib.blake2b(json.dumps(job, sort_keys=True).encode(), digest_size=16).hexdigest()


def _absolute(root: Path, item: str) -> str:
    path, separator, names = item.partition("::")
    return str(root / path) + separator + names


def _read(file: Path) -> bytes:
    """The records file, never through a link or a pipe that project code put in its place."""
    try:
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return b""
    with open(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            return b""
        return stream.read(_RECORDS_LIMIT)


def _report(
    reading: Reading,
    finished: Finished,
    selection: Sequence[str],
    collect_only: bool,
    python: Path,
    host: Host,
) -> Report:
    output = finished.output.decode("utf-8", errors="replace")
    if stopped := stopped_import(reading.internal_error, host):
        reading.collection_errors.setdefault(*stopped)
        reading.internal_error = ""
    tests = dict(reading.tests)
    timed_out = finished.status == "timeout"
    if finished.status == "timeout":
        tests = {nodeid: _cut_short(record, finished.seconds) for nodeid, record in tests.items()}
    if not collect_only:
        tests.update(_without_record(reading, selection, timed_out))
    for nodeid, record in tests.items():
        if record.outcome == "crashed":
            tests[nodeid] = crashed(record, finished.returncode, output, host)
    report = Report(
        tests=tests,
        collected=tuple(reading.collected),
        finished=reading.finished,
        collection_errors=tuple(reading.collection_errors.values()),
        executed={path: tuple(sorted(lines)) for path, lines in reading.executed.items()},
        failed_at={path: tuple(sorted(lines)) for path, lines in reading.failed_at.items()},
        output=output,
        seconds=finished.seconds,
        timed_out=timed_out,
        deselected=tuple(reading.deselected),
        tampered=reading.tampered,
        elsewhere=reading.elsewhere,
        warnings=tuple(reading.warnings),
        pytest=reading.pytest,
        python=reading.python,
    )
    lack = problem_of(report, reading, finished, python, host)
    if lack is not None:
        lack = installed_elsewhere(lack, python, host.workspace)
        return replace(report, problem=lack.text, lack=lack)
    return replace(report, suspects=suspects_of(report, host))


def _cut_short(record: TestRecord, seconds: float) -> TestRecord:
    """A test that was running at the time limit, with the limit in its message."""
    if record.outcome != "timeout" or record.failure is None:
        return record
    said = f"{record.nodeid.split('::')[-1]} did not end in {seconds:.0f} s"
    return replace(record, failure=replace(record.failure, message=said))


def _without_record(reading: Reading, selection: Sequence[str], timed_out: bool) -> dict[str, TestRecord]:
    """Records for what was asked for and did not run: a file that failed to import, or a test not found."""
    importing = reading.started and not reading.finished and not reading.collected
    extra = {
        nodeid: TestRecord(nodeid, "missing") for nodeid in reading.collected if nodeid not in reading.tests
    }
    for item in selection:
        target = Target.from_nodeid(item)
        if any(target.covers(nodeid) for nodeid in reading.collected):
            continue
        failure = _collection_failure(reading, target.path)
        if failure is not None:
            extra[item] = TestRecord(item, "error", failure=failure)
        elif any(target.path == skipped.split("::")[0] for skipped in reading.collection_skips):
            extra[item] = TestRecord(item, "skipped", reason=reading.collection_skips.get(target.path, ""))
        elif importing:
            outcome = "timeout" if timed_out else "crashed"
            said = " took all the time there is" if timed_out else ENDED
            extra[item] = TestRecord(
                item, outcome, failure=Failure(outcome, f"importing {target.path}{said}")
            )
        elif target.names:
            extra[item] = TestRecord(item, "missing")
    return extra


def _collection_failure(reading: Reading, path: str) -> Failure | None:
    for where, failure in reading.collection_errors.items():
        place = where.split("::")[0]
        if place == path or path.startswith(place.rstrip("/") + "/") or place == "." or _package(place, path):
            return failure
    return None


def _package(place: str, path: str) -> bool:
    """Whether a collection error names the `__init__.py` of a package around the path."""
    folder, name = os.path.split(place)
    return name == "__init__.py" and bool(re.match(re.escape(folder) + "(/|$)", path))
