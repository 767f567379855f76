"""Whether there is anything to fix: what the first run of a target says before a model is asked."""

from __future__ import annotations

import ast

from regreen.agent.stops import AlreadyPassing, SetupProblem
from regreen.errors import UsageError
from regreen.testing.doctests import is_doctest
from regreen.testing.report import Report
from regreen.testing.setup_problem import setup_problem
from regreen.testing.target import Target


def check_fixable(target: Target, test_source: str, report: Report) -> None:
    """Raise the Stop for a target that needs no fix or cannot have one, UsageError for one that is not there."""
    doctest = is_doctest(target) or not target.path.endswith(".py")
    if broken := "" if doctest else _syntax_error(target.path, test_source):
        raise SetupProblem(broken)
    if all(record.outcome == "missing" for record in report.tests.values()) and report.finished:
        more = (
            " Doctests are collected with --doctest-modules in pytest's addopts."
            if is_doctest(target)
            else ""
        )
        raise UsageError(f"There is no test {target.nodeid}. `regreen tests` lists those there are.{more}")
    if problem := setup_problem(report):
        raise SetupProblem(problem)
    if not report.failed:
        if report.passed:
            raise AlreadyPassing(f"{target.nodeid} passes already; nothing was changed.")
        raise SetupProblem(f"{target.nodeid} {_why_not_run(report)}, so there is nothing to turn green.")


def _why_not_run(report: Report) -> str:
    """How the tests of a report that neither passed nor failed ended, with their own words."""
    words = {
        "skipped": "is skipped",
        "xfailed": "is expected to fail",
        "xpassed": "passes though it is expected to fail",
    }
    for record in report.tests.values():
        if record.outcome in words:
            reason = record.reason.strip().removeprefix("Skipped:").strip().split("\n")[0]
            return f"{words[record.outcome]} ({reason})" if reason else words[record.outcome]
    return "did not run"


def _syntax_error(path: str, source: str) -> str:
    """The test file is locked, so nothing but the person can mend it."""
    try:
        ast.parse(source)
    except SyntaxError as error:
        return f"{path} does not parse, line {error.lineno}: {error.msg}. Mend the test file first."
    except ValueError as error:
        return f"{path} does not parse: {error}. Mend the test file first."
    return ""
