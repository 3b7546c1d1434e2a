"""A board opens without its slow sources, and has their tools when they answer."""

import asyncio
import importlib
import time
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.slow import dead_port, late_api, silent_port
from tests.sources.mcp.opening import children

from pegboard import ToolContext, tool
from pegboard.core.graph import Graph, Node
from pegboard.core.principal import LOCAL
from pegboard.errors import GraphInvalid, SourceUnavailable
from pegboard.runtime import Pegboard, Settings

# a thread, where the source would load it, has no room for what pytest makes of its plugins
importlib.import_module("pegboard.sources.mcp.transport.transports")

HEAD = "network: {allow_hosts: [127.0.0.1]}\n"


@tool(effect="read", dependencies=("late__stock",))
def report() -> str:
    """Needs what comes late."""
    return "reported"


@tool(effect="read")
async def relay(*, ctx: ToolContext[Any]) -> Any:
    """Call what comes late."""
    return (await ctx.call("late__stock", {})).unwrap()


def _written(folder: Path, *sources: str, more: str = "") -> Path:
    path = folder / "board.yaml"
    path.write_text(HEAD + "sources:\n" + "".join(f"  - {line}\n" for line in sources) + more)
    return path


def _status(board: Pegboard, name: str) -> str:
    return next(state.status for state in board.sources if state.name == name)


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_a_board_with_hung_and_dead_sources_opens_at_once(tmp_path: Path) -> None:
    with silent_port() as silent, dead_port() as dead:
        path = _written(
            tmp_path,
            "{kind: builtin, name: std}",
            f'{{kind: openapi, name: silent, config: {{document: "http://127.0.0.1:{silent}/x"}}}}',
            f'{{kind: openapi, name: dead, config: {{document: "http://127.0.0.1:{dead}/"}}}}',
            '{kind: mcp, name: hung, config: {command: sleep, args: ["600"], connect_timeout: 60}}',
            f'{{kind: mcp, name: mute, config: {{url: "http://127.0.0.1:{silent}/mcp"}}}}',
        )
        began = time.monotonic()
        async with Pegboard(path, settings=Settings(open_patience=1.5, list_timeout=12)) as board:
            opened = time.monotonic() - began
            own = _status(board, "std")
            while _status(board, "dead") == "pending":  # noqa: ASYNC110 - it fails by itself
                await asyncio.sleep(0.01)
            early = {state.name: (state.status, state.reason) for state in board.sources}
            names = set(board.registry.names())
            calls = [await board.call("std__calculator", {"expression": "6*7"}) for _ in range(50)]
            meanwhile = {state.status for state in board.sources if state.name in early}
            missed = await board.call("hung__x", {}, ToolContext(deadline=board.monotonic() + 0.2))
            with pytest.raises(SourceUnavailable, match="is pending: no answer yet"):
                board.find("hung__x")
            await board.wait_for_sources()
            settled = time.monotonic() - began
            late = {state.name: (state.status, state.reason) for state in board.sources}
            failed = await board.call("hung__x")

    assert opened < 10
    assert own == "ok"
    assert {name: status for name, (status, _) in early.items()} == {
        "std": "ok",
        "silent": "pending",
        "dead": "failed",
        "hung": "pending",
        "mute": "pending",
    }
    assert early["hung"][1].endswith(" s; its tools appear when it answers")
    assert "std__calculator" in names
    assert {call.unwrap() for call in calls} == {42}
    assert "pending" in meanwhile  # no call has waited for those that hang
    assert isinstance(missed.error, SourceUnavailable)
    assert "its source 'hung' is pending: no answer yet after " in str(missed.error)
    assert {late[name][0] for name in ("silent", "dead", "hung", "mute")} == {"failed"}
    assert late["hung"][1] == "no answer within 12 s"
    assert settled < 36  # four that queue would take longer
    assert "its source 'hung' failed: no answer within 12 s" in str(failed.error)
    assert not children()


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_closing_a_board_whose_sources_have_not_answered_leaves_nothing(
    tmp_path: Path,
) -> None:
    with silent_port() as silent:
        path = _written(
            tmp_path,
            f'{{kind: openapi, name: silent, config: {{document: "http://127.0.0.1:{silent}/x"}}}}',
            '{kind: mcp, name: hung, config: {command: sleep, args: ["600"], connect_timeout: 60}}',
        )
        before = asyncio.all_tasks()
        async with Pegboard(path, settings=Settings(open_patience=0, list_timeout=60)) as board:
            waiting = [
                asyncio.create_task(board.wait_for("hung__x")),
                asyncio.create_task(board.call("silent__x")),
            ]
            await asyncio.sleep(0.3)  # the child runs by now
        await asyncio.wait(waiting)

    assert waiting[0].exception() is not None
    assert asyncio.all_tasks() == before
    assert not children()


async def test_tools_that_come_late_are_called_by_whoever_waited(tmp_path: Path) -> None:
    async with late_api() as api:
        path = _written(tmp_path, api.source, more="policy: {deny: [late__refill]}\n")
        told: list[str] = []
        async with Pegboard(
            path, tools=[relay], settings=Settings(open_patience=0.05, list_timeout=60)
        ) as board:
            board.registry.changes.listen(lambda kind, _: told.append(kind))
            waiting = [
                asyncio.create_task(board.call(name, {}))
                for name in ("late__stock", "late__stock_v1", "relay", "late__refill", "late__none")
            ]
            batch = asyncio.create_task(board.registry.call_many([("late__stock", {})]))
            cancelled = asyncio.create_task(board.call("late__stock", {}))
            await asyncio.sleep(0.1)
            cancelled.cancel()
            early = (board.registry.names(), [task.done() for task in waiting])
            api.answers.set()
            results = [await task for task in waiting]
            [one] = await batch
            kinds = set(told)
            await board.flush()
            records = (await board.history.calls(_everything())).calls

    assert early == (("board__read_result", "relay"), [False] * 5)
    assert [result.unwrap() for result in (*results[:3], one)] == [7, 7, 7, 7]
    assert (results[3].error.code, results[4].error.code) == ("access_denied", "tool_not_found")  # type: ignore[union-attr]  # both are errors
    assert "tools" in kinds
    by_status = [(call["tool"], call["status"]) for call in records]
    assert by_status.count(("late__stock", "completed")) == 4
    assert by_status.count(("late__stock", "cancelled")) == 1


