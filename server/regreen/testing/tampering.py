"""Does an edit reach into what decides whether the test passed? A look at the text, before anything runs.

In-process code could forge a pass however it is judged, so an edit that newly touches the runner, the interpreter's
insides or the question "am I being tested" is refused. What was there before the edit is the project's own.
"""

from __future__ import annotations

import ast
import contextlib
import re
import sys
from collections import Counter
from collections.abc import Iterator

from regreen.testing.folding import answers_always, folded

_MODULES = frozenset(
    ("pytest", "_pytest", "pluggy", "unittest", "xdist", "pytest_cov", "gc", "ctypes", "_ctypes", "builtins",
     "sitecustomize", "usercustomize", "conftest", "tests", "test", "__main__", "faulthandler", "hypothesis",
     "_testcapi", "_xxsubinterpreters", "nose", "nose2", "mock", "doctest", "forbiddenfruit", "dill", "freezegun",
     "time_machine", "flexmock", "pyfakefs", "pytest_mock", "dirty_equals", "testfixtures", "requests_mock", "asynctest")
)  # fmt: skip
"""Modules that a mended source file has no reason to begin importing."""

_ATTRIBUTES = {
    "sys": ("modules", "_getframe", "settrace", "setprofile", "monitoring", "meta_path", "path_hooks", "path",
            "path_importer_cache", "excepthook", "unraisablehook", "last_traceback", "_current_frames",
            "addaudithook", "orig_argv", "gettrace", "getprofile", "stdout", "stderr", "__dict__", "__stdout__",
            "_getframemodulename", "call_tracing", "displayhook", "breakpointhook", "settraceallthreads", "exc_info",
            "set_asyncgen_hooks", "_current_exceptions"),
    "os": ("_exit", "abort", "execv", "execve", "execl", "execvp", "dup2", "closerange", "__dict__"),
    "inspect": ("stack", "currentframe", "getouterframes", "getinnerframes", "trace", "getframeinfo"),
    "traceback": ("extract_stack", "format_stack", "print_stack", "walk_stack", "StackSummary"),
    "threading": ("settrace", "setprofile", "_shutdown"),
    "types": ("CodeType", "FrameType", "TracebackType"),
    "atexit": ("_run_exitfuncs", "_clear"),
}  # fmt: skip
"""Parts of modules that reach past the code itself. stdout only when it is replaced, path only when changed."""

_ON_ASSIGNMENT = frozenset(
    ("sys.stdout", "sys.stderr", "sys.path", "sys.excepthook", "sys.displayhook", "sys.breakpointhook")
)
_NEVER_MIND = frozenset(("exc_info",))

_INSIDES = frozenset(
    ("f_back", "f_globals", "f_locals", "f_builtins", "tb_frame", "gi_frame", "cr_frame", "ag_frame", "__subclasses__",
     "__builtins__", "__closure__", "__code__", "__globals__", "co_filename", "__mro__", "__bases__",
     "__getattribute__", "__subclasshook__", "tb_next", "findCaller")
)  # fmt: skip

_TEXT_AS_CODE = frozenset(("exec", "eval", "compile", "__import__", "breakpoint"))
_BY_NAME = frozenset(
    ("getattr", "setattr", "delattr", "hasattr", "attrgetter", "methodcaller", "getattr_static")
)
_IMPORTS = frozenset(("import_module", "find_spec", "reload", "load_module", "get_loader"))
_COMPARES = frozenset(
    ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__instancecheck__", "__subclasscheck__")
)
"""Methods that decide what an assertion sees."""
_ENDS = frozenset(("exit", "quit", "SystemExit", "KeyboardInterrupt"))
_LOADED_BY_NAME = frozenset(
    ("conftest.py", "sitecustomize.py", "usercustomize.py", "pytest.py", "_pytest.py")
)
_QUESTION = re.compile(r"(?i)^_?py\.?test($|[._])|PYTEST|^PYTE|^unittest($|\.)|^conftest$|_regreen|^regreen_")


def reaches_into_runner(before: str, after: str, path: str) -> str:
    """One sentence that says what an edit newly reaches into, "" when it stays with the code.

    `before` is "" for a new file. Test files and conftest.py are other rules' business (they are locked); what
    is new by name alone, such as a `sitecustomize.py` or a module that hides one of the standard library, is refused.
    """
    by_name = _by_name(path, new=not before)
    if by_name:
        return by_name
    if not path.endswith((".py", ".pyi", ".pyx")):
        return ""
    try:
        found = list(_reaches(ast.parse(after)))
    except (SyntaxError, ValueError, RecursionError):
        # It cannot run as it is; a later edit that mends it is looked at again.
        return ""
    old = _before(before)
    counts: Counter[str] = Counter()
    new: list[tuple[str, int]] = []
    for what, line in found:
        counts[what] += 1
        if counts[what] > old[what]:
            new.append((what, line))
    if not new:
        return ""
    named = ", ".join(list(dict.fromkeys(what for what, _line in new))[:3])
    return f"The edit reaches into what decides the test: {named} (line {min(line for _, line in new)})."


