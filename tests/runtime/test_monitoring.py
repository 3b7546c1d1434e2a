"""What is told of runs over restarts: each step once, each decision heard."""

import asyncio
import json
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from pegboard import Pegboard, tool
from pegboard.core.graph import Edge, Graph, Node
from pegboard.core.ports.approval_store import ApprovalQuery
from pegboard.core.principal import LOCAL
from pegboard.features.runs import RunView
from pegboard.runtime import Settings
from pegboard.runtime.wiring.offline import open_offline

PAID: list[int] = []
BOARD = "sources: []\npolicy: {ask: [pay]}\n"


@tool(effect="read")
async def look(order: int) -> int:
    """Look an order up."""
    return order


@tool(effect="write")
async def pay(order: int) -> int:
    """Pay for an order."""
    PAID.append(order)
    return order


GRAPH = Graph(
    nodes=(
        Node(id="look", tool="look", input={"order": 7}),
        Node(id="never", tool="look", input={"order": 7}, when="steps.look.output == 8",
             edges=(Edge(node="look"),)),
        Node(id="pay", tool="pay", input={"order": "$.steps.look.output"},
             edges=(Edge(node="look"),)),
        Node(id="again", tool="look", input={"order": "$.steps.pay.output"},
             edges=(Edge(node="pay"),)),
    )
)  # fmt: skip


def board_of(folder: Path) -> Pegboard:
    (folder / "board.yaml").write_text(BOARD)
    settings = Settings(
        board=folder / "board.yaml", data=folder / "data", log=str(folder / "log.jsonl")
    )
    return Pegboard(tools=[look, pay], metrics=True, settings=settings)


async def counted(board: Pegboard, name: str, **labels: str) -> float:
    """The value of a sample; zero where there is none."""
    text = (await board.render_metrics()).decode()
    found = (
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name and sample.labels == labels
    )
    return next(found, 0.0)


async def ended(board: Pegboard, run_id: str) -> RunView:
    """The run once it has ended, whoever lets it go on."""
    await board.runs.follow()
    async for _ in board.runs.events(run_id, principal=LOCAL):
        pass
    return await board.runs.get(run_id, principal=LOCAL)


def told(folder: Path, event: str) -> list[str]:
    """What the log says of steps or runs, in order."""
    lines = map(json.loads, (folder / "log.jsonl").read_text().splitlines())
    return [
        f"{line.get('step', '')} {line['state']}".strip()
        for line in lines
        if line["event"] == event
    ]


async def test_a_run_over_two_processes_tells_each_step_once(tmp_path: Path) -> None:
    PAID.clear()
    steps = "pegboard_run_steps_total"
    async with board_of(tmp_path) as board:
        run = await board.runs.start_graph(GRAPH, principal=LOCAL)
        waits = await board.runs.wait(run.id, principal=LOCAL)
        while await counted(board, steps, outcome="skipped") < 1:  # noqa: ASYNC110 - numbers tell nobody that they change
            await asyncio.sleep(0.01)
        first = await counted(board, steps, outcome="completed")
        open_runs = await counted(board, "pegboard_runs_open", state="waiting")
        pending = await counted(board, "pegboard_approvals_pending")
    async with open_offline(Settings(data=tmp_path / "data")) as store:
        (asked,) = (await store.approvals.list(ApprovalQuery(), principal=LOCAL)).approvals
        await store.approvals.decide(asked.id, "approve", principal=LOCAL)
    async with board_of(tmp_path) as board:
        view = await ended(board, run.id)
        second = await counted(board, steps, outcome="completed")
        skipped = await counted(board, steps, outcome="skipped")
        runs = await counted(board, "pegboard_runs_total", outcome="completed")

    assert [item.approval_id for item in waits.result.pending] == [asked.id]
    assert (open_runs, pending) == (1, 1)
    assert (view.result.state, PAID) == ("completed", [7])
    assert (first, second, skipped, runs) == (1, 2, 0, 1)
    assert told(tmp_path, "step") == [
        "look completed", "never skipped", "pay completed", "again completed",
    ]  # fmt: skip
    assert told(tmp_path, "run") == ["in_progress", "waiting", "in_progress", "completed"]


async def test_decisions_are_counted_where_they_are_made(tmp_path: Path) -> None:
    async with board_of(tmp_path) as board:
        run = await board.runs.start_graph(GRAPH, principal=LOCAL)
        (asked,) = (await board.runs.wait(run.id, principal=LOCAL)).result.pending
        await board.runs.answer(run.id, asked.id, {"answer": "deny"}, principal=LOCAL)
        view = await board.runs.wait(run.id, principal=LOCAL)
        while await counted(board, "pegboard_runs_total", outcome="failed") < 1:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.01)

        assert view.result.state == "failed"
        assert await counted(board, "pegboard_approvals_total", decision="denied") == 1
        assert await counted(board, "pegboard_approvals_asked_total") == 1
        assert await counted(board, "pegboard_approvals_pending") == 0
        assert await counted(board, "pegboard_runs_open", state="waiting") == 0
        assert await counted(board, "pegboard_dropped_events_total", listener="audit") == 0


async def test_metrics_of_a_removed_tool_are_gone_at_the_next_scrape(tmp_path: Path) -> None:
    async with board_of(tmp_path) as board:
        await board.registry.call("look", {"order": 7})
        before = await counted(board, "pegboard_call_duration_seconds_count", tool="look")
        board.registry.remove("look")

        after = await counted(board, "pegboard_call_duration_seconds_count", tool="look")

    assert (before, after) == (1, 0)
