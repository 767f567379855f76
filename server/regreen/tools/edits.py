"""Putting a model's edit into a text: exactly one place, or a refusal that shows the real lines."""

from __future__ import annotations

import ast
import difflib
import json
import re

from regreen.workspace.changes import split_lines

SHOWN_PLACES = 8
_BLANKS = re.compile(r"\s+")
_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "\u00a0": " "})


class EditRefused(Exception):
    """The edit cannot be made; `str(error)` is what the model is told: the one thing wrong and the real data."""


def replace_once(text: str, find: str, replace: str, path: str) -> str:
    """`text` with the one occurrence of `find` replaced; line ends follow the text's own.

    Tried in order: the exact text, whole lines (white space at line ends does not count), typographic quotes
    as straight ones, the same lines at another depth, the same lines with other blanks. Each must fit exactly
    one place. Raises EditRefused.
    """
    newline = _newline_of(text)
    find, replace = _with_newline(find, newline), _with_newline(replace, newline)
    find, replace = _unquoted(text, find, replace)
    if find.endswith(newline) and replace and not replace.endswith(newline):
        replace += newline  # else the next line would be drawn up to this one
    if not find.strip():
        raise EditRefused(f"`find` is empty. Give the exact lines of {path} to replace.")
    if find == replace:
        raise EditRefused("`find` and `replace` are the same text: nothing would change.")
    count = text.count(find)
    if count == 1:
        return text.replace(find, replace, 1)
    for strategy in (_whole_lines, _straight_quotes, _other_depth, _other_blanks):
        changed = strategy(text, find, replace)
        if changed is not None:
            return changed
    if count > 1:
        raise EditRefused(_several(text, find, path))
    if len(replace.strip()) > 12 and text.count(replace) == 1:
        raise EditRefused(f"{path} has the new text already, and not the old one: this edit is made.")
    raise EditRefused(_not_found(text, find, path))


def _unquoted(text: str, find: str, replace: str) -> tuple[str, str]:
    """Both texts without the quotes that a model put around both."""
    mark = find[:1]
    quoted = len(find) > 2 and mark in "\"'`" and find[-1] == replace[:1] == replace[-1:] == mark
    if quoted and find not in text and find[1:-1] in text:
        return find[1:-1], replace[1:-1]
    return find, replace


def keeping_ends(before: str, after: str, newline: str) -> str:
    """A rewritten text in which every line that was there before keeps the end it had; new ones end in `newline`."""
    old, new = split_lines(before), split_lines(after)
    bare_old, bare_new = [line.rstrip("\r\n") for line in old], [line.rstrip("\r\n") for line in new]
    lines = [bare + newline if line != bare else bare for line, bare in zip(new, bare_new, strict=True)]
    for block in difflib.SequenceMatcher(None, bare_old, bare_new, autojunk=False).get_matching_blocks():
        for i in range(block.size):
            kept, written = old[block.a + i], new[block.b + i]
            if (kept == kept.rstrip("\r\n")) == (written == written.rstrip("\r\n")):
                lines[block.b + i] = kept
    return "".join(lines)


def _newline_of(text: str) -> str:
    crlf = text.count("\r\n")
    if crlf:
        return "\r\n" if crlf * 2 >= text.count("\n") else "\n"
    return "\r" if "\r" in text and "\n" not in text else "\n"


def _with_newline(text: str, newline: str) -> str:
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return plain if newline == "\n" else plain.replace("\n", newline)


def _line_windows(text: str, find: str) -> tuple[list[str], list[str]]:
    return split_lines(text), split_lines(find.strip("\r\n"))


def _splice(lines: list[str], start: int, length: int, replace: str) -> str:
    """The lines with a run of whole lines replaced; the last line's end is kept."""
    end = lines[start + length - 1]
    tail = end[len(end.rstrip("\r\n")) :]
    body = replace.strip("\r\n")
    middle = body + tail if body else ""
    return "".join([*lines[:start], middle, *lines[start + length :]])


def _whole_lines(text: str, find: str, replace: str) -> str | None:
    lines, wanted = _line_windows(text, find)
    bare = [line.rstrip() for line in wanted]
    at = [
        i
        for i in range(len(lines) - len(bare) + 1)
        if [line.rstrip() for line in lines[i : i + len(bare)]] == bare
    ]
    return _splice(lines, at[0], len(bare), replace) if len(at) == 1 else None


def _straight_quotes(text: str, find: str, replace: str) -> str | None:
    plain_text, plain_find = text.translate(_QUOTES), find.translate(_QUOTES)
    if (plain_text, plain_find) == (text, find) or plain_text.count(plain_find) != 1:
        return None
    start = plain_text.index(plain_find)
    return text[:start] + replace + text[start + len(find) :]


