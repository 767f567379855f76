"""Starts pytest (or a piece of code) in the person's interpreter: `python regreen_pytest.py JOB`.

JOB is a JSON file that is read and removed before anything of the project is loaded:
{"key": hex, "records": file, "root": folder the process runs in, "workspace": the person's own folder when it is
another one, "links": folder for links to packages, "args": arguments for pytest, "explicit": only named tests, "collect": bool, "trace": bool,
"lookups": bool, "code": text to run instead of tests}. Standard library only, Python 3.8 and later.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, List

from regreen_records import Records


def take(path: str) -> Dict[str, Any]:
    """The job; its file is gone afterwards, and with it the only copy of the key."""
    with open(path, encoding="utf-8") as file:
        job = json.load(file)
    os.unlink(path)
    return job


def moved(path: str, workspace: str, root: str) -> str:
    """A path of the workspace as it is called in the trial; any other path unchanged."""
    if path == workspace or path.startswith(workspace + os.sep):
        return root + path[len(workspace) :]
    return path


def parent_of(package: str, target: str, links: str) -> str:
    """A folder in which a package's folder (or module) goes by the package's name."""
    if os.path.splitext(os.path.basename(target))[0] == package.rpartition(".")[2] or "." in package:
        return os.path.dirname(target)
    os.makedirs(links, exist_ok=True)
    if not os.path.lexists(os.path.join(links, package)):
        os.symlink(target, os.path.join(links, package))
    return links


def follow_trial(workspace: str, root: str, links: str) -> List[str]:
    """Make imports of the person's own files go to the trial; returns the folders for child processes.

    An editable install puts the workspace's absolute path on `sys.path`, or into a finder's MAPPING
    (setuptools, "Development Mode"); a virtual environment inside the workspace stays where it is. Child processes
    get no such finder mended: where a package's folder has another name, they find it by a link in `links`.
    """
    real = os.path.realpath(workspace)
    prefix = os.path.realpath(sys.prefix) + os.sep
    first: List[str] = []
    for entry in list(sys.path):
        path = os.path.realpath(entry) if entry else ""
        if path and not (path + os.sep).startswith(prefix) and moved(path, real, root) != path:
            sys.path.remove(entry)
            first.append(moved(path, real, root))
    for name, module in list(sys.modules.items()):
        if name.startswith("__editable__"):
            mapping: Dict[str, str] = getattr(module, "MAPPING", {})
            for package, path in list(mapping.items()):
                target = moved(os.path.realpath(path), real, root)
                if target != os.path.realpath(path):
                    mapping[package] = target
                    first.append(parent_of(package, target, links))
    return list(dict.fromkeys(first))


def set_path(job: Dict[str, Any]) -> None:
    """`sys.path` as `python -m pytest` would have it in the root folder."""
    root = job["root"]
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    links = job.get("links") or os.path.join(os.path.dirname(job["records"]), "paths")
    first = follow_trial(job["workspace"], root, links) if job.get("workspace") else []
    sys.path[:0] = [root, *first]
    if first or job.get("workspace"):
        os.environ["PYTHONPATH"] = os.pathsep.join([*first, root])


def run_code(code: str) -> None:
    """Run a text as the main program, with the project's modules in reach."""
    import types

    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    sys.argv = ["-c"]
    exec(compile(code, "<code>", "exec"), main.__dict__)


def run_pytest(job: Dict[str, Any], stage: Any = None) -> int:
    """Run pytest with the probe; returns its exit status. A `stage` (see regreen_stage.py) keeps the records itself."""
    sys.dont_write_bytecode = True
    records: Any = stage or Records(job["records"], bytes.fromhex(job.pop("key")))
    records.emit("python", version="%d.%d.%d" % sys.version_info[:3])
    try:
        import pytest
    except ImportError as error:
        records.emit("no_pytest", text=str(error), name=getattr(error, "name", "") or "")
        return 3
    import regreen_probe

    names = ("probe", "options", "values", "records", "trace", "lookups", "stage", "pytest")
    for name in names:
        sys.modules.pop("regreen_" + name, None)
    set_path(job)
    sys.argv = [os.path.join(os.path.dirname(pytest.__file__), "__main__.py"), *job["args"]]
    probe = regreen_probe.Probe(job, records)
    status = int(pytest.main(job["args"], plugins=[probe, *([stage] if stage else [])]))
    probe.tell_lookups()
    records.emit("end", status=status)
    return status


def main() -> None:
    job = take(sys.argv[1])
    if "code" in job:
        set_path(job)
        run_code(job["code"])
        return
    status = run_pytest(job)
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads a test left behind must not keep the process alive.
    os._exit(status)


if __name__ == "__main__":
    main()
