"""A warm pytest: a process that has pytest imported, and no project code, forks once per run (Linux).

`python regreen_warm.py IN OUT WORKSPACE`: descriptors of two pipes. One line in: the path of a job (see
regreen_pytest.py), a space before it, and the job's shape: equal for jobs that differ in nothing but their own
folder and key. Jobs of one shape share a stage (regreen_stage.py), where that is possible. One line out:
{"status": wait status, "left": processes the run left behind, which were killed, "stage": bool}. What the run
prints goes into the file `out` beside the job. Standard library only, Python 3.8 and later.
"""

from __future__ import annotations

import collections
import contextlib
import gc
import importlib
import importlib.util
import json
import os
import signal
import sys
import time
from typing import Any, Callable, Dict, List, Optional

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER, prctl(2)


def adopt_orphans() -> None:
    """Make every process that a run leaves behind a child of ours, so that it can be found and ended."""
    import ctypes

    library: Any = ctypes.CDLL(None, use_errno=True)
    if library.prctl(_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def preload(workspace: str) -> None:
    """Import pytest's own plugins and those installed beside it, with assertions rewritten as pytest does.

    A plugin that is the project's own work is left to each run. Whatever fails here fails, or not, in the run.
    """
    from _pytest.assertion import install_importhook
    from _pytest.config import get_config

    own = (
        "regreen_pytest",
        "regreen_records",
        "regreen_options",
        "regreen_values",
        "regreen_trace",
        "regreen_lookups",
        "regreen_probe",
        "regreen_stage",
    )
    for name in ("pdb", "faulthandler", "readline", "unittest", "doctest", *own):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    config: Any = get_config()
    if not hasattr(config, "inicfg"):
        config.inicfg = {}  # before pytest 8 there is none as long as no configuration was read
    hook: Any = install_importhook(config)
    try:
        with contextlib.suppress(Exception):
            mark: Any = config._mark_plugins_for_rewrite
            try:
                mark(hook)
            except TypeError:
                mark(hook, False)
            for name in plugins():
                top: Any = importlib.util.find_spec(name.partition(".")[0])
                if top is not None and not str(top.origin).startswith(os.path.join(workspace, "")):
                    with contextlib.suppress(Exception):
                        importlib.import_module(name)
    finally:
        sys.meta_path.remove(hook)


def plugins() -> List[str]:
    """Modules of the installed pytest plugins."""
    from importlib.metadata import entry_points

    found: Any = entry_points()
    points: Any = found.select(group="pytest11") if hasattr(found, "select") else found.get("pytest11", ())
    return [point.value.partition(":")[0] for point in points]


def children() -> List[int]:
    with contextlib.suppress(OSError), open("/proc/self/task/%d/children" % os.getpid()) as file:
        return [int(pid) for pid in file.read().split()]
    return []


def end_leftovers(spared: int = 0) -> int:
    """Kill what a run left behind, until nothing but `spared` is left; how many there were."""
    count = 0
    end = time.monotonic() + 1
    while time.monotonic() < end:
        left = [pid for pid in children() if pid != spared]
        if not left:
            break
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                count += 1
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
    return count


def seed() -> None:
    """What chance there is must be another in every run."""
    if "random" in sys.modules:
        sys.modules["random"].seed()
    numbers: Any = sys.modules.get("numpy.random")
    if numbers is not None:
        with contextlib.suppress(Exception):
            numbers.seed()
    importlib.invalidate_caches()


def end_with(work: Callable[[], int]) -> None:
    """In a forked process: do the work, and end with the status it gives, 70 when it fails. Does not return."""
    status = 70
    try:
        status = work()
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status & 0xFF)


class StageProcess:
    """A forked process that has everything ready for jobs of one shape; `alive` until it cannot serve one."""

    def __init__(self, path: str, shape: str, others: List[int]) -> None:
        self.shape = shape
        inside, self._to = os.pipe()
        self._from, outside = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            for descriptor in (*others, self._to, self._from):
                os.close(descriptor)
            self._stand(path, inside, outside)
        os.close(inside)
        os.close(outside)
        self._answers = os.fdopen(self._from)
        self.alive = self._answers.readline() == "ready\n"
        if not self.alive:
            self.end()

    def _stand(self, path: str, inside: int, outside: int) -> None:
        """In the forked process. Does not return."""

        def stand() -> int:
            adopt_orphans()
            out = os.open(path + ".out", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(out, 1)
            os.dup2(out, 2)
            os.close(out)
            os.unlink(path + ".out")
            import regreen_pytest
            import regreen_stage

            with open(path, encoding="utf-8") as file:
                job = json.load(file)
            del job["key"]
            return regreen_pytest.run_pytest(
                job, regreen_stage.Stage(job, inside, outside, seed, end_leftovers)
            )

        end_with(stand)

    def run(self, path: str) -> Optional[int]:
        """The wait status of a run; None when the job was not taken. Raises EOFError when it was, and got lost."""
        try:
            os.write(self._to, path.encode() + b"\n")
        except OSError:
            self.end()
            return None
        answer = self._answers.readline()
        if answer:
            return int(answer)
        self.end()
        if os.path.exists(path):
            return None
        raise EOFError

    def end(self) -> None:
        """End it, and what it left."""
        self.alive = False
        if self.pid:
            with contextlib.suppress(OSError):
                os.kill(self.pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self.pid, 0)
            os.close(self._to)
            self._answers.close()
            self.pid = 0
            end_leftovers()


def run(path: str, inside: int, outside: int) -> None:
    """In the forked process: become a fresh start of regreen_pytest.py. Does not return."""

    def fresh() -> int:
        os.close(inside)
        os.close(outside)
        with contextlib.suppress(OSError):
            os.setsid()
        out = os.open(
            os.path.join(os.path.dirname(path), "out"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600
        )
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.close(out)
        seed()
        importlib.invalidate_caches()
        import regreen_pytest

        return regreen_pytest.run_pytest(regreen_pytest.take(path))

    end_with(fresh)


def main() -> None:
    inside, outside, workspace = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    sys.dont_write_bytecode = True
    adopt_orphans()
    preload(workspace)
    gc.collect()
    gc.freeze()
    os.write(outside, b'{"ready": true}\n')
    stage: Optional[StageProcess] = None
    built: Dict[str, int] = collections.defaultdict(int)
    served = 0
    with os.fdopen(inside, closefd=False) as jobs:
        for line in jobs:
            shape, _, path = line.strip().partition(" ")
            status = None
            if stage is not None and stage.shape != shape:
                stage.end()
                stage = None
            if stage is not None and stage.alive:
                status = stage.run(path)
                served += status is not None
            if status is None and 2 * built[shape] <= served + 3:
                # A set-up that changes with every edit is not worth its while for long.
                built[shape] += 1
                stage = StageProcess(path, shape, [inside, outside])
                status = stage.run(path) if stage.alive else None
                served += status is not None
            staged = status is not None
            if status is None:
                pid = os.fork()
                if pid == 0:
                    run(path, inside, outside)
                _, status = os.waitpid(pid, 0)
            left = end_leftovers(stage.pid if stage is not None else 0)
            answer = {"status": status, "left": left, "stage": staged}
            os.write(outside, json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main()
