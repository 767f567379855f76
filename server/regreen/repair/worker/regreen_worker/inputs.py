"""What tests call the project with, and inputs like these: to see where edits that pass the same tests differ."""

from __future__ import annotations

import contextlib
import copy
import random
import sys
import time
import zlib
from types import FrameType
from typing import Any, Callable, Dict, List, Tuple

from regreen_worker.lines import Lines

NOT_PLAIN = 0x04 | 0x08 | 0x20 | 0x80 | 0x200
"""Code flags of functions that are left alone: star arguments, generators, coroutines."""
LARGE = 400
"""Items and characters of an input that is still changed."""
SHOWN = 1500
FREE = 8
"""Different letters, or numbers, from which on a parameter is taken to hold any."""
OTHER_LETTERS = ["7", " ", "!", "Q", "z"]

Values = List[Any]
_SORTS = (
    ("bool", bool), ("int", int), ("float", float), ("str", str), ("bytes", bytes), ("list", list), ("tuple", tuple), ("dict", dict),
    ("set", (set, frozenset)),
)  # fmt: skip


def sort_of(value: Any) -> str:
    """Which of the plain types a value is; "" for all others."""
    return next((name for name, types in _SORTS if isinstance(value, types)), "")


class Call:
    """One call that a test made: the code, the values by parameter, and whether it came from a failing test."""

    def __init__(self, code: Any, values: Values, failing: bool) -> None:
        self.code = code
        self.function: Any = None
        self.values = values
        self.failing = failing
        self.shown = shown(values)


class Calls:
    """Watches which plain functions of the project are called from outside of it, and with what."""

    def __init__(self, root: str, most: int) -> None:
        self.lines = Lines(root)
        self.most = most
        self.made: List[Call] = []
        self.failing = False
        self._seen: Dict[Tuple[Any, str], bool] = {}

    def watch(self, work: Callable[[], Any], failing: bool) -> Any:
        """Call `work` and note what it calls."""
        self.failing = failing
        sys.setprofile(self._event)
        try:
            return work()
        finally:
            sys.setprofile(None)

    def _event(self, frame: FrameType, event: str, arg: Any) -> None:
        if event != "call":
            return
        code, caller = frame.f_code, frame.f_back
        if len(self.made) >= self.most or code.co_flags & NOT_PLAIN or code.co_name.startswith("<"):
            return
        if not self.lines.path(code.co_filename) or caller is None:
            return
        if self.lines.path(caller.f_code.co_filename):
            return
        sys.setprofile(None)
        try:
            count = code.co_argcount + code.co_kwonlyargcount
            values = [copy.deepcopy(frame.f_locals[name]) for name in code.co_varnames[:count]]
            call = Call(code, values, self.failing)
            if call.shown and (code, call.shown) not in self._seen:
                self._seen[code, call.shown] = True
                self.made.append(call)
        except Exception:  # what cannot be copied or shown is not tried again
            pass
        finally:
            sys.setprofile(self._event)


def shown(value: Any) -> str:
    """As `whole`; "" when that is too long."""
    text = whole(value)
    return text if len(text) <= SHOWN else ""


def whole(value: Any) -> str:
    """A value as text that is the same for equal values, objects by what they hold."""
    return _shown(value, 0, set())


def _shown(value: Any, depth: int, above: "set[int]") -> str:
    kind, sort = type(value).__name__, sort_of(value)
    if value is None or sort in ("bool", "int", "str", "bytes"):
        return repr(value)
    if sort == "float":
        return "%.9g" % value
    if depth > 60 or id(value) in above:
        return "..."
    inside = above | {id(value)}

    def inner(part: Any) -> str:
        return _shown(part, depth + 1, inside)

    if sort == "dict":
        return "%s{%s}" % (kind, ", ".join("%s: %s" % (inner(k), inner(v)) for k, v in value.items()))
    if sort == "set":
        return "%s{%s}" % (kind, ", ".join(sorted(map(inner, value))))
    if sort in ("list", "tuple"):
        return "%s[%s]" % (kind, ", ".join(map(inner, value)))
    held: Any = getattr(value, "__dict__", None)
    if sort_of(held) == "dict":
        return "%s(%s)" % (kind, ", ".join("%s=%s" % (k, inner(v)) for k, v in sorted(held.items())))
    return kind


