"""Several runs on one channel: what each of them says about this machine before it starts is shown once."""

from __future__ import annotations

from regreen.run.protocol import Channel, Decision, Event, Hearing


class SayingOnce:
    """Implements `protocol.Channel`. Leaves out a note that comes before `started` and was shown for an earlier run.

    What cannot wait, such as that another run is at work in the folder, is said each time. A question that was answered
    in an earlier run has the same answer in the later ones.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._said: set[str] = set()
        self._answers: dict[str, str] = {}
        self._started = False

    def emit(self, event: Event) -> None:
        """Show one event, unless it says again what was said."""
        kind = event.get("event")
        if kind in ("started", "outcome"):
            self._started = kind == "started"
        elif kind == "note" and not self._started and not event.get("urgent"):
            text = str(event.get("text"))
            if text in self._said:
                return
            self._said.add(text)
        self._channel.emit(event)

    def listen(self, hearing: Hearing) -> None:
        """As the channel inside."""
        self._channel.listen(hearing)

    async def decide(self, proposal: Event) -> Decision:
        """As the channel inside."""
        return await self._channel.decide(proposal)

    async def ask(self, question: Event) -> str:
        """The answer to a question of these words."""
        text = str(question["text"])
        if text not in self._answers:
            self._answers[text] = await self._channel.ask(question)
        return self._answers[text]
