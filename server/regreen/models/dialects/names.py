"""From the tool name a model wrote to the real tool: prefixes, case, doubled names, names of other harnesses' tools."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from regreen.agent.conversation import ToolSpec

_ALIASES: dict[str, str] = {
    "read_file": """
        read view cat open open_file view_file get_file file_read fs_read load_file show_file get_file_content
        get_file_contents get_contents read_text_file file_reader read_file_content read_file_contents read_source
        show print_file display_file head tail read_lines read_code file_view readfile open_and_read_file
        read_many_files read_multiple_files fetch_file fetch_file_content view_code get_code inspect_file examine_file
        retrieve_file open_code view_source show_code""",
    "write_file": """
        write create create_file new_file save_file save write_to_file file_write fs_write overwrite_file put_file
        add_file file_create make_file write_text_file create_new_file writefile rewrite_file write_code write_content
        generate_file""",
    "edit_file": """
        edit str_replace string_replace replace replace_in_file search_replace search_and_replace find_and_replace
        modify_file modify update_file update patch_file replace_text replace_string replace_string_in_file file_edit
        multi_edit apply_edit change_file edit_block apply_diff edit_code insert_edit_into_file fs_edit editfile
        replace_code update_code fix_file edit_files apply_patch patch str_replace_edit apply_edits change
        str_replace_editor str_replace_based_edit_tool text_editor edit_text_file replace_lines multiedit modify_code change_code fix_code correct_file replace_block edit_function
        update_function search_and_replace_in_file""",
    "list_files": """
        ls dir list list_dir list_directory listdir list_folder tree get_files list_directory_contents view_directory
        list_file read_directory read_dir file_list directory_tree glob show_files list_project_files fs_list
        list_directory_tree find_files listfiles get_directory_contents list_dir_contents""",
    "search_files": """
        grep search rg ripgrep grep_search search_code find_in_files codebase_search search_file file_search
        search_text text_search search_in_files code_search find_text grep_files search_content search_project
        regex_search search_codebase find_in_file search_for_pattern searchfiles""",
    "run_tests": """
        test pytest run_test tests runtests execute_tests execute_test run_pytest run_unit_tests test_runner
        run_all_tests run_test_file run_test_suite run_the_tests runtest check_tests run_test_case run_unittest
        unittest run_specific_test verify_tests test_run rerun_test rerun_tests retest execute_pytest""",
}
_BY_ALIAS = {alias: tool for tool, words in _ALIASES.items() for alias in words.split()}

SHELLS = frozenset(
    [
        "bash",
        "shell",
        "sh",
        "zsh",
        "terminal",
        "exec",
        "execute",
        "run",
        "run_command",
        "run_shell_command",
        "execute_command",
        "execute_shell_command",
        "command",
        "cmd",
        "powershell",
        "run_in_terminal",
        "container_exec",
        "local_shell",
        "shell_command",
        "run_terminal_cmd",
        "run_bash",
        "execute_bash",
        "system",
        "run_shell",
        "shell_exec",
        "terminal_command",
        "console",
        "bash_command",
        "run_terminal_command",
        "exec_command",
        "subprocess",
        "os_system",
        "local_shell_call",
    ]
)
_HARNESS_WORDS = frozenset(
    [
        "assistant",
        "analysis",
        "commentary",
        "final",
        "user",
        "system",
        "tool",
        "function",
        "functions",
        "none",
        "null",
        "undefined",
    ]
)
_CONTROL = re.compile(r"<\|[^<>]*|<｜[^<>]*|<[^<>]*>|\[/?[A-Z_]{3,}\]|[\u200b-\u200f\ufeff]")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class Named:
    """What a name means. `tool` is "" unless kind is "tool"; `plain` is the name without decoration."""

    kind: Literal["tool", "shell", "leaked", "unknown"]
    tool: str
    plain: str
    certain: bool = True  # the real name, however decorated; an alias or a misspelling is not


class Toolset:
    """The tools on offer, and every way their names are written."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self.specs = {tool.name: tool for tool in tools}
        self._squeezed = {name.replace("_", ""): name for name in self.specs}

    def names(self) -> str:
        """The real names, for a sentence."""
        return ", ".join(self.specs)

    def resolve(self, written: str) -> Named:
        """The tool a name means: the real name in any dress, an alias, or a misspelling of a real name."""
        plain = _undressed(written)
        if tool := self._real(plain):
            return Named("tool", tool, plain)
        if _CONTROL.search(written) and (not plain or plain in _HARNESS_WORDS):
            return Named("leaked", "", plain)
        if plain in SHELLS:
            return Named("shell", "", plain)
        alias = _BY_ALIAS.get(plain) or _BY_ALIAS.get(
            re.sub(r"_(?:tool|function|command|action)$", "", plain), ""
        )
        if alias in self.specs:
            return Named("tool", alias, plain, certain=False)
        if plain in _HARNESS_WORDS or not plain:
            return Named("leaked", "", plain)
        close = difflib.get_close_matches(plain, self.specs, n=2, cutoff=0.84) if len(plain) < 40 else []
        if close:
            return Named("tool", close[0], plain, certain=False)
        return Named("unknown", "", plain)

    def known(self, written: str, aliases: bool = True) -> str:
        """The tool when the name is a real one, or (`aliases`) one of the aliases of two words or more; else ""."""
        if len(written) > 80:
            return ""
        plain = _undressed(written)
        if tool := self._real(plain):
            return tool
        alias = _BY_ALIAS.get(plain, "")
        return alias if aliases and "_" in plain and alias in self.specs else ""

    def _real(self, plain: str) -> str:
        if plain in self.specs:
            return plain
        half = len(plain) // 2
        if plain and len(plain) % 2 == 0 and plain[:half] == plain[half:] and plain[:half] in self.specs:
            return plain[:half]
        doubled = plain.split("_")
        middle = len(doubled) // 2
        if (
            len(doubled) % 2 == 0
            and doubled[:middle] == doubled[middle:]
            and "_".join(doubled[:middle]) in self.specs
        ):
            return "_".join(doubled[:middle])
        plain = re.sub(r"_(?:tool|function|command|action)$", "", plain)
        if plain in self.specs:
            return plain
        return self._squeezed.get(plain.replace("_", ""), "")


@functools.lru_cache(maxsize=256)
def _undressed(written: str) -> str:
    """A name in snake case without control tokens, namespaces, call numbers, quotes and brackets."""
    if len(written) > 200:
        return ""
    name = _CONTROL.sub(" ", written).strip()
    name = name.split()[0] if name.split() and not re.fullmatch(r"\w+( \w+){1,2}", name) else name
    name = name.strip("`'\"*:.,;<>[]{}#@/ ")
    name = re.sub(r"\(.*$", "", name, flags=re.DOTALL)
    name = re.sub(r"\.(?:call|invoke|run|execute)$", "", name)
    name = re.sub(r":\d+$", "", name)
    name = re.split(r"::|[./:]|__(?=\w)", name)[-1]
    name = _CAMEL.sub("_", name.strip())
    name = re.sub(r"[\s\-]+", "_", name).lower()
    return re.sub(r"^(?:mcp|tool|functions?|default_api)_(?=(?:read|write|edit|list|search|run)_)", "", name)
