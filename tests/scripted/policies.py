"""What the scripted model does: each policy looks at the conversation and decides on one reply."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from scripted import toy
from scripted.answers import PROBE_FILE, Answer, Call, Fault, Seen, render, tokens
from scripted.dialects import write, write_calls
from scripted.toy import Edit

Decide = Callable[[Seen], Answer]


@dataclass(frozen=True)
class Policy:
    """A policy and how its server behaves.

    `times`: how often the fault strikes before the base policy answers (None: for ever).
    `pulled`: whether the model is there at the start. `tools`: whether the server takes tools at all.
    `logprobs`: whether they are sent when asked for (not before Ollama 0.12.11).
    `context`: a prompt with more tokens is refused, or cut when `cuts` is set. `counts`: whether token counts are told.
    `pricing`: what /v1/models says a token costs. `cost`: what each reply costs, told where it is asked for.
    """

    decide: Decide
    dialect: str = "native"
    fault: Fault | None = None
    times: int | None = 1
    pulled: bool = True
    pull_fails: bool = False
    tools: bool = True
    context: int | None = None
    cuts: bool = False
    load_seconds: float = 0.0
    garbled: bool = False
    logprobs: bool = True
    counts: bool = True
    pricing: Mapping[str, str] | None = None
    cost: float | None = None


# -- the model that does the job --------------------------------------------------------------------


def working(first_try_wrong: bool, dialect: str = "native") -> Decide:
    """The two-part bug of the toy shop, in three edits or in two."""

    def decide(seen: Seen) -> Answer:
        edit = _next_edit(seen, first_try_wrong)
        if edit is None:
            return Answer(toy.DONE)
        return write(dialect, edit.why, (edit,), bool(seen.tools))

    return decide


def _next_edit(seen: Seen, first_try_wrong: bool) -> Edit | None:
    said, news = seen.said, seen.news
    values = toy.failing_values(news)
    wrong_said = toy.WRONG_LINE in said
    right_said = toy.RIGHT_LINE in said or toy.OTHER_RIGHT_LINE in said
    if values and values[1] == 360 and toy.OFFER.replace not in said:
        return toy.OFFER
    if first_try_wrong and not wrong_said and not right_said:
        return toy.WRONG
    if not right_said:
        gone = not wrong_said or toy.says_taken_back(news)
        return toy.RIGHT.again_from(toy.ORIGINAL_LINE if gone else toy.WRONG_LINE)
    if toy.OFFER.replace not in said:
        if toy.says_not_found(news) and said.count(toy.RIGHT_LINE) == 1:
            tried_original = f'"find": "{toy.ORIGINAL_LINE}"' in said.rsplit("edit_file", 1)[-1]
            return toy.RIGHT.again_from(toy.WRONG_LINE if tried_original else toy.ORIGINAL_LINE)
        if toy.says_rejected(news) and toy.OTHER_RIGHT_LINE not in said:
            return toy.OTHER_RIGHT
        if values is None or values[1] == 360:
            return toy.OFFER
        return toy.RIGHT
    return None


def several(seen: Seen) -> Answer:
    """Both right edits in one reply."""
    if seen.turns:
        return Answer(toy.DONE)
    why = "Adding must add to the quantity, and the threshold itself earns the offer."
    return write("native", why, (toy.RIGHT, toy.OFFER), bool(seen.tools))


# -- weak models ------------------------------------------------------------------------------------


def chooser(seen: Seen) -> Answer:
    """Takes the first of the edits it may choose among; without a choice it does the job."""
    if _ASKED.search(seen.news):
        return Answer("1")
    return working(False)(seen)


def refuser(seen: Seen) -> Answer:
    """Wants none of the edits it may choose among, and does the job, wrong on the first try."""
    if _ASKED.search(seen.news):
        return Answer("none")
    return working(True)(seen)


def weak(seen: Seen) -> Answer:
    """The same wrong edit for ever."""
    return write("native", toy.WRONG.why, (toy.WRONG,), bool(seen.tools))


def cycle(seen: Seen) -> Answer:
    """The wrong edit and its undoing in turn."""
    edit = toy.WRONG if seen.turns % 2 == 0 else toy.UNDO
    return write("native", edit.why, (edit,), bool(seen.tools))


def rotation(*calls: Call) -> Decide:
    """The same calls round and round."""

    def decide(seen: Seen) -> Answer:
        call = calls[seen.turns % len(calls)]
        return write_calls("native", "Let me look.", (call,), bool(seen.tools))

    return decide


def fumbles(seen: Seen) -> Answer:
    """Another wrong edit each time, never the right one."""
    n = seen.turns + 1
    edit = Edit(
        toy.CART, toy.ORIGINAL_LINE, f"self.quantities[sku] = quantity * {n + 1}", f"Perhaps times {n + 1}."
    )
    return write("native", edit.why, (edit,), bool(seen.tools))


def done(seen: Seen) -> Answer:
    """Claims success and has changed nothing."""
    return Answer("I have fixed the bug. The test passes now and the task is done.")


def prose(seen: Seen) -> Answer:
    """Talks, without a call and without a claim."""
    return Answer("The cart seems to keep a quantity for each product. I would look at how it is computed.")


def reads_first(seen: Seen) -> Answer:
    """Reads everything, file by file, before it mends the two-part bug."""
    if seen.turns < len(toy.FILES):
        call = Call("read_file", {"path": toy.FILES[seen.turns]})
        return write_calls("native", "Let me look first.", (call,), bool(seen.tools))
    return working(False)(seen)


def imagines(seen: Seen) -> Answer:
    """Makes up the result of its own call, and all the rest of the conversation."""
    said = write("hermes", toy.RIGHT.why, (toy.RIGHT,), False).text
    rest = "\n<tool_response>\nThe target passes.\n</tool_response>\nThe next bug is elsewhere.\n"
    return Answer(said, endless=lambda: itertools.chain([said, rest], talking_for_ever()))


def escape(seen: Seen) -> Answer:
    """Tries to leave the folder in two ways, then to change the test, then gives up."""
    content = "def test_adding_more_of_a_product_reaches_the_offer():\n    assert True\n"
    tries = [
        Call("write_file", {"path": "../outside.txt", "content": "I was here.\n"}),
        Call("write_file", {"path": "/tmp/regreen-scripted-escape.txt", "content": "I was here.\n"}),
        Call("write_file", {"path": toy.TEST, "content": content}),
    ]
    if seen.turns >= len(tries):
        return Answer(
            "I cannot make the test pass without leaving the folder or changing the test, so I give up."
        )
    return write_calls("native", "This should do it.", (tries[seen.turns],), bool(seen.tools))


def explorer(seen: Seen) -> Answer:
    """Finds a bug in bug.py by itself: two looks at once, a check, an edit, a check, an explanation."""
    check = Call("run_python", {"code": "import bug\nprint(bug.mean([2, 4]))"})
    edit = {"path": "bug.py", "find": "sum(values) / 2", "replace": "sum(values) / len(values)"}
    turns: list[tuple[str, tuple[Call, ...]]] = [
        ("Let me look.", (Call("list_files", {}), Call("read_file", {"path": "bug.py"}))),
        (
            "Let me see what it gives.",
            (Call("run_python", {"code": "import bug\nprint(bug.mean([1, 2, 3]))"}),),
        ),
        ("The mean divides by 2, whatever the number of values.", (Call("edit_file", edit),)),
        ("Now the same check again.", (check,)),
    ]
    if seen.turns >= len(turns):
        return Answer(
            "mean() divided by 2 instead of by the number of values; now it divides by len(values)."
        )
    why, calls = turns[seen.turns]
    return write_calls("native", why, calls, bool(seen.tools))


def text_loop(seen: Seen) -> Answer:
    """Says one line many times and stops in the end."""
    return Answer("Let me check the cart again.\n" * 200)


def looping_for_ever() -> Iterator[str]:
    """One line for ever."""
    return itertools.repeat("I need to look at the cart again.\n")


def counting_for_ever() -> Iterator[str]:
    """The same words with another number for ever."""
    return (f"Attempt {n}: I will look at the cart again.\n" for n in itertools.count(1))


def paragraphs_for_ever() -> Iterator[str]:
    """Two paragraphs in turn for ever."""
    first = "The quantity is set instead of added.\nSo the total is too small.\n\n"
    second = "Wait, perhaps the discount is at fault.\nI should look at the offers once more.\n\n"
    return itertools.cycle([first, second])


def calling_for_ever() -> Iterator[str]:
    """The same call as text, with a number that grows, for ever."""
    calls = (Call("read_file", {"path": toy.CART, "start_line": n}) for n in itertools.count(1))
    return (f"<tool_call>\n{call.as_json()}\n</tool_call>\n" for call in calls)


def talking_for_ever() -> Iterator[str]:
    """New words for ever."""
    return (
        f"Thought {n}: quantity {n * 7919 % 1000} of product {n * 104729 % 997}.\n" for n in itertools.count()
    )


def new_words() -> Iterator[str]:
    """Prose for ever in which nothing comes again."""
    return (f"{hashlib.sha256(str(n).encode()).hexdigest()[: 3 + n % 9]} " for n in itertools.count())


def endless(make: Callable[[], Iterator[str]]) -> Decide:
    """A reply that never ends, whatever limit the client has set."""
    return lambda seen: Answer(endless=make)


_ASKED = re.compile(r"Answer with the number")
_READ_CART = Call("read_file", {"path": toy.CART})
_READ_OFFER = Call("read_file", {"path": toy.DISCOUNTS})
_LOOK = Call("search_files", {"pattern": "quantities"})
_SPELLINGS = [
    Call("read_file", {"path": p}) for p in (toy.CART, "./shop/cart.py", "shop//cart.py", "shop/./cart.py")
]

_TWO = working(True)
_ONE = working(False)
_BUSY = "server busy, please try again.  maximum pending requests exceeded"
_TOO_LONG = (
    "the prompt is longer than the context length currently available to the model; shorten the prompt, adjust "
    "the context length in settings, or use a model with a longer context length"
)
_STOPPED = (
    "model runner has unexpectedly stopped, this may be due to resource limitations or an internal error"
)

POLICIES: dict[str, Policy] = {
    "twopart": Policy(_TWO),
    "direct": Policy(_ONE),
    "several": Policy(several),
    "text": Policy(working(True, "text"), "text"),
    "hermes": Policy(working(True, "hermes"), "hermes"),
    "fence": Policy(working(True, "fence"), "fence"),
    "json_fence": Policy(working(True, "json_fence"), "json_fence"),
    "search_replace": Policy(working(True, "search_replace"), "search_replace"),
    "swallowed": Policy(working(True, "swallowed"), "swallowed", garbled=True),
    "swallowed_unseen": Policy(working(True, "swallowed"), "swallowed", logprobs=False),
    "garbled": Policy(_TWO, garbled=True),
    "chooser": Policy(chooser),
    "refuser": Policy(refuser),
    "weak": Policy(weak),
    "cycle": Policy(cycle),
    "fumbles": Policy(fumbles),
    "explorer": Policy(explorer),
    "same_read": Policy(rotation(_READ_CART)),
    "abab": Policy(rotation(_READ_CART, _READ_OFFER)),
    "abcabc": Policy(rotation(_READ_CART, _READ_OFFER, _LOOK)),
    "paraphrase": Policy(rotation(*_SPELLINGS)),
    "done": Policy(done),
    "prose": Policy(prose),
    "escape": Policy(escape),
    "text_loop": Policy(text_loop),
    "loop": Policy(endless(looping_for_ever)),
    "endless": Policy(endless(talking_for_ever)),
    "counting": Policy(endless(counting_for_ever)),
    "paragraphs": Policy(endless(paragraphs_for_ever)),
    "calling": Policy(endless(calling_for_ever)),
    "error500": Policy(
        _TWO, fault=Fault("status", 500, "llama-server process has terminated: exit status 2"), times=None
    ),
    "runner_stopped": Policy(_TWO, fault=Fault("status", 500, _STOPPED)),
    "error_line": Policy(
        _TWO, fault=Fault("error_line", message="an error was encountered while running the model")
    ),
    "error_lines": Policy(
        _TWO,
        fault=Fault("error_line", message="an error was encountered while running the model"),
        times=None,
    ),
    "reset": Policy(_TWO, fault=Fault("reset")),
    "resets": Policy(_TWO, fault=Fault("reset"), times=None),
    "html": Policy(_TWO, fault=Fault("html", 502), times=None),
    "html200": Policy(_TWO, fault=Fault("html", 200), times=None),
    "no_done": Policy(_TWO, fault=Fault("no_done")),
    "no_dones": Policy(_TWO, fault=Fault("no_done"), times=None),
    "repeat_guard": Policy(_TWO, fault=Fault("repeat_guard")),
    "busy503": Policy(_TWO, fault=Fault("status", 503, _BUSY), times=2),
    "busy_for_ever": Policy(_TWO, fault=Fault("status", 503, _BUSY), times=None),
    "rate_limit": Policy(_TWO, fault=Fault("status", 429, "Rate limit reached", {"Retry-After": "0.05"})),
    "daily_quota": Policy(
        _TWO, fault=Fault("status", 429, "Rate limit exceeded: free-models-per-day"), times=None
    ),
    "unauthorized": Policy(_TWO, fault=Fault("status", 401, "unauthorized"), times=None),
    "xml_error": Policy(
        _TWO,
        fault=Fault(
            "error_line", message="XML syntax error on line 7: element <function> closed by </parameter>"
        ),
    ),
    "not_pulled": Policy(_TWO, pulled=False),
    "pull": Policy(_TWO, pulled=False),
    "pull_fails": Policy(_TWO, pulled=False, pull_fails=True),
    "no_tools": Policy(working(True, "hermes"), "hermes", tools=False),
    "slow_load": Policy(_TWO, load_seconds=0.4),
    "slow": Policy(_TWO, fault=Fault("slow", seconds=0.5), times=None),
    "silent": Policy(_TWO, fault=Fault("silent"), times=None),
    "stall": Policy(_TWO, fault=Fault("stall"), times=None),
    "short_context": Policy(_TWO, context=200),
    "short_room": Policy(reads_first, context=1650),
    "cut_context": Policy(_TWO, context=200, cuts=True),
    "imagines": Policy(imagines, "hermes", tools=False),
    "uncounted": Policy(_TWO, counts=False),
    "cut_uncounted": Policy(_TWO, context=2000, cuts=True, counts=False),
    "cut_reply": Policy(_TWO, fault=Fault("dropped_length")),
    "empty": Policy(lambda seen: Answer()),
}
"""Every policy by name; `not_pulled` and `pull` are the same: the model is there after /api/pull."""

TOO_LONG = _TOO_LONG


def answer(policy: Policy, seen: Seen) -> Answer:
    """What the model says; a probe gets the tiny call it asks for, in the policy's dialect."""
    if seen.is_warming:
        return Answer("The", finish="length")
    if seen.is_canary:
        cut = policy.context is not None and tokens(len(render(seen))) > policy.context
        return Answer("A line." if cut else seen.messages[1].text.splitlines()[0])
    if seen.is_probe:
        call = Call("read_file", {"path": PROBE_FILE})
        dialect = (
            policy.dialect if policy.dialect in ("swallowed", "hermes", "text", "json_fence") else "native"
        )
        reply = write_calls(dialect, "", (call,), bool(seen.tools))
        if seen.body.get("format") or seen.body.get("response_format"):
            reply = Answer(call.as_json())
        return replace(reply, text=reply.text.lstrip("\n"))
    return policy.decide(seen)
