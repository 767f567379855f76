"""What no proposal may be: a placeholder, an emptied or shrunk file, lost functions, a change of the tests."""

from __future__ import annotations

import ast
import re
import textwrap
from typing import Any, cast

from regreen.models.dialects import corrective, paths
from regreen.models.dialects.corrective import Scene
from regreen.models.dialects.python_text import is_python, syntax_error, tree_of
from regreen.models.dialects.reading import Fault

_WHOLE_PLACEHOLDER = re.compile(
    r"<[A-Za-z][\w .,/-]*>|\{\{?[A-Za-z][\w ./-]*\}?\}|\[[A-Za-z][\w ]*(?:content|code|file|text|here)[\w ]*\]"
    r"|\$\{?\w+\}?|\.{3}|…|\(?(?:your|the|new|full|updated|fixed|corrected|complete|entire|file|same) (?:\w+ ){0,4}"
    r"(?:code|content|contents|file|here|text|before)\)?\.?"
    r"|(?:file_?)?contents?|(?:TODO|FIXME|placeholder|string|content here|code here|same as (?:before|above))\.?",
    re.IGNORECASE,
)
_DOTS = r"(?:\.{3,}|…)"
_KEPT = (
    r"(?:rest|remaining|remainder|existing|previous|original|unchanged|same|other|omitted|truncated|code|methods?|functions?|imports?|"
    r"implementation|class|above|below|here|keep|lines?|file|body|logic|as before)"
)
_NOUN = r"(?:code|class|classes|file|functions?|methods?|module|implementation|imports?|body|program|script|tests?|logic|lines|definitions?)"
_TAIL = (
    r"(?: (?:(?:is|are|remains?|stays?|goes|follows?|kept)(?: exactly| completely)?)?(?: ?\(?(?:the same|unchanged|as (?:before|is|above|it (?:was|is)|they (?:were|are))|"
    r"here|below|above|omitted|same|untouched|intact|follows?))?(?: (?:here|as before|for brevity|below|above))?)?"
)
_PLACEHOLDER_LINE = re.compile(
    rf"^(?:\#|//|/\*|<!--|[-=~*(\[<{{ \t])*(?:"
    rf"{_DOTS}[^\n]*\b{_KEPT}\b[^\n]*"
    rf"|[^\n#'\"]*\b{_KEPT}\b[^\n'\"]*{_DOTS}[ \t]*(?:\*/|-->|\)|\]|>)?"
    rf"|(?:the |your |all (?:the )?)?(?:rest|remainder) of (?:the |your |this )?(?:existing |original )?{_NOUN}{_TAIL}"
    rf"|(?:the |your |all (?:the )?)?(?:existing|remaining|previous|original|other) (?:\w+ )?{_NOUN}{_TAIL}"
    rf"|(?:your|insert|add|put) (?:\w+ ){{0,3}}code (?:goes )?here|(?:code |lines |rest )?(?:omitted|unchanged)(?: for brevity)?|same as (?:before|above|(?:in )?(?:the )?original)"
    rf"|no changes? (?:here|below|above|needed)|keep (?:the )?(?:rest|everything)[^\n]*|unchanged code[^\n]*"
    rf")(?:\*/|[-=~*)\]>}}. \t])*$",
    re.IGNORECASE,
)
_HINTS = (
    "rest of", "remain", "unchanged", "existing", "previous", "original", "here", "same as", "omitted", "other", "…", "...",
)  # fmt: skip
_HEADING = re.compile(r"[-=~*]{2,} *(?:other|remaining) \w+ *[-=~*]{2,}", re.IGNORECASE)
_COMMENT = re.compile(r"^[ \t]*(?:\#|//|--|/\*|<!--|\(|\[|<|\.{3}|…)")
_CHEATS = re.compile(
    r"""["'](?:py)?\.?(?:pytest|unittest)["']\s+(?:not\s+)?in\s+sys\.modules|PYTEST_CURRENT_TEST|_called_from_test|sys\.modules(?:\.get\(|\[)["']pytest"""
    r"""|os\._exit\(|["'](?:pytest|test_?)["']\s+in\s+(?:sys\.argv|inspect|__name__)"""
)
_TEST_CONFIG = re.compile(
    r"pytest|testpaths|addopts|norecursedirs|python_files|collect_ignore|filterwarnings", re.IGNORECASE
)
_EMPTY_OK = ("__init__.py", ".gitkeep", "py.typed", ".keep")


