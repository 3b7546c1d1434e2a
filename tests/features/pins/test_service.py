"""Who may see and decide, and what a decision does."""

import asyncio
from typing import Any

import pytest
from tests.features.pins.made import NARROWER, Board, foreign, said

from pegboard.core.event import BoardChanged, Event
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import (
    AccessDenied,
    DefinitionChanged,
    DefinitionNotHeld,
    InvalidRequest,
    PegboardError,
)
from pegboard.features.paging import KeysetPage, page_of
from pegboard.features.permissions import check_may_change_catalogue
from pegboard.features.pins.schemas import HeldList, PinList, definitions_to_dict, pins_to_dict

NOBODY = Principal(id="eve", tenant="t")
EDITOR = Principal(id="ann", tenant="t", scopes=frozenset({"catalogue:write"}))


class Heard:
    def __init__(self) -> None:
        self.events: list[BoardChanged] = []

    def on_event(self, event: Event) -> None:
        if isinstance(event, BoardChanged):
            self.events.append(event)


async def with_held(*names: str) -> Board:
    """A board on which these tools have changed."""
    board = Board()
    await board.lists(*(foreign(said(name)) for name in names))
    await board.lists(*(foreign(said(name, input_schema=NARROWER)) for name in names))
    return board


async def digest(board: Board) -> str:
    [held] = await board.store.list_held()
    return held.digest


async def test_an_approval_pins_the_definition_and_is_told() -> None:
    board, heard = await with_held("find"), Heard()
    board.registry.environment.emitter.add(heard)
    shown = await digest(board)

    held = await board.pins.decide("web", "find", "approve", digest=shown, principal=EDITOR)

    [pin] = (await board.pins.list_pins(principal=LOCAL)).items
    assert (pin.digest, pin.approved_by, pin.definition) == (shown, "t/ann", held.definition)
    assert (await board.pins.list_held(principal=LOCAL)).items == ()
    assert board.decided == ["web"]
    [event] = heard.events
    assert (event.kind, event.action, event.subject) == ("definition", "approved", "web__find")
    assert (event.by, event.tenant, event.detail["digest"]) == ("ann", "t", shown)


async def test_a_rejected_definition_stays_out_and_can_still_be_approved() -> None:
    board = await with_held("find")
    shown = await digest(board)

    await board.pins.decide("web", "find", "reject", digest=shown, principal=LOCAL)
    rejected = (await board.pins.list_held(state="rejected", principal=LOCAL)).items
    waiting = (await board.pins.list_held(state="waiting", principal=LOCAL)).items
    await board.pins.decide("web", "find", "approve", digest=shown, principal=LOCAL)

    assert ([item.digest for item in rejected], waiting) == ([shown], ())
    assert [pin.digest for pin in (await board.pins.list_pins(principal=LOCAL)).items] == [shown]


async def at_once(board: Board, *does: Any) -> list[Any]:
    """Each decides once all have looked, the first one first."""
    decide, turns = board.store.decide, [asyncio.Event() for _ in range(len(does) + 1)]
    arrived = 0

    async def together(decisions: Any) -> Any:
        nonlocal arrived
        mine, arrived = arrived, arrived + 1
        if arrived == len(does):
            turns[0].set()
        await turns[mine].wait()
        kept = await decide(decisions)
        turns[mine + 1].set()
        return kept

    board.store.decide = together
    return await asyncio.gather(*does, return_exceptions=True)


async def test_of_two_who_decide_at_once_one_is_told_no() -> None:
    board, heard = await with_held("find"), Heard()
    shown = await digest(board)
    board.registry.environment.emitter.add(heard)

    approved, refused = await at_once(
        board,
        board.pins.decide("web", "find", "approve", digest=shown, principal=LOCAL),
        board.pins.decide("web", "find", "reject", digest=shown, principal=LOCAL),
    )

    assert approved.digest == shown
    assert isinstance(refused, DefinitionNotHeld)
    assert await board.store.list_held() == []
    assert [event.action for event in heard.events] == ["approved"]
    assert board.decided == ["web"]


async def test_an_approval_does_not_undo_a_rejection_made_at_once() -> None:
    board, heard = await with_held("find"), Heard()
    shown = await digest(board)
    board.registry.environment.emitter.add(heard)

    _, refused, none = await at_once(
        board,
        board.pins.decide("web", "find", "reject", digest=shown, principal=LOCAL),
        board.pins.decide("web", "find", "approve", digest=shown, principal=LOCAL),
        board.pins.approve_all("web", principal=LOCAL),
    )

    assert isinstance(refused, DefinitionNotHeld)
    assert "is now rejected" in str(refused)
    assert isinstance(none, DefinitionNotHeld)
    assert [
        held.digest
        for held in (await board.pins.list_held(state="rejected", principal=LOCAL)).items
    ] == [shown]
    assert [event.action for event in heard.events] == ["rejected"]


