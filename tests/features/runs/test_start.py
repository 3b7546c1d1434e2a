"""Which plan a run belongs to that is started from a document."""

from collections.abc import AsyncIterator

import pytest
from tests.features.runs.test_service import ADA, BOB, Service

from pegboard.core.graph import Graph, Node
from pegboard.core.ports.run_store import RunQuery
from pegboard.core.principal import Principal
from pegboard.errors import ToolNotFound
from pegboard.features.runs.start import RunStarter
from pegboard.graphs import read_graph, write_graph
from pegboard.planning import PlanRequest
from pegboard.storage import MemoryStorage

STEPS = {"steps": [{"step_id": "a", "tool_id": "echo", "input_mapping": {}}]}


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    async with MemoryStorage() as storage:
        made = Service(storage)
        yield made
        await made.durability.close()
        await made.feed.close()


async def plan_id_of(service: Service, graph: Graph, who: Principal = ADA) -> str | None:
    view = await service.runs.start_graph(graph, principal=who)
    (listed,) = [
        run
        for run in (await service.runs.list(RunQuery(), principal=who)).runs
        if run.id == view.id
    ]
    assert listed.to_dict()["plan_id"] == view.to_dict()["plan_id"]
    return view.to_dict()["plan_id"]


async def test_a_document_that_is_a_kept_plan_is_run_as_that_plan(service: Service) -> None:
    made = await service.plans.make(PlanRequest(goal="echo"), principal=ADA)
    document = write_graph(made.graph)

    assert await plan_id_of(service, read_graph(document)) == made.id


async def test_a_plan_that_differs_from_the_kept_one_is_not_that_plan(service: Service) -> None:
    made = await service.plans.make(PlanRequest(goal="echo"), principal=ADA)

    assert await plan_id_of(service, made.graph.replace(concurrency=2)) is None


async def test_nobody_runs_a_plan_that_is_not_theirs_to_see(service: Service) -> None:
    made = await service.plans.make(PlanRequest(goal="echo"), principal=ADA)

    assert await plan_id_of(service, made.graph, BOB) is None


@pytest.mark.parametrize(
    ("document", "plan_id"),
    [({**STEPS, "plan_id": "mine"}, "mine"), (STEPS, None)],
    ids=["an id of its own", "no id"],
)
async def test_a_document_that_nobody_keeps_has_the_id_that_it_says(
    service: Service, document: dict[str, object], plan_id: str | None
) -> None:
    assert await plan_id_of(service, read_graph(document)) == plan_id


async def test_a_run_of_a_plan_is_one_of_it(service: Service) -> None:
    made = await service.plans.make(PlanRequest(goal="echo"), principal=ADA)
    view = await service.runs.start_plan(made.id, principal=ADA)
    found = await service.runs.list(RunQuery(plan_id=made.id), principal=ADA)

    assert [run.id for run in found.runs] == [view.id]


async def test_a_call_of_what_there_is_not_is_no_run(service: Service) -> None:
    starting = RunStarter(service.registry, service.store, service.durability)  # type: ignore[arg-type]  # nothing is played

    with pytest.raises(ToolNotFound):
        await starting.prepare_call("nothing", {}, ADA)
    assert (await starting.resolve_plan(Graph(nodes=(Node(id="a"),)), principal=ADA)).id == ""
