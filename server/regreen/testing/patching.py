"""Edits that change what others own: modules, installed classes, modules of the project, chance itself.

The standard library's own parts are refused (tampering.py), since tests use them. An installed library or another
module of the project may be set up by code with good reason; so this is a doubt.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Callable, Iterator

_RESETS = frozenset(("seed", "set_seed", "manual_seed", "default_rng", "use_fake_time", "freeze_time"))


def patched(before: ast.Module, after: ast.Module, own: Callable[[str], bool]) -> tuple[str, int] | None:
    """What an edit newly replaces in code of others, as a clause, and the line; None for nothing.

    `own` says of the name of a top module whether it is the project's: its settings may be set, its functions and classes not.
    """
    known = Counter(text for text, _ in _patches(before, own))
    for text, line in _patches(after, own):
        known[text] -= 1
        if known[text] < 0:
            return text, line
    return None


def _patches(tree: ast.Module, own: Callable[[str], bool]) -> Iterator[tuple[str, int]]:
    scene = _Scene(tree, own)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Attribute):
                    yield from scene.set(target.value, target.attr, node.value)
                elif isinstance(target, ast.Subscript):
                    yield from scene.namespace(target.value)
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                if isinstance(target, ast.Attribute):
                    yield from scene.set(target.value, target.attr, None)
        elif isinstance(node, ast.Call):
            yield from _call(node, scene)
        elif isinstance(node, ast.For):
            yield from scene.one_after_another(node)


class _Scene:
    """What names of a file stand for: modules, parts of modules (also by way of another name), things made here."""

    def __init__(self, tree: ast.Module, own: Callable[[str], bool]) -> None:
        self._own = own
        self.modules: dict[str, str] = {}
        self.parts: dict[str, str] = {}
        self._made = {
            node.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    top = alias.name.split(".")[0]
                    self.modules[alias.asname or top] = alias.name if alias.asname else top
            elif isinstance(node, ast.ImportFrom):
                home = "." * node.level + (node.module or "")
                self.parts.update(
                    {alias.asname or alias.name: f"{home}.{alias.name}" for alias in node.names}
                )
        for _turn in range(3):
            for node in ast.walk(tree):
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    self._another_name(node.targets[0].id, node.value)

    def _another_name(self, name: str, value: ast.expr) -> None:
        if isinstance(value, ast.Name) and value.id in self.modules:
            self.modules.setdefault(name, self.modules[value.id])
        elif isinstance(value, ast.Name) and value.id in self.parts and value.id[:1].isupper():
            self.parts.setdefault(name, self.parts[value.id])
        elif isinstance(value, ast.Attribute) and value.attr[:1].isupper() and (owner := self.owner(value)):
            self.parts.setdefault(name, owner)
        elif isinstance(value, ast.Call) and ast.unparse(value.func).endswith("import_module") and value.args:
            said = value.args[0]
            if isinstance(said, ast.Constant) and isinstance(said.value, str):
                self.modules.setdefault(name, said.value)

    def owner(self, node: ast.expr) -> str:
        """ "module.part" for an expression that begins with a module; "" for any other."""
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.modules:
            return ""
        return ".".join((self.modules[node.id], *names))

    def set(self, of: ast.expr, name: str, to: ast.expr | None) -> Iterator[tuple[str, int]]:
        """An attribute of something imported that is set to something else; None: taken away."""
        text = ast.unparse(of)
        owner = self.owner(of)
        if owner or text in self.parts:
            if self._is_patch(owner, owner or self.parts[text], name, to):
                yield f"replaces {text}.{name}, which others use too", of.lineno
        elif text.startswith("type(") or text.endswith(".__class__"):
            yield f"replaces {name} of a class at run time ({text}.{name})", of.lineno

    def _is_patch(self, owner: str, whole: str, name: str, to: ast.expr | None) -> bool:
        top = whole.split(".")[0]
        mine = whole.startswith(".") or self._own(top)
        if to is None or name.startswith("__") or (top in sys.stdlib_module_names and not mine):
            return True
        if "." in whole and whole.rpartition(".")[2][:1].isupper():
            return True  # a class, for everybody
        if isinstance(to, ast.Lambda) or (
            isinstance(to, ast.Name) and (to.id in self._made or to.id[:1].isupper())
        ):
            return True
        # A setting, such as an address or a key, is a plain value; an instance is its own business.
        return bool(owner) and not mine and not isinstance(to, ast.Constant | ast.Dict | ast.List | ast.Tuple)

    def namespace(self, of: ast.expr) -> Iterator[tuple[str, int]]:
        """`module.__dict__[…] = …`, `vars(module)[…] = …`."""
        inner: ast.expr | None = None
        if isinstance(of, ast.Attribute) and of.attr == "__dict__":
            inner = of.value
        elif isinstance(of, ast.Call) and ast.unparse(of.func) == "vars" and of.args:
            inner = of.args[0]
        if inner is not None and (self.owner(inner) or ast.unparse(inner) in self.parts):
            yield f"changes what {ast.unparse(inner)} holds, which others use too", of.lineno

    def one_after_another(self, loop: ast.For) -> Iterator[tuple[str, int]]:
        """`for module in (one, other): module.name = …`."""
        names = {part.id for part in ast.walk(loop.iter) if isinstance(part, ast.Name)} & {
            *self.modules,
            *self.parts,
        }
        target = ast.unparse(loop.target)
        for node in ast.walk(loop) if names else ():
            if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Store):
                continue
            if ast.unparse(node.value) == target:
                yield f"replaces {node.attr} of {', '.join(sorted(names))}", node.lineno


def _call(node: ast.Call, scene: _Scene) -> Iterator[tuple[str, int]]:
    called = ast.unparse(node.func)
    last = called.rpartition(".")[2]
    if last in ("setattr", "__setattr__", "delattr", "__delattr__") and node.args:
        name = ast.unparse(node.args[1]).strip("'\"") if len(node.args) > 1 else "…"
        yield from scene.set(node.args[0], name, node.args[2] if len(node.args) > 2 else None)
    elif last in ("update", "setdefault", "pop", "__setitem__") and isinstance(node.func, ast.Attribute):
        yield from scene.namespace(node.func.value)
    elif last in _RESETS and (scene.owner(node.func) or called in scene.parts) and node.args:
        yield f"calls {called}(), so that nothing is left to chance", node.lineno
