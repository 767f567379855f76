"""The tool menu: names and arguments are fixed, so that scripts, traces and cases can rely on them."""

from __future__ import annotations

from regreen.agent.conversation import ToolSpec

_STRING = {"type": "string"}


def _tool(
    name: str, description: str, required: tuple[str, ...] = (), **properties: dict[str, str]
) -> ToolSpec:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return ToolSpec(name, description, schema)


READ_FILE = _tool(
    "read_file",
    "Read a file, or some lines of it.",
    ("path",),
    path=_STRING,
    start_line={"type": "integer"},
    end_line={"type": "integer"},
)
LIST_FILES = _tool("list_files", "List the files of the project, or of one folder.", path=_STRING)
SEARCH_FILES = _tool(
    "search_files", "Find lines that match a regular expression.", ("pattern",), pattern=_STRING, path=_STRING
)
EDIT_FILE = _tool(
    "edit_file",
    "Replace a text that occurs exactly once in a file.",
    ("path", "find", "replace"),
    path=_STRING,
    find=_STRING,
    replace=_STRING,
)
WRITE_FILE = _tool(
    "write_file",
    "Write a whole file: a new one, or a short one.",
    ("path", "content"),
    path=_STRING,
    content=_STRING,
)
RUN_TESTS = _tool("run_tests", "Run the failing test, or the tests of a file.", path=_STRING)
RUN_PYTHON = _tool("run_python", "Run a short Python program in the project.", ("code",), code=_STRING)

ALL: tuple[ToolSpec, ...] = (
    READ_FILE,
    LIST_FILES,
    SEARCH_FILES,
    EDIT_FILE,
    WRITE_FILE,
    RUN_TESTS,
    RUN_PYTHON,
)
"""Every tool that is carried out when a model asks for it."""

FIX: tuple[ToolSpec, ...] = (EDIT_FILE, READ_FILE, SEARCH_FILES)
"""What `fix` offers: the first message already holds the evidence, the tests are run after every edit, and each
tool costs prompt tokens. The others are carried out all the same when a model asks for them."""

ASK: tuple[ToolSpec, ...] = ALL
"""What `ask` offers: the model has to find its own way."""
