"""The one class of errors that is shown to a person, as one line that says what to do next."""


class RegreenError(Exception):
    """Something outside the code is missing or broken; `str(error)` is the line the person reads.

    `exit_code` is what the command line ends with (3: something is missing or broken).
    """

    exit_code = 3


class UsageError(RegreenError):
    """The command was called wrongly, or asks for something that is refused (exit code 2)."""

    exit_code = 2
