"""What is not the reply itself: thinking, leaked turn markers, results of tools that the model made up."""

from __future__ import annotations

import bisect
import itertools
import re

from regreen.models.dialects.circles import TAIL, circle

_WORDS = (
    r"think|thinking|thought|thoughts|reasoning|scratchpad|reflection|inner_monologue|seed:think|antthinking"
)
OPEN = re.compile(
    rf"<(?:{_WORDS})\b[^<>]*>|\[THINK\]|<\|begin_of_thought\|>|◁think▷|<\|START_THINKING\|>", re.IGNORECASE
)
CLOSE = re.compile(
    rf"</(?:{_WORDS})\s*>|\[/THINK\]|<\|end_of_thought\|>|◁/think▷|<\|END_THINKING\|>", re.IGNORECASE
)
ANALYSIS = re.compile(r"<\|channel\|>\s*(?:analysis|thought)\s*(?:<\|message\|>|\n)")
ANALYSIS_END = re.compile(r"<\|(?:end|start|call|return)\|>|<channel\|>|<\|channel\|>")
RESULT = re.compile(
    r"<(?:tool_response|tool_result|tool_results|tool_output|function_response|function_results?|function_output|"
    r"observation|result|output|function_call_output|system)\b[^<>]*>"
    r"|<\|(?:tool_response|observation|tool_result|ipython|tool)\|?>|<｜tool▁outputs?▁begin｜>|\[TOOL_RESULTS\]"
    r"|^[ \t]*\**(?:Observation|Tool (?:Output|Result|Response)|Tool result for \w+|Function (?:Output|Result))\**\s*:",
    re.IGNORECASE | re.MULTILINE,
)
TURN = re.compile(
    r"<\|(?:im_end|im_start|eot_id|end_of_text|endoftext|start_header_id|user|assistant|system|eom_id|end_of_turn|"
    r"end▁of▁sentence|EOT|turn|END_OF_TURN_TOKEN)\|>|<｜(?:end▁of▁sentence|User|Assistant)｜>|</s>|<(?:end|start)_of_turn>|"
    r"\[/?INST\]|^(?:User|Human|### (?:User|Human|Instruction))\s*:",
    re.MULTILINE,
)
MARKER = re.compile(
    r"\[TOOL_CALLS?\]|<\|python_tag\|>|</?tool_calls?>|<\|tool_calls?\|>|<\|?tool▁calls?▁begin\|?>|</?tools>|</?function_calls>"
    r"|</?toolcall>|<start_function_call>|<\|tool_call_start\|>|<\|tool_call\b|</?function_call>|functools\[|<\|plugin\|>"
    r"|<｜tool▁calls▁begin｜>|<｜DSML｜\w+|<\|tool_calls_section_begin\|>|<minimax:tool_call>|<\|action_start\|>",
    re.IGNORECASE,
)
_NOISE = re.compile(
    r"<\|[^<>\n|]{1,40}\|>|<｜[^<>\n｜]{1,40}｜>|\[/?(?:TOOL_CALLS?|ARGS|CALL_ID|TOOL_CONTENT|INST)\]|</?(?:tool_calls?|tools|function_calls?"
    r"|functions?|toolcall|start_function_call|end_function_call|s|invoke|parameters?|antml:\w+|minimax:\w+|seed:\w+)>|</?｜DSML｜\w+>|^assistant\n",
    re.IGNORECASE,
)
_EMPTY_FENCE = re.compile(r"```[\w+-]*\s*```|^[ \t]*```[\w+-]*[ \t]*$", re.MULTILINE)


def orphan(text: str, end: int, spans: list[tuple[int, int]]) -> re.Match[str] | None:
    """The last closing tag before `end` that stands in none of the spans; None when there is none."""
    spans = sorted(spans)
    reach = list(itertools.accumulate((end for _, end in spans), max))
    found = None
    for closed in CLOSE.finditer(text, 0, end):
        at = bisect.bisect_right(spans, (closed.start(), len(text)))
        if not at or closed.start() >= reach[at - 1]:
            found = closed
    return found


def prose(text: str) -> str:
    """The words of a reply without markers, empty fences and blank lines in a row."""
    text = _NOISE.sub(" ", text)
    if "```" in text:
        text = _EMPTY_FENCE.sub("", text)
    text = re.sub(r"(?<![ \t])[ \t]+\n", "\n", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip(" \t\n;")


def looping(text: str) -> str:
    """The piece of text that a reply repeats to its end, at least six times and for most of it; else "". Where only its
    numbers change, the latest one."""
    found = circle(text)
    if found and found.counts and 2 * found.times * len(found.piece) >= min(len(text), TAIL):
        return text.strip()[-len(found.piece) :]
    return _repeated(text)


def _repeated(text: str) -> str:
    tail = text.rstrip()[-900:][::-1]
    if len(tail) < 24:
        return ""
    border = [0] * len(tail)
    best = 0
    for index in range(1, len(tail)):
        width = border[index - 1]
        while width and tail[index] != tail[width]:
            width = border[width - 1]
        border[index] = width + 1 if tail[index] == tail[width] else 0
        period = index + 1 - border[index]
        if (index + 1) // period >= 6 and index + 1 >= 24 and (period > 2 or index + 1 >= 24):
            best = index + 1
    if best < 24 or best < min(len(text.strip()), 900) // 2:
        return ""
    piece = tail[:best][::-1]
    period = next((size for size in range(1, 151) if piece == (piece[:size] * (best // size + 1))[:best]), 0)
    return piece[:period].strip() or piece[:period]


_LOOP = 2600
_KEPT, _BLOCK = 1300, 12
"""So much of a loop is read: enough to see that it is one, in a reply of any length (circles.py)."""


def without_loop(text: str) -> str:
    """A text that ends in one piece over and over, with less of it: what more there is says nothing new, and costs
    time to read. Any other text as it is."""
    end = len(text.rstrip())
    last = text[max(0, end - 24) : end]
    period = end - len(last) - text.rfind(last, max(0, end - 24 - 150), max(0, end - 1))
    if (
        end < _LOOP
        or not 0 < period <= 150
        or text[end - _LOOP : end - period] != text[end - _LOOP + period : end]
    ):
        return text
    block = text[end - period : end] * _BLOCK  # by the dozen, so that what opens and closes in turn stays so
    begin = end
    while text.startswith(block, begin - len(block)) and begin >= len(block):
        begin -= len(block)
    begin += len(block) * max(2, -(-_KEPT // len(block)))
    return text if begin >= end else text[:begin] + text[end:]
