"""Edits that pass the same tests, compared: what each gives for inputs like those of the tests, and for docstring examples."""

from __future__ import annotations

import copy
import itertools
import os
import random
import sys
import time
import zlib
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

from regreen_worker import code, examples, guard
from regreen_worker.inputs import Call, Calls, alike, sort_of, whole
from regreen_worker.tests import Runner

if TYPE_CHECKING:
    from regreen_worker.child import Child
    from regreen_worker.jobs import Request

MOST_CALLS = 60
"""Calls of the tests that are kept."""
MOST_INPUTS = 48
SECONDS = 0.3
"""Time on the processor for one edit."""
SLOW = 2
"""So many inputs without an end, and the rest is not asked."""
MOST_DOCUMENTED = 20


class Probe:
    """The comparison of one request, in a process of its own."""

    def __init__(self, child: Child, request: Request) -> None:
        self.child = child
        self.request = request
        self.limit = min(0.2, float(request["limit"]))
        self.functions: Dict[int, Any] = {}
        self.inputs: List[Call] = []
        self.made = 0
        self.documented: List[Tuple[Any, List[List[examples.Example]]]] = []

    def run(self) -> None:
        """Say what the code as it is gives, then what each edit gives, one fact each."""
        candidates = self.request["candidates"]
        done = self.child.place(candidates[0])
        if done is None:
            self.child.with_items(candidates[0], self.child.warm.paths, self._alone)
            return
        self._learn(self.child.warm.items, self.child.warm.functions)
        code.swap_back(done)
        self.child.say(calls=self.made, failing=[c.failing for c in self.inputs], was=self._outcomes())
        for index, edits in enumerate(candidates):
            done = self.child.place(edits)
            if done is None:
                continue
            self._say(index)
            code.swap_back(done)

    def _alone(self, items: List[Any]) -> None:
        """An edit that was put in by importing anew: there is no way back to the code as it was."""
        self._learn(items, code.Functions(self.child.root))
        self.child.say(calls=self.made, failing=[c.failing for c in self.inputs], was=None)
        self._say(0)

    def _say(self, index: int) -> None:
        right, judged = self._examples()
        self.child.say(index=index, gives=self._outcomes(), examples=[right, judged])

    def _learn(self, items: List[Any], functions: code.Functions) -> None:
        by_id = {item.nodeid: item for item in items}
        calls = Calls(self.child.root, MOST_CALLS)
        runner = Runner(self.child.root, self.child.compared)
        until = time.process_time() + SECONDS
        for failing, names in ((True, self.request["failing"]), (False, self.request["passing"])):
            for name in names:
                item = by_id.get(name)
                if item is not None and time.process_time() < until:
                    calls.watch(lambda item=item: runner.run(item, None, self.request["limit"]), failing)
        for function in itertools.chain.from_iterable(functions.by_place.values()):
            self.functions[id(function.__code__)] = function
        made = [call for call in calls.made if id(call.code) in self.functions]
        for call in made:
            call.function = self.functions[id(call.code)]
        fresh = alike(made, MOST_INPUTS, SECONDS)
        self.inputs, self.made = [*made, *fresh], len(made)
        self._document(functions)

    def _document(self, functions: code.Functions) -> None:
        """Examples of what the tests call, and of what stands in the changed files."""
        paths = {self.child.warm.files[path].path for edits in self.request["candidates"] for path in edits}
        called = {id(call.function) for call in self.inputs}
        for (path, _, name), group in functions.by_place.items():
            text = group[0].__doc__
            if text and (path in paths or id(group[0]) in called) and len(self.documented) < MOST_DOCUMENTED:
                groups = examples.examples_of(text, name)
                if groups:
                    self.documented.append((group[0], groups))

    def _outcomes(self) -> List[List[str]]:
        """[kind, mark] of what each input gives; fewer when time ran out."""
        self._forget()
        until, slow = time.process_time() + SECONDS, 0
        found: List[List[str]] = []
        for call in self.inputs:
            if time.process_time() > until or slow >= SLOW:
                break
            outcome = self._outcome(call)
            slow += outcome[0] == "!OutOfTime"
            found.append(outcome)
        return found

    def _outcome(self, call: Call) -> List[str]:
        values = copy.deepcopy(call.values)
        count = call.code.co_argcount
        named = dict(zip(call.code.co_varnames[count:], values[count:]))
        random.seed(0)
        guard.clock(self.limit)
        try:
            result: Any = call.function(*values[:count], **named)
            if hasattr(result, "__next__"):
                taken: List[Any] = list(itertools.islice(result, 200))
                result = taken
            text, kind = whole([result, values]), kind_of(result)
        except BaseException as error:
            text, kind = "", "!" + type(error).__name__
        guard.clock(0)
        return [kind, "%08x" % zlib.crc32((kind + text).encode("utf-8", "replace"))]

    def _examples(self) -> Tuple[int, int]:
        right = judged = 0
        for function, groups in self.documented:
            for group in groups:
                guard.clock(self.limit * 2)
                try:
                    good, asked = examples.holds(group, function.__globals__)
                except BaseException:
                    good, asked = 0, 1
                guard.clock(0)
                right, judged = right + good, judged + asked
        return right, judged

    def _forget(self) -> None:
        """What functions of the project remember of earlier calls."""
        for module in list(sys.modules.values()):
            path: Optional[str] = getattr(module, "__file__", None)
            if isinstance(path, str) and os.path.realpath(path).startswith(self.child.root + os.sep):
                for value in list(vars(module).values()):
                    if hasattr(value, "cache_clear"):
                        value.cache_clear()


def kind_of(value: Any) -> str:
    """A value's type; for lists and tuples with that of the first item."""
    name = type(value).__name__
    if sort_of(value) in ("list", "tuple") and value:
        name += " of " + type(value[0]).__name__
    return name
