"""Which of the edits that pass is offered first, and which of the others speak against it.

Edits that give the same for all inputs like those of the tests are one answer in several spellings: together they
are likelier than the likeliest of them, and none is a rival of another. An edit that contradicts a docstring's
example, raises where the code as it is does not, or gives what no test ever got is less likely than it looks.
"""

from __future__ import annotations

from collections.abc import Sequence

from regreen.repair.patch import Asked, Patch

BESIDE = 0.1
"""What the further spellings of one answer add to the likeliest of them."""
RAISES = 0.7
"""How much less likely an edit is that raises for all changed inputs, where the code as it is does not."""
STRANGE = 0.4
"""The same for one that gives another kind of value than in any test."""
CONTRADICTS = 0.1
"""What is left of an edit that has no docstring example right that another one has."""
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
    raises = sum(seen.gives[i][0][0] == "!" and asked.was[i][0][0] != "!" for i in fresh)
    strange = sum(seen.gives[i][0][0] != "!" and seen.gives[i][0] not in usual for i in fresh)
    return share * (1 - RAISES * raises / len(fresh)) * (1 - STRANGE * strange / len(fresh))
