"""Failures that are not bugs in the code: what is missing around the tests, and what to do about it."""

from __future__ import annotations

import ast
import difflib
import re
import sys
from dataclasses import replace
from pathlib import Path

from regreen.testing.host import Host
from regreen.testing.interpreter import add_pytest_command
from regreen.testing.interpreter_problem import unfit_python
from regreen.testing.kept_files import link_out
from regreen.testing.kept_out import kept_out
from regreen.testing.lack import Lack
from regreen.testing.records import Reading
from regreen.testing.report import Failure, Report
from regreen.testing.seal.door import Finished

FIXTURES = {
    "mocker": "pytest-mock", "class_mocker": "pytest-mock", "benchmark": "pytest-benchmark",
    "httpx_mock": "pytest-httpx", "requests_mock": "requests-mock", "freezer": "pytest-freezer",
    "faker": "faker", "snapshot": "syrupy", "respx_mock": "respx", "httpserver": "pytest-httpserver",
    "qtbot": "pytest-qt", "aiohttp_client": "pytest-aiohttp", "event_loop": "pytest-asyncio",
    "db": "pytest-django", "django_db_setup": "pytest-django", "client": "pytest-django or pytest-flask",
    "rf": "pytest-django", "admin_client": "pytest-django", "live_server": "pytest-django",
    "settings": "pytest-django", "page": "pytest-playwright", "datadir": "pytest-datadir",
    "shared_datadir": "pytest-datadir", "file_regression": "pytest-regressions",
    "data_regression": "pytest-regressions", "celery_app": "pytest-celery", "postgresql": "pytest-postgresql",
    "anyio_backend": "anyio", "subtests": "pytest-subtests", "mock_aioresponse": "pytest-aioresponses",
}  # fmt: skip
"""Fixtures that come from a plugin, by the package to install."""

OPTIONS = {
    "--cov": "pytest-cov", "--no-cov": "pytest-cov", "-n": "pytest-xdist", "--dist": "pytest-xdist",
    "--numprocesses": "pytest-xdist", "--timeout": "pytest-timeout", "--reruns": "pytest-rerunfailures",
    "--asyncio-mode": "pytest-asyncio", "--ds": "pytest-django", "--reuse-db": "pytest-django",
    "--randomly-seed": "pytest-randomly", "--benchmark-skip": "pytest-benchmark", "--html": "pytest-html",
    "--mypy": "pytest-mypy", "--flake8": "pytest-flake8", "--black": "pytest-black", "--forked": "pytest-forked",
    "--snapshot-update": "syrupy", "--json-report": "pytest-json-report", "--nbval": "nbval",
}  # fmt: skip
"""Options that a plugin adds, by the package to install."""

PACKAGES = {
    "yaml": "pyyaml", "cv2": "opencv-python", "PIL": "pillow", "sklearn": "scikit-learn", "bs4": "beautifulsoup4",
    "dateutil": "python-dateutil", "dotenv": "python-dotenv", "jwt": "pyjwt", "attr": "attrs",
    "pkg_resources": "setuptools", "google": "google-api-python-client", "MySQLdb": "mysqlclient",
    "psycopg2": "psycopg2-binary", "serial": "pyserial", "Crypto": "pycryptodome", "jose": "python-jose",
}  # fmt: skip
"""Modules whose package has another name."""


_PYTEST_ITSELF = frozenset(("pytest", "_pytest", "pluggy", "py", "importlib_metadata", "regreen_probe"))

LEVELS_ABOVE = 2
"""So many folders above the workspace are looked at for a module that is missing in it."""


def setup_problem(report: Report) -> str:
    """One line that says what to install or change, when nothing in the code can mend it; else ""."""
    return report.problem


