"""How a graph stops: the signal that nothing new may start, and the exceptions that end an attempt.

The exceptions derive from `BaseException`, so that code which turns the errors of a node into its
outcome does not catch them. They never leave this room.
"""


class Stopped(BaseException):
    """Nothing new starts in this graph; the message says why."""


class Suspended(BaseException):
    """The run only waits. It is replayed when there is something to do."""


class StoreFailed(BaseException):
    """The run could not be recorded; the cause says why. The attempt ends."""


class StopSignal:
    """Whether the nodes of a graph may start. A graph that stops also stops the graphs within it.

    Args:
        outer: The signal of the graph around this one; None for the run's own graph.
    """

    __slots__ = ("_outer", "_reason")

    def __init__(self, outer: "StopSignal | None" = None) -> None:
        self._outer = outer
        self._reason = ""

    @property
    def reason(self) -> str:
        """Why nothing new starts, here or in a graph around it; empty while nodes may start."""
        return self._reason or ("" if self._outer is None else self._outer.reason)

    def set(self, reason: str) -> None:
        """Let nothing new start. The first reason is kept."""
        self._reason = self._reason or reason

    def check(self) -> None:
        """Raise `Stopped` when nothing new may start."""
        if reason := self.reason:
            raise Stopped(reason)
