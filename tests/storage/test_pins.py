"""Approved and held definitions, in every storage."""

import asyncio
from typing import Any

from msgspec import structs
from tests.storage.made import NOON

from pegboard.core.ports.catalogue_stores import HeldDefinition, Pin, PinDecision
from pegboard.storage import Storage


def a_pin(source: str = "shop", name: str = "find", **changes: Any) -> Pin:
    fields: dict[str, Any] = {
        "digest": "d1",
        "definition": {"name": name},
        "approved_at": NOON,
        "approved_by": "acme/ada",
    }
    return Pin(source=source, name=name, **(fields | changes))


def a_held(source: str = "shop", name: str = "find", **changes: Any) -> HeldDefinition:
    fields: dict[str, Any] = {
        "digest": "d2",
        "definition": {"name": name, "new": True},
        "held_at": NOON,
        "diff": [{"op": "add", "path": "/new", "value": True}],
    }
    return HeldDefinition(source=source, name=name, **(fields | changes))


async def test_what_is_approved_and_held_is_given_back_in_order(storage: Storage) -> None:
    await storage.pins.approve([a_pin("web"), a_pin(name="pay"), a_pin()])
    await storage.pins.hold([a_held("web"), a_held()])

    assert await storage.pins.pins() == [a_pin(), a_pin(name="pay"), a_pin("web")]
    assert await storage.pins.pins("web") == [a_pin("web")]
    assert await storage.pins.list_held() == [a_held(), a_held("web")]
    assert await storage.pins.list_held("shop") == [a_held()]


async def test_approving_what_is_held_ends_its_wait(storage: Storage) -> None:
    await storage.pins.approve([a_pin()])
    await storage.pins.hold([a_held(), a_held(name="pay")])
    await storage.pins.approve([a_pin(digest="d2"), a_pin(name="pay", digest="other")])

    assert await storage.pins.pins() == [a_pin(digest="d2"), a_pin(name="pay", digest="other")]
    assert await storage.pins.list_held() == [a_held(name="pay")]


async def test_a_newer_definition_takes_the_place_of_the_held_one(storage: Storage) -> None:
    await storage.pins.hold([a_held()])
    await storage.pins.hold([a_held(digest="d3", held_at=NOON + 1, diff=None)])

    assert await storage.pins.list_held() == [a_held(digest="d3", held_at=NOON + 1, diff=None)]


async def test_a_tool_or_a_source_can_be_forgotten(storage: Storage) -> None:
    await storage.pins.approve([a_pin(), a_pin(name="pay"), a_pin("web")])
    await storage.pins.hold([a_held(), a_held(name="pay"), a_held("web")])

    assert await storage.pins.drop("shop", name="pay") == 1
    assert await storage.pins.list_held() == [a_held(), a_held("web")]
    assert len(await storage.pins.pins()) == 3
    assert await storage.pins.drop("shop", pins=True) == 1
    assert await storage.pins.list_held() == [a_held("web")]
    assert await storage.pins.pins() == [a_pin("web")]


async def test_nothing_is_approved_or_held_of_an_empty_list(storage: Storage) -> None:
    await storage.pins.approve([])
    await storage.pins.hold([])

    assert await storage.pins.pins() == []
    assert await storage.pins.list_held() == []


async def test_a_whole_catalogue_is_approved_at_once(storage: Storage) -> None:
    pins = [a_pin(name=f"tool{number:04}") for number in range(1_000)]
    await storage.pins.hold([a_held(name=pin.name, digest="d1") for pin in pins])
    await storage.pins.approve(pins)

    assert await storage.pins.pins() == pins
    assert await storage.pins.list_held() == []


def rejection(seen: HeldDefinition) -> PinDecision:
    return PinDecision(seen=seen, then=structs.replace(seen, diff={"rejected_by": "acme/bob"}))


def approval(seen: HeldDefinition) -> PinDecision:
    return PinDecision(seen=seen, then=a_pin(seen.source, seen.name, digest=seen.digest))


async def test_a_decision_takes_the_place_of_what_was_seen(storage: Storage) -> None:
    await storage.pins.hold([a_held(), a_held(name="pay"), a_held("web")])
    wanted = [approval(a_held()), rejection(a_held(name="pay"))]

    assert await storage.pins.decide(wanted) == wanted

    assert await storage.pins.pins() == [a_pin(digest="d2")]
    assert await storage.pins.list_held() == [wanted[1].then, a_held("web")]


async def test_a_decision_about_what_is_not_held_so_any_more_does_nothing(
    storage: Storage,
) -> None:
    now = [a_held(name="other digest"), a_held(name="other state"), a_held(name="same")]
    await storage.pins.hold(now)
    late = [
        approval(a_held(name="gone")),
        rejection(a_held(name="gone")),
        rejection(a_held(name="other digest", digest="d1")),
        approval(a_held(name="other state", diff=None)),
    ]

    assert await storage.pins.decide([*late, approval(now[2])]) == [approval(now[2])]
    assert await storage.pins.decide([]) == []

    assert await storage.pins.list_held() == now[:2]
    assert await storage.pins.pins() == [a_pin(name="same", digest="d2")]


async def test_of_decisions_made_at_once_on_two_servers_one_counts(
    storage: Storage, other: Storage
) -> None:
    for number in range(20):
        held = a_held(name=f"tool{number:02}")
        await storage.pins.hold([held])

        done = await asyncio.gather(
            storage.pins.decide([approval(held)]), other.pins.decide([rejection(held)])
        )

        [[kept]] = [decisions for decisions in done if decisions]
        left = {item.name: item for item in await storage.pins.list_held()}
        pinned = {pin.name for pin in await storage.pins.pins()}
        if isinstance(kept.then, Pin):
            assert held.name in pinned - left.keys()
        else:
            assert held.name not in pinned
            assert left[held.name] == kept.then
