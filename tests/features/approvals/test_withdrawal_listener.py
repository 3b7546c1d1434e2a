"""What a run has asked is taken back as soon as it has ended."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.features.approvals.test_service import Heard
from tests.storage.test_approvals import an_approval

from pegboard import ToolContext, ToolRegistry, tool
from pegboard.core.event import RunFinished
from pegboard.core.graph import Graph, Node
from pegboard.core.ports.approval_store import Approval
from pegboard.core.principal import LOCAL
from pegboard.core.stores.memory_approvals import MemoryApprovals
from pegboard.errors import Unavailable
from pegboard.execution import CallEnvironment
from pegboard.execution.emitter import Emitter
from pegboard.features.approvals import Approvals, ApprovalWithdrawalListener
from pegboard.runtime import Pegboard


class Failing(MemoryApprovals):
    """A store that does not answer at first."""

    failures = 1

    async def withdraw(self, run_id: str, *, by: str, note: str) -> list[Approval]:
        if self.failures:
            self.failures -= 1
            raise Unavailable("The store is away.")
        return list(await super().withdraw(run_id, by=by, note=note))


@pytest.fixture
async def watched() -> AsyncIterator[tuple[Approvals, ApprovalWithdrawalListener, Heard]]:
    heard = Heard()
    store = Failing(now=lambda: 0.0)
    for name in ("cancelled", "failed", "completed"):
        await store.ask(an_approval(name, run_id=f"run {name}", expires_at=None))
    approvals = Approvals(
        ToolRegistry(environment=CallEnvironment(approvals=store, emitter=Emitter([heard])))
    )
    withdrawing = ApprovalWithdrawalListener(approvals)
    watching = asyncio.create_task(withdrawing.watch())
    yield approvals, withdrawing, heard
    watching.cancel()
    await asyncio.wait([watching])


def finished(state: str) -> RunFinished:
    run_id = f"run {state}"
    return RunFinished(run_id=run_id, graph="g", state=state, started_at=0.0, duration_ms=1.0)


async def test_an_end_takes_back_what_was_asked_and_a_store_that_is_away_stops_nothing(
    watched: tuple[Approvals, ApprovalWithdrawalListener, Heard],
) -> None:
    approvals, withdrawing, heard = watched
    for state in ("failed", "completed", "failed", "cancelled"):
        withdrawing.on_event(finished(state))
    for _ in range(50):
        await asyncio.sleep(0)
    kept = {
        name: await approvals.get(name, principal=LOCAL)
        for name in ("cancelled", "failed", "completed")
    }

    assert heard.states == ["withdrawn"] * 3
    assert {name: (item.state, item.note) for name, item in kept.items()} == {
        "cancelled": ("withdrawn", "the run was cancelled"),
        "failed": ("withdrawn", "the run has failed"),
        "completed": ("withdrawn", "the run has ended"),
    }


@tool(effect="write")
async def pay() -> str:
    """Pay."""
    return "paid"


@tool(effect="write")
async def try_to_pay(*, ctx: ToolContext[Any]) -> str:
    """Ask for a payment, and go on without it."""
    answer = await ctx.call("pay", {})
    return "asked" if answer.is_error else "paid"


ASKING = Graph(nodes=(Node(id="pay", tool="pay"),))
GOING_ON = Graph(nodes=(Node(id="try", tool="try_to_pay"),))


@pytest.mark.parametrize(
    ("graph", "note"),
    [(ASKING, "the run was cancelled"), (GOING_ON, "the run has ended")],
    ids=["cancelled", "completed"],
)
async def test_a_board_takes_back_at_once_what_an_ended_run_has_asked(
    graph: Graph, note: str, tmp_path: Path
) -> None:
    path = tmp_path / "board.yaml"
    path.write_text("sources: []\npolicy: {ask: [pay]}\n")
    async with Pegboard(path, tools=[pay, try_to_pay]) as board:
        view = await board.runs.start_graph(graph, principal=LOCAL)
        seen = await board.runs.wait(view.id, principal=LOCAL)
        if graph is ASKING:
            assert seen.result.state == "waiting"
            await board.runs.cancel(view.id, principal=LOCAL)
        page = await board.approvals.list(principal=LOCAL)
        while page.approvals[0].state == "pending":
            await asyncio.sleep(0.01)
            page = await board.approvals.list(principal=LOCAL)

    assert [(item.tool, item.state, item.note) for item in page.approvals] == [
        ("pay", "withdrawn", note)
    ]
