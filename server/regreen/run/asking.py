"""Questions to the person that are not about a proposal: one at a time, whoever has them."""

from __future__ import annotations

import asyncio
from typing import Protocol

from regreen.run.protocol import Event


class Asker(Protocol):
    """Who can put a question to the person."""

    async def ask(self, question: Event) -> str:
        """The answer, one of the question's choices."""
        ...


class OneAtATime:
    """An asker whose questions wait for each other: a terminal has one line to answer on."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._turn = asyncio.Lock()

    async def ask(self, question: Event) -> str:
        """Put a question when no other one waits."""
        async with self._turn:
            return await self._asker.ask(question)
