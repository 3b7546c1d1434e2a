"""What the agents of a goal share: limits that hold for all of them, and messages for each."""

from collections.abc import Mapping
from typing import Any

import pytest

from pegboard.core.model_messages import ModelUsage
from pegboard.core.ports.durability import Signal
from pegboard.engines import AgentLimits
from pegboard.engines.shared_goal import AgentUsage, SharedGoal, read_text
from pegboard.errors import LimitReached

FIRST = Signal(id="m1", topic="event:steer", message={"text": "one"})
SECOND = Signal(id="m2", topic="event:steer", message="two")


class Mail:
    """Signals that have arrived; taken once."""

    def __init__(self, **signals: list[Signal]) -> None:
        self._signals: Mapping[str, list[Signal]] = {"event:steer": [], **signals}

    def add(self, *signals: Signal) -> None:
        self._signals["event:steer"].extend(signals)

    def take_signals(self, topic: str) -> list[Signal]:
        taken = list(self._signals[topic])
        self._signals[topic].clear()
        return taken


def a_goal(**limits: Any) -> SharedGoal:
    return SharedGoal(AgentLimits(**limits), started_at=100.0, topic="event:steer")


def test_what_one_agent_has_used_replaces_what_it_noted_before() -> None:
    goal = a_goal()
    goal.note("a", AgentUsage(turns=1, calls=1, usage=ModelUsage(requests=1, input_tokens=5)))
    goal.note("a", AgentUsage(turns=2, calls=3, usage=ModelUsage(requests=2, input_tokens=9)))
    goal.note("b", AgentUsage(turns=1, calls=1, usage=ModelUsage(requests=1, input_tokens=1)))

    assert (goal.calls, goal.usage.requests, goal.usage.input_tokens) == (4, 3, 10)
    assert goal.begin_turn("b", AgentUsage(turns=2)) == 4


@pytest.mark.parametrize(
    ("limits", "turn", "now"),
    [
        ({"turns": 2}, 3, 100.0),
        ({"turns": 2}, 0, 100.0),
        ({"calls": 2}, 1, 100.0),
        ({"tokens": 10}, 1, 100.0),
        ({"cost": 0.5}, 1, 100.0),
        ({"seconds": 5}, 1, 105.0),
    ],
    ids=["turns", "no turn left", "calls", "tokens", "cost", "seconds"],
)
def test_a_goal_that_has_used_what_it_may_use_stops(
    limits: dict[str, Any], turn: int, now: float
) -> None:
    goal = a_goal(**limits)
    usage = ModelUsage(requests=1, input_tokens=5, cost=0.25)
    goal.note("a", AgentUsage(turns=1, calls=1, usage=usage))
    goal.check(104.0, turn=2)
    goal.note("b", AgentUsage(turns=1, calls=1, usage=usage))

    with pytest.raises(LimitReached, match="The goal has reached its limit of"):
        goal.check(now, turn=turn)


async def test_each_agent_gets_each_message_once() -> None:
    goal, mail = a_goal(), Mail()
    mail.add(FIRST)
    assert await goal.take_messages(mail, ()) == [FIRST]
    mail.add(SECOND)
    assert await goal.take_messages(mail, {"m1"}) == [SECOND]
    assert await goal.take_messages(mail, ()) == [FIRST, SECOND]
    assert await goal.take_messages(mail, {"m1", "m2"}) == []


async def test_what_the_goal_has_received_is_not_given_to_its_agents() -> None:
    goal, mail = a_goal(), Mail()
    mail.add(FIRST, SECOND)
    goal.settle(["m1"])

    assert await goal.take_messages(mail, ()) == [SECOND]


async def test_a_message_that_was_withdrawn_is_given_to_no_agent() -> None:
    async def accept(message: str) -> bool:
        return message != "m1"

    goal = SharedGoal(AgentLimits(), started_at=100.0, topic="event:steer", accept=accept)
    mail = Mail()
    mail.add(FIRST, SECOND)

    assert await goal.take_messages(mail, ()) == [SECOND]
    assert await goal.take_messages(mail, ()) == [SECOND]


def test_a_message_is_reported_once() -> None:
    goal = a_goal()
    assert goal.note_messages(["m1"]) == ["m1"]
    assert goal.note_messages(["m1", "m2"]) == ["m2"]


def test_a_message_is_text_or_has_one() -> None:
    assert (read_text(FIRST), read_text(SECOND)) == ("one", "two")
