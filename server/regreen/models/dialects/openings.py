"""The openings that a pass over a reply stops at, and what the pass finds."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from regreen.models.dialects.reading import Asked, Fault

NEXT = re.compile(
    r"(?:(?=[<\[{])|(?<!\w))(?:"  # nothing else begins inside a word: most places are passed by with one look
    r"(?P<fence>^[ \t]*(?P<ticks>`{3,}|~{3,})(?P<info>[^\n]*)\n?)"
    r"|(?P<edit>^(?:[ \t]*(?:<{4,9}|-{5,9})[ ]?(?:SEARCH|ORIGINAL|FIND|OLD|HEAD|BEFORE)\b|\*\*\* (?:Begin Patch|(?:Update|Add|Delete) File:)"
    r"|--- \S[^\n]*\n\+\+\+ \S|diff --git |@@ [^\n]*@@))"
    r"|(?P<tag><(?=/?[｜◁|]|[^<>\"']*[>\"'])/?[A-Za-z_｜◁|][^\s<>]{0,60})"
    r"|(?P<bracket>\[/?[A-Z]{4}[A-Z_]*\])"
    r"|(?P<react>^[ \t*]*Action(?: name)?[ \t]*\d{0,2}[ \t*]*:[ \t*]*(?P<action>[\w.-]+)(?P<square>\[[^\]\n]*\])?[ \t*`]*(?=\n|$))"
    r"|(?P<headless>^[ \t]*[\"'](?:name|tool)[\"']\s*:\s*[\"'])"
    r"|(?P<object>\{(?=\{{0,2}\s*(?:[\"'“‘`<]|[A-Za-z_]|\})))"
    r"|(?P<python>(?<![\w.])[A-Za-z_][\w.]{2,50}\s?\()"
    r"|(?P<turn>^(?:User|Human|### (?:User|Human|Instruction))\s*:|^[ \t]*\**(?:Observation|Tool (?:Output|Result|Response)|Function (?:Output|Result))\**\s*:))",
    re.MULTILINE,
)
FIRST_KEY = re.compile(
    r"""\{{1,3}\s*(?:["'“‘`]|<escape>|<\|"\|>)?([A-Za-z_][\w $.-]{0,40}?)(?:["'”’`]|<escape>|<\|"\|>)?\s*(?:[:=]|：)"""
)
EMPTY = re.compile(r"\{\s*\}")
CALL_KEYS = frozenset(
    [
        "name",
        "tool",
        "tool_name",
        "toolname",
        "function",
        "function_name",
        "action",
        "recipient_name",
        "method",
        "tool_call",
        "tool_calls",
        "calls",
        "tool_uses",
        "function_call",
        "function_calls",
        "arguments",
        "parameters",
        "args",
        "params",
        "type",
        "id",
        "thought",
        "reasoning",
        "explanation",
        "role",
        "command",
        "cmd",
        "actions",
        "plan",
        "steps",
        "call",
        "step",
        "api",
        "index",
        "input",
        "tool_code",
        "message",
        "choices",
        "thoughts",
        "functionname",
        "response",
        "analysis",
        "properties",
        "commands",
        "tools",
        "functions",
        "next_action",
        "comment",
        "description",
        "observation",
        "tool_call_id",
        "call_id",
        "tool_use_id",
        "status",
        "confidence",
        "reason",
        "rationale",
        "think",
        "goal",
        "task",
        "next_step",
        "assistant",
    ]
)
CALL_IN_CODE = re.compile(
    r"""[\[{\s]*["'](?:name|tool|tool_name|function|action)["']\s*:\s*["'][\w.-]+["']\s*,\s*["'](?:arg|param|input|action_input)""",
    re.I,
)
"""A call as JSON at the start of a block that says it is Python."""
_STRONG = r"to=|<\|?tool[▁_]sep\|?>|<｜tool▁sep｜>|\[TOOL_CALLS\]\s*|<function=|Action\s*:\s*\**|call:|<\|tool_call_begin\|>|>>>"
STRONG = re.compile(_STRONG, re.IGNORECASE)
"""What introduces the name of a call, and nothing else."""
NAME_BEFORE = re.compile(
    rf"(?P<strong>{_STRONG})?"
    r"(?P<name>[A-Za-z_][\w.-]{1,60}(?::\d+)?)[`\"'*]*\s*"
    r"(?:<[^<>\n]{1,40}>|\[[A-Z_]+\]\w*|```\w*|json\b|[:=>`*(,\s-]|action[ _]input|(?:tool )?input|arguments?|args|param(?:eter)?s|with|code|tool|the|following|call|commentary|final)*$",
    re.IGNORECASE,
)
REACT_INPUT = re.compile(
    r"\s*\**(?:Action[ _]?Input|Input|Arguments?)\**\s*:[ \t]*\**(?P<input>[^\n]*)", re.IGNORECASE
)
CODE_LANGUAGES = frozenset(["python", "py", "python3", "py3", "pycon", "ipython", "tool_code"])
DIFF_LANGUAGES = frozenset(["diff", "patch", "udiff"])
SHELL_LANGUAGES = frozenset(["bash", "sh", "shell", "console", "zsh", "terminal", "cmd", "powershell"])
DATA_LANGUAGES = frozenset(
    [
        "json",
        "json5",
        "jsonc",
        "xml",
        "tool_call",
        "tool",
        "tool_use",
        "tools",
        "html",
        "text",
        "txt",
        "plaintext",
        "javascript",
        "js",
        "yaml",
        "tool_calls",
    ]
)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block that is no call. `closed` is False when its last fence never came."""

    language: str
    code: str
    start: int
    end: int
    closed: bool
    name: str = ""  # a file name behind the language


@dataclass(slots=True)
class Scan:
    """All that a pass finds in a text."""

    calls: list[tuple[int, int, Asked]] = field(default_factory=lambda: list[tuple[int, int, Asked]]())
    faults: list[tuple[int, Fault]] = field(default_factory=lambda: list[tuple[int, Fault]]())
    blocks: list[Block] = field(default_factory=lambda: list[Block]())
    skipped: list[tuple[int, int]] = field(default_factory=lambda: list[tuple[int, int]]())
    thoughts: list[str] = field(default_factory=lambda: list[str]())
    unfinished_thought: bool = False
    marker: bool = False
    invented: bool = False
    end: int = 0

    @property
    def cut(self) -> Fault | None:
        """What was cut off; None when nothing was."""
        return next((fault for _, fault in self.faults if fault.reason == "cut_off"), None)