def placeholder_in(text: str, known: str = "") -> str:
    """The first line that stands for code not shown; "" when there is none. Lines of `known` (the file) are real."""
    lowered = text.lower()
    if not any(hint in lowered for hint in _HINTS):
        return ""
    for line in text.split("\n"):
        if (
            len(line) < 300
            and _COMMENT.match(line)
            and _PLACEHOLDER_LINE.match(line)
            and not _HEADING.search(line)
            and line.strip() not in known
        ):
            return line
    return ""


def elided(code: str, known: str = "") -> bool:
    """Whether a `...` stands for statements that are not shown: beside others in one body, where the file has none so."""
    if "..." not in code:
        return False
    tree = tree_of(textwrap.dedent(code).strip("\n"))
    if tree is None:
        return False
    for node in ast.walk(tree):
        for body in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            if isinstance(body, list) and _leaves_out(cast("list[ast.stmt]", body)):
                return not (known and elided(known))
    return False


def _leaves_out(body: list[ast.stmt]) -> bool:
    values = [
        one.value.value for one in body if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
    ]
    return ... in values and len(body) > len(values)


def is_placeholder(text: str, path: str) -> bool:
    """Whether a whole text only stands for another. In markup, `<p>` is text."""
    text = text.strip()
    if (
        text[:1] == "<"
        and not is_python(path)
        and not re.search(r"content|code|text|file|here|your|path", text, re.IGNORECASE)
    ):
        return False
    return (
        len(text) < 90
        and bool(text)
        and _WHOLE_PLACEHOLDER.fullmatch(re.sub(r"^(?:#|//|/\*)\s*", "", text)) is not None
    )


def lost_names(old: str, new: str) -> list[str]:
    """The functions, classes and methods that the old text defines and the new one does not."""
    before, after = _defined(old), _defined(new)
    if before is None or after is None:
        return []
    lost = set(before) - set(after)
    return [name for name in before if name in lost and name.rpartition(".")[0] not in lost]


def _defined(text: str) -> list[str] | None:
    parsed = tree_of(text)
    if parsed is None:
        return None
    names: list[str] = []
    for node in parsed.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.append(node.name)
        if isinstance(node, ast.ClassDef):
            kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
            names += [f"{node.name}.{one.name}" for one in node.body if isinstance(one, kinds)]
    return names


def check_write(arguments: dict[str, Any], scene: Scene, tests_locked: bool) -> Fault | None:
    """Why a write_file call cannot be carried out; None when it can."""
    path, content = str(arguments["path"]), str(arguments["content"])
    old = scene.files.get(path, "").replace("\r\n", "\n")
    if paths.is_test(path) and not content.strip():
        return scene.fault(
            "locked",
            f"write_file with empty content would delete the tests in '{path}'; the file was kept."
            " Tests are locked: change the code under test instead.",
            _code_call(scene, path),
        )
    if tests_locked and (fault := _locked(path, content, scene)):
        return fault
    if is_placeholder(content, path):
        return _bad(scene, path, f"content is a placeholder, {corrective.quoted(content, 60)}, not the text of '{path}'"
                    ", so nothing was written. Send the real text, or only the lines that differ:")  # fmt: skip
    if line := placeholder_in(content, old):
        return _bad(
            scene, path,
            f"The line {corrective.quoted(line.strip(), 80)} stands for existing code, and writing '{path}' so would lose that"
            f" code; nothing was written. Use edit_file{_on_what(content)} with only the lines that differ:",
        )  # fmt: skip
    if not content.strip() and not path.endswith(_EMPTY_OK):
        return _bad(
            scene,
            path,
            f"content is empty, so '{path}' would be emptied; nothing was written. Change only the lines that differ:",
        )
    if is_python(path) and elided(content, old):
        return _bad(scene, path, f"A line `...` in the text for '{path}' stands for code that is not shown; nothing was written."
                    " Send the whole text, or only the lines that differ:")  # fmt: skip
    if is_python(path) and (error := syntax_error(content)):
        return not_python(scene, path, content, error)
    return _cheat(path, content, old, scene)