async def test_a_definition_that_changes_while_it_is_decided_is_not_approved() -> None:
    board = await with_held("find")
    shown, decide = await digest(board), board.store.decide

    async def late(decisions: Any) -> Any:
        await board.lists(foreign(said(input_schema=NARROWER, description="Other.")))
        return await decide(decisions)

    board.store.decide = late
    with pytest.raises(DefinitionChanged, match="The held definition of 'find' has changed"):
        await board.pins.decide("web", "find", "approve", digest=shown, principal=LOCAL)

    assert [held.definition["description"] for held in await board.store.list_held()] == ["Other."]


@pytest.mark.parametrize("name", ["find", "web__find"])
async def test_a_tool_is_known_by_each_of_its_names(name: str) -> None:
    board = await with_held("find")

    assert (await board.pins.get("web", name, principal=LOCAL)).name == "find"


async def test_a_renamed_tool_is_known_by_what_the_board_calls_it() -> None:
    board = Board()
    await board.lists(foreign(name="web__look"))
    await board.lists(foreign(said(input_schema=NARROWER), name="web__look"))

    assert (await board.pins.get("web", "look", principal=LOCAL)).name == "find"


def test_who_writes_the_catalogue_may_approve() -> None:
    check_may_change_catalogue(EDITOR, "find")
    with pytest.raises(AccessDenied, match="find"):
        check_may_change_catalogue(NOBODY, "find")


async def test_an_approval_of_what_was_shown_before_is_refused() -> None:
    board = await with_held("find")

    with pytest.raises(DefinitionChanged, match="The held definition of 'find' has changed"):
        await board.pins.decide("web", "find", "approve", digest="0" * 64, principal=LOCAL)


async def test_all_that_waits_is_approved_at_once() -> None:
    board = await with_held("find", "pay", "ask")
    [first, *_] = await board.store.list_held()
    await board.pins.decide("web", first.name, "reject", digest=first.digest, principal=LOCAL)

    done = await board.pins.approve_all("web", principal=EDITOR)

    assert [item.name for item in done] == ["find", "pay"]
    assert [item.name for item in await board.store.list_held()] == [first.name]
    assert board.decided == ["web", "web"]


@pytest.mark.parametrize(
    ("do", "error", "message"),
    [
        (
            lambda pins: pins.approve_all("web", principal=LOCAL),
            DefinitionNotHeld,
            "No definition of the source",
        ),
        (
            lambda pins: pins.get("web", "find", principal=LOCAL),
            DefinitionNotHeld,
            "No definition of 'find'",
        ),
        (lambda pins: pins.list_pins(cursor="?", principal=LOCAL), InvalidRequest, "cursor"),
        (lambda pins: pins.list_held(cursor="YQ==", principal=LOCAL), InvalidRequest, "cursor"),
        (lambda pins: pins.list_held(cursor="\u00e4", principal=LOCAL), InvalidRequest, "cursor"),
        (lambda pins: pins.list_pins(principal=NOBODY), AccessDenied, "catalogue:write"),
        (lambda pins: pins.list_held(principal=NOBODY), AccessDenied, "catalogue:write"),
        (lambda pins: pins.get("a", "b", principal=NOBODY), AccessDenied, "catalogue:write"),
        (lambda pins: pins.approve_all("a", principal=NOBODY), AccessDenied, "catalogue:write"),
    ],
    ids=[
        "none waits",
        "none held",
        "no base64",
        "no place",
        "no ASCII",
        "list pins",
        "list held",
        "get",
        "approve all",
    ],
)
async def test_what_cannot_be_done_is_told(
    do: Any, error: type[PegboardError], message: str
) -> None:
    with pytest.raises(error, match=message):
        await do(Board().pins)


async def test_pages_give_each_definition_once() -> None:
    board = Board()
    names = [f"tool{number}" for number in range(5)]
    await board.lists(*(foreign(said(name)) for name in names))
    found: list[str] = []
    cursor, more = "", True
    while more:
        page = await board.pins.list_pins(limit=2, cursor=cursor, principal=LOCAL)
        found += [pin.name for pin in page.items]
        cursor, more = page.next_cursor, bool(page.next_cursor)

    assert found == names
    assert page_of([], cursor="", limit=1) == KeysetPage(items=())


async def test_answers_are_as_they_are_described() -> None:
    board = await with_held("find", "pay")
    held = definitions_to_dict(await board.pins.list_held(limit=1, principal=LOCAL))
    pins = pins_to_dict(await board.pins.list_pins(principal=LOCAL))

    first = HeldList.model_validate(held)
    second = PinList.model_validate(pins)
    assert (first.held[0].state, first.held[0].kind) == ("waiting", "breaking")
    assert first.held[0].changes[0].place.startswith("input_schema")
    assert first.next_cursor
    assert [(pin.name, pin.tool) for pin in second.pins] == [
        ("find", "web__find"),
        ("pay", "web__pay"),
    ]
