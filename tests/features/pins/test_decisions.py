"""A required audit trail has each decision of `service` and each pin of `gate` first."""

from typing import Any

import pytest
from tests.features.pins.made import NARROWER, WIDER, Board, foreign, said
from tests.features.trail import Trail

from pegboard.concurrency.closable_lock import ClosableLock as StorageGate
from pegboard.core.ports.catalogue_stores import PinDecision
from pegboard.core.principal import Principal
from pegboard.errors import AuditUnavailable, DefinitionNotHeld, StoreUnavailable
from pegboard.features.pins import PinCheck, Pins
from pegboard.storage.memory.pins import MemoryPins

ANN = Principal(id="ann", tenant="acme", scopes=frozenset({"catalogue:write"}))


class Slow(MemoryPins):
    """A store in which somebody else decides first about one, or that goes away."""

    first = ""
    goes = False
    is_full = False

    async def hold(self, held: Any) -> None:
        if self.is_full:
            raise StoreUnavailable("its disk is full", nothing_done=True)
        await super().hold(held)

    async def decide(self, decisions: Any) -> Any:
        if self.goes:
            raise StoreUnavailable("it went")
        others = [item for item in decisions if item.seen.name == self.first]
        await super().decide([PinDecision(seen=item.seen, then=_rejected(item)) for item in others])
        return await super().decide(decisions)


def _rejected(decision: PinDecision) -> Any:
    from msgspec import structs

    return structs.replace(decision.seen, diff={"rejected_by": "bob"})


async def a_board(*names: str) -> tuple[Board, Trail, Slow]:
    """A board on which these tools have changed, from now on with a required trail."""
    board, trail, store = Board(), Trail(), Slow(StorageGate())
    board.store = store
    board.gate = PinCheck(
        board.registry, store, policy=lambda _: board.policy, new=lambda _: "accept"
    )
    await board.lists(*(foreign(said(name)) for name in names))
    await board.lists(*(foreign(said(name, input_schema=NARROWER)) for name in names))
    board.registry.environment.emitter.add(trail)
    board.pins = Pins(board.registry, store, prove=trail.prove)
    board.gate = PinCheck(
        board.registry,
        store,
        policy=lambda _: board.policy,
        new=lambda _: "accept",
        prove=trail.prove,
    )
    return board, trail, store


@pytest.mark.parametrize(("decision", "done"), [("approve", "approved"), ("reject", "rejected")])
async def test_no_decision_is_taken_that_the_trail_cannot_take(decision: Any, done: str) -> None:
    board, trail, store = await a_board("find")
    [before] = await store.list_held()
    trail.is_away = True
    with pytest.raises(AuditUnavailable):
        await board.pins.decide("web", "find", decision, digest=before.digest, principal=ANN)
    held, told = list(await store.list_held()), list(trail.events)
    trail.is_away = False
    await board.pins.decide("web", "find", decision, digest=before.digest, principal=ANN)

    assert (held, told) == ([before], [])
    [entry], [event] = trail.decisions, trail.events
    assert (entry.kind, entry.tenant) == ("decision", "acme")
    body = {name: entry.body[name] for name in ("about", "action", "subject", "by", "source")}
    assert body == {
        "about": "definition",
        "action": decision,
        "subject": "web__find",
        "by": "ann",
        "source": "web",
    }
    assert (event.action, event.subject) == (done, "web__find")


async def test_all_that_waits_is_one_decision_and_what_somebody_else_decided_is_told() -> None:
    board, trail, store = await a_board("find", "look", "read")
    store.first = "look"
    approved = await board.pins.approve_all("web", principal=ANN)
    with pytest.raises(DefinitionNotHeld):
        await board.pins.approve_all("web", principal=ANN)

    [entry] = trail.decisions
    names = ["web__find", "web__look", "web__read"]
    assert (entry.body["count"], entry.body["subject"]) == (3, "")
    assert (entry.body["names"], [item.name for item in approved]) == (names, ["find", "read"])
    assert [(event.action, event.subject) for event in trail.events] == [
        ("approved", "web__find"),
        ("approved", "web__read"),
        ("failed", "web__look"),
    ]
    assert trail.events[-1].detail["reason"] == "another decision was made at the same time"


async def test_a_store_that_goes_away_after_the_decision_is_told() -> None:
    board, trail, store = await a_board("find")
    store.goes = True
    with pytest.raises(StoreUnavailable):
        await board.pins.approve_all("web", principal=ANN)

    assert [(event.action, event.detail["action"]) for event in trail.events] == [
        ("unknown", "approve")
    ]


async def test_what_nobody_is_asked_about_is_on_the_board_only_once_the_trail_has_it() -> None:
    board, trail, store = await a_board("find")
    board.policy = "auto"
    [known] = await store.list_held()
    new = foreign(said("fresh"))
    same = foreign(said("find"))
    trail.is_away = True
    judged = await board.gate.check("web", [same, new])
    pinned = [pin.name for pin in await store.pins()]
    trail.is_away = False
    again = await board.gate.check("web", [same, new])
    wider = await board.gate.check("web", [same, foreign(said("fresh", input_schema=WIDER))])

    assert (pinned, "could not be pinned: the disk is full" in judged.fault) == (["find"], True)
    assert judged.tools[0].spec.unavailable == ""
    assert "the disk is full" in judged.tools[1].spec.unavailable
    assert (again.fault, [tool.spec.unavailable for tool in again.tools]) == ("", ["", ""])
    assert (wider.fault, known.name) == ("", "find")
    assert trail.decided == [
        ("pin", "fresh"),
        ("pin", "fresh"),
    ]
    assert [event.action for event in trail.events] == ["pinned", "accepted"]


async def test_what_is_pinned_is_told_although_what_changed_could_not_be_held() -> None:
    board, trail, store = await a_board("find")
    store.is_full = True
    other = foreign(said("find", input_schema=NARROWER | {"title": "another"}))
    judged = await board.gate.check("web", [foreign(said("fresh")), other])
    store.is_full = False
    again = await board.gate.check("web", [foreign(said("fresh")), other])

    assert ("its disk is full" in judged.fault, again.fault) == (True, "")
    assert [entry.body["subject"] for entry in trail.decisions] == ["fresh"]
    assert [event.action for event in trail.events] == ["pinned", "held"]
