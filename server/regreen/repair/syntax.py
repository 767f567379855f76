"""Candidates for a file that does not parse: one line at a time, near the place Python names."""

from __future__ import annotations

import difflib
import keyword
import re
from collections.abc import Iterator

from regreen.repair.source import Edit, Part

MOST_PARTIAL = 10
"""So many edits that leave one error of two are tried with a second one."""
REACH = 12
"""Lines before and behind the reported one that are looked at."""
_HEAD = re.compile(r"(if|elif|else|for|while|def|class|try|except|finally|with|async|match|case)\b")
_TOKENS = (
    (r"(?<![=!<>:+\-*/%&|^])=(?!=)", "=="), (r"==", "="), (r"[$@?`]", ""), (r"\belse\s+if\b", "elif"), (r"\belseif\b", "elif"), (r"\belsif\b", "elif"),
    (r"&&", "and"), (r"\|\|", "or"), (r"!(?!=)", "not "), (r"\bnull\b", "None"), (r"\btrue\b", "True"), (r"\bfalse\b", "False"),
    (r"(\w+)\+\+", r"\1 += 1"), (r"(\w+)--", r"\1 -= 1"), (r"//", "#"), (r"\bfunction\b", "def"), (r"\bfunc\b", "def"),
    (r"=>", ">="), (r"=<", "<="), (r"=\+", "+="), (r"\b(?:const|let|var)\s+", ""), (r"/\*", "#"), (r"\*/", ""), (r";", ":"), (r";\s*$", ""),
    (r"\bthen\b", ""), (r"\bfrom\b", "in"), (r"\bof\b", "in"), (r",\s*$", ""), (r":\s*$", ""), (r"\s*\{\s*$", ":"), (r"^\s*\}\s*$", ""),
    (r"\bnew\s+", ""), (r"\+\+", "+"), (r"\.\.", "."), (r",,", ","), (r"\bis\s+=", "=="), (r"“|”", '"'), (r"‘|’", "'"),
)  # fmt: skip


def syntax_edits(path: str, text: str) -> list[Edit]:
    """Edits after which the file parses, or parses further, best first. Several errors: the first is mended."""
    fault = _fault(text)
    if fault is None:
        return []
    error, message = fault
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    found: list[Edit] = []
    partial: list[Edit] = []
    order = sorted(range(1, len(lines) + 1), key=lambda n: (abs(n - error), n))
    for number in order[: 2 * REACH]:
        near = 1.0 / (1 + 0.2 * abs(number - error))
        line = lines[number - 1]
        body = line.rstrip("\r")
        for new, weight in _line_edits(body, _neighbours(lines, number)):
            if new is None:
                part = Part(starts[number - 1], min(len(text), starts[number]), "")
            else:
                part = Part(starts[number - 1], starts[number - 1] + len(body), new)
            edit = Edit(path, (part,), number, "syntax", weight * near)
            after = _fault(edit.apply(text))
            if after is None:
                found.append(edit)
            elif after[0] > error or (after[0] == error and after[1] != message):
                partial.append(edit)
    best = _unique(found) or _twice(text, _unique(partial), error)
    return best[:60]


def _twice(text: str, partial: list[Edit], error: int) -> list[Edit]:
    """Two errors in one file: mend the second on top of the first."""
    done: list[Edit] = []
    for first in partial[:MOST_PARTIAL]:
        mended = first.apply(text)
        shift = len(mended) - len(text)
        for second in syntax_edits_once(first.path, mended):
            (part,) = second.parts
            (base,) = first.parts
            if part.start < base.end + shift:
                continue
            moved = Part(part.start - shift, part.end - shift, part.new)
            done.append(
                Edit(first.path, (base, moved), first.line, "syntax", first.weight * second.weight * 0.7)
            )
    return _unique(done)


def syntax_edits_once(path: str, text: str) -> list[Edit]:
    """Like syntax_edits, for a file with one error left."""
    error = _error(text)
    if error is None:
        return []
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    found: list[Edit] = []
    for number in sorted(range(1, len(lines) + 1), key=lambda n: abs(n - error))[:6]:
        near = 1.0 / (1 + 0.2 * abs(number - error))
        body = lines[number - 1].rstrip("\r")
        for new, weight in _line_edits(body, _neighbours(lines, number)):
            if new is None:
                continue
            part = Part(starts[number - 1], starts[number - 1] + len(body), new)
            edit = Edit(path, (part,), number, "syntax", weight * near)
            if _error(edit.apply(text)) is None:
                found.append(edit)
    return _unique(found)[:10]


def _unique(edits: list[Edit]) -> list[Edit]:
    best: dict[object, Edit] = {}
    for edit in sorted(edits, key=lambda e: -e.weight):
        best.setdefault(edit.parts, edit)
    return list(best.values())


def _error(text: str) -> int | None:
    """The line of the first error, or None when the text compiles."""
    fault = _fault(text)
    return None if fault is None else fault[0]


def _fault(text: str) -> tuple[int, str] | None:
    """Line and words of the first error, or None when the text compiles."""
    try:
        compile(text, "candidate", "exec", dont_inherit=True)
    except SyntaxError as error:
        return error.lineno or 1, error.msg
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        return 1, str(error)
    return None


