"""Large graphs are checked, read and told while the rest of the process goes on."""

import asyncio
import gc
import threading
import time
from collections.abc import Awaitable, Callable, Generator
from typing import Any

import pytest
from tests.graphs.boards import BOARD, HEALTH

from pegboard.concurrency.cooperative import Slices, in_thread, run_at_once, run_cooperatively
from pegboard.core.graph import LARGE, Graph, Node, is_large
from pegboard.core.principal import LOCAL
from pegboard.errors import GraphInvalid
from pegboard.features.plans import Plans
from pegboard.graphs import KINDS, check, preview, read_graph, write_graph
from pegboard.graphs.checks.check import check_in_slices
from pegboard.graphs.checks.context import CheckContext
from pegboard.graphs.documents.read import read_in_thread
from pegboard.graphs.dry_run import preview_in_slices
from pegboard.planning import Planner
from pegboard.storage import MemoryStorage

TERMS = CheckContext(board=BOARD, principal=LOCAL, kinds=KINDS)


def document(count: int, **last: Any) -> dict[str, Any]:
    """A chain of two tools by turns, every tenth with a condition."""
    steps: list[dict[str, Any]] = []
    for number in range(count):
        before = f"s{number - 1}"
        step: dict[str, Any] = {"step_id": f"s{number}", "tool_id": "web__fetch"}
        step["input_mapping"] = {"url": f"$.steps.{before}.output" if number else "u"}
        if number % 2:
            step["tool_id"] = "text__sum"
            step["input_mapping"] = {"text": f"$.steps.{before}.output.content"}
        if number:
            step["depends_on"] = [before]
        if number % 10 == 5:
            step["when"] = f'steps.{before}.state == "completed"'
        steps.append(step)
    return {"steps": [*steps[:-1], steps[-1] | last]}


def parts(told: list[Any]) -> Slices[str]:
    """Work of three parts, of which the second may be done elsewhere."""
    yield None
    told.append((yield threading.get_ident))
    yield None
    return "done"


async def test_the_same_comes_out_at_once_and_in_turns() -> None:
    told: list[Any] = []

    assert run_at_once(parts(told)) == "done"
    assert await run_cooperatively(parts(told), is_large=False) == "done"
    assert await run_cooperatively(parts(told), is_large=True) == "done"
    here = threading.get_ident()
    assert [ident == here for ident in told] == [True, True, False]


async def test_what_a_part_raises_comes_out() -> None:
    def wrong() -> Slices[None]:
        yield lambda: 1 // 0

    for large in (False, True):
        with pytest.raises(ZeroDivisionError):
            await run_cooperatively(wrong(), is_large=large)


async def test_small_work_is_done_here() -> None:
    here = threading.get_ident()

    assert await in_thread(threading.get_ident, is_large=False) == here
    assert await in_thread(threading.get_ident, is_large=True) != here


def test_graphs_within_a_graph_count() -> None:
    small = Graph(nodes=tuple(Node(id=f"n{n}", tool="any__thing") for n in range(LARGE // 2)))
    inner = tuple(Node(id=f"g{n}", kind="graph", graph=small) for n in range(2))

    assert not is_large(small)
    assert is_large(Graph(nodes=inner))


@pytest.mark.parametrize("changed", [{}, {"tool_id": "no__tool"}, {"depends_on": ["nowhere"]}])
async def test_a_large_graph_has_the_faults_that_it_has(changed: dict[str, Any]) -> None:
    graph = read_graph(document(LARGE * 2, **changed))

    faults = await run_cooperatively(check_in_slices(graph, TERMS), is_large=True)
    seen = await run_cooperatively(preview_in_slices(graph, TERMS), is_large=True)

    assert faults == check(graph, board=BOARD)
    assert seen == preview(graph, board=BOARD)
    assert await read_in_thread(document(LARGE * 2, **changed)) == graph


async def test_every_fault_of_a_large_document_is_told() -> None:
    wrong = document(LARGE, tool_id="", depends_on=3)
    wrong["steps"][0]["colour"] = "red"

    with pytest.raises(GraphInvalid) as caught:
        await read_in_thread(wrong)

    last = f"steps.s{LARGE - 1}"
    assert [problem.path for problem in caught.value.problems] == [
        "steps.s0.colour",
        f"{last}.tool_id",
        f"{last}.depends_on",
    ]


async def held(work: Callable[[], Awaitable[Any]]) -> float:
    """For how many seconds of the process's own work nobody else had a turn, at most."""
    longest, ended = 0.0, asyncio.Event()

    async def beat() -> None:
        nonlocal longest
        while not ended.is_set():
            began = time.process_time()
            await asyncio.sleep(0)
            longest = max(longest, time.process_time() - began)

    beating = asyncio.create_task(beat())
    await asyncio.sleep(0)
    await work()
    ended.set()
    await beating
    return longest


@pytest.fixture
def _uncollected() -> Generator[None]:
    """The garbage collector takes what time all other tests have left it to take: not now."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.usefixtures("_uncollected")
async def test_a_graph_of_ten_thousand_nodes_holds_nobody_up() -> None:
    big = document(10_000)
    async with MemoryStorage() as storage:
        plans = Plans(BOARD, storage.runs, planner=Planner(BOARD), health=HEALTH.get)
        longest = await held(lambda: plans.check_in_slices(big, principal=LOCAL))

    assert longest < 0.25  # alone it is 0.02; a busy machine lets threads wait


def test_a_graph_comes_back_as_it_was_read_in_parts() -> None:
    graph = read_graph(document(LARGE * 2))

    assert read_graph(write_graph(graph)) == graph


async def test_the_board_is_asked_by_no_other_thread() -> None:
    asked: set[int] = set()

    def duration(_name: str) -> float:
        asked.add(threading.get_ident())
        return 1.0

    found = await run_cooperatively(
        preview_in_slices(read_graph(document(LARGE)), TERMS, duration), is_large=True
    )

    assert (found.seconds, asked) == (LARGE, {threading.get_ident()})
