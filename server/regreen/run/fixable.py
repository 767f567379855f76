"""Whether there is anything to fix: what the first run of a target says before a model is asked."""

from __future__ import annotations

import ast

from regreen.agent.stops import AlreadyPassing, SetupProblem
from regreen.errors import UsageError
from regreen.testing.report import Report
from regreen.testing.setup_problem import setup_problem
from regreen.testing.target import Target


def check_fixable(target: Target, test_source: str, report: Report) -> None:
    """Raise the Stop for a target that needs no fix or cannot have one, UsageError for one that is not there."""
    if broken := _syntax_error(target.path, test_source):
        raise SetupProblem(broken)
    if all(record.outcome == "missing" for record in report.tests.values()) and report.finished:
        raise UsageError(f"There is no test {target.nodeid}. `regreen tests` lists those there are.")
    if problem := setup_problem(report):
        raise SetupProblem(problem)
    if not report.failed:
        if report.passed:
            raise AlreadyPassing(f"{target.nodeid} passes already; nothing was changed.")
        raise SetupProblem(
            f"{target.nodeid} is skipped or expected to fail, so there is nothing to turn green."
        )


def _syntax_error(path: str, source: str) -> str:
    """The test file is locked, so nothing but the person can mend it."""
    try:
        ast.parse(source)
    except SyntaxError as error:
        return f"{path} does not parse, line {error.lineno}: {error.msg}. Mend the test file first."
    except ValueError as error:
        return f"{path} does not parse: {error}. Mend the test file first."
    return ""
