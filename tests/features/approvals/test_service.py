"""People decide about calls, once; what they decide outlives the process and beats nobody's no."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pegboard import ToolRegistry, tool
from pegboard.core.context import ToolContext
from pegboard.core.event import ApprovalChanged, Event
from pegboard.core.ports.approval_store import Approval, ApprovalQuery
from pegboard.core.ports.audit_store import AuditEntry
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import (
    AccessDenied,
    ApprovalDecided,
    ApprovalExpired,
    ApprovalNotFound,
    ApprovalRequired,
    AuditUnavailable,
    InvalidRequest,
    RunNotFound,
    ToolArgumentError,
    Unavailable,
)
from pegboard.execution import CallEnvironment
from pegboard.execution.emitter import Emitter
from pegboard.features.approvals import Approvals, service
from pegboard.storage import open_storage
from pegboard.testing import FakeClock

RAN: list[tuple[int, str]] = []
ADA = Principal(id="ada", tenant="acme")
EVE = Principal(id="eve", tenant="acme", scopes=frozenset({"approvals:decide"}))
MAX = Principal(id="max", tenant="other", scopes=frozenset({"approvals:decide"}))


@tool(effect="admin")
async def refund(order: int, why: str = "") -> str:
    """Refund an order."""
    RAN.append((order, why))
    return f"refunded {order}"


class Heard:
    def __init__(self) -> None:
        self.states: list[str] = []

    def on_event(self, event: Event) -> None:
        if isinstance(event, ApprovalChanged):
            self.states.append(event.state)


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    RAN.clear()


def a_registry(**kit: Any) -> ToolRegistry:
    return ToolRegistry([refund], environment=CallEnvironment(**kit))


async def asked(registry: ToolRegistry, principal: Principal = ADA, order: Any = 1) -> str:
    ctx: ToolContext[Any] = ToolContext(principal=principal)
    error = (await registry.call("refund", {"order": order}, ctx)).error
    assert isinstance(error, ApprovalRequired)
    return error.approval_id


async def called(registry: ToolRegistry, principal: Principal = ADA) -> Any:
    return await registry.call("refund", {"order": 1}, ToolContext(principal=principal))


async def test_an_approved_call_runs_once_when_it_is_made_again() -> None:
    heard = Heard()
    registry = a_registry(emitter=Emitter([heard]))
    approvals = Approvals(registry)
    approval = await approvals.decide(await asked(registry), "approve", principal=EVE)

    assert (approval.state, approval.decided_by, RAN) == ("approved", "eve", [])
    assert (await called(registry)).text == "refunded 1"
    assert (await called(registry)).error.code == "approval_required"
    assert RAN == [(1, "")]
    assert heard.states == ["pending", "approved", "used", "pending"]


async def test_an_edited_call_runs_with_what_the_approver_wants() -> None:
    registry = a_registry()
    edited = {"order": "2", "why": "the other one"}
    approval = await Approvals(registry).decide(
        await asked(registry), "edit", arguments=edited, principal=LOCAL
    )

    assert approval.edited == edited
    assert (await called(registry)).text == "refunded 2"
    assert RAN == [(2, "the other one")]


async def test_a_denied_call_never_runs_and_says_why() -> None:
    registry = a_registry()
    await Approvals(registry).decide(await asked(registry), "deny", note="too much", principal=EVE)

    result = await called(registry)

    assert result.error.code == "access_denied"
    assert result.text == "Access to 'refund' denied: eve refused it: too much"
    assert RAN == []


@pytest.mark.parametrize(
    ("decision", "arguments", "kind", "said"),
    [
        ("perhaps", None, InvalidRequest, "no decision 'perhaps'; known are approve, deny, edit"),
        ("edit", None, InvalidRequest, "needs 'arguments'"),
        ("approve", {"order": 1}, InvalidRequest, "go with 'edit'"),
        ("edit", {"order": "x"}, ToolArgumentError, "order"),
        ("edit", {"order": 1, "why": "[redacted]"}, InvalidRequest, "still contain"),
    ],
    ids=["no decision", "no arguments", "arguments too many", "they do not fit", "a mask"],
)
async def test_a_decision_that_makes_no_sense_decides_nothing(
    decision: Any, arguments: Any, kind: type[Exception], said: str
) -> None:
    registry = a_registry()
    approvals = Approvals(registry)
    approval = await asked(registry)

    with pytest.raises(kind, match=said):
        await approvals.decide(approval, decision, arguments=arguments, principal=LOCAL)
    assert (await approvals.get(approval, principal=LOCAL)).state == "pending"


async def test_of_two_who_decide_at_once_one_is_told_that_the_other_was_first() -> None:
    registry = a_registry()
    approvals = Approvals(registry)
    approval = await asked(registry)

    outcomes = await _all(
        approvals.decide(approval, "approve", principal=EVE),
        approvals.decide(approval, "deny", principal=LOCAL),
    )

    lost = [item for item in outcomes if isinstance(item, ApprovalDecided)]
    won = [item for item in outcomes if isinstance(item, Approval)]
    assert (len(lost), len(won)) == (1, 1)
    assert str(lost[0]) == f"This approval was already {won[0].state} by {won[0].decided_by}."


async def _all(*work: Any) -> list[Any]:
    tasks = [asyncio.ensure_future(item) for item in work]
    await asyncio.wait(tasks)
    return [task.exception() or task.result() for task in tasks]


async def test_what_has_expired_cannot_be_decided_and_is_told() -> None:
    clock, heard, woken = FakeClock(), Heard(), list[str]()
    registry = a_registry(now=clock.time, emitter=Emitter([heard]))

    async def wake(_run_id: str, approval_id: str) -> None:
        woken.append(approval_id)

    approvals = Approvals(registry, wake=wake)
    approval = await asked(registry)
    clock.advance(24 * 3600)

    with pytest.raises(ApprovalExpired):
        await approvals.decide(approval, "approve", principal=LOCAL)
    assert await approvals.expire() == 1
    assert await approvals.expire() == 0
    assert await asked(registry) != approval
    assert heard.states == ["pending", "expired", "pending"]
    assert woken == []


@pytest.mark.parametrize("principal", [MAX, Principal(id="bob", tenant="acme")], ids=str)
async def test_an_approval_of_others_is_not_there(principal: Principal) -> None:
    registry = a_registry()
    approvals = Approvals(registry)
    approval = await asked(registry)

    with pytest.raises(ApprovalNotFound):
        await approvals.decide(approval, "approve", principal=principal)
    page = await approvals.list(ApprovalQuery(), principal=principal)
    assert list(page.approvals) == []


async def test_who_asks_sees_the_approval_and_does_not_decide_it() -> None:
    registry = a_registry()
    approvals = Approvals(registry)
    approval = await asked(registry)

    assert (await approvals.get(approval, principal=ADA)).id == approval
    with pytest.raises(AccessDenied, match="approvals:decide"):
        await approvals.decide(approval, "approve", principal=ADA)
    others = await approvals.list(ApprovalQuery(principal="eve"), principal=ADA)
    assert list(others.approvals) == []
    mine = await approvals.list(ApprovalQuery(), principal=ADA)
    assert [item.id for item in mine.approvals] == [approval]
    assert len((await approvals.list(ApprovalQuery(), principal=EVE)).approvals) == 1
    assert len((await approvals.list(ApprovalQuery(), principal=LOCAL)).approvals) == 1


async def test_an_approval_survives_a_restart_between_asking_deciding_and_using(
    tmp_path: Path,
) -> None:
    async with open_storage(tmp_path) as storage:
        approval = await asked(a_registry(approvals=storage.approvals))
    async with open_storage(tmp_path) as storage:
        await Approvals(a_registry(approvals=storage.approvals)).decide(
            approval, "approve", principal=LOCAL
        )
    async with open_storage(tmp_path) as storage:
        assert (await called(a_registry(approvals=storage.approvals))).text == "refunded 1"
    async with open_storage(tmp_path) as storage:
        again = await called(a_registry(approvals=storage.approvals))

    assert again.error.code == "approval_required"
    assert RAN == [(1, "")]


async def test_of_many_calls_at_once_a_database_lets_one_through(tmp_path: Path) -> None:
    async with open_storage(tmp_path) as storage:
        registry = a_registry(approvals=storage.approvals)
        await Approvals(registry).decide(await asked(registry), "approve", principal=LOCAL)
        results = await _all(*(called(registry) for _ in range(10)))

    assert RAN == [(1, "")]
    assert sorted(result.is_error for result in results) == [False] + [True] * 9


async def test_without_its_store_a_call_that_is_asked_about_does_not_run(tmp_path: Path) -> None:
    async with open_storage(tmp_path) as storage:
        registry = a_registry(approvals=storage.approvals)
    result = await called(registry)

    assert isinstance(result.error, Unavailable)
    assert RAN == []


async def asked_in_a_run(registry: ToolRegistry, run_id: str) -> str:
    ctx: ToolContext[Any] = ToolContext(
        principal=ADA, run_id=run_id, idempotency_key=f"{run_id}:each[2]/pay:3.0+1"
    )
    error = (await registry.call("refund", {"order": 1}, ctx)).error
    assert isinstance(error, ApprovalRequired)
    return error.approval_id


async def test_a_run_is_woken_by_each_decision_and_once_more_if_it_did_not_wait_yet() -> None:
    registry, woken = a_registry(), list[tuple[str, str]]()
    approval, undecided = [await asked_in_a_run(registry, run_id) for run_id in ("r1", "r2")]

    async def wake(run_id: str, approval_id: str) -> None:
        woken.append((run_id, approval_id))
        raise RunNotFound("not here") if len(woken) > 1 else Unavailable("later")

    async def awaited() -> dict[str, list[str]]:
        return {approval: ["r1"], undecided: ["r2"], "forgotten": ["r3"]}

    approvals = Approvals(registry, wake=wake, awaited=awaited)
    await approvals.decide(approval, "deny", principal=LOCAL)
    await approvals.catch_up()

    assert (await approvals.get(approval, principal=LOCAL)).node_id == "each[2]/pay"
    assert woken[0] == ("r1", approval)
    assert sorted(woken[1:]) == [("r1", approval), ("r3", "forgotten")]


@pytest.mark.timeout(60)
async def test_catching_up_looks_through_every_page_of_what_is_undecided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(service, "_PAGE", 2)
    registry, woken = a_registry(), list[str]()
    ids = [await asked_in_a_run(registry, f"r{number}") for number in range(5)]

    async def wake(_run_id: str, approval_id: str) -> None:
        woken.append(approval_id)

    async def awaited() -> dict[str, list[str]]:
        return {approval: ["r"] for approval in ids}

    await Approvals(registry).decide(ids[3], "approve", principal=LOCAL)
    await Approvals(registry, wake=wake, awaited=awaited).catch_up()

    assert woken == [ids[3]]


async def test_it_looks_through_its_approvals_from_time_to_time() -> None:
    clock = FakeClock()
    registry = a_registry(now=clock.time)
    approvals = Approvals(registry)
    approval = await asked(registry)
    clock.advance(24 * 3600)
    watching = asyncio.create_task(approvals.watch(0.001))
    for _ in range(1000):
        await asyncio.sleep(0.001)
        if (await registry.environment.approvals.expire()) == []:
            break
    watching.cancel()
    await asyncio.wait([watching])

    assert (await approvals.get(approval, principal=LOCAL)).state == "expired"


async def test_without_a_query_all_are_listed() -> None:
    registry = a_registry()
    id_ = await asked(registry)

    page = await Approvals(registry).list(principal=LOCAL)

    assert [approval.id for approval in page.approvals] == [id_]


async def test_a_decision_that_cannot_be_proved_is_not_taken() -> None:
    proved: list[AuditEntry] = []

    async def prove(entry: AuditEntry) -> None:
        proved.append(entry)
        if len(proved) == 1:
            raise AuditUnavailable("the disk is full")

    registry = a_registry()
    approvals, approval = Approvals(registry, prove=prove), await asked(registry)
    with pytest.raises(AuditUnavailable):
        await approvals.decide(approval, "approve", principal=EVE)
    before = await approvals.get(approval, principal=LOCAL)
    await approvals.decide(approval, "deny", principal=EVE)
    with pytest.raises(ApprovalDecided):
        await approvals.decide(approval, "approve", principal=EVE)

    assert (before.state, (await approvals.get(approval, principal=LOCAL)).state) == (
        "pending",
        "denied",
    )
    assert [(item.kind, item.tenant, item.body["action"]) for item in proved] == [
        ("decision", "acme", "approve"),
        ("decision", "acme", "deny"),
    ]
    assert proved[0].body == {
        "action": "approve",
        "approval_id": approval,
        "tool": "refund",
        "digest": before.digest,
        "principal": "ada",
        "by": "eve",
    }
