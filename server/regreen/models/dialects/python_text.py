"""Questions about Python text that are asked before anything is repaired: does it parse, where are its strings?"""

from __future__ import annotations

import ast
import functools
import re
import textwrap
import warnings

_HEAD = re.compile(r"^(?:elif\b|else\b|except\b|finally\b|case\b)")
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#\d{2,4}|#x[0-9a-fA-F]{2,4});")
_STRINGS = re.compile(
    r'"""(?:[^\\]|\\.)*?"""'
    r"|'''(?:[^\\]|\\.)*?'''"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'(?:[^'\\\n]|\\.)*'"
    r"|\#[^\n]*",
    re.DOTALL,
)
_NEWER = re.compile(r"^\s*(?:type\s+\w+|(?:def|class|async def)\s+\w+\s*\[|except\s*\*)", re.MULTILINE)


def is_python(path: str) -> bool:
    """Whether the file is one that Python parses."""
    return path.lower().endswith((".py", ".pyi", ".pyw"))


@functools.lru_cache(maxsize=16)
def _parsed(text: str) -> ast.Module | SyntaxError:
    """The tree of a text or why there is none; remembered, since one text is asked about several times."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except SyntaxError as error:
            return error
        except (ValueError, RecursionError, MemoryError) as error:
            return SyntaxError(str(error) or "too deeply nested")


def _ended(text: str) -> str:
    """The text with one line end behind it; the same object where it has that already, whose hash is known."""
    return text if text[-1:] == "\n" != text[-2:-1] else text.rstrip("\n") + "\n"


def tree_of(text: str) -> ast.Module | None:
    """The syntax tree of a text (not to be changed); None when it does not parse."""
    found = _parsed(_ended(text))
    return found if isinstance(found, ast.Module) else None


def syntax_error(text: str) -> SyntaxError | None:
    """Why a whole file does not parse; None when it does, or when only a newer Python than ours could tell."""
    found = _parsed(_ended(text))
    if isinstance(found, ast.Module) or "f-string" in (found.msg or "") or _NEWER.search(text):
        return None
    return found


def parses(text: str) -> bool:
    """Whether a whole file parses."""
    return syntax_error(text) is None


def code_only(text: str) -> str:
    """The text without its strings and comments, which may hold anything."""
    return _STRINGS.sub("''", text)


def has_entities(text: str) -> bool:
    """Whether an HTML entity stands where Python code should be (`a &lt; b` parses, as two statements)."""
    return "&" in text and ";" in text and _ENTITY.search(code_only(text)) is not None


def fragment_parses(text: str) -> bool:
    """Whether some lines cut out of a file could be Python: any indentation, open blocks, `else:` alone."""
    text = textwrap.dedent(text).strip("\n")
    if not text.strip():
        return True
    return any(parses(candidate) for candidate in _completions(text) + _enclosures(text))


def _enclosures(text: str) -> list[str]:
    """The ways in which a fragment may be part of an expression."""
    if len(text) > 2000:
        return []
    ways = [f"x{text}"] if text[0] in ".[(" else []
    if re.match(r"[-+*/%<>=!&|^@,]|(?:and|or|if|in|is|not|for)\b", text):
        ways.append(f"x {text.lstrip(',')}")
    return [*ways, f"{{\n{text}\n}}", f"f(\n{text}\n)"]


def _completions(text: str) -> list[str]:
    """The ways in which a fragment may be part of a file, the likely one first."""
    lines = text.split("\n")
    body = text
    if lines[-1].rstrip().endswith(":"):
        indent = len(lines[-1]) - len(lines[-1].lstrip())
        body = f"{text}\n{' ' * (indent + 4)}pass"
    ways = [body]
    if len(lines) > 1 and not lines[0][:1].isspace():
        rest = [line for line in lines[1:] if line.strip()]
        indent = min((len(line) - len(line.lstrip()) for line in rest), default=0)
        if indent:  # the first line lost its indentation: the find began in mid-line
            ways.append("if 1:\n" + " " * indent + body)
    if _HEAD.match(lines[0]):
        opener = "match 0:\n " if lines[0].startswith("case") else "try:\n pass\n"
        if lines[0].startswith(("elif", "else")):
            opener = "if 1:\n pass\n"
        ways.append(opener + body.replace("\n", "\n ") if opener.startswith("match") else opener + body)
    if lines[0].startswith("@"):
        ways.append(body + "\ndef f(): pass")
    if lines[0].startswith("try:") and len(ways) == 1:
        ways.append(body + "\nfinally:\n pass")
    return ways