def _by_name(path: str, new: bool) -> str:
    folders, _, name = path.rpartition("/")
    if not new:
        return ""
    stem = name.split(".")[0]
    if name in _LOADED_BY_NAME or name.endswith(".pth"):
        return f"The edit adds {name}, which runs before the test does."
    top = folders in ("", "src", "lib")
    package = path.removeprefix("src/").split("/")[0]
    hides = stem if top and name.endswith(".py") else package if name == "__init__.py" else ""
    if hides in sys.stdlib_module_names or hides in ("pytest", "_pytest", "pluggy", "iniconfig", "packaging"):
        return f"The edit adds {path}, which would be imported instead of the module '{hides}'."
    return ""


def _before(source: str) -> Counter[str]:
    """What the file reached into already. One that did not parse is read line by line."""
    try:
        return Counter(what for what, _line in _reaches(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError):
        pass
    found: Counter[str] = Counter()
    for line in source.splitlines():
        with contextlib.suppress(SyntaxError, ValueError):
            found.update(what for what, _line in _reaches(ast.parse(line.strip())))
    return found


def _reaches(tree: ast.Module) -> Iterator[tuple[str, int]]:
    aliases = _module_aliases(tree)
    parts = _imported_parts(tree)
    docs = _docstrings(tree)
    assigned = {id(target) for target in _assigned(tree)}
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] in _MODULES or _is_test_module(alias.name):
                    yield f"import {alias.name}", line
        elif isinstance(node, ast.ImportFrom):
            yield from _from_import(node)
        elif isinstance(node, ast.Attribute):
            yield from _attribute(node, aliases, assigned, line)
            if id(node) in assigned and (owner := _library_part(node.value, aliases, parts)):
                yield f"{owner}.{node.attr}, which it replaces", line
        elif isinstance(node, ast.Call):
            yield from _call(node, aliases, line)
            sets = ast.unparse(node.func) in ("setattr", "delattr") and bool(node.args)
            if sets and (owner := _library_part(node.args[0], aliases, parts)):
                yield f"{ast.unparse(node.func)}({owner}, …)", line
        elif isinstance(node, ast.Name):
            if node.id in ("__builtins__", "__import__"):
                yield node.id, line
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            if _QUESTION.search(node.value):
                yield f"the text {node.value[:40]!r}", line
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.startswith("pytest_"):
                yield f"the hook {node.name}", line
            if node.name in _COMPARES and answers_always(node):
                yield f"an {node.name} that gives one answer for everything", line
        elif isinstance(node, ast.Compare):
            yield from _questions(node)
        elif isinstance(node, ast.ClassDef):
            yield from _made_compares(node)
        made = isinstance(node, ast.BinOp | ast.JoinedStr | ast.Subscript | ast.Call)
        if made and (text := folded(node)) and _QUESTION.search(text):
            yield f"the text {text[:40]!r}", line
    yield from _ends_at_import(tree.body)


def _from_import(node: ast.ImportFrom) -> Iterator[tuple[str, int]]:
    module = node.module or ""
    top = module.split(".")[0]
    if not node.level and (top in _MODULES or _is_test_module(module)):
        yield f"import {module}", node.lineno
    for alias in node.names:
        if not node.level and alias.name in _ATTRIBUTES.get(module, ()):
            yield f"{module}.{alias.name}", node.lineno
        if _is_test_module(alias.name):
            yield f"import {alias.name}", node.lineno


def _attribute(
    node: ast.Attribute, aliases: dict[str, str], assigned: set[int], line: int
) -> Iterator[tuple[str, int]]:
    if node.attr in _INSIDES:
        yield node.attr, line
    if node.attr in _COMPARES and id(node) in assigned:
        yield f"an {node.attr} that it puts in place", line
    if isinstance(node.value, ast.Attribute) and node.value.attr in _ATTRIBUTES:
        # A module by way of another that imports it: os.sys, logging.sys.
        module = node.value.attr if isinstance(node.value.value, ast.Name) else ""
    elif isinstance(node.value, ast.Name):
        module = aliases.get(node.value.id, "")
    else:
        return
    name = f"{module}.{node.attr}"
    if node.attr in _NEVER_MIND:
        return
    if node.attr in _ATTRIBUTES.get(module, ()) and (name not in _ON_ASSIGNMENT or id(node) in assigned):
        yield name, line
    elif id(node) in assigned and module.split(".")[0] in sys.stdlib_module_names:
        yield f"{name}, which it replaces", line
    elif module.split(".")[0] in _MODULES:
        yield name, line


