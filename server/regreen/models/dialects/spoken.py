"""Replies in words only: what they claim, refuse or announce, and the answer to each that leads back to a call."""

from __future__ import annotations

import re

from regreen.models.dialects import corrective, paths, shell, thoughts
from regreen.models.dialects.corrective import Scene
from regreen.models.dialects.reading import Fault

_REFUSES = re.compile(
    r"\b(?:cannot|can['’]?t|unable to|not able to|don['’]?t have|do not have|no)\b[^.\n]{0,60}\b(?:access|open|read|see|view|execute|run|edit|modify|files?)\b"
    r"|\bas an? (?:AI|language model)|\bI['’]?m (?:just )?an? (?:AI|language model)|\b(?:please|could you|can you) (?:paste|share|provide|upload|send|show)\b",
    re.IGNORECASE,
)
_INVENTS = re.compile(
    r"\b(?:tool|function|read_file|edit_file|write_file|run_tests|list_files|search_files)\b[^.\n]{0,40}\b(?:returned|responded|said|failed with|gave|reported|outputs?)\b"
    r"|\b\w*Error: |\bErrno\b|\b\d+ passed(?: in|,|\b)|={3,} (?:test session|\d+)|\b(?:permission denied|no such file)\b|^[ \t]*(?:output|result)s?:",
    re.IGNORECASE | re.MULTILINE,
)
_CLAIMS = re.compile(
    r"\b(?:I|I['’]ve|I have|we|we['’]ve)\b[^.\n]{0,30}\b(?:updated|fixed|changed|edited|modified|saved|applied|corrected|written|rewritten|added|removed|made|implemented|replaced|created)\b"
    r"|\bhas (?:now )?been (?:updated|fixed|saved|changed|applied|corrected|modified|written|created)|^[ \t]*(?:done|fixed)\b|\b(?:is|are) now (?:fixed|correct|saved)",
    re.IGNORECASE | re.MULTILINE,
)
_TESTS_PASS = re.compile(
    r"\ball \d+ (?:of them |tests? )?(?:now )?pass|\b(?:all )?(?:the )?tests? (?:should )?(?:now |all )*(?:pass|passes|passing|succeed|are green|is green)\b|\beverything (?:now )?(?:passes|works)",
    re.IGNORECASE,
)
_TEST_WRONG = re.compile(
    r"\b(?:the |this )?tests?(?: itself| case| expectation|['’]s expectation)? (?:is|are|looks?|seems?|appears?)(?: to be| itself)? (?:wrong|incorrect|buggy|mistaken|faulty|invalid|broken|flawed)"
    r"|\b(?:test|assertion) (?:has|contains) (?:a |an )?(?:bug|error|mistake|wrong|incorrect)|\bexpect(?:s|ed value|ation)[^.\n]{0,30}\b(?:is|are|seems?|looks?) (?:wrong|incorrect)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\?\s*$|\b(?:should I|would you like|do you want|shall I|let me know|which (?:file|one))\b",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"^[ \t]*(?:\$ |> )?((?:cat|ls|pytest|python3?|grep|sed|head|tail|rg|find|cd|pip)\b[^\n]*)$", re.MULTILINE
)


def answer(
    text: str, scene: Scene, invented: bool, marker: bool, commands: str = "", code: str = ""
) -> Fault:
    """The corrective for a reply that holds no call. `commands` is the text of a shell block, `code` of a code block."""
    if piece := thoughts.looping(text):
        return scene.fault(
            "repeats",
            f"The reply only repeats {corrective.quoted(piece, 60)} over and over, so it was cut and dropped."
            " Do not repeat it; act.",
        )
    if marker and not code:
        said = f" Its text was {corrective.quoted(text, 80)}." if text else ""
        return scene.fault("no_call", f"A tool-call marker came without a call, so no tool was called.{said}")
    if commands and (tool := shell.as_tool(commands.strip().split("\n")[0].lstrip("$> "))):
        return corrective.no_shell(scene, "", commands.strip().split("\n")[0].lstrip("$> "), tool)
    named = next(iter(paths.mentions(text, scene.files)), "") or scene.path()
    if code:
        return _code_without_place(scene, named)
    return _in_words(text, scene, invented, named)


def _code_without_place(scene: Scene, named: str) -> Fault:
    where = f" in '{named}'" if named else ""
    return scene.fault(
        "no_call",
        f"The code was only shown, not put into a file, so nothing changed{where}. A change happens only through a call of"
        " edit_file: the path, the text to find, and what replaces it.",
        scene.edit_call(named) if named and "edit_file" in scene.tools.specs else "",
    )


def _in_words(text: str, scene: Scene, invented: bool, named: str) -> Fault:
    read = scene.next_call(named)
    file = f" '{named}'" if named else ""
    if not re.search(r"\w", text):
        return scene.fault("blank", "The reply was blank: nothing was said and no tool was called.", read)
    if _TEST_WRONG.search(text):
        return scene.fault(
            "test_looks_wrong",
            "You say that the test itself looks wrong. Tests are locked here, and the person is told what you found."
            " If the code can be right as the test wants it, change the code.",
            scene.edit_call(named),
        )
    if invented or (_INVENTS.search(text) and not _ASKS.search(text)):
        said = corrective.quoted(_sentence(text, _INVENTS), 100)
        return scene.fault(
            "invented_result",
            f"No tool was called in this reply, so there is no such result or error: {said} was made up. Call the tool and read its real answer.",
            read,
        )
    if _REFUSES.search(text):
        reads = f"read_file works here and shows{file or ' any file'} of this workspace; edit_file changes it and run_tests runs the tests."
        return scene.fault("refusal", f"You do have access: {reads} Nothing has to be pasted.", read)
    if _TESTS_PASS.search(text) or _CLAIMS.search(text):
        return scene.fault(
            "claims_done",
            f"Nothing was written in this reply: no tool was called, so{file or ' every file'} is unchanged and the test"
            " still fails. A change happens only through a call of edit_file with path, find (the exact text that is there now) and"
            " replace.",
            scene.edit_call(named),
        )
    if _ASKS.search(text):
        return scene.fault(
            "asks", "Nobody answers questions during a run. Decide yourself and take the next step.", read
        )
    if found := _COMMAND.search(text):
        return corrective.no_shell(scene, "", found.group(1), shell.as_tool(found.group(1)))
    return scene.fault(
        "no_call",
        f"A step was announced but no tool was called, so nothing happened{f' with{file}' if file else ''}."
        " A step happens only through a call.",
        read,
    )


def _sentence(text: str, pattern: re.Pattern[str]) -> str:
    found = pattern.search(text)
    if not found:
        return text[:200]
    start = max(text.rfind("\n", 0, found.start()) + 1, found.start() - 60)
    end = text.find("\n", found.end())
    return text[start : end if end >= 0 else len(text)][:200]
