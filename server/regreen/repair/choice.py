"""Which of the edits that pass is offered first, and which of the others speak against it.

Edits that give the same for all inputs like those of the tests are one answer in several spellings: together they
are likelier than the likeliest of them, and none is a rival of another. An edit that contradicts a docstring's
example, raises where the code as it is does not, gives what no test ever got, mends next to nothing but the test's
own input, or changes what is given for inputs like those of passing tests is less likely than it looks.
"""

from __future__ import annotations

from collections.abc import Sequence

from regreen.repair.patch import Asked, Behaviour, Patch

BESIDE = 0.2
"""What the further spellings of one answer add to the likeliest of them."""
RAISES = 0.7
"""How much less likely an edit is that raises for all changed inputs, where the code as it is does not."""
STRANGE = 0.2
"""The same for one that gives another kind of value than in any test."""
CONTRADICTS = 0.1
"""What is left of an edit that has no docstring example right that another one has."""
GENERAL = 0.3
"""How much it counts that an edit changes what is given for many inputs like those of failing tests: a bug is seldom one input."""
SPARING = 2.0
"""How much it counts that an edit leaves what is given for inputs like those of passing tests."""
LITTLE, MUCH = 0.2, 0.5
"""Shares of inputs from which on what an edit gives speaks against it."""
ENOUGH = 8
"""Changed inputs that have to be answered alike before two edits count as one answer."""


def in_order(patches: Sequence[Patch], asked: Asked | None) -> list[Patch]:
    """The patches, the likeliest first: most failing tests turned green, then how likely answer and spelling are."""
    most = max((p.behaviour.right for p in patches if p.behaviour is not None), default=0)
    worth = {id(patch): patch.score * _fits(patch, asked, most) for patch in patches}
    whole: dict[int, float] = {}
    for patch in patches:
        same = sorted((worth[id(p)] for p in patches if p is patch or alike(p, patch, asked)), reverse=True)
        whole[id(patch)] = same[0] + BESIDE * sum(same[1:])
    return sorted(patches, key=lambda p: (-len(p.green), -whole[id(p)], -worth[id(p)]))


def alike(first: Patch, second: Patch, asked: Asked | None) -> bool:
    """True when two patches gave the same for all inputs, and there were enough."""
    a, b = first.behaviour, second.behaviour
    if a is None or b is None or asked is None or a.gives != b.gives or a.right != b.right:
        return False
    return len(a.gives) - asked.calls >= ENOUGH


def compared(patch: Patch, asked: Asked | None) -> int:
    """How many changed inputs a patch was asked for."""
    return max(0, len(patch.behaviour.gives) - asked.calls) if patch.behaviour and asked else 0


def _fits(patch: Patch, asked: Asked | None, most: int) -> float:
    """How well a patch goes with what is known besides the tests, 0 to 1."""
    seen = patch.behaviour
    if seen is None or asked is None:
        return 1.0
    share = 1.0 if seen.right >= most else CONTRADICTS + (1 - CONTRADICTS) * 0.5 * seen.right / most
    usual = {kind for kind, _ in seen.gives[: asked.calls]}
    fresh = range(asked.calls, min(len(seen.gives), len(asked.was)))
    if not fresh:
        return share
    raises = sum(_raised(seen.gives[i]) and not _raised(asked.was[i]) for i in fresh)
    strange = sum(not _raised(seen.gives[i]) and seen.gives[i][0] not in usual for i in fresh)
    share *= (1 - RAISES * raises / len(fresh)) * (1 - STRANGE * strange / len(fresh))
    mended, disturbed = _changes(seen, asked)
    return float(share * max(0.05, mended) ** GENERAL * (1 - disturbed) ** SPARING)


def _changes(seen: Behaviour, asked: Asked) -> tuple[float, float]:
    """Shares of the changed inputs like those of failing and of passing tests for which the edit makes a difference.

    Where the code as it is fails in a way that no passing test wants, nothing can be disturbed.
    """
    fresh = range(asked.calls, min(len(seen.gives), len(asked.was)))
    wanted = {
        given[0]
        for given, failing in zip(asked.was[: asked.calls], asked.failing, strict=False)
        if not failing
    }
    near = [seen.gives[i] != asked.was[i] for i in fresh if asked.failing[i]]
    sound = (
        i for i in fresh if not asked.failing[i] and (not _raised(asked.was[i]) or asked.was[i][0] in wanted)
    )
    far = [seen.gives[i] != asked.was[i] for i in sound]
    return sum(near) / len(near) if near else 0.5, sum(far) / len(far) if far else 0.0


def doubtful(patch: Patch, asked: Asked | None) -> bool:
    """True when an edit mends little but the tests' own inputs, or changes most of what is like passing tests."""
    if patch.behaviour is None or asked is None or not asked.was:
        return False
    mended, disturbed = _changes(patch.behaviour, asked)
    return mended < LITTLE or disturbed > MUCH


def _raised(given: tuple[str, str]) -> bool:
    return given[0].startswith("!")
