"""Argument names as models write them: other harnesses' names, other cases, quotes around them."""

from __future__ import annotations

import functools
import re

_NAMES: dict[str, dict[str, str]] = {
    "path": {
        "*": """path file filename file_name filepath file_path absolute_path relative_path target_file pathname
        relative_workspace_path path_to_file uri file_uri full_path target_path source_path document paths files
        filenames file_paths abs_path absolute_file_path source_file the_path path_name rel_path""",
        "list_files": "dir directory folder dirname dir_path directory_path folder_path root base_path location target",
        "search_files": "dir directory folder include glob location root in scope where search_path search_directory",
        "run_tests": """test test_file test_path tests target nodeid node_id test_name testname test_case test_files
        test_id selector name test_target test_module nodeids""",
        "read_file": "name target location input source key url",
        "edit_file": "target location name",
        "write_file": "target location name destination dest",
    },
    "find": {
        "edit_file": """find old old_string old_str old_text search search_text search_string search_block original
        original_text before from target_text match text_to_find old_code old_content find_text to_replace needle
        text_to_replace pattern original_code original_content string_to_replace search_for current current_code
        search_content find_string from_text existing existing_code oldcode oldvalue old_value old_lines old_snippet
        search_pattern what target_code original_snippet old_block code_to_replace code_to_find old_line find_str find_code
        find_block find_content search_str search_code buggy buggy_code broken_code incorrect incorrect_code wrong wrong_code
        existing_content existing_text original_string original_str original_line original_lines original_block
        match_text before_text before_code replace_from""",
    },
    "replace": {
        "edit_file": """replace new new_string new_str new_text replacement replace_with replace_text updated after to
        with new_code new_content replacement_text updated_code with_text new_value replace_string to_text by
        replace_block replacement_code replacement_string updated_content new_lines substitute new_snippet
        modified modified_code replace_content updated_text fixed fixed_code new_block new_line replace_str replace_code
        replacement_line replacement_lines replacement_content correct correct_code corrected corrected_code corrected_text
        fixed_content fixed_text updated_string updated_line updated_lines updated_block updated_snippet after_text
        after_code replace_to revised revised_code""",
    },
    "content": {
        "write_file": """content contents text code body data file_text file_content file_contents source new_content
        code_edit value full_content file_body file_data string source_code updated_content lines
        file_code new_file_content text_content content_to_write input""",
    },
    "start_line": {
        "read_file": """start_line start from_line line_start begin first_line from begin_line start_line_number
        startline line line_number lineno offset start_line_one_indexed start_lineno from_lineno startrow""",
    },
    "end_line": {
        "read_file": """end_line end to_line line_end stop last_line to end_line_number endline
        end_line_one_indexed end_line_one_indexed_inclusive end_lineno stop_line""",
    },
    "pattern": {
        "search_files": """pattern query regex search text q search_term term keyword string search_text regexp
        search_query search_string search_pattern find expression keywords needle search_regex content""",
    },
    "code": {"run_python": "code script source python program input content text command snippet"},
}
_ALIASES: dict[tuple[str, str], str] = {
    (tool, word): real
    for real, by_tool in _NAMES.items()
    for tool, words in by_tool.items()
    for word in words.split()
}
RANGES = ("lines", "range", "line_range", "view_range", "lines_range", "line_numbers", "line")
NOTHING = frozenset(("", "none", "null", "undefined", "nil", "n/a", "nan", "<none>", "optional"))


def key_of(tool: str, written: str) -> str:
    """The real argument name for one that a model wrote; "" when the tool has none like it."""
    plain = written.strip(" \t\n\"'`:*<>/=“”‘’").strip()
    plain = re.sub(r"</?[\w_]+>.*$", "", plain, flags=re.DOTALL)
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain)
    plain = re.sub(r"[\s\-.]+", "_", plain).lower().strip("_")
    return _ALIASES.get((tool, plain)) or _ALIASES.get(("*", plain), "")


@functools.lru_cache(maxsize=256)
def is_argument(written: str) -> bool:
    """Whether some tool has an argument of this name, or of one of its aliases."""
    return any(
        key_of(tool, written)
        for tool in ("edit_file", "write_file", "read_file", "search_files", "run_tests")
    )