def problem_of(report: Report, reading: Reading, finished: Finished, python: Path, host: Host) -> Lack | None:
    """The same, worked out from everything a run left behind, and what the person's own side has."""
    install = add_pytest_command(python, host.workspace).rsplit(" ", 1)[0]
    if finished.status == "seal_failed":
        return Lack(f"the seal around the tests could not be made: {finished.detail or 'no reason given'}")
    if unfit := unfit_python(reading, finished, python):
        return Lack(unfit)
    if reading.no_pytest:
        return Lack(_no_pytest(reading.no_pytest, python, install))
    for nodeid, failure in _failures(report):
        linked = _linked_module(failure.type, failure.message, host)
        problem = _around(failure, host, install) or _newer_syntax(failure, host, report.python)
        if found := linked or (Lack(problem) if problem else kept_out(failure, nodeid, host)):
            return found
    for record in report.tests.values():
        if (
            record.outcome == "skipped"
            and "async" in record.reason
            and ("not natively supported" in record.reason or "no async plugin" in record.reason)
        ):
            return Lack(f"async tests need a plugin: add one with `{install} pytest-asyncio`")
    if reading.started or reading.internal_error or finished.status != "exited":
        nothing = _nothing_ran(report, reading)
        return Lack(nothing) if nothing else None
    return _before_start(report.output, host, install)


def _no_pytest(text: str, python: Path, install: str) -> str:
    """`import pytest` failed: because there is none, or because something in it or beside it is broken."""
    missing = re.search(r"No module named '([^']+)'", text)
    if missing is None or missing[1].partition(".")[0] == "pytest":
        return (
            f"there is no pytest in {python}: add it with `{install} pytest`"
            if missing
            else (
                f"pytest cannot be imported in {python} ({text}): install it anew with `{install} --force-reinstall pytest`"
            )
        )
    package = missing[1].partition(".")[0]
    return (
        f"pytest cannot be imported in {python}, since it needs {package}: add it with `{install} {package}`"
    )


def _failures(report: Report) -> list[tuple[str, Failure]]:
    """What stands in the way of every test: failed imports first, then failing fixtures and tests. With node ids."""
    errors = [record for record in report.tests.values() if record.outcome in ("error", "failed")]
    found = [("", failure) for failure in report.collection_errors]
    found += [(record.nodeid, record.failure) for record in errors if record.failure]
    return found if not report.passed else []


def _around(failure: Failure, host: Host, install: str) -> str:
    module = re.search(r"No module named '([^']+)'", failure.message)
    if failure.type in ("ModuleNotFoundError", "ImportError") and module:
        return missing_module(module[1], host.tree, install, host.workspace)
    fixture = re.search(r"fixture '([^']+)' not found", failure.message + failure.text)
    if fixture:
        package = FIXTURES.get(fixture[1])
        if package:
            return f"the fixture '{fixture[1]}' comes from {package}: add it with `{install} {package}`"
        there = re.search(r"available fixtures: (.*)", failure.message + failure.text)
        close = difflib.get_close_matches(fixture[1], there[1].split(", ") if there else [], 1)
        if close:
            return f"there is no fixture '{fixture[1]}': did you mean '{close[0]}'?"
        for above in list(host.workspace.parents)[:LEVELS_ABOVE]:
            if re.search(rf"\bdef {re.escape(fixture[1])}\(", _text_of(above / "conftest.py")):
                return f"the fixture '{fixture[1]}' is in {above / 'conftest.py'}, outside the workspace: add `--workspace {above}`"
        return f"there is no fixture '{fixture[1]}': write it in a conftest.py, or install the plugin that has it"
    if "async def functions are not natively supported" in failure.message + failure.text:
        return f"async tests need a plugin: add one with `{install} pytest-asyncio`"
    marker = re.search(
        r"'([^']+)' not found in `markers` configuration option", failure.message + failure.text
    )
    if marker:
        return f"the mark '{marker[1]}' is not registered: add it to `markers` in pytest's configuration"
    library = re.match(
        r"(\S*lib[\w.+-]+\.(?:so|dylib)[\d.]*): cannot open shared object file", failure.message
    )
    if failure.type in ("OSError", "ImportError") and library:
        return f"the system's library {library[1]} is not installed"
    return ""


