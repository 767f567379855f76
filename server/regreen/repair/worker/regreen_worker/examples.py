"""Examples in docstrings, as checks: `>>>` sessions, and lines such as `f(2) == 4`, `f([1]) -> [2]`, `f(0) returns 0`."""

from __future__ import annotations

import ast
import doctest
import re
from typing import Any, Dict, List, Optional, Tuple

MOST = 12
"""Examples of one docstring."""
_SAYS = re.compile(r"\s*(?:={1,3}>?|=>|-{1,2}>|➞|→|⇒|#\s*=?>?|returns?\b:?|should return|gives|is)\s*")

Example = Tuple[str, str]
"""A call (or a statement, when nothing is wanted) and the text of what it should give."""


def examples_of(text: str, name: str) -> List[List[Example]]:
    """Examples about the function `name` in a docstring, in groups that share their names."""
    if ">>>" in text:
        try:
            session = doctest.DocTestParser().get_examples(text)
        except ValueError:
            session = []
        found = [(one.source.strip(), one.exc_msg or one.want.strip()) for one in session[:MOST]]
        if any(name in source for source, _ in found):
            return [found]
    lines = [_told(line, name) for line in text.splitlines() if name + "(" in line]
    return [[example] for example in lines if example is not None][:MOST]


def _told(line: str, name: str) -> Optional[Example]:
    """A line such as `f(2) == 4` as a call and its value; None for any other."""
    start = line.index(name + "(")
    for match in re.finditer(r"\)", line[start:]):
        call = line[start : start + match.end()]
        says = _SAYS.match(line, start + match.end())
        if says is None or not _parses(call):
            continue
        rest = line[says.end() :].strip()
        for cut in (rest, rest.rstrip(".,;"), re.split(r"\s+#|\s{2,}|,?\s+[a-z(]", rest)[0].rstrip(".,;")):
            try:
                ast.literal_eval(cut)
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue
            return call, cut
    return None


def _parses(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return False
    return True


def holds(group: List[Example], scope: Dict[str, Any]) -> Tuple[int, int]:
    """How many examples of a group come out as told, and how many could be judged at all."""
    right = judged = 0
    names = dict(scope)
    for source, want in group:
        if not want:
            try:
                exec(source, names)
            except Exception:
                break
            continue
        try:
            value: Any = eval(source, names)
        except (NameError, SyntaxError):
            break
        except Exception as error:
            judged += 1
            right += want.split(":")[0].split(".")[-1].strip() == type(error).__name__
            continue
        judged += 1
        right += _same(value, want)
    return right, judged


def _same(value: Any, want: str) -> bool:
    if repr(value) == want or str(value) == want:
        return True
    try:
        told = ast.literal_eval(want)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    if isinstance(told, float) and isinstance(value, (int, float)):
        return abs(told - value) <= 1e-6 * max(1.0, abs(told))
    return bool(told == value) and isinstance(told, bool) == isinstance(value, bool)
