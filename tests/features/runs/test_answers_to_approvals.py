"""An answer to a run that waits for an approval decides the approval: there is one way."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.execution.made import Heard, virtually
from tests.features.runs.test_service import ADA, BOSS, Service, until_ended

from pegboard import SchemaTool, ToolContext, ToolSpec
from pegboard.core.event import ApprovalChanged, BoardChanged
from pegboard.core.graph import Graph, Node
from pegboard.core.ports.approval_store import ApprovalQuery
from pegboard.core.ports.durability import CONTROL, Signal
from pegboard.core.principal import LOCAL
from pegboard.core.run import PendingStep
from pegboard.core.tool import Effect
from pegboard.errors import AccessDenied, ApprovalDecided, InvalidRequest
from pegboard.features.runs.answers import find_awaited_approvals, find_end_reason
from pegboard.storage import MemoryStorage
from pegboard.testing import FakeClock

PAYING = Graph(nodes=(Node(id="pay", tool="pay"),))


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    async with MemoryStorage() as storage:
        made = Service(storage)
        yield made
        await made.durability.close()
        await made.feed.close()


async def waiting(service: Service, graph: Graph = PAYING) -> tuple[str, PendingStep]:
    """A run of Ada's that waits, and the first thing that it waits for."""
    view = await service.runs.start_graph(graph, principal=ADA)
    seen = await service.runs.wait(view.id, principal=ADA)
    return view.id, seen.result.pending[0]


async def test_approve_decides_the_approval_and_the_run_goes_on(service: Service) -> None:
    run_id, asked = await waiting(service)
    answer = {"answer": "approve", "note": "by phone"}
    await service.runs.answer(run_id, asked.id, answer, principal=BOSS)
    final = await service.runs.wait(run_id, principal=ADA)
    approval = await service.approvals.get(asked.approval_id, principal=LOCAL)

    assert final.result.state == "completed"
    assert (approval.state, approval.decided_by, approval.note) == ("used", "boss", "by phone")


async def test_deny_fails_the_step_with_the_note(service: Service) -> None:
    run_id, asked = await waiting(service)
    answer = {"answer": "deny", "note": "too much"}
    await service.runs.answer(run_id, asked.id, answer, principal=BOSS)
    final = await service.runs.wait(run_id, principal=ADA)

    assert final.result.state == "failed"
    assert final.result.error is not None
    assert "boss refused it: too much" in final.result.error["message"]
    assert (await service.approvals.get(asked.approval_id, principal=LOCAL)).state == "denied"


async def test_who_waits_for_a_run_has_it_hear_what_was_decided_elsewhere(service: Service) -> None:
    run_id, asked = await waiting(service)
    kept = service.registry.environment.approvals
    await kept.decide(asked.approval_id, "approved", by="boss")  # in a process that plays nothing
    final = await service.runs.wait(run_id, principal=ADA)

    assert final.result.state == "completed"


async def test_who_may_not_decide_does_not_decide_by_an_answer(service: Service) -> None:
    run_id, asked = await waiting(service)
    with pytest.raises(AccessDenied, match="approvals:decide"):
        await service.runs.answer(run_id, asked.id, "approve", principal=ADA)

    assert (await service.approvals.get(asked.approval_id, principal=LOCAL)).state == "pending"


@pytest.mark.parametrize("answer", ["yes", {"answer": "edit"}, {}, 7, {"answer": ["approve"]}])
async def test_another_answer_is_refused(service: Service, answer: Any) -> None:
    run_id, asked = await waiting(service)
    with pytest.raises(InvalidRequest, match="one of approve, deny"):
        await service.runs.answer(run_id, asked.id, answer, principal=BOSS)
    wrong = {"answer": "approve", "note": 3}
    with pytest.raises(InvalidRequest, match="note"):
        await service.runs.answer(run_id, asked.id, wrong, principal=BOSS)


async def test_of_two_answers_the_first_holds(service: Service) -> None:
    run_id, asked = await waiting(service)
    given = [
        asyncio.ensure_future(service.runs.answer(run_id, asked.id, word, principal=BOSS))
        for word in ("approve", "deny")
    ]
    await asyncio.wait(given)
    refused = [type(each.exception()) for each in given if each.exception() is not None]
    final = await service.runs.wait(run_id, principal=ADA)

    assert refused == [ApprovalDecided]
    assert final.result.state == "completed"


