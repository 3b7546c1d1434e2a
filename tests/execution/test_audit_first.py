"""A change is in the audit trail before it is made, and what becomes of it afterwards."""

import asyncio

import pytest

from pegboard.core.event import BoardChanged, Event, digest_of
from pegboard.core.ports.audit_store import AuditEntry, skip_proof
from pegboard.errors import AuditUnavailable, InvalidRequest, StoreUnavailable
from pegboard.execution import CallEnvironment
from pegboard.execution.audit_first import record_in_audit, summarize_names
from pegboard.execution.emitter import Emitter

WANTED = BoardChanged(
    kind="catalogue",
    action="remove",
    at=1.0,
    subject="pay",
    by="ann",
    tenant="acme",
    detail={"version": "1.0.0"},
)


class Trail:
    """What the trail has, decisions and events in one order."""

    def __init__(self) -> None:
        self.has: list[AuditEntry | Event | str] = []
        self.kit = CallEnvironment(emitter=Emitter([self]), now=lambda: 2.0)

    async def prove(self, entry: AuditEntry) -> None:
        self.has.append(entry)

    def on_event(self, event: Event) -> None:
        self.has.append(event)


def the_change() -> BoardChanged:
    return WANTED


async def test_the_decision_is_first_then_the_change_then_what_came_of_it() -> None:
    trail = Trail()
    async with record_in_audit(trail.prove, the_change, environment=trail.kit, done="removed"):
        trail.has.append("it is done")

    decision, done, event = trail.has
    assert decision == AuditEntry(
        kind="decision",
        at=1.0,
        tenant="acme",
        body={
            "about": "catalogue",
            "action": "remove",
            "subject": "pay",
            "by": "ann",
            "version": "1.0.0",
        },
    )
    assert done == "it is done"
    assert isinstance(event, BoardChanged)
    assert (event.action, event.subject, event.at) == ("removed", "pay", 2.0)


async def test_nothing_is_done_that_the_trail_cannot_take() -> None:
    trail = Trail()

    async def prove(_entry: AuditEntry) -> None:
        raise AuditUnavailable("the disk is full", nothing_done=True)

    with pytest.raises(AuditUnavailable):
        async with record_in_audit(prove, the_change, environment=trail.kit):
            trail.has.append("it is done")

    assert trail.has == []


async def test_where_no_trail_is_required_nothing_is_made_or_told() -> None:
    trail = Trail()

    def change() -> BoardChanged:
        raise AssertionError("nobody wants to know")

    with pytest.raises(InvalidRequest):
        async with record_in_audit(skip_proof, change, environment=trail.kit, done="removed"):
            raise InvalidRequest("no")
    async with record_in_audit(skip_proof, change, environment=trail.kit, done="removed"):
        pass

    assert trail.has == []


@pytest.mark.parametrize(
    ("error", "action", "code", "reason"),
    [
        (InvalidRequest("it is wrong"), "failed", "request_invalid", "it is wrong"),
        (
            StoreUnavailable("it is full", nothing_done=True),
            "failed",
            "store_unavailable",
            "it is full",
        ),
        (StoreUnavailable("it went"), "unknown", "store_unavailable", "it went"),
        (asyncio.CancelledError(), "unknown", "", "CancelledError"),
        (KeyError("hush"), "unknown", "", "KeyError"),
    ],
    ids=["refused", "nothing done", "perhaps done", "cut off", "broken"],
)
async def test_of_a_change_that_fails_the_trail_says_whether_it_was_made(
    error: BaseException, action: str, code: str, reason: str
) -> None:
    trail = Trail()
    with pytest.raises(type(error)):
        async with record_in_audit(trail.prove, the_change, environment=trail.kit, done="removed"):
            raise error

    _, event = trail.has
    assert event == BoardChanged(
        kind="catalogue",
        action=action,
        at=2.0,
        subject="pay",
        by="ann",
        tenant="acme",
        detail={"action": "remove", "error_code": code, "reason": reason},
    )


async def test_who_goes_while_the_decision_is_written_leaves_it_with_an_outcome() -> None:
    trail, is_asked = Trail(), asyncio.Event()

    async def prove(entry: AuditEntry) -> None:
        await trail.prove(entry)
        is_asked.set()
        await asyncio.Event().wait()

    async def change() -> None:
        async with record_in_audit(prove, the_change, environment=trail.kit):
            trail.has.append("it is done")

    changing = asyncio.create_task(change())
    await is_asked.wait()
    changing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await changing

    _, event = trail.has
    assert isinstance(event, BoardChanged)
    assert (event.action, event.detail["reason"]) == ("failed", "CancelledError")


def test_of_very_many_the_first_are_named_and_the_digest_stands_for_all() -> None:
    pairs = [(f"t{number}", str(number)) for number in range(501)]
    told, other = summarize_names(iter(pairs)), summarize_names([*pairs[:500], ("t500", "another")])

    assert (told["count"], len(told["names"]), told["names"][-1]) == (501, 500, "t499")
    assert told["digest"] == digest_of([list(pair) for pair in pairs]) != other["digest"]