def _everything() -> Any:
    from pegboard.core.ports.call_stores import HistoryQuery

    return HistoryQuery(limit=100)


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_the_graph_takes_in_what_comes_late_and_keeps_it_over_a_restart(
    tmp_path: Path,
) -> None:
    more = "graph: {edges: [[late__refill, late__stock]]}\n"
    settings = Settings(open_patience=0.05, list_timeout=60, data=tmp_path / "data")
    async with late_api() as api:
        path = _written(tmp_path, api.source, more=more)
        async with Pegboard(path, tools=[report], settings=settings) as board:
            early = board.dependencies.current
            api.answers.set()
            await board.wait_for_sources()
            while "late__refill_v1" not in board.dependencies.current:  # noqa: ASYNC110 - the graph follows by itself
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.5)
            late = board.dependencies.current
            plan = board.plans.check(
                {"nodes": [{"id": "a", "tool": "late__stock"}]}, principal=LOCAL
            )

        api.answers.clear()
        async with Pegboard(path, tools=[report], settings=settings) as board:
            await asyncio.sleep(0.5)
            again = board.dependencies.current
            health = board.tool_health.tool("report_v1")
            api.answers.set()
            await board.wait_for_sources()
            await asyncio.sleep(0.5)
            last = board.dependencies.current

    assert early.prerequisites("report_v1") == ("late__stock",)
    assert set(late.prerequisites("report_v1", transitive=True)) == {
        "late__refill_v1",
        "late__stock_v1",
    }
    assert "late__stock" not in late
    assert plan.is_runnable
    assert (again, last) == (late, late)
    assert health.status.value == "degraded"
    assert "late__stock_v1" in health.reason


async def test_a_stored_registration_never_takes_a_name_that_a_late_source_may_bring(
    tmp_path: Path,
) -> None:
    entry = {"tool_id": "late__stock_v1", "type": "RestAPI", "url": "http://127.0.0.1:9/"}
    settings = Settings(open_patience=0.05, list_timeout=60, data=tmp_path / "data")
    async with late_api() as api:
        plain = _written(tmp_path, "{kind: builtin, name: std}")
        async with Pegboard(plain, settings=settings) as board:
            await board.catalogue.register([entry], principal=LOCAL)
            before = board.registry.find("late__stock")
        path = _written(tmp_path, api.source)
        async with Pegboard(path, settings=settings) as board:
            early = board.registry.find("late__stock")
            api.answers.set()
            tool_of_source = await board.wait_for("late__stock")
            result = await board.call("late__stock")

    assert before is not None
    assert early is None
    assert tool_of_source.spec.source == "late"
    assert result.unwrap() == 7


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_a_run_begins_when_its_tools_are_there_and_a_plan_says_what_is_missing(
    tmp_path: Path,
) -> None:
    graph = Graph(nodes=(Node(id="a", tool="late__stock"),), output="$.steps.a.output")
    with silent_port() as silent:
        async with late_api() as api:
            path = _written(
                tmp_path,
                api.source,
                f'{{kind: openapi, name: silent, config: {{document: "http://127.0.0.1:{silent}/"}}}}',
            )
            async with Pegboard(
                path, settings=Settings(open_patience=0.05, list_timeout=9)
            ) as board:
                checked = board.plans.check(
                    {"nodes": [{"id": "a", "tool": "silent__x"}]}, principal=LOCAL
                )
                starting = asyncio.create_task(board.runs.start_graph(graph, principal=LOCAL))
                calling = asyncio.create_task(
                    board.runs.start_call("late__stock", {}, principal=LOCAL)
                )
                await asyncio.sleep(0.1)
                early = starting.done() or calling.done()
                api.answers.set()
                views = [
                    await board.runs.wait((await task).id, principal=LOCAL)
                    for task in (starting, calling)
                ]
                with pytest.raises(GraphInvalid, match="no answer within 9 s"):
                    await board.runs.start_graph(
                        Graph(nodes=(Node(id="a", tool="silent__x"),)), principal=LOCAL
                    )

    [fault] = checked.preview.faults
    assert fault.message.startswith("'silent__x' is unavailable: its source 'silent' is pending")
    assert not early
    assert [view.result.output for view in views] == [7, 7]


async def test_a_reload_waits_for_a_new_slow_source_no_longer_than_opening(tmp_path: Path) -> None:
    async with late_api() as api:
        path = _written(tmp_path, "{kind: builtin, name: std}")
        async with Pegboard(path, settings=Settings(open_patience=0.2, list_timeout=60)) as board:
            _written(tmp_path, "{kind: builtin, name: std}", api.source)
            await board.reload()
            pending = [state.status for state in board.sources]
            await board.reload()  # nobody asks it twice
            asked = api.asked
            _written(tmp_path, "{kind: builtin, name: std}")
            await board.reload()
            gone = [state.name for state in board.sources]
            _written(tmp_path, api.source)
            await board.reload()
            api.answers.set()
            result = await board.call("late__stock")

    assert pending == ["ok", "pending"]
    assert asked == 1
    assert gone == ["std"]
    assert result.unwrap() == 7
