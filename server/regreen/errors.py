"""The one class of errors that is shown to a person, as one line that says what to do next."""

import re


def command_in(text: str) -> str:
    """The command that a line for a person names between backticks, or "". Only what has more than one word is one."""
    named = [found for found in re.findall(r"`([^`\n]+)`", text) if " " in found.strip()]
    return named[-1].strip() if named else ""


class RegreenError(Exception):
    """Something outside the code is missing or broken; `str(error)` is the line the person reads.

    `exit_code` is what the command line ends with (3: something is missing or broken).
    """

    exit_code = 3


class UsageError(RegreenError):
    """The command was called wrongly, or asks for something that is refused (exit code 2)."""

    exit_code = 2