def size(value: Any) -> int:
    """Items and characters in a value."""
    sort = sort_of(value)
    if sort in ("str", "bytes"):
        return len(value)
    if sort == "dict":
        return sum(size(k) + size(v) + 1 for k, v in value.items())
    if sort in ("list", "tuple", "set"):
        return sum(size(part) + 1 for part in value)
    return 1


class Domain:
    """What a parameter was given in the tests; changed values stay like it, since no test says what else is allowed."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.numbers: List[Any] = []
        self.letters: List[str] = []
        self.empty = False
        self.ordered = True
        self.distinct = True
        for value in values:
            self._learn(value, 0)
        self.letters = sorted(set(self.letters))
        if len(self.letters) >= FREE and any(letter.isalpha() for letter in self.letters):
            self.letters += OTHER_LETTERS

    def _learn(self, value: Any, depth: int) -> None:
        sort = sort_of(value)
        if sort in ("int", "float"):
            self.numbers.append(value)
        elif sort == "str":
            self.empty = self.empty or not value
            self.letters += value[:100]
        elif sort == "dict" and depth < 4:
            for part in value.values():
                self._learn(part, depth + 1)
        elif sort in ("list", "tuple", "set") and depth < 4:
            self.empty = self.empty or not value
            if sort != "set":
                self._learn_order(list(value))
            for part in list(value)[:50]:
                self._learn(part, depth + 1)

    def _learn_order(self, parts: List[Any]) -> None:
        try:
            self.ordered = self.ordered and all(a <= b for a, b in zip(parts, parts[1:]))
            self.distinct = self.distinct and all(a not in parts[:i] for i, a in enumerate(parts))
        except Exception:
            self.ordered = False

    def changed(self, value: Any, rnd: random.Random) -> Any:
        """A value like the given one."""
        sort = sort_of(value)
        if sort == "bool":
            return not value
        if sort == "int":
            return self._number(value, rnd)
        if sort == "float":
            return rnd.choice([value + 0.5, value * 2, value / 2, float(rnd.choice(self.numbers or [value]))])
        if sort == "str":
            return self._text(value, rnd)
        if sort == "list":
            if value and rnd.random() < 0.1 and len(set(self.numbers)) >= FREE:
                return self._turned(value, rnd)
            return self._many(value, rnd)
        if sort == "tuple" and value and type(value).__name__ == "tuple":
            parts: List[Any] = list(value)
            at = rnd.randrange(len(parts))
            parts[at] = self.changed(parts[at], rnd)
            return tuple(parts)
        if sort == "dict" and value:
            return self._table(value, rnd)
        if sort == "set" and len(value) > 1:
            gone = rnd.choice(sorted(value, key=repr))
            return type(value)(part for part in value if part != gone)
        return value

    def _turned(self, value: List[Any], rnd: random.Random) -> List[Any]:
        """With one number the other way round, or nought: among many numbers these are to be expected."""
        parts: List[Any] = copy.deepcopy(value)
        at = rnd.randrange(len(parts))
        if sort_of(parts[at]) in ("int", "float"):
            parts[at] = rnd.choice((-parts[at], 0))
        return self._kept(parts)

    def _number(self, value: int, rnd: random.Random) -> int:
        near = value + rnd.choice((-2, -1, 1, 2))
        fresh = int(rnd.choice([near, near, rnd.choice(self.numbers or [value])]))
        low, high = int(min(self.numbers, default=value)), int(max(self.numbers, default=value))
        return max(min(low, 1), min(fresh, high + 2))

    def _table(self, value: Dict[Any, Any], rnd: random.Random) -> Dict[Any, Any]:
        fresh = copy.copy(value)
        key = rnd.choice(list(fresh))
        if rnd.random() < 0.3 and len(fresh) > 1:
            del fresh[key]
        else:
            fresh[key] = self.changed(fresh[key], rnd)
        return fresh

    def _text(self, value: str, rnd: random.Random) -> str:
        parts, letters = list(value), self.letters or ["a"]
        for _ in range(rnd.choice((1, 1, 2, 3))):
            at = rnd.randrange(len(parts) + 1)
            what = rnd.randrange(5)
            if what == 0 and len(parts) > 1:
                del parts[min(at, len(parts) - 1)]
            elif what == 1:
                parts.insert(at, rnd.choice(letters))
            elif what == 2 and parts:
                parts[min(at, len(parts) - 1)] = rnd.choice(letters)
            elif what == 3 and len(parts) > 1:
                at = min(at, len(parts) - 2)
                parts[at], parts[at + 1] = parts[at + 1], parts[at]
            elif what == 4:
                other = [v for v in self.values if isinstance(v, str)]
                cut = rnd.choice(other) if other else ""
                parts = parts[:at] + list(cut[: rnd.randrange(len(cut) + 1)])
        return "".join(parts) or ("" if self.empty else value)

    def _many(self, value: List[Any], rnd: random.Random) -> List[Any]:
        parts: List[Any] = copy.deepcopy(value)
        for _ in range(rnd.choice((1, 1, 2, 3))):
            what = rnd.randrange(6)
            if not parts:
                pool = [v for v in self.values if sort_of(v) == "list" and v]
                parts = [copy.deepcopy(rnd.choice(rnd.choice(pool)))] if pool else parts
            elif what == 0 and len(parts) > 1:
                del parts[rnd.randrange(len(parts))]
            elif what == 1:
                parts.insert(rnd.randrange(len(parts) + 1), copy.deepcopy(rnd.choice(parts)))
            elif what == 2:
                at = rnd.randrange(len(parts))
                parts[at] = self.changed(parts[at], rnd)
            elif what == 3:
                rnd.shuffle(parts)
            elif what == 4:
                parts.append(self.changed(copy.deepcopy(rnd.choice(parts)), rnd))
            elif what == 5:
                a, b = rnd.randrange(len(parts)), rnd.randrange(len(parts))
                parts[a] = copy.deepcopy(parts[b])
        return self._kept(parts) or ([] if self.empty else copy.deepcopy(value))

    def _kept(self, parts: List[Any]) -> List[Any]:
        """Order and difference of the items, when all lists of the tests have them."""
        if self.distinct:
            parts = [part for i, part in enumerate(parts) if part not in parts[:i]]
        if self.ordered:
            with contextlib.suppress(TypeError):
                parts = sorted(parts)
        return parts


def alike(calls: List[Call], most: int, seconds: float) -> List[Call]:
    """Inputs like those of the calls, at most so many, made in so many seconds; the same for the same calls."""
    until = time.process_time() + seconds
    by_code: Dict[Any, List[Call]] = {}
    for call in calls:
        by_code.setdefault(call.code, []).append(call)
    made: List[Call] = []
    seen = {(call.code, call.shown) for call in calls}
    for code, group in by_code.items():
        domains = [Domain([call.values[i] for call in group]) for i in range(len(group[0].values))]
        share = max(4, most // len(by_code))
        usable = [call for call in group if size(call.values) <= LARGE] if domains else []
        rnd = random.Random(zlib.crc32(("%s %d" % (code.co_name, len(group))).encode()))
        fresh = 0
        for turn in range(share * 4 if usable else 0):
            if fresh >= share or time.process_time() > until:
                break
            call = usable[turn % len(usable)]
            values = copy.deepcopy(call.values)
            at = rnd.randrange(len(values))
            if len(usable) > 1 and rnd.random() < 0.2:
                values[at] = copy.deepcopy(rnd.choice(usable).values[at])
            else:
                values[at] = domains[at].changed(values[at], rnd)
            if len(values) > 1 and rnd.random() < 0.3:
                at = rnd.randrange(len(values))
                values[at] = domains[at].changed(values[at], rnd)
            one = Call(code, values, call.failing)
            one.function = call.function
            if one.shown and (code, one.shown) not in seen:
                seen.add((code, one.shown))
                made.append(one)
                fresh += 1
    return made