def _depths(lines: list[str]) -> list[int]:
    return [len(line) - len(line.lstrip(" \t")) for line in lines if line.strip()]


def _other_depth(text: str, find: str, replace: str) -> str | None:
    """The same lines, all moved by the same indentation; the replacement is moved likewise."""
    lines, wanted = _line_windows(text, find)
    stripped = [line.strip() for line in wanted]
    if not any(stripped):
        return None
    want = _depths(wanted)
    hits: list[tuple[int, int]] = []
    for i in range(len(lines) - len(wanted) + 1):
        window = lines[i : i + len(wanted)]
        if [line.strip() for line in window] != stripped:
            continue
        shifts = {have - need for have, need in zip(_depths(window), want, strict=True)}
        if len(shifts) == 1:
            hits.append((i, shifts.pop()))
    if len(hits) != 1:
        return None
    start, shift = hits[0]
    fill = lines[start][: max(0, shift)]
    moved: list[str] = []
    for line in split_lines(replace.strip("\r\n")):
        if shift < 0 and line[:-shift].strip():
            return None
        moved.append((fill + line if shift > 0 else line[-shift:]) if line.strip() else line)
    return _splice(lines, start, len(wanted), "".join(moved))


def _other_blanks(text: str, find: str, replace: str) -> str | None:
    """One line but for the blanks inside it; the replacement is put at its depth."""
    lines, wanted = _line_windows(text, find)
    bare = [_BLANKS.sub("", line) for line in wanted]
    at = [i for i, line in enumerate(lines) if _BLANKS.sub("", line) == bare[0]]
    if len(wanted) != 1 or not bare[0] or len(at) != 1 or _depths(wanted) != [0]:
        return None
    fill = lines[at[0]][: _depths([lines[at[0]]])[0]]
    moved = [fill + line if line.strip() else line for line in split_lines(replace.strip("\r\n"))]
    return _splice(lines, at[0], 1, "".join(moved))


def enclosing(text: str) -> dict[int, str]:
    """The innermost function or class of each 1-based line, by name; {} when the text does not parse."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return {}
    names: dict[int, str] = {}
    for node in ast.walk(tree):  # breadth first: inner definitions overwrite outer ones
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                names[line] = node.name
    return names


def _several(text: str, find: str, path: str) -> str:
    places: list[str] = []
    owner = enclosing(text)
    start = text.find(find)
    while start >= 0:
        line = text.count("\n", 0, start) + 1
        inside = f" in {owner[line]}" if line in owner else ""
        places.append(f"line {line}{inside}")
        start = text.find(find, start + len(find))
    shown = ", ".join(places[:SHOWN_PLACES]) + (
        f" and {len(places) - SHOWN_PLACES} more" if len(places) > SHOWN_PLACES else ""
    )
    return (
        f"`find` occurs {len(places)} times in {path}: {shown}. "
        f"Add a line before or after it, so that it fits exactly one place.\n{_example(path, find)}"
    )


def _not_found(text: str, find: str, path: str) -> str:
    lines, wanted = _line_windows(text, find)
    if not lines:
        return f"{path} is empty, so `find` is not in it. Use write_file to fill it."
    start, end = _closest(lines, wanted)
    real = "".join(f"{line.rstrip()}\n" for line in lines[start:end])
    hint = ""
    if [line.strip() for line in lines[start : start + len(wanted)]] == [line.strip() for line in wanted]:
        hint = " The words fit but the indentation does not: copy it as it stands."
    example = _example(path, real.rstrip("\n"))
    return (
        f"`find` is not in {path}.{hint} The closest lines are {start + 1}-{end}:\n```\n{real}```\n{example}"
    )


def _example(path: str, find: str) -> str:
    """One filled-in call, with the real lines."""
    call = {"path": path, "find": find, "replace": "the corrected lines"}
    return f"Call it like this: edit_file {json.dumps(call, ensure_ascii=False)}"


def _closest(lines: list[str], wanted: list[str]) -> tuple[int, int]:
    """The window of lines most like the wanted ones, as a half-open range."""
    size = max(1, len(wanted))
    target = "\n".join(line.strip() for line in wanted)
    best, best_ratio = 0, -1.0
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(target)
    for i in range(max(1, len(lines) - size + 1)):
        matcher.set_seq1("\n".join(line.strip() for line in lines[i : i + size]))
        if matcher.real_quick_ratio() > best_ratio and matcher.quick_ratio() > best_ratio:
            ratio = matcher.ratio()
            if ratio > best_ratio:
                best, best_ratio = i, ratio
    return best, min(len(lines), best + size)
