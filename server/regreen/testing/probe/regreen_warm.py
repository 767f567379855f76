"""A warm pytest: a process that has pytest imported, and no project code, forks once per run (Linux).

`python regreen_warm.py IN OUT`: descriptors of two pipes. One line in: the path of a job (see regreen_pytest.py).
One line out: {"status": wait status, "left": processes the run left behind, which were killed}. What the run prints
goes into the file `out` beside the job. Standard library only, Python 3.8 and later.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.util
import json
import os
import signal
import sys
import time
from typing import Any, List

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

    for name in ("pdb", "faulthandler", "readline", "unittest", "doctest"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    config: Any = get_config()
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


def end_leftovers() -> int:
    """Kill what a run left behind, until nothing is left; how many there were."""
    count = 0
    end = time.monotonic() + 1
    while time.monotonic() < end:
        for pid in children():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                count += 1
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            break
    return count


def run(path: str, inside: int, outside: int) -> None:
    """In the forked process: become a fresh start of regreen_pytest.py. Does not return."""
    status = 70
    try:
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
        if "random" in sys.modules:
            sys.modules["random"].seed()
        importlib.invalidate_caches()
        import regreen_pytest

        del sys.modules["regreen_pytest"]
        status = regreen_pytest.run_pytest(regreen_pytest.take(path))
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status & 0xFF)


def main() -> None:
    inside, outside, workspace = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    sys.dont_write_bytecode = True
    adopt_orphans()
    preload(workspace)
    gc.collect()
    gc.freeze()
    os.write(outside, b'{"ready": true}\n')
    with os.fdopen(inside, closefd=False) as jobs:
        for line in jobs:
            pid = os.fork()
            if pid == 0:
                run(line.strip(), inside, outside)
            _, status = os.waitpid(pid, 0)
            answer = {"status": status, "left": end_leftovers()}
            os.write(outside, json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main()
