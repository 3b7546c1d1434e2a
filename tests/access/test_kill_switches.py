"""Kill switches: what is off, why, and that it comes on again."""

from typing import Any

import pytest
from tests.access.made import a_spec

from pegboard.access import Switches
from pegboard.access.kill_switches import subject_of
from pegboard.core.decision import Decision, Verdict
from pegboard.core.ports.kill_switch_store import Switch, SwitchKind
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
    switches.on_change = lambda action, subject, why: told.append((action, subject, why))

    switches.turn_off(tool="pay", writes=True, reason="an incident")
    switches.turn_on(source="shop", tool="pay")

    assert told == [
        ("turned_off", "tool pay", "an incident"),
        ("turned_off", "all writes", "an incident"),
        ("turned_on", "tool pay", ""),
        ("turned_on", "source shop", ""),
    ]


def kept(kind: SwitchKind, name: str = "", reason: str = "an incident") -> Switch:
    return Switch(kind=kind, name=name, reason=reason, at=1.0)


@pytest.mark.parametrize(
    ("glob", "is_off"),
    [("shop__*", True), ("*find", True), ("shop__f?nd", True), ("SHOP__*", False), ("*pay", False)],
)
def test_a_glob_turns_off_whatever_it_matches(off: Switches, glob: str, is_off: bool) -> None:
    off.turn_off(tool=glob, reason="a fire")

    assert (off.decision(a_spec()) is not None) == is_off
    assert (off.decision(a_spec("x", registered_name="shop__find")) is not None) == is_off
    assert off.state()["tools"] == {glob: "a fire"}


def test_a_tool_is_known_by_its_id_too(off: Switches) -> None:
    off.turn_off(tool="shop__find_v1")

    assert off.decision(a_spec()) is not None
    assert off.decision(a_spec(version="2.0.0")) is None


def test_what_a_store_keeps_is_off_until_it_keeps_it_no_longer(off: Switches) -> None:
    assert off.set_stored([kept("tool", "shop__*"), kept("writes", reason="")])
    assert not off.set_stored([kept("tool", "shop__*"), kept("writes", reason="")])
    denial = off.decision(a_spec())
    assert (denial and denial.reason, off.any_off) == ("an incident", True)
    assert off.state()["writes"] == "turned off by the operator"

    assert off.set_stored([kept("source", "crm")])
    assert off.decision(a_spec(effect=Effect.WRITE)) is None
    assert off.set_stored([])
    assert not off.any_off


def test_what_a_process_turns_on_stays_off_where_a_store_keeps_it(off: Switches) -> None:
    off.turn_off(source="shop", reason="of this process")
    off.set_stored([kept("source", "shop", "of all servers")])
    own = off.decision(a_spec())
    off.turn_on(source="shop")
    shared = off.decision(a_spec())

    assert (own and own.reason, shared and shared.reason) == ("of this process", "of all servers")
    assert off.own == {}


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [("tool", "a*", "tool a*"), ("source", "s", "source s"), ("writes", "", "all writes")],
)
def test_a_switch_has_words_for_what_it_turns_off(kind: SwitchKind, name: str, said: str) -> None:
    assert subject_of(kind, name) == said


@pytest.mark.parametrize("name", ["find", "fi*"])
def test_a_tool_is_turned_off_by_its_alias_too(off: Switches, name: str) -> None:
    off.turn_off(tool=name, reason="a fire")

    assert off.decision(a_spec("std__find", alias="find")) is not None
    assert off.decision(a_spec("std__find")) is None
