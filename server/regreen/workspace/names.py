"""Rules for paths as a model writes them: decided by the letters alone, before the disk is asked anything.

The same on every system: a path that means another file on Windows, or on a disk that folds case, is refused on
Linux too, so that a project does not behave differently for two people.
"""

from __future__ import annotations

import functools
import re
import unicodedata

_LONGEST_PATH, _LONGEST_NAME = 1024, 255
DEEPEST = 200
"""Folders inside folders that are looked into: far more than any project has, and less than would exhaust us."""
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"]
    + [f"{device}{digit}" for device in ("com", "lpt") for digit in "0123456789¹²³"]
)
_SHORT_ALIAS = re.compile(r"[^.]{1,6}~\d{1,6}", re.ASCII)
# Format, surrogate, private and unassigned characters, line and paragraph separators: they look like nothing.
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
# Letters and marks that look like nothing too (Default_Ignorable_Code_Point of Unicode, as far as not among those),
# and the blanks that are no space.
_FILLERS = frozenset(
    map(
        chr,
        (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0, 0x2800,
         *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)),
    )
)  # fmt: skip


_LIKE_SLASHES = frozenset(map(chr, (0x2044, 0x2215, 0x2216, 0x29F5, 0x29F8, 0x29F9)))


class PathRefused(Exception):
    """A path may not be used so. `str(error)` names the rule and the path; it is written for a model to read."""


def split(path: str) -> tuple[str, ...]:
    """The names in a relative path with forward slashes, such as "src/shop/cart.py".

    Raises PathRefused, naming the rule, for anything else: absolute, with "..", empty names, a drive, a stream,
    a reserved device, a short alias, characters that cannot be seen.
    """
    if not path:
        raise PathRefused("the path is empty: give one relative to the workspace, such as 'src/cart.py'")
    shown = _shown(path)
    if len(path) > _LONGEST_PATH:
        raise PathRefused(f"the path is longer than {_LONGEST_PATH} characters: {shown[:80]}...")
    if path[0] in "/\\" or "\\" in path:
        raise PathRefused(f"only paths relative to the workspace, with forward slashes, are allowed: {shown}")
    if path[0] == "~":
        raise PathRefused(f"home folders are outside the workspace: {shown}")
    if ":" in path:
        raise PathRefused(f"drives and streams (':') are not allowed: {shown}")
    names = tuple(path.split("/"))
    if ".." in names:
        raise PathRefused(f"outside the workspace ('..' is not allowed): {shown}")
    for name in names:
        problem = _problem(name)
        if problem:
            raise PathRefused(f"{problem}: {shown}")
    return names


@functools.lru_cache(maxsize=65536)
def _problem(name: str) -> str:
    """What is wrong with one name of a path, "" when nothing is."""
    if name in ("", "."):
        return "empty names and '.' are not allowed in a path"
    if any(map(_unseen, name)):
        return "control characters and invisible characters are not allowed"
    if any(map(_other_blank, name)):
        return "blanks other than the space are not allowed"
    if name[-1] in " ." or name[0] == " ":
        return "a name must not begin or end with a space or end with a dot"
    if len(name.encode("utf-8", "surrogatepass")) > _LONGEST_NAME:
        return f"a name is longer than {_LONGEST_NAME} bytes"
    if any(letter in '<>"|?*' for letter in name):
        return "characters that some systems cannot store are not allowed"
    plain = unicodedata.normalize("NFKC", name)
    stands = plain != name and (not plain.strip(". ") or "/" in plain or "\\" in plain or plain[-1] in " .")
    if stands or not _LIKE_SLASHES.isdisjoint(name):
        return "letters that stand for dots and slashes are not allowed"
    stem = fold(name.split(".")[0].rstrip())
    if stem in _DEVICES:
        return "a name is reserved for a device on Windows"
    if _SHORT_ALIAS.fullmatch(stem):
        return "short aliases (NAME~1) are not allowed"
    return ""


@functools.lru_cache(maxsize=65536)
def fold(name: str) -> str:
    """One spelling for all names that some disk takes for the same: case, width and composition folded."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).upper().casefold())


def _unseen(letter: str) -> bool:
    return unicodedata.category(letter) in _UNSEEN or letter in _FILLERS


def _other_blank(letter: str) -> bool:
    return letter != " " and unicodedata.category(letter) == "Zs"


def _shown(path: str) -> str:
    """The path in quotes, with everything that cannot be seen escaped."""
    return "'" + "".join(ascii(c)[1:-1] if _unseen(c) or _other_blank(c) else c for c in path) + "'"
