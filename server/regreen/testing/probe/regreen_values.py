"""What a `self.assert…` method of unittest compared. Standard library only, Python 3.8 and later."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from regreen_records import shown

Pair = Tuple[Optional[str], Optional[str]]
_CASE = ("unittest/case.py", "unittest\\case.py")
_ONE = {"assertTrue": "True", "assertFalse": "False", "assertIsNone": "None"}
"""Methods with one value, and what it is compared with."""
_NONE = ("msg", "args", "kwargs")
"""Arguments that come behind the values."""


def unittest_values(frames: List[Tuple[Any, int]]) -> Pair:
    """Left and right of the failed assertion, from its own arguments; (None, None) where there are no two.

    `frames` lead from the test to the place that raised, with their lines. Methods call each other: the first one is the
    one that stands in the test. Whatever the two arguments are called (`first`, `d1`, `list1`, `member`, …), they are
    the two after `self`.
    """
    for frame, _line in frames:
        code = frame.f_code
        if not code.co_filename.endswith(_CASE) or not code.co_name.startswith("assert"):
            continue
        known = dict(frame.f_locals)
        for name in ("first", "second"):  # assertCountEqual counts what it was given, under the same names
            known[name] = known.get(name + "_seq", known.get(name))
        values = [name for name in code.co_varnames[1 : code.co_argcount] if name in known][:2]
        if not values or values[0] in _NONE:
            return None, None
        if code.co_name in _ONE:
            return shown(known[values[0]]), _ONE[code.co_name]
        if len(values) == 2 and values[1] not in _NONE and not _is_class(known[values[0]]):
            return shown(known[values[0]]), shown(known[values[1]])
        return None, None
    return None, None


def _is_class(value: object) -> bool:
    """`assertRaises` and its like take what should be raised, and no values."""
    return isinstance(value, type) and issubclass(value, (BaseException, Warning))