def _call(node: ast.Call, aliases: dict[str, str], line: int) -> Iterator[tuple[str, int]]:
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    texts = [text for text in map(folded, node.args) if text]
    if called in _BY_NAME:
        reached = {
            name for names in _ATTRIBUTES.values() for name in names if name.startswith("_")
        } | _INSIDES
        for text in texts:
            if text in reached or (text in _COMPARES and called == "setattr"):
                yield f"{called}(…, {text!r})", line
    if called in _IMPORTS:
        for text in texts:
            if text.split(".")[0] in _MODULES or text in ("sys", "inspect") or _is_test_module(text):
                yield f"{called}({text!r})", line
    if called == "type" and len(node.args) == 3 and isinstance(node.args[2], ast.Dict):
        for key in node.args[2].keys:
            if key is not None and (name := folded(key)) in _COMPARES:
                yield f"an {name} that it makes at run time", line
    if isinstance(node.func, ast.Name):
        if node.func.id in _TEXT_AS_CODE:
            yield f"{node.func.id}()", line
        of = node.args[0] if node.args else None
        reflective = node.func.id in ("getattr", "setattr", "delattr", "vars", "dir")
        if (
            reflective
            and isinstance(of, ast.Name)
            and aliases.get(of.id, "").split(".")[0] in sys.stdlib_module_names
        ):
            yield f"{node.func.id}({of.id}, …)", line
        if node.func.id == "globals" or node.func.id == "locals":
            return
    elif isinstance(node.func, ast.Attribute) and node.func.attr in ("insert", "append", "extend"):
        inner = node.func.value
        if isinstance(inner, ast.Attribute) and inner.attr == "path":
            owner = ast.unparse(inner.value)
            if aliases.get(owner) == "sys":
                yield "sys.path", line


def _ends_at_import(body: list[ast.stmt]) -> Iterator[tuple[str, int]]:
    """Ending the process while a module is imported; in a function it is a program's own way to end."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or _is_main_block(node):
            if isinstance(node, ast.ClassDef):
                yield from _ends_at_import(node.body)
            continue
        for part in ast.walk(node):
            name = (
                part.id
                if isinstance(part, ast.Name)
                else part.attr
                if isinstance(part, ast.Attribute)
                else ""
            )
            if name in _ENDS:
                yield f"{name} while the module is imported", getattr(part, "lineno", 0)


def _is_main_block(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test) and not node.orelse


def _module_aliases(tree: ast.Module) -> dict[str, str]:
    """Names that stand for modules. `sys` and `os` do so even where their import is not seen."""
    found = {"sys": "sys", "os": "os"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                if alias.name in ("modules", "monitoring"):
                    found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def _imported_parts(tree: ast.Module) -> dict[str, str]:
    """Names that stand for parts of the standard library's modules, such as classes."""
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and not node.level
        if (node.module or "").split(".")[0] in sys.stdlib_module_names
        for alias in node.names
    }


def _library_part(node: ast.expr, aliases: dict[str, str], parts: dict[str, str]) -> str:
    """Which part of a standard library's module an expression names, "" for none: what a test uses too."""
    if isinstance(node, ast.Name):
        return parts.get(node.id, "")
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    module = aliases.get(node.id, "") if isinstance(node, ast.Name) and names else ""
    return ".".join((module, *names)) if module.split(".")[0] in sys.stdlib_module_names else ""


def _assigned(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            yield from node.targets
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            yield node.target
        elif isinstance(node, ast.Delete):
            yield from node.targets


def _docstrings(tree: ast.Module) -> set[int]:
    return {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def _is_test_module(name: str) -> bool:
    parts = name.split(".")
    return parts[0] in ("tests", "conftest") or any(
        part.startswith("test_") or part.endswith("_test") or part == "conftest" for part in parts
    )


def _made_compares(node: ast.ClassDef) -> Iterator[tuple[str, int]]:
    """Comparisons that a class gets without a `def`, and those of numbers and texts that are to be something else."""
    plain_values = {"int", "str", "float", "bytes", "list", "dict", "tuple", "set", "frozenset", "complex"}
    if any(isinstance(base, ast.Name) and base.id in plain_values for base in node.bases):
        for part in node.body:
            if isinstance(part, ast.FunctionDef) and part.name in ("__eq__", "__ne__"):
                yield f"an {part.name} of its own for {ast.unparse(node.bases[0])}", part.lineno
    for part in node.body:
        if not isinstance(part, ast.Assign | ast.AnnAssign):
            continue
        for target in part.targets if isinstance(part, ast.Assign) else [part.target]:
            if isinstance(target, ast.Name) and target.id in _COMPARES and not _same(target.id, part.value):
                yield f"an {target.id} that is put together in another way than with def", part.lineno


def _same(name: str, value: ast.expr | None) -> bool:
    """Whether a comparison is only another class's of the same name, or a lambda that looks at what it is given."""
    if isinstance(value, ast.Lambda):
        return not answers_always(value)
    return isinstance(value, ast.Attribute) and value.attr == name


def _questions(node: ast.Compare) -> Iterator[tuple[str, int]]:
    """Comparisons that ask how the code was started, and not what it was given."""
    parts = [node.left, *node.comparators]
    said = [ast.unparse(part) for part in parts]
    if any(
        text.startswith(("sys.argv", "' '.join(sys.argv", "''.join(sys.argv", "str(sys.argv"))
        for text in said
    ):
        yield "a question about sys.argv", node.lineno
    if "__name__" in said and (
        not all(isinstance(operator, ast.Eq) for operator in node.ops) or "'__main__'" not in said
    ):
        yield "a question about __name__", node.lineno
    if "__package__" in said or "__spec__" in said:
        yield "a question about how it was imported", node.lineno
