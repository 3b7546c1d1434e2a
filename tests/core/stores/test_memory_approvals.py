"""Approvals in memory: each is answered once, used once, and gone when its time is over."""

from typing import Any

import pytest

from pegboard.core.ports.approval_store import Approval, ApprovalQuery
from pegboard.core.stores.memory_approvals import MemoryApprovals
from pegboard.errors import InvalidRequest, Overloaded
from pegboard.testing import FakeClock


def an_approval(id: str = "a1", **changes: Any) -> Approval:
    fields: dict[str, Any] = {
        "digest": f"d-{id}",
        "tool": "pay",
        "principal": "ada",
        "created_at": 1.0,
    }
    return Approval(id=id, **(fields | changes))


async def ids(store: MemoryApprovals, **query: Any) -> list[str]:
    return [item.id for item in (await store.approvals(ApprovalQuery(**query))).approvals]


async def test_a_question_is_kept_once() -> None:
    store = MemoryApprovals()

    assert await store.ask(an_approval()) == an_approval()
    assert await store.ask(an_approval(created_at=2.0)) == an_approval()
    assert await store.get("a1") == an_approval()
    assert await store.get("a2") is None


async def test_the_first_answer_holds() -> None:
    store = MemoryApprovals()
    await store.ask(an_approval())

    first = await store.decide("a1", "denied", by="bob", note="no")
    second = await store.decide("a1", "approved", by="eve")

    assert (first.applied, second.applied) == (True, False)
    assert second.approval == first.approval
    assert (await store.decide("a2", "approved", by="eve")).approval is None
    assert await store.use("a1", digest="d-a1", call_id="c1") is None


async def test_an_approval_lets_one_call_through_and_that_one_again() -> None:
    store = MemoryApprovals()
    await store.ask(an_approval())
    assert await store.use("a1", digest="d-a1", call_id="c1") is None
    await store.decide("a1", "approved", by="eve")

    assert await store.use("a1", digest="other", call_id="c1") is None
    used = await store.use("a1", digest="d-a1", call_id="c1")
    assert used is not None
    assert used.state == "used"
    assert await store.use("a1", digest="d-a1", call_id="c1") == used
    assert await store.use("a1", digest="d-a1", call_id="c2") is None
    assert await store.use("a2", digest="d-a1", call_id="c2") is None


async def test_an_edited_one_is_good_for_the_edited_call() -> None:
    store = MemoryApprovals()
    await store.ask(an_approval())
    await store.decide("a1", "edited", by="eve", edited={"n": 2}, edited_digest="new")

    assert await store.use("a1", digest="d-a1", call_id="c1") is None
    assert await store.use("a1", digest="new", call_id="c1") is not None


async def test_what_has_expired_is_told_once_and_decided_never() -> None:
    clock = FakeClock()
    store = MemoryApprovals(now=clock.time)
    await store.ask(an_approval(expires_at=clock.time() + 1))
    await store.ask(an_approval("a2"))
    assert await store.expire() == []
    clock.advance(1)

    late = await store.decide("a1", "approved", by="eve")

    assert late.approval is not None
    assert (late.applied, late.approval.state) == (False, "expired")
    assert [item.id for item in await store.expire()] == ["a1"]
    assert await store.expire() == []
    assert await ids(store, state="expired") == ["a1"]
    assert await ids(store, state="pending") == ["a2"]


async def test_pages_go_from_the_newest_to_the_oldest() -> None:
    store = MemoryApprovals()
    for number in range(5):
        await store.ask(an_approval(f"a{number}", created_at=float(number // 2)))

    first = await store.approvals(ApprovalQuery(limit=2))
    rest = await store.approvals(ApprovalQuery(limit=3, cursor=first.next_cursor))

    assert [item.id for item in first.approvals] == ["a4", "a3"]
    assert [item.id for item in rest.approvals] == ["a2", "a1", "a0"]
    assert rest.next_cursor == ""


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"tool": "pay"}, ["a2", "a1"]),
        ({"principal": "bob"}, ["a2"]),
        ({"tenant": "acme"}, ["a2"]),
        ({"tenant": ""}, ["a1"]),
        ({"run_id": "r1"}, ["a1"]),
        ({"digest": "d-a1"}, ["a1"]),
    ],
    ids=str,
)
async def test_approvals_are_found(query: dict[str, Any], found: list[str]) -> None:
    store = MemoryApprovals()
    await store.ask(an_approval("a1", run_id="r1"))
    await store.ask(an_approval("a2", principal="bob", tenant="acme", created_at=2.0))

    assert await ids(store, **query) == found


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": 1001}, {"cursor": "x"}], ids=str)
async def test_a_wrong_page_is_refused(query: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        await MemoryApprovals().approvals(ApprovalQuery(**query))


async def test_those_that_are_over_make_room() -> None:
    store = MemoryApprovals(most=2)
    await store.ask(an_approval("a1"))
    await store.ask(an_approval("a2"))
    with pytest.raises(Overloaded):
        await store.ask(an_approval("a3"))
    await store.decide("a2", "denied", by="eve")

    await store.ask(an_approval("a3"))

    assert sorted(await ids(store)) == ["a1", "a3"]
