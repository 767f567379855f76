"""Getting a model ready while the first test run is going; one that is not on the machine is pulled if the person says so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from regreen.agent.budget import Clock
from regreen.agent.conversation import Message, ToolSpec
from regreen.agent.model import Listener, Model
from regreen.models.faults import MissingModel, Progress
from regreen.run.asking import Asker


async def warm(
    model: Model,
    system: tuple[Message, ...],
    tools: tuple[ToolSpec, ...],
    listener: Listener,
    asker: Asker | None,
    needed: Callable[[], Awaitable[object]],
    clock: Clock,
    progress: Progress,
) -> None:
    """Load the model and the fixed start of the prompt. Raises RegreenError when the model cannot be had.

    `asker` (None: nobody is there) is asked whether a missing model shall be pulled, once `needed` has come: while the
    quick search may yet do without it, nobody is troubled.
    """
    try:
        await model.warm(system, tools, listener)
    except MissingModel as missing:
        if not missing.can_pull or asker is None:
            raise
        await needed()
        if not await _may_pull(missing, asker, clock):
            raise
        await missing.pull(progress)
        await model.warm(system, tools, listener)


async def _may_pull(missing: MissingModel, asker: Asker, clock: Clock) -> bool:
    with clock.spend("person"):
        answer = await asker.ask(
            {
                "event": "question",
                "id": "pull",
                "kind": "pull",
                "text": f"The model {missing.model} is not on this machine yet. Pull it now?",
                "choices": ["Pull", "Cancel"],
                "default": "Cancel",
            }
        )
    return answer == "Pull"
