"""A large run is started, looked at and cancelled while the rest of the process goes on."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest
from tests.features.runs.test_service import Service

from pegboard.core.graph import Edge, Graph, Node, NodeState, Wait
from pegboard.core.principal import LOCAL
from pegboard.features.runs import Runs, RunView
from pegboard.features.runs.views import view_run
from pegboard.storage import MemoryStorage

COUNT = 2_000
BEHIND = Graph(
    nodes=(
        Node(id="ask", kind="wait", wait=Wait(question="?")),
        *(
            Node(id=f"n{number}", kind="value", input={"n": number}, edges=(Edge(node="ask"),))
            for number in range(COUNT)
        ),
    )
)


async def turns_during(work: Awaitable[Any]) -> tuple[Any, int]:
    """What came out, and how often others had a turn."""
    turns, is_over = 0, False

    async def beat() -> None:
        nonlocal turns
        while not is_over:
            await asyncio.sleep(0)
            if not is_over:
                turns += 1

    beating = asyncio.create_task(beat())
    try:
        found = await work
    finally:
        is_over = True
        await beating
    return found, turns


async def to_its_end(runs: Runs, run_id: str) -> RunView:
    """Cancel a run, however long the machine takes for it."""
    await runs.cancel(run_id, principal=LOCAL)
    return await runs.wait(run_id, principal=LOCAL)


async def answered(runs: Runs, run_id: str, pending: str) -> RunView:
    """Answer what a run waits for: as much of it as the machine likes is done before that ends."""
    await runs.answer(run_id, pending, "yes", principal=LOCAL)
    return await runs.wait(run_id, principal=LOCAL)


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_a_large_run_is_started_seen_and_cancelled_while_others_go_on() -> None:
    async with MemoryStorage() as storage:
        service = Service(storage)
        started, at_start = await turns_during(service.runs.start_graph(BEHIND, principal=LOCAL))
        await service.runs.wait(started.id, principal=LOCAL)
        seen, at_look = await turns_during(view_run(storage.runs, started.run, now=1.0))
        cancelled, at_end = await turns_during(to_its_end(service.runs, started.id))
        await service.durability.close()
        await service.feed.close()

    assert min(at_start, at_look) > 3
    assert at_end > COUNT / 100
    assert len(seen.result.nodes) == COUNT + 1
    assert cancelled.result.state is NodeState.CANCELLED
    assert {run.state for run in cancelled.result.nodes} == {NodeState.CANCELLED}


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_very_many_events_are_kept_in_parts_while_others_go_on() -> None:
    async with MemoryStorage() as storage:
        service = Service(storage)
        run = await service.runs.start_graph(BEHIND, principal=LOCAL)
        (asked,) = (await service.runs.wait(run.id, principal=LOCAL)).result.pending
        ended, turns = await turns_during(answered(service.runs, run.id, asked.id))
        kept = {
            event.data["node"]
            async for event in service.runs.events(run.id, principal=LOCAL)
            if event.data.get("state") == "completed" and "node" in event.data
        }
        await service.durability.close()
        await service.feed.close()

    assert ended.result.state is NodeState.COMPLETED
    assert turns > COUNT / 100
    assert len(kept) == COUNT + 1
