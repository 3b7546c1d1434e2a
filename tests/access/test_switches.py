"""Kill switches: what is off, why, and that it comes on again."""

from typing import Any

import pytest
from tests.access.made import a_spec

from pegboard.access import Switches
from pegboard.core.decision import Decision, Verdict
from pegboard.core.tool import Effect


@pytest.fixture
def off() -> Switches:
    return Switches()


@pytest.mark.parametrize(
    ("turned", "rule"),
    [
        ({"tool": "shop__find"}, "switch.tool"),
        ({"source": "shop"}, "switch.source"),
        ({"writes": True}, "switch.writes"),
    ],
    ids=["tool", "source", "writes"],
)
def test_what_is_off_is_denied_with_the_operators_reason(
    off: Switches, turned: dict[str, Any], rule: str
) -> None:
    off.turn_off(**turned, reason="a fire")

    decision = off.decision(a_spec(effect=Effect.WRITE))

    assert decision == Decision(verdict=Verdict.DENY, reason="a fire", rule=rule)
    assert off.any_off


@pytest.mark.parametrize(
    "turned", [{"tool": "shop__find"}, {"source": "shop"}, {"writes": True}], ids=str
)
def test_what_is_turned_on_again_may_be_called(off: Switches, turned: dict[str, Any]) -> None:
    off.turn_off(**turned)
    off.turn_on(**turned)

    assert off.decision(a_spec(effect=Effect.WRITE)) is None
    assert not off.any_off


def test_turning_one_thing_on_leaves_the_others_off(off: Switches) -> None:
    off.turn_off(tool="shop__find", source="shop", writes=True)
    off.turn_on(tool="shop__find")

    assert off.state() == {
        "tools": {},
        "sources": {"shop": "turned off by the operator"},
        "writes": "turned off by the operator",
    }


def test_turning_on_what_is_not_off_changes_nothing(off: Switches) -> None:
    off.turn_on(tool="nobody", source="nobody", writes=True)

    assert off.state() == {"tools": {}, "sources": {}, "writes": None}


def test_without_writes_reading_goes_on(off: Switches) -> None:
    off.turn_off(writes=True)

    verdicts = [off.decision(a_spec(effect=effect)) is None for effect in Effect]

    assert verdicts == [True, False, False]


def test_other_tools_go_on(off: Switches) -> None:
    off.turn_off(tool="shop__refund")
    off.turn_off(source="crm")

    assert off.decision(a_spec()) is None


def test_a_tool_under_another_name_is_off_too(off: Switches) -> None:
    off.turn_off(tool="shop__find")

    decision = off.decision(a_spec("find_it", registered_name="shop__find"))

    assert decision is not None
    assert decision.rule == "switch.tool"


def test_whoever_listens_is_told_what_was_turned_off_and_on() -> None:
    told: list[tuple[str, str, str]] = []
    switches = Switches()
    switches.told = lambda action, subject, why: told.append((action, subject, why))

    switches.turn_off(tool="pay", writes=True, reason="an incident")
    switches.turn_on(source="shop", tool="pay")

    assert told == [
        ("turned_off", "tool pay", "an incident"),
        ("turned_off", "all writes", "an incident"),
        ("turned_on", "tool pay", ""),
        ("turned_on", "source shop", ""),
    ]
