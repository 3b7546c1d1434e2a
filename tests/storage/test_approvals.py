"""What people are asked, in every storage."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
from msgspec import ValidationError, structs
from sqlalchemy import select, update
from tests.storage.made import NOON, a_storage, explain_query

from pegboard.core.ports.approval_store import Approval, ApprovalQuery, VisibleApprovals
from pegboard.errors import InvalidRequest
from pegboard.storage import Storage
from pegboard.storage.json_text import dump
from pegboard.storage.sql.approvals import select_approvals
from pegboard.storage.tables import APPROVALS
from pegboard.testing import FakeClock


def an_approval(id: str = "a1", **changes: Any) -> Approval:
    fields: dict[str, Any] = {
        "digest": f"digest of {id}",
        "tool": "shop__refund",
        "principal": "ada",
        "tenant": "acme",
        "created_at": NOON,
        "arguments": {"order": 17, "card": "4111"},
        "shown": {"order": 17, "card": "***"},
        "version": "1.0.0",
        "reason": "refunds are asked for",
        "run_id": "run1",
        "node_id": "refund",
        "expires_at": NOON + 60,
    }
    return Approval(id=id, **(fields | changes))


async def ids(storage: Storage, **query: Any) -> list[str]:
    page = await storage.approvals.approvals(ApprovalQuery(**query))
    return [approval.id for approval in page.approvals]


async def test_a_question_is_given_back_whole(storage: Storage) -> None:
    assert await storage.approvals.ask(an_approval()) == an_approval()
    assert await storage.approvals.get("a1") == an_approval()
    assert await storage.approvals.get("a2") is None


async def test_the_same_question_again_is_the_one_that_is_there(storage: Storage) -> None:
    await storage.approvals.ask(an_approval())
    await storage.approvals.decide("a1", "approved", by="bob")

    again = await storage.approvals.ask(an_approval(created_at=NOON + 1))
    assert (again.state, again.created_at) == ("approved", NOON)


async def test_an_approval_lets_one_call_through(storage: Storage, clock: FakeClock) -> None:
    await storage.approvals.ask(an_approval())
    decided = await storage.approvals.decide("a1", "approved", by="bob", note="fine")
    clock.advance(1)
    used = await storage.approvals.use("a1", digest="digest of a1", call_id="c1")

    assert decided.applied
    assert decided.approval == an_approval(
        state="approved", decided_by="bob", decided_at=NOON, note="fine"
    )
    assert used == an_approval(
        state="used",
        decided_by="bob",
        decided_at=NOON,
        note="fine",
        used_at=NOON + 1,
        call_id="c1",
    )
    assert await storage.approvals.get("a1") == used
    assert await storage.approvals.use("a1", digest="digest of a1", call_id="c2") is None


async def test_the_call_that_has_used_it_may_ask_again(storage: Storage) -> None:
    await storage.approvals.ask(an_approval())
    await storage.approvals.decide("a1", "approved", by="bob")
    first = await storage.approvals.use("a1", digest="digest of a1", call_id="c1")

    assert await storage.approvals.use("a1", digest="digest of a1", call_id="c1") == first


async def test_an_approval_is_good_for_nothing_but_its_own_call(storage: Storage) -> None:
    await storage.approvals.ask(an_approval())
    await storage.approvals.decide("a1", "approved", by="bob")

    assert await storage.approvals.use("a1", digest="another", call_id="c1") is None
    assert await storage.approvals.use("a2", digest="digest of a1", call_id="c1") is None
    approval = await storage.approvals.get("a1")
    assert approval is not None
    assert approval.state == "approved"


async def test_an_edited_approval_lets_the_edited_call_through_alone(storage: Storage) -> None:
    await storage.approvals.ask(an_approval())
    decided = await storage.approvals.decide(
        "a1", "edited", by="bob", edited={"order": 18}, edited_digest="digest of the edited"
    )

    assert decided.approval is not None
    assert decided.approval.edited == {"order": 18}
    assert await storage.approvals.use("a1", digest="digest of a1", call_id="c1") is None
    used = await storage.approvals.use("a1", digest="digest of the edited", call_id="c1")
    assert used is not None
    assert (used.state, used.edited) == ("used", {"order": 18})


@pytest.mark.parametrize("decision", ["pending", "denied"])
async def test_what_is_not_approved_lets_nothing_through(storage: Storage, decision: str) -> None:
    await storage.approvals.ask(an_approval())
    if decision == "denied":
        await storage.approvals.decide("a1", "denied", by="bob", note="no")

    assert await storage.approvals.use("a1", digest="digest of a1", call_id="c1") is None


async def test_whoever_decides_second_is_told_what_the_first_said(storage: Storage) -> None:
    await storage.approvals.ask(an_approval())
    await storage.approvals.decide("a1", "denied", by="bob", note="no")

    second = await storage.approvals.decide("a1", "approved", by="eve")
    assert not second.applied
    assert second.approval == an_approval(
        state="denied", decided_by="bob", decided_at=NOON, note="no"
    )
    nobody = await storage.approvals.decide("a2", "approved", by="eve")
    assert (nobody.applied, nobody.approval) == (False, None)


async def test_of_many_who_decide_at_once_one_decides(storage: Storage, other: Storage) -> None:
    await storage.approvals.ask(an_approval())
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(
                server.approvals.decide(
                    "a1", "approved" if number % 2 else "denied", by=str(number)
                )
            )
            for number, server in enumerate([storage, other] * 10)
        ]

    outcomes = [task.result() for task in tasks]
    (winner,) = [outcome.approval for outcome in outcomes if outcome.applied]
    assert {outcome.approval for outcome in outcomes if outcome.approval is None} == set()
    assert all(outcome.approval == winner for outcome in outcomes)
    assert await storage.approvals.get("a1") == winner


async def test_of_many_calls_at_once_one_is_let_through(storage: Storage, other: Storage) -> None:
    await storage.approvals.ask(an_approval())
    await storage.approvals.decide("a1", "approved", by="bob")
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(
                server.approvals.use("a1", digest="digest of a1", call_id=f"c{number}")
            )
            for number, server in enumerate([storage, other] * 10)
        ]

    assert len([task for task in tasks if task.result() is not None]) == 1


@pytest.mark.parametrize("verdict", [None, "approved", "edited"])
async def test_after_its_time_it_can_neither_be_decided_nor_used(
    storage: Storage, clock: FakeClock, verdict: Any
) -> None:
    await storage.approvals.ask(an_approval())
    if verdict:
        await storage.approvals.decide("a1", verdict, by="bob", edited_digest="")
    clock.advance(60)

    late = await storage.approvals.decide("a1", "approved", by="bob")
    used = await storage.approvals.use("a1", digest="digest of a1", call_id="c1")
    seen = await storage.approvals.get("a1")

    assert not late.applied
    assert late.approval is not None
    assert late.approval.state == "expired"
    assert used is None
    assert seen is not None
    assert seen.state == "expired"


async def test_what_has_expired_is_told_once(
    storage: Storage, other: Storage, clock: FakeClock
) -> None:
    await storage.approvals.ask(an_approval("a1"))
    await storage.approvals.ask(an_approval("a2", expires_at=None))
    await storage.approvals.ask(an_approval("a3", expires_at=NOON + 61))
    await storage.approvals.ask(an_approval("a4"))
    await storage.approvals.decide("a4", "denied", by="bob")
    assert await storage.approvals.expire() == []
    clock.advance(60)

    assert await storage.approvals.expire() == [an_approval("a1", state="expired")]
    assert await other.approvals.expire() == []
    assert await storage.approvals.get("a1") == an_approval("a1", state="expired")


async def test_approvals_are_shown_newest_first_page_by_page(storage: Storage) -> None:
    for number in range(5):
        await storage.approvals.ask(an_approval(f"a{number}", created_at=NOON + number // 2))
    first = await storage.approvals.approvals(ApprovalQuery(limit=2))
    second = await storage.approvals.approvals(ApprovalQuery(limit=2, cursor=first.next_cursor))
    third = await storage.approvals.approvals(ApprovalQuery(limit=2, cursor=second.next_cursor))

    pages = [[item.id for item in page.approvals] for page in (first, second, third)]
    assert pages == [["a4", "a3"], ["a2", "a1"], ["a0"]]
    assert third.next_cursor == ""


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"state": "pending"}, ["a3", "a2"]),
        ({"state": "approved"}, []),
        ({"state": "expired"}, ["a1", "a0"]),
        ({"state": "denied"}, ["a4"]),
        ({"principal": "bob"}, ["a2"]),
        ({"tenant": ""}, ["a3"]),
        ({"run_id": "run2"}, ["a3"]),
        ({"tool": "shop__pay"}, ["a4"]),
        ({"digest": "digest of a0"}, ["a0"]),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, (dict, list)) else None,
)
async def test_approvals_are_found(
    storage: Storage, clock: FakeClock, query: dict[str, Any], expected: list[str]
) -> None:
    await storage.approvals.ask(an_approval("a0"))
    await storage.approvals.ask(an_approval("a1"))
    await storage.approvals.decide("a1", "approved", by="bob")
    await storage.approvals.ask(an_approval("a2", principal="bob", expires_at=NOON + 100))
    await storage.approvals.ask(an_approval("a3", tenant="", run_id="run2", expires_at=None))
    await storage.approvals.ask(an_approval("a4", tool="shop__pay"))
    await storage.approvals.decide("a4", "denied", by="bob")
    clock.advance(60)

    assert await ids(storage, **query) == expected


@pytest.mark.parametrize("query", [{"limit": 0}, {"cursor": "!"}], ids=["limit", "cursor"])
async def test_a_wrong_query_is_refused(storage: Storage, query: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        await storage.approvals.approvals(ApprovalQuery(**query))


async def test_what_a_run_asks_is_withdrawn_once(storage: Storage, clock: FakeClock) -> None:
    for name, run_id in (("a1", "run1"), ("a2", "run1"), ("a3", "run2"), ("a4", "run1")):
        await storage.approvals.ask(an_approval(name, run_id=run_id))
    await storage.approvals.decide("a4", "approved", by="bob")
    clock.advance(1)
    gone = await storage.approvals.withdraw("run1", by="ada", note="the run was cancelled")
    late = await storage.approvals.decide("a1", "approved", by="bob")

    told = [(item.id, item.state, item.decided_by, item.decided_at) for item in gone]
    assert told == [(name, "withdrawn", "ada", NOON + 1) for name in ("a1", "a2")]
    assert await storage.approvals.withdraw("run1", by="eve", note="again") == []
    assert (late.applied, late.approval) == (False, gone[0])
    assert await ids(storage, state="pending") == ["a3"]
    assert await ids(storage, state="withdrawn") == ["a2", "a1"]
    assert await storage.approvals.use("a1", digest="digest of a1", call_id="c1") is None


@pytest.mark.parametrize("kind", ["sqlite", "postgres"], indirect=True)
async def test_a_state_of_which_only_newer_servers_know_is_over_and_stays_what_it_is(
    storage: Storage, clock: FakeClock
) -> None:
    database = cast("Any", storage)._database
    await storage.approvals.ask(an_approval(expires_at=NOON + 60))
    await storage.approvals.ask(an_approval("a2"))
    newer = dump(structs.replace(an_approval(), note="x")).replace('"pending"', '"delegated"')
    change = update(APPROVALS).where(APPROVALS.c.id == "a1")
    await database.run(
        lambda transaction: transaction.execute(change.values(state="delegated", body=newer))
    )

    found = await storage.approvals.get("a1")
    page = await storage.approvals.approvals(ApprovalQuery())
    decided = await storage.approvals.decide("a1", "approved", by="bob")
    used = await storage.approvals.use("a1", digest="digest of a1", call_id="c1")
    clock.advance(10**9)
    await storage.approvals.expire()
    kept = await database.read(
        lambda transaction: transaction.first(
            select(APPROVALS.c.body).where(APPROVALS.c.id == "a1")
        )
    )

    assert found is not None
    assert (found.state, found.note) == ("withdrawn", "A newer Pegboard has set it to 'delegated'.")
    assert [item.id for item in page.approvals] == ["a2", "a1"]
    assert (decided.applied, used) == (False, None)
    assert kept.body == newer


async def test_an_approval_that_is_broken_is_not_taken_for_a_newer_one(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with a_storage("sqlite", tmp_path, clock) as storage:
        await storage.approvals.ask(an_approval())
        broken = update(APPROVALS).values(body='{"state": "pending"}')
        await cast("Any", storage)._database.run(lambda transaction: transaction.execute(broken))
        with pytest.raises(ValidationError, match="missing required field"):
            await storage.approvals.get("a1")


async def test_a_caller_lists_what_it_may_decide_and_its_own(storage: Storage) -> None:
    for id_, principal, tenant in (("a", "ada", "acme"), ("b", "bob", "zoo"), ("c", "bob", "acme")):
        await storage.approvals.ask(an_approval(id_, principal=principal, tenant=tenant))
    in_zoo = frozenset({"zoo"})

    assert await ids(storage, visible=VisibleApprovals(tenants=in_zoo, principals=("ada",))) == [
        "b",
        "a",
    ]
    assert await ids(
        storage, visible=VisibleApprovals(tenants=frozenset(), principals=("bob",), tenant="acme")
    ) == ["c"]


async def test_each_page_of_what_a_caller_may_see_has_the_newest(storage: Storage) -> None:
    places = [("ada", "acme"), ("bob", "zoo"), ("cem", "spa"), ("ada", "zoo"), ("bob", "acme")]
    for number, (principal, tenant) in enumerate(places * 2):
        approval = an_approval(f"a{number}", principal=principal, tenant=tenant)
        await storage.approvals.ask(structs.replace(approval, created_at=NOON + number))
    seen = VisibleApprovals(tenants=frozenset({"zoo", "spa"}), principals=("ada", "dan"))
    found: list[str] = []
    cursor = ""
    for _ in range(3):
        query = ApprovalQuery(visible=seen, limit=3, cursor=cursor)
        page = await storage.approvals.approvals(query)
        found += [approval.id for approval in page.approvals]
        cursor = page.next_cursor

    assert (found, cursor) == (["a8", "a7", "a6", "a5", "a3", "a2", "a1", "a0"], "")


async def test_a_page_with_very_large_approvals_is_shorter(storage: Storage) -> None:
    for number in range(5):
        approval = an_approval(f"a{number}", arguments={"text": "x" * 1_500_000})
        await storage.approvals.ask(structs.replace(approval, created_at=NOON + number))
    found: list[list[str]] = []
    cursor = ""
    for _ in range(3):
        page = await storage.approvals.approvals(ApprovalQuery(cursor=cursor))
        found.append([approval.id for approval in page.approvals])
        cursor = page.next_cursor

    assert (found, cursor) == ([["a4", "a3"], ["a2", "a1"], ["a0"]], "")


async def test_a_page_leaves_out_what_another_server_deletes_while_it_is_read(
    postgres: str, tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def delete_and_count(sizes: Iterable[int]) -> int:
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute("DELETE FROM approvals WHERE id IN ('a2', 'a3')")
        return len(list(sizes))

    async with a_storage(postgres, tmp_path, clock) as storage:
        for number in range(4):
            await storage.approvals.ask(an_approval(f"a{number}", created_at=NOON + number))
        with monkeypatch.context() as patch:
            patch.setattr("pegboard.storage.sql.approvals.count_fitting", delete_and_count)
            first = await storage.approvals.approvals(ApprovalQuery(limit=3))
        rest = await storage.approvals.approvals(ApprovalQuery(cursor=first.next_cursor))

    assert [approval.id for approval in first.approvals] == ["a1"]
    assert [approval.id for approval in rest.approvals] == ["a0"]


async def test_who_may_see_the_approvals_of_nobody_sees_none(storage: Storage) -> None:
    await storage.approvals.ask(an_approval())

    assert await ids(storage, visible=VisibleApprovals(tenants=frozenset(), principals=())) == []


async def test_an_approver_of_many_tenants_sees_those_of_each(storage: Storage) -> None:
    await storage.approvals.ask(an_approval("a", tenant="t7"))
    await storage.approvals.ask(an_approval("b", tenant="t700"))
    many = frozenset(f"t{number}" for number in range(600))

    assert await ids(storage, visible=VisibleApprovals(tenants=many, principals=("bob",))) == ["a"]


BY = "SEARCH approvals USING INDEX approvals_by"
OF_ADA = VisibleApprovals(tenants=frozenset(), principals=("ada",))


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (ApprovalQuery(), "SCAN approvals USING INDEX approvals_by_time"),
        (ApprovalQuery(state="used"), f"{BY}_state (state=?)"),
        (ApprovalQuery(state="pending"), f"{BY}_state (state=?)"),
        (ApprovalQuery(principal="p"), f"{BY}_principal (principal=?)"),
        (ApprovalQuery(tool="t"), f"{BY}_tool (tool=?)"),
        (ApprovalQuery(run_id="r"), f"{BY}_run (run_id=?)"),
        (ApprovalQuery(tenant="t"), f"{BY}_tenant (tenant=?)"),
        (ApprovalQuery(tenant="t", state="used"), f"{BY}_tenant (tenant=?)"),
        (ApprovalQuery(tenant="t", state="pending"), f"{BY}_state (state=?)"),
        (ApprovalQuery(tenant="t", tool="t"), f"{BY}_tool (tool=?)"),
        (ApprovalQuery(principal="p", state="used"), f"{BY}_principal (principal=?)"),
        (ApprovalQuery(run_id="r", state="pending"), f"{BY}_run (run_id=?)"),
        (ApprovalQuery(visible=OF_ADA), f"{BY}_principal (principal=?)"),
        (ApprovalQuery(visible=OF_ADA, state="used"), f"{BY}_principal (principal=?)"),
    ],
    ids=[
        *("none", "common state", "state", "principal", "tool", "run", "tenant"),
        *("common state in a tenant", "state in a tenant", "tool in a tenant"),
        *("state of a principal", "state in a run", "own", "own in a state"),
    ],
)
async def test_each_filter_of_many_approvals_uses_its_index(
    tmp_path: Path, clock: FakeClock, query: ApprovalQuery, index: str
) -> None:
    async with a_storage("sqlite", tmp_path, clock):
        plan = explain_query(tmp_path, select_approvals(query, NOON, 10))

    assert [step.startswith(index) for step in plan] == [True], plan


async def test_what_an_approver_may_see_is_looked_up_part_by_part(
    tmp_path: Path, clock: FakeClock
) -> None:
    seen = VisibleApprovals(tenants=frozenset({"acme", "zoo"}), principals=("ada",))
    async with a_storage("sqlite", tmp_path, clock):
        plan = explain_query(tmp_path, select_approvals(ApprovalQuery(visible=seen), NOON, 10))

    assert [step for step in plan if " approvals " in step] == [
        f"{BY}_principal (principal=?)",
        f"{BY}_tenant (tenant=?)",
        f"{BY}_tenant (tenant=?)",
    ]
