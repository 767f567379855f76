"""What a process printed, kept in bounded memory: the head and the tail, with the gap said in words."""

from __future__ import annotations


class Output:
    """Collects merged stdout and stderr of one process.

    The launchers of every seal print one line with `token` at the moment the confinement stands and the
    command is about to start; what comes before it is the launcher's own complaint (`before`).
    """

    def __init__(self, limit: int, token: bytes) -> None:
        self._half = max(limit // 2, 1)
        self._line = token + b"\n"
        self._pending = bytearray()
        self._head = bytearray()
        self._tail = bytearray()
        self.started = False
        self.total = 0

    @property
    def before(self) -> str:
        """What was printed before the command started, as text."""
        return bytes(self._pending[-4000:]).decode("utf-8", "replace").strip()

    def feed(self, data: bytes) -> None:
        """Take the next bytes, in the order they were read."""
        if not self.started:
            self._pending += data
            at = self._pending.find(self._line)
            if at < 0:
                del self._pending[: -(1 << 16)]
                return
            data = bytes(self._pending[:at] + self._pending[at + len(self._line) :])
            self._pending.clear()
            self.started = True
        self.total += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        if len(data) > room:
            self._tail += data[room:]
            if len(self._tail) > 2 * self._half + (1 << 16):
                del self._tail[: -self._half]

    @property
    def cut(self) -> bool:
        """True when something in the middle is not kept."""
        return self.total > 2 * self._half

    def bytes(self) -> bytes:
        """Everything, or head and tail with a line between them that says how much is left out."""
        tail = bytes(self._tail[-self._half :])
        if not self.cut:
            return bytes(self._head) + tail
        gone = self.total - len(self._head) - len(tail)
        return bytes(self._head) + f"\n[... {gone} bytes left out ...]\n".encode() + tail