def _neighbours(lines: list[str], number: int) -> list[str]:
    """Indents of the lines around."""
    found: list[str] = []
    for step in (-1, 1):
        at = number - 1 + step
        while 0 <= at < len(lines) and not lines[at].strip():
            at += step
        if 0 <= at < len(lines):
            other = lines[at]
            found.append(other[: len(other) - len(other.lstrip())])
    return found


def _line_edits(line: str, indents: list[str]) -> Iterator[tuple[str | None, float]]:
    """Other texts for one line, with a weight; None takes the line out."""
    body = line.strip()
    if not body:
        return
    indent, code = line[: len(line) - len(line.lstrip())], line.rstrip()
    if _HEAD.match(body) and not code.endswith(":"):
        yield code + ":", 1.4
        if "#" in code:
            cut = code.index("#")
            yield code[:cut].rstrip() + ":  " + code[cut:], 1.3
    yield from _brackets(code)
    yield from _quotes(code)
    for other in dict.fromkeys([*indents, *(i + "    " for i in indents), indent + "    ", indent[4:]]):
        if other != indent:
            yield other + body, 0.85
    for pattern, new in _TOKENS:
        for match in re.finditer(pattern, line):
            yield line[: match.start()] + match.expand(new) + line[match.end() :], 0.9
    yield re.sub(r"''|\"\"", "", line), 0.5
    for other in _assigned_in_condition(line):
        yield other, 0.4
    yield from _words(indent, body)
    for match in re.finditer(r"(?<=[\w\])'\"}]) (?=[\w\[({'\"])", body):
        for glue in (", ", " = ", ".", " + "):
            yield indent + body[: match.start()] + glue + body[match.end() :], 0.6 if glue == ", " else 0.35
    yield indent + "# " + body, 0.4
    yield None, 0.15


def _assigned_in_condition(line: str) -> Iterator[str]:
    """`if a = b:` with the comparisons that are not `==`."""
    if re.match(r"\s*(if|elif|while)\b", line):
        for match in re.finditer(r"(?<![=!<>:+\-*/%&|^])=(?!=)", line):
            for sign in ("<=", ">=", "<", ">", "!="):
                yield line[: match.start()] + sign + line[match.end() :]


def _brackets(code: str) -> Iterator[tuple[str, float]]:
    tail = ":" if code.endswith(":") else ""
    stem = code[: len(code) - len(tail)]
    for opening, closing in ("()", "[]", "{}"):
        lack = stem.count(opening) - stem.count(closing)
        if lack > 0:
            yield stem + closing * lack + tail, 1.2
            if stem.endswith(","):
                yield stem[:-1] + closing * lack + ",", 1.2
            for match in re.finditer(r"(?<=[\w\])}'\"])(?=\W|$)", stem):
                yield stem[: match.start()] + closing * lack + stem[match.start() :] + tail, 0.75
            for match in re.finditer(re.escape(opening), stem):
                yield stem[: match.start()] + stem[match.end() :] + tail, 0.5
        elif lack < 0:
            for match in re.finditer(re.escape(closing), stem):
                yield stem[: match.start()] + stem[match.end() :] + tail, 0.95
            for match in re.finditer(r"(?<!\w)(?=[\w\[({'\"])|(?<=\w)(?= )", stem):
                yield stem[: match.start()] + opening + stem[match.start() :] + tail, 0.55
        for other in ")]}":
            if other != closing:
                for match in re.finditer(re.escape(closing), stem):
                    yield stem[: match.start()] + other + stem[match.end() :] + tail, 0.6


def _quotes(code: str) -> Iterator[tuple[str, float]]:
    for quote in "\"'":
        if code.count(quote) % 2 == 0:
            continue
        for match in re.finditer(r"(?<=\S)(?=[\s),\]}:]|$)|(?<=[\s(\[{,])(?=\S)", code):
            yield code[: match.start()] + quote + code[match.start() :], 0.85
        for match in re.finditer(quote, code):
            yield code[: match.start()] + code[match.end() :], 0.6
            other = "'" if quote == '"' else '"'
            yield code[: match.start()] + other + code[match.end() :], 0.7


def _words(indent: str, body: str) -> Iterator[tuple[str, float]]:
    """Misspelt, missing and stray keywords."""
    for match in re.finditer(r"[A-Za-z_]+", body):
        word = match.group()
        for other in difflib.get_close_matches(word, keyword.kwlist, 3, 0.6):
            if other != word:
                yield indent + body[: match.start()] + other + body[match.end() :], 0.8
        if word in keyword.kwlist:
            yield indent + (body[: match.start()].rstrip() + " " + body[match.end() :].lstrip()).strip(), 0.4
    for word in ("def", "class", "return", "if", "for", "while", "import", "elif"):
        yield f"{indent}{word} {body}", 0.45
    for match in re.finditer(r" ", body):
        for word in ("in", "not in", "else", "if", "import", "as", "and"):
            yield f"{indent}{body[: match.start()]} {word} {body[match.end() :]}", 0.3
