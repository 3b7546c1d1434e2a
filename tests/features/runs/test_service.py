"""Runs of callers: each sees their own, and what they ask is answered."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest
from msgspec import structs

from pegboard import Policy, SchemaTool, ToolContext, ToolRegistry, ToolSpec
from pegboard.core.graph import Edge, Graph, Node, NodeState, Wait
from pegboard.core.ports.clock import Clock, SystemClock
from pegboard.core.ports.run_store import RunQuery
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.tool import Effect
from pegboard.durability import StoredDurability
from pegboard.errors import PlanNotFound, RunNotFound
from pegboard.execution import CallEnvironment
from pegboard.features.approvals import Approvals
from pegboard.features.permissions import may_see_run
from pegboard.features.plans import Plans
from pegboard.features.runs import RunFeed, Runs, RunView
from pegboard.features.runs.answers import RunAnswers, find_awaited_approvals, find_end_reason
from pegboard.features.runs.event_feed import read_events
from pegboard.features.runs.start import call_graph, run_id_for
from pegboard.graphs import GraphRunner
from pegboard.graphs.expressions.references import resolve
from pegboard.graphs.failover import SubstituteFinder
from pegboard.planning import Planner, PlanRequest
from pegboard.storage import MemoryStorage

ADA = Principal(id="ada", tenant="acme")
BOB = Principal(id="bob", tenant="acme")
BOSS = Principal(
    id="boss", tenant="acme", scopes=frozenset({"runs:all", "plans:all", "approvals:decide"})
)
OTHER = Principal(id="boss", tenant="other", scopes=BOSS.scopes)
OPERATOR = Principal(id="op", tenant="other", scopes=frozenset({"operator"}))
WAITING = Graph(nodes=(Node(id="ask", kind="wait", wait=Wait(question="?")),))


class Service:
    """The two services on one store in memory."""

    def __init__(
        self,
        storage: MemoryStorage,
        *,
        heal: SubstituteFinder | None = None,
        clock: Clock | None = None,
    ) -> None:
        clock = clock or SystemClock()
        kit = CallEnvironment(
            policy=Policy(ask=("pay",)), now=clock.time, monotonic=clock.monotonic
        )
        self.storage = storage
        self.store = storage.runs
        self.registry = ToolRegistry(environment=kit)
        for name, effect in (("echo", Effect.READ), ("pay", Effect.WRITE)):
            spec = ToolSpec(
                name=name, description=name, effect=effect, input_schema={"type": "object"}
            )
            self.registry.add(SchemaTool(spec=spec, run=self._run))
        self.feed = RunFeed(self.store, tell=self.registry.environment.emitter.emit)
        self.registry.environment.emitter.add(self.feed)
        self.durability = StoredDurability(self.store, owner="us", every=0.02, now=clock.time)
        runner = GraphRunner(self.registry, durability=self.durability, heal=heal)
        self.plans = Plans(self.registry, self.store, planner=Planner(self.registry))
        self.answers = RunAnswers(self.registry, self.store, runner)
        self.approvals = Approvals(
            self.registry,
            wake=self.answers.notify_decision,
            awaited=partial(find_awaited_approvals, self.store),
            ended=partial(find_end_reason, self.store),
        )
        self.runs = Runs(
            self.registry,
            self.store,
            runner=runner,
            plans=self.plans,
            feed=self.feed,
            follow=self.durability.follow,
            approvals=self.approvals,
        )

    async def _run(self, arguments: Any, ctx: ToolContext[Any]) -> Any:
        await asyncio.sleep(0.01)
        return dict(arguments)


async def until_ended(service: Service, run_id: str) -> RunView:
    """The run once it has ended."""
    for _ in range(500):
        view = await service.runs.get(run_id, principal=ADA)
        if view.run.finished_at is not None:
            return view
        await asyncio.sleep(0.01)
    raise AssertionError(f"{run_id} does not end")


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    async with MemoryStorage() as storage:
        made = Service(storage)
        yield made
        await made.durability.close()
        await made.feed.close()


async def test_a_run_is_seen_by_who_started_it_and_by_who_sees_all_of_the_tenant(
    service: Service,
) -> None:
    view = await service.runs.start_graph(WAITING, principal=ADA)
    await service.runs.wait(view.id, principal=ADA)
    lists = {
        who.id + who.tenant: len((await service.runs.list(RunQuery(), principal=who)).runs)
        for who in (ADA, BOB, BOSS, OTHER, OPERATOR)
    }

    assert lists == {"adaacme": 1, "bobacme": 0, "bossacme": 1, "bossother": 0, "opother": 1}
    assert (await service.runs.get(view.id, principal=BOSS)).id == view.id
    assert (await service.runs.get(view.id, principal=OPERATOR)).id == view.id
    assert may_see_run(ADA, view.run)
    assert (await service.runs.list(RunQuery(principal="ada"), principal=BOB)).runs == ()
    for who in (BOB, OTHER):
        for wish in (service.runs.get, service.runs.cancel, service.runs.pause):
            with pytest.raises(RunNotFound):
                await wish(view.id, principal=who)


async def test_a_stored_run_is_found_by_who_may_read_it(service: Service) -> None:
    view = await service.runs.start_graph(WAITING, principal=ADA)
    await service.runs.wait(view.id, principal=ADA)
    key = structs.replace(ADA, user="ada", key="key_1", scopes=frozenset({"/tools:read"}))

    found = await service.runs.find_stored(view.id, principal=ADA)

    assert found == await service.store.get(view.id)
    assert await service.runs.find_stored(view.id, principal=BOB) is None
    assert await service.runs.find_stored("", principal=key) is None


async def test_a_plan_is_seen_and_run_by_who_made_it_alone(service: Service) -> None:
    made = await service.plans.make(PlanRequest(goal="echo"), principal=ADA)

    assert (await service.plans.get(made.id, principal=BOSS)).id == made.id
    for who in (BOB, OTHER):
        with pytest.raises(PlanNotFound):
            await service.runs.start_plan(made.id, principal=who)


async def test_an_approval_is_waited_for_and_told_when_it_is_decided(service: Service) -> None:
    paying = Graph(nodes=(Node(id="pay", tool="pay"),))
    first = await service.runs.start_graph(paying, principal=ADA)
    waits = await service.runs.wait(first.id, principal=ADA)
    (asked,) = waits.result.pending
    await service.answers.notify_decision(first.id, "another")
    still = await service.runs.wait(first.id, principal=ADA)
    assert await find_awaited_approvals(service.store) == {asked.approval_id: [first.id]}
    await service.approvals.decide(asked.approval_id, "deny", principal=BOSS)
    final = await service.runs.wait(first.id, principal=ADA)

    assert asked.kind == "approval"
    assert still.result.state is NodeState.WAITING
    assert (final.result.state, final.result.error and final.result.error["code"]) == (
        NodeState.FAILED,
        "access_denied",
    )


async def test_what_waits_within_a_step_is_named_by_its_path(service: Service) -> None:
    inner = Graph(nodes=(Node(id="ask", kind="wait", wait=Wait(question="?")),))
    graph = Graph(
        nodes=(
            Node(id="outer", kind="graph", graph=inner),
            Node(id="later", tool="echo", edges=(Edge(node="outer"),)),
        )
    )
    view = await service.runs.start_graph(graph, principal=ADA)
    seen = await service.runs.wait(view.id, principal=ADA)

    assert [item.step for item in seen.result.pending] == ["outer/ask"]
    assert {event.kind for event in await read_events(service.store, view.id)} == {
        "run_started",
        "node_changed",
    }


def test_no_text_of_a_call_is_taken_for_a_path() -> None:
    given = {"a": "$.x", "b": ["$$.y", {"c": "$5"}], "d": 1, "e": "{{ params.f }}"}

    graph = call_graph("echo", given, seconds=2)

    (node,) = graph
    written = {"a": "$$.x", "b": ["$$$.y", {"c": "$5"}], "d": 1, "e": "{{ '{{' }} params.f }}"}
    assert node.input == written
    assert resolve(node.input, {}) == given
    assert graph.timeout == 2


def test_a_key_is_a_run_of_its_caller_alone() -> None:
    ids = {run_id_for(who, "k") for who in (ADA, BOB, OTHER)}

    assert len(ids) == 3
    assert run_id_for(ADA, "k") == run_id_for(ADA, "k")
    assert run_id_for(ADA, "") == ""


async def test_a_document_in_place_of_a_graph_is_refused_with_what_to_write(
    service: Service,
) -> None:
    document: Any = {"nodes": [{"id": "ask"}]}

    with pytest.raises(
        TypeError, match=r"takes a Graph, not a dict: read a document with read_gra"
    ):
        await service.runs.start_graph(document, principal=LOCAL)
