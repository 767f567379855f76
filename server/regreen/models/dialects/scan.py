"""One pass over a reply, from left to right: each call is taken where it stands, so that text inside one call (a file
that speaks of `<tool_call>`, a thought in a string) is never taken for another."""

from __future__ import annotations

import bisect
import re

from regreen.models.dialects import (
    arguments,
    corrective,
    edits,
    keys,
    lenient,
    objects,
    paths,
    pythonic,
    tagged,
    thoughts,
)
from regreen.models.dialects.closings import Closings
from regreen.models.dialects.corrective import Scene
from regreen.models.dialects.openings import (
    CALL_IN_CODE,
    CALL_KEYS,
    CODE_LANGUAGES,
    DATA_LANGUAGES,
    DIFF_LANGUAGES,
    EMPTY,
    FIRST_KEY,
    NAME_BEFORE,
    NEXT,
    REACT_INPUT,
    STRONG,
    Block,
    Scan,
)
from regreen.models.dialects.reading import Asked, Fault, as_mapping


def scan(text: str, scene: Scene, ended: bool = False) -> Scan:
    """Everything in a reply that is a call or was meant as one. `ended`: the server said that the reply is whole."""
    return _Scanner(text, scene, ended).run()


class _Scanner:
    def __init__(self, text: str, scene: Scene, ended: bool) -> None:
        self.text = text
        self.ended = ended
        self.taken = 0  # the end of the last piece that was taken
        self.heard = 0  # up to here the text was searched for prose
        self.silent = True
        self.closings = Closings(text)
        self.scene = scene
        self.found = Scan(end=len(text))
        self.at = 0
        self.entered = False  # inside a fence that is read as text of the reply
        self.strong = [found.start() for found in STRONG.finditer(text)]
        self.ends: lenient.Ends = {}
        self.no_edits = 0  # up to here diffs were read, and none changes a line
        self.patience = 8  # objects that look like calls and cannot be read

    def run(self) -> Scan:
        while self.at < self.found.end:
            match = NEXT.search(self.text, self.at)
            if match is None:
                break
            self.at = max(self.at + 1, self.step(match))
        self.drop_orphaned_thought()
        return self.found

    def step(self, match: re.Match[str]) -> int:
        """Deal with one opening; the offset to go on at."""
        kind, start = match.lastgroup, match.start()
        if kind in ("object", "headless"):
            return self.object(start, headless=kind == "headless")
        if kind in ("tag", "bracket"):
            return self.tag(start)
        if kind in ("fence", "react"):
            return self.fence(match) if kind == "fence" else self.react(match)
        if kind == "edit":
            return self.edit(start)
        if kind == "turn":
            return self.turn(start, match.end())
        return self.python(match)

    def add(self, start: int, end: int, *asked: Asked) -> int:
        self.found.calls += [(start, end, one) for one in asked]
        self.taken = max(self.taken, end)
        return end

    def fail(self, start: int, fault: Fault) -> None:
        self.patience = min(self.patience, 4)
        self.found.faults.append((start, fault))

    def skip(self, start: int, end: int) -> int:
        self.found.skipped.append((start, end))
        self.taken = max(self.taken, end)
        return end

    # thoughts and turns

    def tag(self, start: int) -> int:
        if opened := thoughts.OPEN.match(self.text, start) or thoughts.ANALYSIS.match(self.text, start):
            ends = thoughts.ANALYSIS_END if self.text.startswith("<|channel", start) else thoughts.CLOSE
            closed = ends.search(self.text, opened.end())
            if closed is None:
                self.found.unfinished_thought = True
                self.found.thoughts.append(self.text[opened.end() :])
                self.skip(start, len(self.text))
                return len(self.text)
            self.found.thoughts.append(self.text[opened.end() : closed.start()])
            keep = ends is thoughts.ANALYSIS_END
            return self.skip(start, closed.start() if keep else closed.end())
        if closed := thoughts.CLOSE.match(self.text, start):
            return closed.end()
        if thoughts.RESULT.match(self.text, start) or thoughts.TURN.match(self.text, start):
            found = thoughts.RESULT.match(self.text, start) or thoughts.TURN.match(self.text, start)
            return self.turn(start, found.end() if found else start + 1)
        if marker := thoughts.MARKER.match(self.text, start):
            self.found.marker = True
            if not tagged.HEAD.match(self.text, start):
                return marker.end()
        return self.element(start)

    def turn(self, start: int, end: int) -> int:
        """A leaked turn marker or an invented result: what follows is not the model's to say."""
        result = thoughts.RESULT.match(self.text, start) is not None
        self.found.invented = self.found.invented or result
        if self.found.calls or self.found.faults or self.spoken(start):
            self.found.end = start
            return len(self.text)
        if result and self.text.startswith("<", start):
            closing = re.compile(r"</\w+>").search(self.text, end)
            return self.skip(start, closing.end() if closing else len(self.text))
        header = re.compile(r"\s*(?:assistant|<\|end_header_id\|>|\s)*").match(self.text, end)
        return self.skip(start, header.end() if header else end)

    def spoken(self, until: int) -> bool:
        """Whether there is prose before an offset."""
        since = max(self.heard, self.taken)
        if self.silent and since < until:
            self.silent = not thoughts.prose(self.text[since:until])
        self.heard = max(self.heard, until)
        return not self.silent

    def drop_orphaned_thought(self) -> None:
        """A closing tag without an opening one: all before it was thought, and no call in it may run."""
        spans = [(start, end) for start, end, _ in self.found.calls] + self.found.skipped
        spans += [(one.start, one.end) for one in self.found.blocks]
        orphan = thoughts.orphan(self.text, self.found.end, spans)
        if orphan is None:
            return
        start, end = orphan.span()
        self.found.calls = [call for call in self.found.calls if call[0] >= end]
        self.found.blocks = [one for one in self.found.blocks if one.start >= end]
        self.found.faults = [fault for fault in self.found.faults if fault[0] >= end]
        self.found.thoughts.append(self.text[:start])
        self.skip(0, end)

    # calls

    def element(self, start: int) -> int:
        element = tagged.read(self.text, start, self.scene.tools)
        if element is None and self.text[start : start + 8].lower() == "<arg_key":
            named = re.search(r"([A-Za-z_][\w.-]{1,60})\s*$", self.text[max(0, start - 80) : start])
            element = tagged.read_pairs(self.text, start, named.group(1)) if named else None
        if element is None:
            return start + 1
        if element.cut_in:
            where = f"inside the {element.cut_in} parameter of {element.name}"
            path = str(as_mapping(element.values).get("path", ""))
            self.fail(start, corrective.cut(self.scene, where, path))
            return self.skip(start, len(self.text))
        return self.add(start, element.end, Asked(element.name, element.values))

    def object(self, start: int, headless: bool = False) -> int:
        if self.patience <= 0:
            return start + 1
        if empty := EMPTY.match(self.text, start):
            return self.without_arguments(start, empty.end())
        first = FIRST_KEY.match(self.text, start)
        if not headless:
            if first is None:
                return start + 1
            key = first.group(1).strip()
            plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower()
            likely = plain in CALL_KEYS or key.lower() in CALL_KEYS or self.scene.tools.known(key)
            if not likely and not keys.is_argument(key):
                return start + 1
        try:
            if headless:
                parsed = lenient.parse("{" + self.text[start : self.found.end])
                end = min(start + parsed.end - 1, len(self.text))
            else:
                parsed = lenient.parse(self.text, start, self.ends)
                end = parsed.end
        except lenient.Broken as error:
            self.tried(error.at - start)
            return self.unreadable(start, error)
        asked = objects.calls_in(parsed.value, self.scene, parsed.guessed)
        if asked:
            return self.add(start, end, *asked)
        if headless:
            self.tried(parsed.end)
            return start + 1
        return self.nameless(start, end, as_mapping(parsed.value), parsed.guessed)

    def tried(self, length: int) -> None:
        """So many characters were read as an object in vain."""
        self.patience -= min(3, 1 + length // 2000)

    def without_arguments(self, start: int, end: int) -> int:
        """`{}` after a name that stands where names of calls stand."""
        behind = self.behind(start)
        at = bisect.bisect_left(self.strong, behind)
        if at == len(self.strong) or self.strong[at] >= start:
            return end  # nothing that introduces a name
        named = NAME_BEFORE.search(self.text, behind, start)
        if named and named.group("strong") and self.scene.tools.known(named.group("name")):
            return self.add(named.start(), end, Asked(named.group("name"), {}))
        return end

    def behind(self, start: int) -> int:
        """Where to begin to look for a name before an offset: after what was taken already, and after the last brace."""
        begin = min(start, max(start - 160, self.taken))
        return max(begin, self.text.rfind("{", begin, start) + 1, self.text.rfind("}", begin, start) + 1)

    def nameless(self, start: int, end: int, values: dict[str, object], guessed: bool) -> int:
        """An object of arguments: the tool is named before it, or follows from them, or is missing."""
        named = NAME_BEFORE.search(self.text, self.behind(start), start)
        if named:
            tool = self.scene.tools.known(named.group("name"))
            if tool or (named.group("strong") and named.group("name").lower() not in ("json", "python")):
                return self.add(named.start(), end, Asked(named.group("name"), values, guessed=guessed))
        if not self.alone(start, end):
            return end
        if tool := arguments.by_arguments(values, self.scene):
            return self.add(start, end, Asked(tool, values, guessed=guessed))
        command = next((values[key] for key in ("command", "cmd", "commands") if key in values), None)
        if command is not None:
            self.fail(start, arguments.no_shell(self.scene, "", command))
            return self.skip(start, end)
        if all(keys.is_argument(str(key)) for key in values):
            self.fail(start, corrective.no_name(self.scene, values))
            return self.skip(start, end)
        return end

    def alone(self, start: int, end: int) -> bool:
        """Whether an object stands on lines of its own."""
        line = self.text.rfind("\n", 0, start) + 1
        before = re.sub(r"`{3,}\w*|<[^<>\n]{1,40}>|\[[A-Z_]+\]", "", self.text[line:start])
        return not before.strip(" \t`")

    def unreadable(self, start: int, error: lenient.Broken) -> int:
        """An object that looks like a call but is none, even read leniently."""
        body = self.text[start : start + 400]
        named = re.search(
            r"""["'“‘]?(?:name|tool|function|action|tool_name)["'”’]?\s*[:=]\s*["'“‘]?([\w.-]+)""", body
        )
        tool = self.scene.tools.known(named.group(1)) if named else ""
        if not tool and not (named and re.search(r"""arguments|parameters|args|input""", body)):
            before = NAME_BEFORE.search(self.text, max(0, start - 100), start)
            tool = self.scene.tools.known(before.group("name")) if before else ""
            if not tool:
                return start + 1
        written = re.search(
            r"""["'“]?(?:path|file|filename|file_path)["'”]?\s*[:=]\s*["'“]([^"'”\n]{1,120})["'”]""", body
        )
        path = written.group(1) if written else ""
        example = self.example(tool, path)
        if error.kind == "cut":
            what = f"in the middle of the call{f' of {tool}' if tool else ''}, after {corrective.quoted(self.text[-60:], 60)}"
            self.fail(start, corrective.cut(self.scene, what, path))
            return self.skip(start, len(self.text))
        near = max(start, error.at - 40)
        near = max(near, self.text.rfind(", ", near, error.at) + 2)
        around = self.text[near : error.at + 40]
        make = corrective.ambiguous if error.kind == "ambiguous" else corrective.broken
        self.fail(start, make(self.scene, around, example))
        return self.skip(start, min(len(self.text), max(error.at, start + 1)))

    def example(self, tool: str, path: str) -> str:
        known = paths.clean(path).text if path else ""
        return self.scene.edit_call(known) if tool == "edit_file" else self.scene.next_call(known)

    def python(self, match: re.Match[str]) -> int:
        written = match.group("python")
        name = written[:-1].rstrip()
        if not self.scene.tools.known(name):
            return match.end()
        start = match.start()
        if self.patience <= 0:
            return match.end()
        line = self.text.rfind("\n", max(0, start - 200), start) + 1 or max(0, start - 200)
        behind = max(line, min(self.taken, start), pythonic.marker_before(self.text, line, start))
        result = pythonic.read(self.text, behind, name, start, match.end() - 1, self.scene.tools)
        if result.cut:
            self.fail(start, corrective.cut(self.scene, f"inside the call {name}(…)"))
            return self.skip(start, len(self.text))
        if result.asked is None:
            self.patience -= 1
            return match.end()
        return self.add(start, result.end, result.asked)

    def react(self, match: re.Match[str]) -> int:
        """`Action: name`, with its input on the next line as JSON, as one bare value, or not at all."""
        name = match.group("action")
        following = REACT_INPUT.match(self.text, match.end())
        given = following.group("input").strip().strip("`") if following else ""
        if match.group("square"):
            return self.add(match.start(), match.end(), Asked(name, match.group("square")[1:-1]))
        if following and given[:1] in ("{", "[", "") and self.scene.tools.resolve(name).kind != "leaked":
            after = self.text[following.start("input") :].lstrip("` \n\t*jsonJSON")
            if after[:1] == "{":
                return following.start("input")  # read as an object with its name before it
        if not following and self.text[match.end() : match.end() + 40].lstrip("` \n\t*json")[:1] in ("{",):
            return match.end()
        if not following and self.scene.tools.resolve(name).kind != "tool":
            return match.end()
        end = following.end() if following else match.end()
        return self.add(match.start(), end, Asked(name, given))

    # text edits and fences

    def edit(self, start: int) -> int:
        """A search/replace block, a diff or a patch; such a reply holds edits to its end."""
        if start < self.no_edits:
            return start + 1
        name = edits.name_before(self.text, start)
        upto = self.text[start : edits.stop(self.text, start, self.found.end)]
        outcome = edits.read(upto, self.scene, name, self.ended)
        if isinstance(outcome, Fault):
            self.fail(start, outcome)
            return self.skip(start, start + len(upto))
        if not outcome:
            self.no_edits = start + len(upto)
            return start + 1
        return self.add(start, start + len(upto), *outcome)

    def stop(self, start: int) -> int:
        found = thoughts.TURN.search(self.text, start)
        return found.start() if found else self.found.end

    def fence(self, match: re.Match[str]) -> int:
        info = match.group("info").strip()
        entered, self.entered = self.entered, False
        if entered and not re.match(r"[\w.+-]+\s*(?:$|[{(\[])", info):
            return match.start("info")
        words = re.split(r"[\s{:(\[]", info, maxsplit=1)
        language = words[0].lower()
        inside = match.end()
        if re.search(r"[{(<\[]", info):  # the call stands on the fence's own line
            inline = not language or language in DATA_LANGUAGES
            return match.start("info") + len(words[0]) if inline else match.end()
        closing = self.closings.of(match.group("ticks"), inside, language)
        end = closing.start() if closing else self.stop(inside)
        head = self.text[inside : min(end, inside + 400)].lstrip()
        data = language in DATA_LANGUAGES or (not language and self.opens_data(head))
        data = data or (language in CODE_LANGUAGES and CALL_IN_CODE.match(head) is not None)
        if (
            data
            or edits.first("\n".join(head.split("\n")[:4])) >= 0
            or edits.first(self.text[inside:end]) >= 0
        ):
            if closing is None and not self.ended and language in DIFF_LANGUAGES:
                name = edits.name_before(self.text, match.start())
                self.fail(match.start(), corrective.cut(self.scene, "inside a diff", name))
                return self.skip(match.start(), end)
            self.entered = True
            return inside
        body = self.text[inside:end]
        stop = closing.end() if closing else end
        if language in DIFF_LANGUAGES:
            return self.bare_diff(match.start(), end, body, closing is not None)
        if (language in CODE_LANGUAGES or not language) and (
            calls := pythonic.only_calls(body, self.scene.tools)
        ):
            return self.add(match.start(), stop, *calls)
        named = re.search(r"[\w./-]+\.py\b", info)
        name = named.group() if named else ""
        language = "python" if language == name.lower() else language
        self.found.blocks.append(Block(language, body, match.start(), stop, closing is not None, name))
        return stop

    def opens_data(self, head: str) -> bool:
        """Whether a block without a language begins as a call does."""
        return head[:1] in ("{", "[", "<") or bool(self.scene.tools.known(head.split("\n")[0].strip()))

    def bare_diff(self, start: int, end: int, body: str, closed: bool) -> int:
        """A diff fence without file headers."""
        name = edits.name_before(self.text, start)
        if not closed and not self.ended:
            self.fail(start, corrective.cut(self.scene, "inside a diff", name))
            return self.skip(start, end)
        outcome = edits.read_bare(body.rstrip("\n").split("\n"), self.scene, name)
        if isinstance(outcome, Fault):
            self.fail(start, outcome)
            return self.skip(start, end)
        return self.add(start, end, *outcome)
