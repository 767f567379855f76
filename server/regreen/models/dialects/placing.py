"""Where the `find` of an edit stands in a file: exactly once, shifted, with other quotes, in several places, or nowhere.

Used on the files in play; the edit tool can use the same on the file it reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from regreen.models.dialects import corrective
from regreen.models.dialects.corrective import Scene
from regreen.models.dialects.reading import Fault

_SAME = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "‚": "'", "\u00a0": " ", "–": "-", "—": "-", "…": "."}
)
_DEF = re.compile(r"^[ \t]*(?:async def|def|class)[ \t]+(\w+)")


@dataclass(frozen=True, slots=True)
class Placed:
    """An edit whose `find` occurs exactly once in the file, maybe after small changes to both texts."""

    find: str
    replace: str


def place_edit(path: str, text: str, find: str, replace: str, scene: Scene) -> Placed | Fault:
    """The edit as the file needs it, or the corrective with the real lines. `text` with LF line ends."""
    if find.endswith("\n") and replace and not replace.endswith("\n"):
        replace += "\n"  # else the next line would be drawn up to this one
    inner = find[1:-1]
    if (
        find[:1] in "\"'`"
        and find[:1] == find[-1:]
        and replace[:1] == replace[-1:] == find[:1]
        and find not in text
        and inner in text
    ):
        find, replace = inner, replace[1:-1]  # both were put in quotes
    count = text.count(find)
    if count == 1:
        return Placed(find, replace)
    if count > 1:
        return _several(path, text, find, replace, scene)
    lines, wanted = text.split("\n"), find.strip("\n").split("\n")
    shifted = _matches(lines, wanted, str.strip)
    if len(shifted) == 1:
        return _shifted(path, lines, shifted[0], wanted, replace, scene)
    if len(shifted) > 1:
        return _several(path, text, find, replace, scene, shifted)
    alike = _matches(lines, wanted, lambda line: line.translate(_SAME).strip())
    if len(alike) == 1:
        return _shifted(path, lines, alike[0], wanted, replace, scene)
    squeezed = _matches(lines, wanted, lambda line: re.sub(r"\s+", "", line))
    if len(squeezed) == 1:
        return _shifted(path, lines, squeezed[0], wanted, replace, scene)
    plain, sought = text.translate(_SAME), find.translate(_SAME)
    if len(plain) == len(text) and plain.count(sought) == 1:
        start = plain.find(sought)
        return Placed(text[start : start + len(sought)], replace)
    if replace.strip() and replace in text and len(replace.strip()) > 12:
        return scene.fault(
            "no_op",
            f"find does not occur in '{path}', but the replacement already does: this edit is made. Run the test.",
            corrective.call("run_tests"),
        )
    return _nowhere(path, lines, wanted, replace, scene)


def _matches(lines: list[str], wanted: list[str], key: Callable[[str], str]) -> list[int]:
    """The line indexes at which all wanted lines follow each other, compared by key."""
    want = [key(line) for line in wanted]
    have = [key(line) for line in lines]
    if not any(want):
        return []
    first = want[0]
    return [at for at, line in enumerate(have) if line == first and have[at : at + len(want)] == want]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _shifted(
    path: str, lines: list[str], at: int, wanted: list[str], replace: str, scene: Scene
) -> Placed | Fault:
    """One place fits when indentation is ignored: both texts move to it, if they only lack a common indentation."""
    real = lines[at : at + len(wanted)]
    pairs = [(a, b) for a, b in zip(real, wanted, strict=True) if a.strip()]
    indent, given = _indent(pairs[0][0]), _indent(pairs[0][1])
    extra = indent.removesuffix(given) if indent.endswith(given) else None
    ragged = (
        any(_indent(a) != (extra or "") + _indent(b) for a, b in pairs[1:]) if extra is not None else True
    )
    if extra is not None and not ragged:
        new = [extra + line if line.strip() else line for line in replace.strip("\n").split("\n")]
        return Placed("\n".join(real), "\n".join(new))
    first_only = extra is not None and all(_indent(a) == _indent(b) for a, b in pairs[1:])
    if first_only and extra is not None:  # only the first line lost its indentation
        new = replace.strip("\n").split("\n")
        return Placed("\n".join(real), "\n".join([extra + new[0], *new[1:]]))
    shown = "\n".join(real)
    return scene.fault(
        "not_found",
        f"find matches '{path}' line {at + 1} only when indentation is ignored, and the replacement has none of its own,"
        f" so nothing was changed. The real lines are:\n{shown}\nSend both texts with their indentation.",
        corrective.call("edit_file", path=path, find=shown, replace=_reindented(real, replace)),
    )


def _reindented(real: list[str], replace: str) -> str:
    """The replacement with the indentation of the real lines, line by line, for the example."""
    new = replace.strip("\n").split("\n")
    last = _indent(real[0])
    out: list[str] = []
    for number, line in enumerate(new):
        last = _indent(real[number]) if number < len(real) and real[number].strip() else last
        out.append(last + line.strip() if line.strip() else "")
    return "\n".join(out)


def _several(
    path: str, text: str, find: str, replace: str, scene: Scene, at: list[int] | None = None
) -> Fault:
    lines = text.split("\n")
    if at is None:
        at, start = [], text.find(find)
        while start >= 0 and len(at) < 12:
            at.append(text.count("\n", 0, start))
            start = text.find(find, start + max(1, len(find)))
    places = [f"line {one + 1}{_inside(lines, one)}" for one in at]
    first = at[0]
    before = next((lines[one] for one in range(first - 1, -1, -1) if lines[one].strip()), "")
    size = find.strip("\n").count("\n") + 1
    block = (
        "\n".join(lines[max(0, first - 1) : first + size])
        if before
        else "\n".join(lines[first : first + size + 1])
    )
    changed = block.replace(find.strip("\n"), replace.strip("\n"), 1)
    return scene.fault(
        "several_places",
        f"find occurs {len(places)} times in '{path}': {', '.join(places[:10])}. Nothing was changed."
        " Add one more line before it, so that it occurs once.",
        corrective.call("edit_file", path=path, find=block, replace=changed),
    )


def _inside(lines: list[str], at: int) -> str:
    """ " in validate": the function around a line."""
    indent = len(_indent(lines[at]))
    for one in range(at, max(-1, at - 400), -1):
        found = _DEF.match(lines[one])
        if found and (len(_indent(lines[one])) < indent or one == at):
            return f" in {found.group(1)}"
    return ""


def _nowhere(path: str, lines: list[str], wanted: list[str], replace: str, scene: Scene) -> Fault:
    """The closest real lines, so that the next try can copy them."""
    at, size = _closest(lines, wanted)
    if at < 0:
        return scene.fault(
            "not_found",
            f"find does not occur in '{path}', and nothing there is like it, so nothing was changed. Read the file first.",
            corrective.call("read_file", path=path),
        )
    real = "\n".join(lines[at : at + size])
    return scene.fault(
        "not_found",
        f"find does not occur in '{path}', so nothing was changed. The closest lines are {at + 1} to {at + size}:\n{real}\n"
        "Copy find from there, character by character.",
        corrective.call(
            "edit_file", path=path, find=corrective.shortened(real), replace=corrective.shortened(replace)
        ),
    )


def _closest(lines: list[str], wanted: list[str]) -> tuple[int, int]:
    """Where the lines most like the wanted ones begin, and how many; -1 when none are alike. Alike: words in common."""
    want = [_words(line) for line in wanted]
    size = min(len(wanted), 12)
    have = [_words(line) for line in lines[:4000]]
    key = max(range(len(want)), key=lambda at: len(want[at]))
    if not want[key]:
        return -1, 0

    def like(one: frozenset[str], other: frozenset[str]) -> float:
        return len(one & other) / (len(one | other) or 1)

    near = sorted(range(len(have)), key=lambda at: -like(have[at], want[key]))[:8]
    starts = {max(0, at - min(key, size - 1)) for at in near if like(have[at], want[key]) >= 0.3}
    if not starts:
        return -1, 0

    def score(start: int) -> float:
        pairs = zip(have[start : start + size], want, strict=False)
        return sum(like(one, other) for one, other in pairs)

    return max(sorted(starts), key=score), size


def _words(line: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+|[^\w\s]+", line[:300]))