def _text_of(file: Path) -> str:
    """A small file's text, "" when there is none."""
    try:
        return file.read_text(encoding="utf-8", errors="replace")[:200_000]
    except OSError:
        return ""


def _newer_syntax(failure: Failure, host: Host, version: str) -> str:
    """A file that does not parse in the person's older Python, and does here."""
    numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:2])
    if failure.type != "SyntaxError" or not failure.frames or not numbers or numbers >= sys.version_info[:2]:
        return ""
    path = failure.frames[-1].path
    try:
        ast.parse((host.tree / path).read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ""
    return (
        f"{path} is written for a newer Python than the {version} of this project: choose one with --python"
    )


def _linked_module(kind: str, message: str, host: Host) -> Lack | None:
    """A module that is in the workspace by a link which leads out of it, and so was not copied."""
    module = re.search(r"No module named '([^']+)'", message)
    if module is None or kind not in ("ModuleNotFoundError", "ImportError"):
        return None
    top = module[1].partition(".")[0]
    for place in (Path(), Path("src"), Path("lib")):
        for path in (place / top, place / f"{top}.py", place / Path(*module[1].split("."))):
            if linked := link_out(host.workspace, path):
                return linked
    return None


def missing_module(name: str, tree: Path, install: str, workspace: Path | None = None) -> str:
    """What to do about a module that cannot be imported; "" when that is for the code to mend.

    A part of one of the project's own packages, or a name close to one of them, is a mistake in the code. A package
    of the project that is not on the path means that the project is not installed.
    """
    top, _, rest = name.partition(".")
    places = [tree, tree / "src", tree / "lib", *_folders(tree)]
    for place in places:
        if (place / top).is_dir() or (place / f"{top}.py").is_file():
            if rest or place == tree:
                return ""
            where = place.parent if place.name == "src" else place
            if any((where / file).is_file() for file in ("pyproject.toml", "setup.py", "setup.cfg")):
                target = "." if where == tree else f"./{where.relative_to(tree).as_posix()}"
                return f"the project is not installed in its environment: run `{install} -e {target}`"
            return ""
    for above in list(workspace.parents)[:LEVELS_ABOVE] if workspace else ():
        if (above / f"{top}.py").is_file() or (above / top / "__init__.py").is_file():
            return f"the module '{top}' lies in {above}, outside the workspace {workspace}: add `--workspace {above}`"
    if _close_to_own(top, places):
        return ""
    return f"the module '{top}' is not installed: add it with `{install} {PACKAGES.get(top, top)}`"


def _folders(tree: Path) -> list[Path]:
    found: list[Path] = []
    for folder in sorted(tree.iterdir()) if tree.is_dir() else ():
        if folder.is_dir() and not folder.is_symlink() and not folder.name.startswith("."):
            found.append(folder)
            found += [inner / "src" for inner in sorted(folder.iterdir()) if (inner / "src").is_dir()]
            found += [folder / "src"] if (folder / "src").is_dir() else []
            if len(found) > 400:
                break
    return found


def _close_to_own(name: str, places: list[Path]) -> bool:
    """Whether a name looks like a slip of the pen for one of the project's own modules or the standard library's."""
    own = {entry.stem for place in places[:2] if place.is_dir() for entry in place.iterdir()}
    return bool(difflib.get_close_matches(name, [*own, *sys.stdlib_module_names], 1, 0.84))


def _nothing_ran(report: Report, reading: Reading) -> str:
    if reading.internal_error:
        marked = re.findall(
            r"^(?:INTERNALERROR> )?E?\s*(\w+(?:Error|Exception)\b.*)$", reading.internal_error, re.M
        )
        error = marked[-1] if marked else reading.internal_error.strip().split("\n")[-1]
        plugin = _plugin_in(reading.internal_error)
        return f"the pytest plugin {plugin} failed: {error}" if plugin else f"pytest itself failed: {error}"
    ran = any(record.outcome != "missing" for record in report.tests.values())
    if ran or report.collected or report.collection_errors:
        return ""
    if report.deselected:
        return (
            f"every selected test is deselected by the project's options, {report.deselected[0]} among them"
        )
    lost = re.search(r"^ERROR: (?:not found|file or directory not found): (.*)$", report.output, re.M)
    if lost:
        return f"pytest does not find the test {lost[1].split('/')[-1]}: run `regreen tests` to see what it finds"
    if report.finished and not report.timed_out:
        return "pytest collected no test: look at python_files, testpaths and --ignore in its configuration"
    return ""


def _before_start(output: str, host: Host, install: str) -> Lack:
    """pytest ended before its session began: a wrong option, or a conftest or plugin that cannot be loaded."""
    unknown = re.search(r"error: unrecognized arguments: (\S+)", output)
    if unknown:
        return Lack(_unknown_option(unknown[1].split("=")[0], install))
    conftest = re.search(r"while loading conftest '([^']+)'", output)
    plugin = "" if conftest else _plugin_named(output) or _plugin_in(output)
    module = re.findall(r"No module named '([^']+)'", output)
    if module:
        if linked := _linked_module("ImportError", f"No module named '{module[-1]}'", host):
            return linked
        if problem := missing_module(module[-1], host.tree, install, host.workspace):
            return Lack(f"the pytest plugin {plugin} cannot be loaded: {problem}" if plugin else problem)
    errors = re.findall(r"^E\s+(\S.*)$", output, re.M) or re.findall(
        r"^((?:\w+\.)*\w+(?:Error|Exception)\b.*)$", output, re.M
    )
    if conftest:
        name = Path(conftest[1]).name
        if errors and (outside := _outside(errors[-1], output, host)):
            return replace(outside, text=f"{name} cannot be loaded: {outside.text}")
        return Lack(
            f"{name} cannot be loaded: {errors[-1] if errors else 'see its traceback'}: mend it first"
        )
    if plugin and errors:
        return Lack(f"the pytest plugin {plugin} cannot be loaded: {errors[-1]}: mend or uninstall it")
    said = re.findall(r"^(?:ERROR|error|.*: error): (.*)$", output, re.M) or errors
    if said:
        return Lack(f"pytest could not start: {said[-1]}")
    last = output.strip().split("\n")[-1]
    return Lack(f"pytest ended before any test{': ' + last if last else ''}")


def _unknown_option(option: str, install: str) -> str:
    short = option if option.startswith("--") else option[:2]
    package = OPTIONS.get(option) or OPTIONS.get(short) or _by_prefix(option)
    if package:
        return f"the project's pytest options use {option}, which comes from {package}: `{install} {package}`"
    return (
        f"pytest does not know the option {option} in the project's addopts: install its plugin, or remove it"
    )


def _plugin_named(output: str) -> str:
    """The plugin that pytest says it could not import, "" when it says nothing like it."""
    named = re.search(r'Error importing plugin "([^"]+)"', output)
    return named[1] if named else ""


def _plugin_in(traceback: str) -> str:
    """The installed plugin in which a traceback ends, past pytest and what loads plugins; "" when there is none."""
    files = re.findall(r'File "([^"]+)", line \d+|^(?:INTERNALERROR> )?(\S+\.py):\d+:', traceback, re.M)
    for file in reversed([first or second for first, second in files]):
        top = re.split(r"(?:site|dist)-packages[/\\]", file)[-1] if "-packages" in file else ""
        name = re.split(r"[/\\]", top)[0].removesuffix(".py")
        if name and name not in _PYTEST_ITSELF:
            return name
    return ""


def _outside(error: str, output: str, host: Host) -> Lack | None:
    """What an exception that pytest printed says about something that is kept out of runs."""
    kind, _, message = error.partition(": ")
    return kept_out(Failure(kind.rpartition(".")[2], message, text=output), "", host)


def _by_prefix(option: str) -> str:
    for known, package in OPTIONS.items():
        if option.startswith(known) and len(known) > 2:
            return package
    return ""
