"""How long a run looks at tests."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the judge looks. Seconds, except `reruns`: how often a target that seems flaky must pass in a row.

    `whole` is for one run of all tests, where these are to be run.
    """

    target: float = 60.0
    wider: float = 60.0
    whole: float = 300.0
    reruns: int = 4

    @classmethod
    def within(cls, seconds: float) -> Patience:
        """For a run that may take so long in all: an endless loop in the target gets a third of it, and no more."""
        usual = cls()
        return cls(min(usual.target, max(1.0, seconds / 3)), min(usual.wider, max(1.0, seconds)))
