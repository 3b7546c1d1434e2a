"""The taint store port: since which call a run or a conversation has read untrusted text."""

from typing import Literal, Protocol

from msgspec import Struct

TaintKind = Literal["call", "skill", "agent", "author"]
"""What brings untrusted text in: the result of a call; the description of another person's skill or
agent, which a model is shown; the instructions of another person's agent."""


class Taint(Struct, frozen=True, kw_only=True):
    """What first brought untrusted text into a run or a conversation.

    Attributes:
        call_id: The call.
        tool: Its tool; of a description `skill` or `agent` and the name.
        source: The source of the tool, or the name of the skill or agent; empty for a bare
            function.
        at: Unix seconds.
    """

    call_id: str
    tool: str
    at: float
    source: str = ""
    kind: TaintKind = "call"


class TaintStore(Protocol):
    """Stores taints. One stays as long as what it is about: nothing takes it away."""

    async def find(self, subject: str) -> Taint | None:
        """The taint of a run or conversation, by its id; None while it has read none."""
        ...

    async def add(self, subject: str, taint: Taint) -> Taint:
        """Store the taint of a run or conversation; returns the first one.

        Raises:
            Unavailable: It could not be stored.
        """
        ...

    async def forget(self, *, before: float) -> int:
        """Delete those from before a time whose run or conversation is gone; returns the count."""
        ...
