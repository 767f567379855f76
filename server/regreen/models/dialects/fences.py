"""The one-edit contract: a code block with the whole corrected function becomes an edit of the file that holds it."""

from __future__ import annotations

import ast
import functools
import itertools
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

from regreen.models.dialects import checks, corrective, damaged
from regreen.models.dialects.corrective import Scene
from regreen.models.dialects.python_text import is_python, syntax_error, tree_of
from regreen.models.dialects.reading import Asked, Fault

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Named = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class _Unit:
    """A function or class of a file: where it stands, decorators included."""

    path: str
    qualname: str
    node: _Named
    source: str
    offset: int


def splice(code: str, scene: Scene, named: str = "") -> list[Asked] | Fault | None:
    """The edits that put a block's functions in place of those of the same name.

    `named` is the file that the text above the block names. None when the block cannot belong to a file in play.
    """
    code = textwrap.dedent(code.replace("\r\n", "\n")).strip("\n")
    heading = re.match(r"#+ *(?:file(?:name)?: *|path: *)?([\w./-]+\.py)[ \t]*\n", code, re.IGNORECASE)
    if heading and heading.group(1) in scene.files:
        named, code = heading.group(1), code[heading.end() :]
    files = {path: text.replace("\r\n", "\n") for path, text in scene.files.items() if is_python(path)}
    if not code.strip() or not files:
        return None
    if named in files:
        files = {named: files[named]}
    code = textwrap.dedent(damaged.repaired_file("block.py", code)).strip("\n")
    if placeholder := checks.placeholder_in(code):
        return _placeholder(placeholder, scene)
    parsed = tree_of(code)
    if parsed is None:
        return _no_python(code, scene) if len(files) == 1 or "def " in code else None
    units = [unit for path, text in files.items() for unit in _units(path, text)]
    whole = _whole_file(code, parsed, files)
    if isinstance(whole, Asked):
        return [whole]
    return _pieces(code, parsed, units, files, scene)


def _placeholder(line: str, scene: Scene) -> Fault:
    return scene.fault(
        "bad_text",
        f"The line {corrective.quoted(line.strip(), 80)} stands for code that is not shown, so nothing was changed."
        " Return the whole function, every line of it, or only the lines that differ:",
        scene.edit_call(),
    )


def _no_python(code: str, scene: Scene) -> Fault:
    error = syntax_error(code)
    line = (error.lineno or 1) if error else 1
    shown = code.split("\n")[min(line, code.count("\n") + 1) - 1]
    return scene.fault(
        "bad_text",
        f"Line {line} of the code block is not Python: {corrective.quoted(shown, 100)}. Return the whole corrected"
        " function in one ```python block, or only the lines that differ:",
        scene.edit_call(),
    )


