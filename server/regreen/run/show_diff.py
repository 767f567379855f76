"""A unified diff as HTML: lines added and removed in colour, and inside a changed line the part that changed."""

from __future__ import annotations

from html import escape

from regreen.run.visible import visible


def diff_html(diff: str) -> str:
    """One `pre` that can be reached and scrolled with the keyboard."""
    lines = visible(diff.replace("\r\n", "\n").rstrip("\n")).split("\n")
    out: list[str] = []
    i = 0
    while i < len(lines):
        removed = _same_kind(lines, i, "-")
        added = _same_kind(lines, i + len(removed), "+") if removed else []
        if removed and len(removed) == len(added):
            pairs = [_marked(old, new) for old, new in zip(removed, added, strict=True)]
            out += [_line("del", old) for old, _ in pairs] + [_line("add", new) for _, new in pairs]
            i += len(removed) + len(added)
        else:
            out.append(_line(_kind(lines[i]), escape(lines[i])))
            i += 1
    return f'<pre class="diff" tabindex="0" aria-label="The change as a diff">{"".join(out)}</pre>'


def _kind(line: str) -> str:
    if line.startswith(("+++", "---")):
        return "file"
    return {"+": "add", "-": "del", "@": "hunk"}.get(line[:1], "same")


def _same_kind(lines: list[str], start: int, sign: str) -> list[str]:
    end = start
    while end < len(lines) and _kind(lines[end]) == {"+": "add", "-": "del"}[sign]:
        end += 1
    return lines[start:end]


def _line(kind: str, html: str) -> str:
    return f'<span class="{kind}">{html or " "}\n</span>'


def _marked(old: str, new: str) -> tuple[str, str]:
    """Both lines, escaped, with what is between their common beginning and end marked."""
    head = 1
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    if head + tail < 0.4 * max(len(old), len(new)):
        return escape(old), escape(new)
    return _mark(old, head, tail), _mark(new, head, tail)


def _mark(line: str, head: int, tail: int) -> str:
    middle = line[head : len(line) - tail]
    marked = f"<mark>{escape(middle)}</mark>" if middle else ""
    return escape(line[:head]) + marked + escape(line[len(line) - tail :])