def check_edit(arguments: dict[str, Any], scene: Scene, tests_locked: bool) -> Fault | None:
    """Why an edit_file call cannot be carried out, as far as the call itself tells; None when it can."""
    path, find, replace = str(arguments["path"]), str(arguments["find"]), str(arguments["replace"])
    old = scene.files.get(path, "").replace("\r\n", "\n")
    if tests_locked and (fault := _locked(path, find + "\n" + replace, scene)):
        return fault
    if not find.strip():
        what = "empty" if not find else "blank"
        return scene.fault(
            "bad_arguments",
            f"find is {what}, so the place in '{path}' is unknown and nothing was changed. Put an existing line into find"
            " as an anchor, and the same line together with the new text into replace.",
            scene.edit_call(path) if old else scene.next_call(path),
        )
    if find == replace:
        return scene.fault(
            "no_op",
            f"find and replace are the same text, {corrective.quoted(find, 80)}, so '{path}' would not change."
            " Put the corrected lines into replace.",
            scene.next_call(path),
        )
    for name, text in (("find", find), ("replace", replace)):
        if (
            is_placeholder(text, path)
            and text.strip() not in ("...", "…")
            and text.strip() not in old
            and not _a_word(text)
        ):
            return _bad(scene, path, f"{name} is a placeholder, {corrective.quoted(text, 60)}, not text of '{path}'; nothing was changed."
                        " Send the real lines:")  # fmt: skip
        line = placeholder_in(text, old)
        if line and not (name == "replace" and line.strip() in find and line.strip() in old):
            return _bad(scene, path, f"The line {corrective.quoted(line.strip(), 80)} in {name} stands for code that is not shown,"
                        f" so '{path}' was not changed. Send only the lines that differ, whole:")  # fmt: skip
    if is_python(path) and elided(replace, find):
        return _bad(scene, path, f"A line `...` in replace stands for code that is not shown, so '{path}' was not changed."
                    " Send only the lines that differ, whole:")  # fmt: skip
    return _cheat(path, replace, find + old, scene)


def _a_word(text: str) -> bool:
    """One word may be real code to find, as `content` or `string`."""
    return re.fullmatch(r"[A-Za-z_]\w*", text.strip()) is not None


def not_python(scene: Scene, path: str, content: str, error: SyntaxError) -> Fault:
    """The text of a Python file that no Python parses, with the line that is wrong."""
    lines = content.split("\n")
    number = min(max(error.lineno or 1, 1), len(lines))
    while number < len(lines) and not lines[number - 1].strip():
        number += 1
    shown = lines[number - 1]
    words = re.fullmatch(r"[A-Z][\w'’,-]*(?: [\w'’,()-]+){2,}[.:!]?", shown.strip())
    advice = (
        "Send code only, without sentences around it."
        if words
        else f"({error.msg}.) Send the whole text again, or only the lines that differ."
    )
    return _bad(
        scene,
        path,
        f"Line {number} of the text for '{path}' is not Python: {corrective.quoted(shown.strip(), 120)}. Nothing was written. {advice}",
    )


def _bad(scene: Scene, path: str, wrong: str) -> Fault:
    return scene.fault("bad_text", wrong, scene.edit_call(path))


def _code_call(scene: Scene, path: str) -> str:
    others = [name for name in scene.files if not paths.is_test(name)]
    return scene.edit_call(others[0]) if others else corrective.call("read_file", path=path)


def _on_what(content: str) -> str:
    """ " on withdraw": the functions that a shortened text does show."""
    names = [
        name
        for name in re.findall(r"^[ \t]*(?:async )?def (\w+)", content, re.MULTILINE)
        if name != "__init__"
    ]
    return f" on {', '.join(names[:3])}" if names else ""


def _locked(path: str, text: str, scene: Scene) -> Fault | None:
    """Tests and what configures them are not the model's to change."""
    name = path.rsplit("/", 1)[-1]
    config = name in ("pyproject.toml", "setup.cfg", "tox.ini") and _TEST_CONFIG.search(text)
    if not paths.is_test(path) and not config:
        return None
    if name == "conftest.py":
        hooked = re.search(r"pytest_runtest_makereport|outcome|hookimpl|pytest_\w+", text)
        what = "changes how results are reported" if hooked else "sets up the tests"
        wrong = f"'{path}' {what}: test infrastructure is protected like the tests themselves, so nothing was written."
    elif config or name.endswith((".ini", ".toml", ".cfg")):
        wrong = f"'{path}' configures the test run: it is protected like the tests, so nothing was written."
    else:
        wrong = f"'{path}' is a test, and tests are locked, so nothing was written."
    return scene.fault(
        "locked",
        f"{wrong} Change the code under test; if the test itself is wrong, say so in words.",
        _code_call(scene, path),
    )


def _cheat(path: str, text: str, before: str, scene: Scene) -> Fault | None:
    """Code that looks whether a test is running, or ends the process, fixes nothing."""
    found = _CHEATS.search(text)
    if not found or not is_python(path) or found.group() in before:
        return None
    return scene.fault(
        "locked",
        f"The new text of '{path}' holds {corrective.quoted(found.group(), 60)}, which special-cases the test run; nothing was"
        " written. Make the code right for every caller.",
        scene.edit_call(path),
    )
