"""`SharedGoal`: what the agents of a goal share while they work: its limits, and messages to it."""

from collections.abc import Awaitable, Callable, Collection
from typing import Protocol

from msgspec import Struct

from pegboard.core.model_messages import ModelUsage
from pegboard.core.ports.durability import Signal
from pegboard.engines.agent_limits import AgentLimits, check_limits, limit_reached

Accept = Callable[[str], Awaitable[bool]]
"""Whether an agent may read the message with this id, which its sender can withdraw until then."""


async def accept_all(_message: str) -> bool:
    """Accept every message."""
    return True


class Inbox(Protocol):
    """Where messages to a run arrive."""

    def take_signals(self, topic: str) -> list[Signal]:
        """The signals on a topic that have arrived."""
        ...


class AgentUsage(Struct, frozen=True, kw_only=True):
    """What one agent of a goal has used so far.

    Attributes:
        turns: Of its model, the present one included.
        calls: Of tools.
        usage: Of its model.
    """

    turns: int = 0
    calls: int = 0
    usage: ModelUsage = ModelUsage()


class SharedGoal:
    """Shared by a goal and the agents of its steps, in one attempt.

    What an earlier attempt has recorded is noted again by those who replay it.

    Args:
        limits: Of the goal as a whole.
        started_at: When the work on it began, in Unix seconds.
        topic: The topic of messages to the goal.
        accept: Asked before a message is read.

    Attributes:
        topic: As given.
    """

    def __init__(
        self,
        limits: AgentLimits,
        *,
        started_at: float,
        topic: str,
        accept: Accept = accept_all,
    ) -> None:
        self._limits = limits
        self._accept = accept
        self._started_at = started_at
        self.topic = topic
        self._done: dict[str, AgentUsage] = {}
        self._signals: dict[str, Signal] = {}
        self._reported: set[str] = set()
        self._settled: set[str] = set()

    @property
    def usage(self) -> ModelUsage:
        """Of all models together."""
        return sum((done.usage for done in self._done.values()), ModelUsage())

    @property
    def calls(self) -> int:
        """Of all agents together."""
        return sum(done.calls for done in self._done.values())

    def note(self, step: str, done: AgentUsage) -> None:
        """Note all that one agent has used so far.

        Args:
            step: The path of its node.
            done: What it has used.
        """
        self._done[step] = done

    def begin_turn(self, step: str, done: AgentUsage) -> int:
        """Note that a turn begins; its number among those of all agents."""
        self._done[step] = done
        return self._count_turns()

    def check(self, now: float, *, turn: int = 0) -> None:
        """Check that the goal may go on.

        Args:
            now: Unix seconds.
            turn: The number of the turn that begins, from `begin_turn`; 0 for other work.

        Raises:
            LimitReached: Its agents have used what they may use together.
        """
        elapsed = now - self._started_at
        check_limits(self._limits, self.usage, self.calls, elapsed=elapsed, who="goal")
        turn = turn or self._count_turns() + 1  # what is no turn needs one after it
        if turn > self._limits.turns:
            raise limit_reached(self._limits.turns, "turns", who="goal")

    async def take_messages(self, inbox: Inbox, known: Collection[str]) -> list[Signal]:
        """The messages to the goal that one agent does not know; each agent gets all of them.

        Those that the goal itself has received are told with its text, and left out.

        Args:
            inbox: Where they arrive.
            known: The ids of those that it knows.
        """
        for signal in await accept_messages(inbox, self.topic, self._accept):
            self._signals.setdefault(signal.id, signal)
        left_out = self._settled.union(known)
        return [signal for signal in self._signals.values() if signal.id not in left_out]

    def note_messages(self, ids: Collection[str]) -> list[str]:
        """Note messages that were taken; those that no agent had taken before."""
        new = [name for name in ids if name not in self._reported]
        self._reported.update(new)
        return new

    def settle(self, ids: Collection[str]) -> None:
        """Note messages that the goal itself has received."""
        self._reported.update(ids)
        self._settled.update(ids)

    def _count_turns(self) -> int:
        return sum(done.turns for done in self._done.values())


async def accept_messages(inbox: Inbox, topic: str, accept: Accept) -> list[Signal]:
    """The messages on a topic that have arrived, without those that were withdrawn."""
    return [signal for signal in inbox.take_signals(topic) if await accept(signal.id)]


def read_text(signal: Signal) -> str:
    """The text of a message."""
    message = signal.message
    return message if isinstance(message, str) else str(message.get("text", ""))
