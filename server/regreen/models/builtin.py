"""The built-in repair search behind the same door as any model: small mistakes, no model, no network."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from regreen.agent.conversation import Message, Reply, Request, ToolCall, ToolSpec
from regreen.agent.model import Listener
from regreen.models.fixes import Mark, groups, mark, sure
from regreen.models.quick import QuickSearch
from regreen.repair.explain import call_arguments, nothing, sentence
from regreen.repair.ground import SearchGround
from regreen.repair.patch import Findings, Patch
from regreen.repair.source import Edit
from regreen.repair.warm import WorkerGone


class BuiltinModel:
    """Proposes one edit at a time; what was proposed once and is not there now was turned down."""

    def __init__(self, ground: SearchGround) -> None:
        self._quick = QuickSearch(ground)
        self._proposed: set[Mark] = set()
        self._planned: list[tuple[Mark, Reply]] = []

    @property
    def name(self) -> str:
        """ "builtin"."""
        return "builtin"

    @property
    def learned(self) -> Findings | None:
        """What the latest search learned: survivors, edits that moved the failure, ranked lines."""
        return self._quick.latest

    async def warm(
        self, messages: tuple[Message, ...], tools: tuple[ToolSpec, ...], listener: Listener
    ) -> None:
        """Start the test runner and let it collect, so that the first reply need not wait for it."""
        self._quick.start_early()

    async def reply(self, request: Request, listener: Listener) -> Reply:
        """Search from the files as they are now; one edit, or finish "nothing" with what was learned."""
        begun = time.monotonic()
        reply = self._go_on() or await self._search_and_answer()
        listener.text(reply.text)
        return replace(reply, seconds=time.monotonic() - begun)

    async def aclose(self) -> None:
        """Kill the worker, remove the copy."""
        await self._quick.aclose()

    async def _search_and_answer(self) -> Reply:
        try:
            found = await self._quick.findings()
        except WorkerGone as gone:
            return Reply(text=f"Nothing found: {gone}.", finish="nothing")
        for patch in found.survivors:
            reply = self._propose(patch, found)
            if reply is not None:
                return reply
        if not found.survivors:
            for patch in found.forward:
                reply = self._propose(patch, found)
                if reply is not None:
                    return reply
        return Reply(text=nothing(found), finish="nothing")

    # proposing

    def _go_on(self) -> Reply | None:
        """The second of two edits that were found together, once the first is there."""
        planned, self._planned = self._planned, []
        for _, reply in planned:
            arguments = reply.calls[0].arguments
            text = self._quick.text(str(arguments["path"]))
            first = str(arguments.get("after", ""))
            if (
                text is not None
                and text.count(str(arguments["find"])) == 1
                and self._is_there(first, arguments)
            ):
                clean = {key: arguments[key] for key in ("path", "find", "replace")}
                again = mark(clean)
                if again not in self._proposed:
                    self._proposed.add(again)
                    return replace(reply, calls=(ToolCall("edit_file", clean),))
        return None

    def _is_there(self, first: str, arguments: Mapping[str, object]) -> bool:
        text = self._quick.text(str(arguments.get("after_path", "")))
        return text is not None and first in text

    def _propose(self, patch: Patch, found: Findings) -> Reply | None:
        """A patch as a reply; None when it, or a part of it, was proposed before."""
        texts = {edit.path: self._quick.text(edit.path) or "" for edit in patch.edits}
        parts = groups(patch.edits)
        calls = [call_arguments(texts[part[0].path], part) for part in parts]
        marks = [mark(call) for call in calls]
        if any(one in self._proposed for one in marks):
            return None
        words = [sentence(texts[part[0].path], part) for part in parts]
        self._proposed.update(marks[:1])
        more = sum(self._is_left(other) for other in found.survivors) if patch.failure is None else 0
        confidence = "low" if patch.failure is not None else sure(patch, found)
        stepwise = len(parts) > 1 and any(p.edits == tuple(parts[0]) for p in found.forward)
        others = self._others(patch, found)
        if len(parts) > 1 and not stepwise:
            self._proposed.update(marks)
            text = "; ".join(words) + "." + others
            edits = tuple(ToolCall("edit_file", call) for call in calls)
            return Reply(text, edits, confidence=confidence, alternatives=more)
        text = words[0]
        if patch.failure is not None:
            text += "; the failure moves on with this, but the test does not pass yet."
        elif len(parts) > 1:
            text += f", the first of {len(parts)} edits that make the test pass together."
        else:
            text += "." + others
        if len(parts) == 2:
            self._plan(texts, parts, calls[0], words[1], confidence)
        edit = ToolCall("edit_file", calls[0])
        return Reply(text, (edit,), confidence=confidence, alternatives=more)

    def _is_left(self, patch: Patch) -> bool:
        """Whether a patch, as it is, is still to be proposed when those before it are turned down."""
        texts = {edit.path: self._quick.text(edit.path) or "" for edit in patch.edits}
        calls = [call_arguments(texts[part[0].path], part) for part in groups(patch.edits)]
        return not any(mark(call) in self._proposed for call in calls)

    def _others(self, patch: Patch, found: Findings) -> str:
        """What a person may choose from besides: edits that pass too and were not proposed yet."""
        if patch.failure is not None:
            return ""
        left: set[tuple[Mark, ...]] = set()
        for other in found.survivors:
            texts = {edit.path: self._quick.text(edit.path) or "" for edit in other.edits}
            marks = tuple(mark(call_arguments(texts[p[0].path], p)) for p in groups(other.edits))
            if other is not patch and not any(one in self._proposed for one in marks):
                left.add(marks)
        if not left:
            return ""
        count = "Another small edit passes" if len(left) == 1 else f"{len(left)} other small edits pass"
        return f" {count} these tests too: reject this one to see the next."

    def _plan(
        self,
        texts: Mapping[str, str],
        parts: Sequence[Sequence[Edit]],
        first: Mapping[str, object],
        words: str,
        confidence: str,
    ) -> None:
        second = parts[1]
        text = texts[second[0].path]
        arguments = call_arguments(text, second)
        if first["path"] == arguments["path"]:
            after = text.replace(str(first["find"]), str(first["replace"]), 1)
            if after.count(str(arguments["find"])) != 1:
                return
        arguments |= {"after": first["replace"], "after_path": first["path"]}
        reply = Reply(words + ".", (ToolCall("edit_file", arguments),), confidence=confidence)
        self._planned.append((mark(arguments), reply))
