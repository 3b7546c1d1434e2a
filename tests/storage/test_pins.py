"""Approved and held definitions, in every storage."""

from typing import Any

from tests.storage.made import NOON

from pegboard.core.ports.catalogue import HeldDefinition, Pin
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
    assert await storage.pins.held() == [a_held(), a_held("web")]
    assert await storage.pins.held("shop") == [a_held()]


async def test_approving_what_is_held_ends_its_wait(storage: Storage) -> None:
    await storage.pins.approve([a_pin()])
    await storage.pins.hold([a_held(), a_held(name="pay")])
    await storage.pins.approve([a_pin(digest="d2"), a_pin(name="pay", digest="other")])

    assert await storage.pins.pins() == [a_pin(digest="d2"), a_pin(name="pay", digest="other")]
    assert await storage.pins.held() == [a_held(name="pay")]


async def test_a_newer_definition_takes_the_place_of_the_held_one(storage: Storage) -> None:
    await storage.pins.hold([a_held()])
    await storage.pins.hold([a_held(digest="d3", held_at=NOON + 1, diff=None)])

    assert await storage.pins.held() == [a_held(digest="d3", held_at=NOON + 1, diff=None)]


async def test_a_tool_or_a_source_can_be_forgotten(storage: Storage) -> None:
    await storage.pins.approve([a_pin(), a_pin(name="pay"), a_pin("web")])
    await storage.pins.hold([a_held(), a_held(name="pay"), a_held("web")])

    assert await storage.pins.drop("shop", name="pay") == 1
    assert await storage.pins.held() == [a_held(), a_held("web")]
    assert len(await storage.pins.pins()) == 3
    assert await storage.pins.drop("shop", pins=True) == 1
    assert await storage.pins.held() == [a_held("web")]
    assert await storage.pins.pins() == [a_pin("web")]


async def test_nothing_is_approved_or_held_of_an_empty_list(storage: Storage) -> None:
    await storage.pins.approve([])
    await storage.pins.hold([])

    assert await storage.pins.pins() == []
    assert await storage.pins.held() == []


async def test_a_whole_catalogue_is_approved_at_once(storage: Storage) -> None:
    pins = [a_pin(name=f"tool{number:04}") for number in range(1_000)]
    await storage.pins.hold([a_held(name=pin.name, digest="d1") for pin in pins])
    await storage.pins.approve(pins)

    assert await storage.pins.pins() == pins
    assert await storage.pins.held() == []