async def test_nested_calls_that_share_an_approval_each_need_one(service: Service) -> None:
    """Calls within tools have no place in the run of their own: alike ones ask one question."""
    paid: list[str] = []
    once = asyncio.Event()

    async def outer(_arguments: Any, ctx: ToolContext[Any]) -> Any:
        result = (await ctx.call("pay", {})).unwrap()
        paid.append(ctx.call_id)
        once.set()
        return result

    spec = ToolSpec(name="outer", effect=Effect.READ, input_schema={"type": "object"})
    service.registry.add(SchemaTool(spec=spec, run=outer))
    graph = Graph(nodes=(Node(id="a", tool="outer"), Node(id="b", tool="outer")))
    run_id, first = await waiting(service, graph)
    seen = await service.runs.get(run_id, principal=ADA)
    await service.approvals.decide(first.approval_id, "approve", principal=BOSS)
    await once.wait()
    rested = await service.runs.wait(run_id, principal=ADA)
    (second,) = rested.result.pending
    page = await service.approvals.list(ApprovalQuery(state="used"), principal=LOCAL)
    await service.approvals.decide(second.approval_id, "approve", principal=BOSS)
    final = await service.runs.wait(run_id, principal=ADA)

    assert {item.approval_id for item in seen.result.pending} == {first.approval_id}
    assert len(seen.result.pending) == 2
    assert second.approval_id != first.approval_id
    assert [item.id for item in page.approvals] == [first.approval_id]
    assert final.result.state == "completed"
    assert len(paid) == 2


async def test_only_runs_that_wait_are_looked_for(service: Service) -> None:
    run_id, asked = await waiting(service)
    running = await service.runs.start_graph(
        Graph(nodes=(Node(id="echo", tool="echo"),)), principal=ADA
    )
    await service.runs.wait(running.id, principal=ADA)

    assert await find_awaited_approvals(service.store) == {asked.approval_id: [run_id]}


async def test_a_cancelled_run_asks_for_no_approval_any_more(service: Service) -> None:
    run_id, asked = await waiting(service)
    await service.runs.cancel(run_id, principal=ADA)
    inbox = await service.approvals.list(ApprovalQuery(state="pending"), principal=LOCAL)
    kept = await service.approvals.get(asked.approval_id, principal=LOCAL)
    with pytest.raises(ApprovalDecided, match="was withdrawn: the run was cancelled"):
        await service.approvals.decide(asked.approval_id, "approve", principal=BOSS)
    final = await service.runs.wait(run_id, principal=ADA)

    assert not inbox.approvals
    assert (kept.state, kept.decided_by, kept.note) == ("withdrawn", "ada", "the run was cancelled")
    assert final.result.state == "cancelled"
    assert await service.approvals.withdraw_ended() == 0


async def test_who_sees_the_end_of_a_cancelled_run_sees_its_approvals_withdrawn(
    service: Service,
) -> None:
    run_id, _ = await waiting(service)
    heard = Heard()
    service.registry.environment.emitter.add(heard)
    await service.runs.cancel(run_id, principal=ADA)
    states = [event.state for event in heard.events if isinstance(event, ApprovalChanged)]
    actions = [event.action for event in heard.events if isinstance(event, BoardChanged)]

    assert (states, actions) == (["withdrawn"], ["cancelled"])
    assert isinstance(heard.events[0], ApprovalChanged)


@pytest.mark.parametrize("look", ["decide", "withdraw_ended"])
async def test_what_a_crash_has_left_is_withdrawn_later(service: Service, look: str) -> None:
    """The run was told to end, and nobody has come to take back what it asks."""
    run_id, asked = await waiting(service)
    told = Signal(id="c", topic=CONTROL, message="cancel")
    await service.store.signal(run_id, Signal(id="p", topic=CONTROL, message="pause"))
    paused = await find_end_reason(service.store, run_id)
    await service.store.signal(run_id, told)
    if look == "decide":
        with pytest.raises(ApprovalDecided, match="was withdrawn: the run was cancelled"):
            await service.approvals.decide(asked.approval_id, "approve", principal=BOSS)
    else:
        assert await service.approvals.withdraw_ended() == 1
        assert await service.approvals.withdraw_ended() == 0

    assert paused == ""
    assert (await service.approvals.get(asked.approval_id, principal=LOCAL)).state == "withdrawn"


@virtually
async def test_a_failed_run_asks_for_no_approval_any_more(clock: FakeClock) -> None:
    async with MemoryStorage(clock=clock) as storage:
        service = Service(storage, clock=clock)
        graph = Graph(nodes=PAYING.nodes, timeout=0.3)
        run_id, asked = await waiting(service, graph)
        kept = (await service.approvals.get(asked.approval_id, principal=LOCAL)).state
        final = await until_ended(service, run_id)
        with pytest.raises(ApprovalDecided, match="was withdrawn: the run has failed"):
            await service.approvals.decide(asked.approval_id, "approve", principal=BOSS)
        of_none = await find_end_reason(service.store, "nobody's")
        await service.durability.close()
        await service.feed.close()

    assert (kept, final.result.state, of_none) == ("pending", "failed", "")
