"""The same calls in the ways in which models and their chat templates write them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from regreen.models.dialects.reply import read_unguarded
from regreen.tools.menu import ALL

J = json.dumps
Arguments = dict[str, Any]
SOURCE = (
    '"""Doc with <tool_call> and ``` inside."""\n\n\ndef f(x):\n    """Say "hi".\n\n    ```\n    f({"a": 1})\n    ```\n    """\n'
    '    return {"a": [x, \'it\\\'s\'], "b": "\\n\\t"}\n'
)
CALLS: dict[str, tuple[str, Arguments]] = {
    "a read": ("read_file", {"path": "shop/cart.py"}),
    "an edit": (
        "edit_file",
        {
            "path": "shop/cart.py",
            "find": '    print("total:\\n", total)\n    return total - 1',
            "replace": '    return total + 1  # don\'t "subtract"',
        },
    ),
    "a file": ("write_file", {"path": "shop/new.py", "content": SOURCE}),
    "a test": ("run_tests", {"path": "tests/test_cart.py::TestCart::test_add[a-b]"}),
    "a search": ("search_files", {"pattern": r"def \w+\(self, \"x\"\)", "path": "shop"}),
    "a deletion": ("edit_file", {"path": "a.py", "find": "import os\n", "replace": ""}),
}


def keywords(a: Arguments, spell: Callable[[Any], str] = repr) -> str:
    return ", ".join(f"{key}={spell(value)}" for key, value in a.items())


def elements(a: Arguments, form: str) -> str:
    return "".join(form.format(k=key, v=value) for key, value in a.items())


STYLES: dict[str, Callable[[str, Arguments], str]] = {
    "qwen tags": lambda n, a: "<tool_call>\n"+J({"name":n,"arguments":a})+"\n</tool_call>",
    "qwen no close": lambda n, a: "I'll do it.\n<tool_call>\n"+J({"name":n,"arguments":a}),
    "qwen arguments string": lambda n, a: "<tool_call>\n"+J({"name":n,"arguments":J(a)})+"\n</tool_call>",
    "qwen two opens": lambda n, a: "<tool_call>\n<tool_call>\n"+J({"name":n,"arguments":a})+"\n</tool_call>\n</tool_call>",
    "qwen parameters": lambda n, a: "<tool_call>\n"+J({"name":n,"parameters":a})+"\n</tool_call>",
    "qwen fenced in tag": lambda n, a: "<tool_call>\n```json\n"+J({"name":n,"arguments":a},indent=2)+"\n```\n</tool_call>",
    "qwen tools tag": lambda n, a: "<tools>\n"+J({"name":n,"arguments":a})+"\n</tools>",
    "qwen function key": lambda n, a: J({"type":"function","function":{"name":n,"arguments":a}}),
    "qwen xml": lambda n, a: "<tool_call>\n<function="+n+">\n"+elements(a, "<parameter={k}>\n{v}\n</parameter>\n")+"</function>\n</tool_call>",
    "qwen xml no outer": lambda n, a: "<function="+n+">\n"+elements(a, "<parameter={k}>\n{v}\n</parameter>\n")+"</function>",
    "qwen xml missing function close": lambda n, a: "<tool_call>\n<function="+n+">\n"+elements(a, "<parameter={k}>\n{v}\n</parameter>\n")+"</tool_call>",
    "json fence": lambda n, a: "Sure!\n\n```json\n"+J({"name":n,"arguments":a},indent=4)+"\n```\n\nThis will do it.",
    "json fence tool": lambda n, a: "```json\n"+J({"tool":n,"args":a})+"\n```",
    "json fence action": lambda n, a: "```json\n"+J({"action":n,"action_input":a})+"\n```",
    "json thought": lambda n, a: J({"thought":"I need this","action":{"name":n,"arguments":a}}),
    "json list": lambda n, a: J([{"name":n,"arguments":a}]),
    "json tool calls": lambda n, a: J({"tool_calls":[{"id":"call_1","type":"function","function":{"name":n,"arguments":J(a)}}]}),
    "json trailing comma": lambda n, a: J({"name":n,"arguments":a})[:-2]+",},}",
    "json extra brace": lambda n, a: J({"name":n,"arguments":a})+"}",
    "json missing brace": lambda n, a: J({"name":n,"arguments":a})[:-1],
    "json flat": lambda n, a: J({"name":n,**a}),
    "json name as key": lambda n, a: J({n:a}),
    "json raw newlines": lambda n, a: J({"name":n,"arguments":a}).replace("\\n","\n") if "\\\\" not in J(a) else J({"name":n,"arguments":a}),
    "json kwargs": lambda n, a: J({"function_name":n,"kwargs":a}),
    "python repr": lambda n, a: repr({"name":n,"arguments":a}),
    "llama python tag json": lambda n, a: "<|python_tag|>"+J({"type":"function","name":n,"parameters":a})+"<|eom_id|>",
    "llama function tag": lambda n, a: f"<function={n}>{J(a)}</function><|eot_id|>",
    "llama bare params": lambda n, a: J({"name":n,"parameters":a})+"<|eot_id|>",
    "llama semicolon": lambda n, a: J({"name":n,"parameters":a})+"; ",
    "llama typed function": lambda n, a: J({"type":"function","function":n,"parameters":a}),
    "mistral calls": lambda n, a: "[TOOL_CALLS] "+J([{"name":n,"arguments":a}]),
    "mistral new": lambda n, a: "[TOOL_CALLS]"+n+"[ARGS]"+J(a),
    "mistral callid": lambda n, a: "[TOOL_CALLS]"+n+"[CALL_ID]abc123def[ARGS]"+J(a),
    "mistral name brace": lambda n, a: "[TOOL_CALLS]"+n+J(a),
    "mistral no bracket end": lambda n, a: "[TOOL_CALLS][ "+J({"name":n,"arguments":a}),
    "deepseek": lambda n, a: f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>{n}\n```json\n{J(a)}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "deepseek v31": lambda n, a: f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{n}<｜tool▁sep｜>{J(a)}<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
    "deepseek think": lambda n, a: "<think>\nThe test wants more. Perhaps {\"name\": \"list_files\"}.\n</think>\n\n"+J({"name":n,"arguments":a}),
    "deepseek think fence": lambda n, a: "I look at it.\n</think>\n\n```json\n"+J({"name":n,"arguments":a})+"\n```",
    "phi functools": lambda n, a: "functools["+J({"name":n,"arguments":a})+"]",
    "phi tool call pipe": lambda n, a: "<|tool_call|>["+J({"name":n,"arguments":a})+"]<|/tool_call|>",
    "gemma python": lambda n, a: "```tool_code\n"+n+"("+keywords(a)+")\n```",
    "gemma print": lambda n, a: "```tool_code\nprint(default_api."+n+"("+keywords(a)+"))\n```",
    "gemma function call": lambda n, a: "<start_function_call>call:"+n+"{"+",".join(f"{k}:<escape>{v}<escape>" for k,v in a.items())+"}<end_function_call>",
    "gemma list": lambda n, a: "["+n+"("+keywords(a)+")]",
    "gemma json fence": lambda n, a: "Okay, let me do that.\n```json\n["+J({"name":n,"parameters":a})+"]\n```<end_of_turn>",
    "granite": lambda n, a: "<|tool_call|>"+J([{"name":n,"arguments":a}]),
    "granite tag": lambda n, a: "<tool_call>"+J([{"name":n,"arguments":a}]),
    "granite start": lambda n, a: "<|start_of_role|>assistant<|end_of_role|><tool_call>"+J({"name":n,"arguments":a})+"</tool_call><|end_of_text|>",
    "command r": lambda n, a: "Action: ```json\n"+J([{"tool_name":n,"parameters":a}],indent=4)+"\n```",
    "command r7b": lambda n, a: "<|START_THINKING|>I will do it.<|END_THINKING|><|START_ACTION|>\n"+J([{"tool_call_id":"0","tool_name":n,"parameters":a}])+"\n<|END_ACTION|>",
    "hermes scratch": lambda n, a: "<scratch_pad>\nGoal: do it\n</scratch_pad>\n<tool_call>\n"+J({"arguments":a,"name":n})+"\n</tool_call>",
    "react": lambda n, a: f"Thought: I should act.\nAction: {n}\nAction Input: {J(a)}\nObservation: done",
    "react pretty": lambda n, a: f"Thought: ok\nAction: `{n}`\nAction Input:\n```json\n{J(a,indent=2)}\n```",
    "kimi": lambda n, a: f"<|tool_calls_section_begin|><|tool_call_begin|>functions.{n}:0<|tool_call_argument_begin|>{J(a)}<|tool_call_end|><|tool_calls_section_end|>",
    "glm": lambda n, a: f"<tool_call>{n}\n"+elements(a, "<arg_key>{k}</arg_key>\n<arg_value>{v}</arg_value>\n")+"</tool_call>",
    "minimax": lambda n, a: f'<minimax:tool_call>\n<invoke name="{n}">\n'+elements(a, '<parameter name="{k}">{v}</parameter>\n')+"</invoke>\n</minimax:tool_call>",
    "harmony": lambda n, a: f"<|channel|>analysis<|message|>think<|end|><|start|>assistant<|channel|>commentary to=functions.{n} <|constrain|>json<|message|>{J(a)}<|call|>",
    "element per tool": lambda n, a: f"<{n}>\n"+elements(a, "<{k}>{v}</{k}>\n")+f"</{n}>",
    "olmo": lambda n, a: f"<function_calls>\n{n}("+keywords(a, J)+")\n</function_calls>",
    "lfm": lambda n, a: "<|tool_call_start|>["+n+"("+keywords(a, J)+")]<|tool_call_end|>Calling it.",
    "nemotron": lambda n, a: "<TOOLCALL>["+J({"name":n,"arguments":a})+"]</TOOLCALL>",
    "xlam think": lambda n, a: J({"thought":"need","tool_calls":[{"name":n,"arguments":a}]}),
    "functionary": lambda n, a: f">>>{n}\n{J(a)}",
    "functionary31": lambda n, a: f"<function={n}>{J(a)}</function>",
    "firefunction": lambda n, a: " functools"+J([{"name":n,"arguments":a}]),
    "bold name then json": lambda n, a: f"**{n}**\n```json\n{J(a,indent=2)}\n```",
    "call colon": lambda n, a: f"Call: {n}({keywords(a)})",
    "toolname prefixed": lambda n, a: "<tool_call>\n"+J({"name":"functions."+n,"arguments":a})+"\n</tool_call>",
    "camel": lambda n, a: J({"name":"".join(p.title() for p in n.split("_")),"arguments":a}),
    "tool use xml": lambda n, a: f"<tool_use>\n<name>{n}</name>\n<arguments>{J(a)}</arguments>\n</tool_use>",
    "smart think tag inside": lambda n, a: "<thinking>I'd rather not.</thinking><tool_call>"+J({"name":n,"arguments":a})+"</tool_call></s>",
    "chat leak": lambda n, a: "<|im_start|>assistant\n<tool_call>\n"+J({"name":n,"arguments":a})+"\n</tool_call><|im_end|>\n<|im_start|>user\nok<|im_end|>",
    "input key": lambda n, a: J({"name":n,"input":a}),
    "single quotes outer": lambda n, a: "{'name': '"+n+"', 'arguments': "+J(a)+"}",
    "commented": lambda n, a: "{\n  // the call\n  \"name\": \""+n+"\", # name\n  \"arguments\": "+J(a)+"\n}",
}  # fmt: skip
AT_THE_ENDS = ("glm", "minimax", "element per tool")
"""Here a line break at the end of a value is the markup's, or the text's: nobody can tell."""


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("style", STYLES)
def test_a_call_is_read_in_every_style(style: str, call: str) -> None:
    name, arguments = CALLS[call]
    reading = read_unguarded(
        {"role": "assistant", "content": STYLES[style](name, arguments)}, ALL, {}, "ollama", True
    )
    meant = dict(arguments)
    if style in AT_THE_ENDS and call == "a deletion":
        meant["find"] = "import os"
    assert [(one.name, dict(one.arguments)) for one in reading.calls] == [(name, meant)], reading.corrective