@functools.lru_cache(maxsize=8)
def _units(path: str, text: str) -> tuple[_Unit, ...]:
    parsed = tree_of(text)
    if parsed is None:
        return ()
    lines = text.split("\n")
    offsets = list(itertools.accumulate((len(line) + 1 for line in lines), initial=0))
    found: list[_Unit] = []

    def walk(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                first = _first_line(node) - 1
                found.append(
                    _Unit(
                        path,
                        prefix + node.name,
                        node,
                        "\n".join(lines[first : node.end_lineno]),
                        offsets[first],
                    )
                )
                if isinstance(node, ast.ClassDef):
                    walk(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, (ast.If, ast.Try)):
                walk(node.body, prefix)
                walk(node.orelse, prefix)

    walk(parsed.body, "")
    return tuple(found)


def _first_line(node: _Named) -> int:
    return min([node.lineno, *[one.lineno for one in node.decorator_list]])


def _names(tree: ast.Module) -> set[str]:
    return {
        node.name
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }


def _whole_file(code: str, tree: ast.Module, files: Mapping[str, str]) -> Asked | None:
    """The block as the whole of a file: it holds every name the file defines, and what is not a function too."""
    for path, text in files.items():
        old = tree_of(text)
        if old is None or not _names(old) or len(old.body) < 2:
            continue
        loose = [
            node
            for node in old.body
            if not isinstance(node, _Function | ast.ClassDef) and not _is_docstring(node)
        ]
        new_loose = [node for node in tree.body if not isinstance(node, _Function | ast.ClassDef)]
        if checks.lost_names(text, code) or len(new_loose) < len(loose) or not loose:
            continue
        return Asked("write_file", {"path": path, "content": code + "\n"})
    return None


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _pieces(
    code: str, tree: ast.Module, units: list[_Unit], files: Mapping[str, str], scene: Scene
) -> list[Asked] | Fault | None:
    """Function by function: old text out, new text in; new helpers go before the first function that is replaced."""
    lines = code.split("\n")
    pairs: list[tuple[_Unit, str]] = []
    fresh: list[_Named] = []
    several: list[str] = []
    for node, prefix in _flat(tree, units):
        source = _source(node, lines)
        matches = [one for one in units if _same_name(one.qualname, prefix + node.name)]
        if not prefix:
            matches = [one for one in matches if one.qualname == node.name] or matches
        if len(matches) > 1:
            several += [f"{one.qualname} in {one.path}" for one in matches]
        elif matches:
            pairs.append((matches[0], source))
        elif not node.name.startswith(("test_", "Test")):  # a test shown beside the code is not for this file
            fresh.append(node)
    if several:
        return scene.fault(
            "several_places",
            f"The function of the code block exists more than once: {', '.join(several[:6])}."
            " Say which one by an edit of that file:",
            scene.edit_call(several[0].rsplit(" in ", 1)[1]),
        )
    if not pairs:
        return _homeless(tree, fresh, units, files, scene)
    return _calls(pairs, fresh, tree, lines, units, files, scene)


def _source(node: _Named, lines: list[str]) -> str:
    return textwrap.dedent("\n".join(lines[_first_line(node) - 1 : node.end_lineno]))


def _takes_self(node: _Named) -> bool:
    if isinstance(node, ast.ClassDef):
        return False
    names = [one.arg for one in [*node.args.posonlyargs, *node.args.args]]
    return names[:1] in (["self"], ["cls"]) or any(
        isinstance(one, ast.Name) and one.id in ("staticmethod", "classmethod") for one in node.decorator_list
    )


def _ambiguous_place(unit: _Unit, scene: Scene) -> Fault:
    return scene.fault(
        "several_places",
        f"The code block brings a new function, and its place before {unit.qualname} in '{unit.path}' is not clear."
        " Send the change as edits:",
        scene.edit_call(unit.path),
    )


def _same_name(qualname: str, name: str) -> bool:
    return qualname == name or qualname.endswith("." + name)


def _flat(tree: ast.Module, units: list[_Unit]) -> list[tuple[_Named, str]]:
    """The functions of a block; a class is taken whole when nothing of the old one is lost, else by its methods."""
    found: list[tuple[_Named, str]] = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            old = next((one.node for one in units if _same_name(one.qualname, node.name)), None)
            if isinstance(old, ast.ClassDef) and len(node.body) < len(old.body):
                found += [(one, node.name + ".") for one in node.body if isinstance(one, _Named)]
                continue
        if isinstance(node, _Named):
            found.append((node, ""))
    return found


def _homeless(
    tree: ast.Module, fresh: list[_Named], units: list[_Unit], files: Mapping[str, str], scene: Scene
) -> Fault | None:
    if fresh and len(files) >= 1 and units:
        names = sorted(_names(tree))
        have = ", ".join(one.qualname for one in units[:12])
        return scene.fault(
            "not_found",
            f"The code block defines {', '.join(names[:6])}, which {next(iter(files)) if len(files) == 1 else 'no file in play'}"
            f" {'does not have' if len(files) == 1 else 'has'}; it has {have}. Return one of these functions whole, under its own name, or an edit:",
            scene.edit_call(),
        )
    if len(files) == 1:
        return scene.fault(
            "bad_text",
            "The code block holds no whole function, so its place is unknown and nothing was changed."
            " Return the whole corrected function in one ```python block, or an edit:",
            scene.edit_call(),
        )
    return None


def _calls(
    pairs: list[tuple[_Unit, str]],
    fresh: list[_Named],
    tree: ast.Module,
    lines: list[str],
    units: list[_Unit],
    files: Mapping[str, str],
    scene: Scene,
) -> list[Asked] | Fault:
    calls: list[Asked] = []
    imports = [
        "\n".join(lines[node.lineno - 1 : node.end_lineno])
        for node in tree.body
        if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    path = pairs[0][0].path
    if added := _imports(imports, path, files[path]):
        calls.append(added)
    first, _ = pairs[0]
    outer = next(
        (one for one in units if first.qualname.rpartition(".")[0] == one.qualname and one.path == path), None
    )
    loose = [node for node in fresh if outer and not _takes_self(node)]
    if outer and loose:  # helpers of a method that are no methods: before its class
        header = outer.source.split("\n", 1)[0]
        if files[path].count(header) != 1:
            return _ambiguous_place(outer, scene)
        new = "\n\n\n".join([*[_source(node, lines) for node in loose], header])
        calls.append(Asked("edit_file", {"path": path, "find": header, "replace": new}))
    for number, (unit, source) in enumerate(pairs):
        text = files[unit.path]
        indent = unit.source[: len(unit.source) - len(unit.source.lstrip())]
        new = textwrap.indent(source, indent)
        beside = [node for node in fresh if node not in loose] if number == 0 else []
        if beside:
            gap = "\n\n" if indent else "\n\n\n"
            new = gap.join([*[textwrap.indent(_source(node, lines), indent) for node in beside], new])
        if new == unit.source:
            continue
        find, replace = _unique(unit, new, text)
        calls.append(Asked("edit_file", {"path": unit.path, "find": find, "replace": replace}))
    if calls:
        return calls
    unit = pairs[0][0]
    return scene.fault(
        "no_op",
        f"The code block is {unit.qualname} as it already stands in '{unit.path}', so nothing would change."
        " Change the lines that make the test fail:",
        scene.edit_call(unit.path),
    )


def _unique(unit: _Unit, replace: str, text: str) -> tuple[str, str]:
    """Old and new text, with lines before them added until the old one occurs once in the file."""
    start = unit.offset
    while start and text.count(text[start : unit.offset] + unit.source) > 1:
        start = text.rfind("\n", 0, start - 1) + 1
    before = text[start : unit.offset]
    return before + unit.source, before + replace


def _imports(imports: list[str], path: str, text: str) -> Asked | None:
    """An edit that adds the imports of a block which the file lacks, after its last import or before its first line."""
    lines = text.split("\n")
    known = {line.strip() for line in lines}
    missing = [one for one in imports if one.strip() not in known]
    tree = tree_of(text)
    if not missing or tree is None or not tree.body:
        return None
    have = {
        name
        for node in tree.body
        if isinstance(node, ast.Import)
        for name in [one.name for one in node.names]
    }
    missing = [one for one in missing if one.removeprefix("import ").strip() not in have]
    olds = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    if not missing:
        return None
    if olds:
        old = "\n".join(lines[olds[-1].lineno - 1 : olds[-1].end_lineno])
        new = "\n".join([old, *missing])
    else:
        body = [node for node in tree.body if not _is_docstring(node)] or tree.body
        first = body[0]
        start = _first_line(first) if isinstance(first, _Named) else first.lineno
        old = lines[start - 1]
        new = "\n".join([*missing, "", "", old] if isinstance(first, _Named) else [*missing, "", old])
    if text.count(old) != 1:
        return None
    return Asked("edit_file", {"path": path, "find": old, "replace": new})
