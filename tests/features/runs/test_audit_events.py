"""Whoever decides about a run is named for the audit trail, and so is what nobody knows."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.features.runs.test_service import ADA, BOSS, WAITING, Service, until_ended

from pegboard import SchemaTool, ToolContext, ToolSpec
from pegboard.core.event import BoardChanged, Event, digest_of
from pegboard.core.graph import Graph, Node
from pegboard.core.tool import Effect
from pegboard.graphs.failover import Substitute
from pegboard.storage import MemoryStorage

Told = tuple[str, str, str, dict[str, Any]]


class Heard:
    """Who did what to which run."""

    def __init__(self) -> None:
        self.told: list[Told] = []

    def on_event(self, event: Event) -> None:
        if isinstance(event, BoardChanged):
            assert (event.kind, event.tenant) == ("run", "acme")
            self.told.append((event.action, event.subject, event.by, dict(event.detail)))


@pytest.fixture
async def heard() -> Heard:
    return Heard()


@pytest.fixture
async def service(heard: Heard) -> AsyncIterator[Service]:
    async with MemoryStorage() as storage:
        made = Service(storage)
        made.registry.environment.emitter.add(heard)
        yield made
        await made.durability.close()
        await made.feed.close()


async def test_who_pauses_resumes_and_cancels_is_told_once(service: Service, heard: Heard) -> None:
    run_id = (await service.runs.start_graph(WAITING, principal=ADA)).id
    await service.runs.wait(run_id, principal=ADA)
    for steer in (service.runs.pause, service.runs.resume, service.runs.cancel):
        await steer(run_id, principal=BOSS)
    await until_ended(service, run_id)
    await service.runs.cancel(run_id, principal=ADA)  # it has ended: nothing is decided by this

    words = ("paused", "resumed", "cancelled")
    assert heard.told == [(word, run_id, "boss", {}) for word in words]


async def test_of_a_free_answer_only_the_digest_is_told(service: Service, heard: Heard) -> None:
    run_id = (await service.runs.start_graph(WAITING, principal=ADA)).id
    (asked,) = (await service.runs.wait(run_id, principal=ADA)).result.pending
    await service.runs.answer(run_id, asked.id, "my secret", principal=ADA)

    detail = {"step": "ask", "asked": "person", "digest": digest_of(["my secret"])}
    assert heard.told == [("answered", run_id, "ada", detail)]


async def test_a_write_that_was_cut_off_is_told_once_and_who_says_what_happened(
    service: Service, heard: Heard
) -> None:
    begun = asyncio.Event()

    async def slow(_arguments: Any, _ctx: ToolContext[Any]) -> Any:
        begun.set()
        await asyncio.sleep(60)

    spec = ToolSpec(name="send", effect=Effect.WRITE, input_schema={"type": "object"})
    service.registry.add(SchemaTool(spec=spec, run=slow))
    graph = Graph(nodes=(Node(id="send", tool="send"),))
    run_id = (await service.runs.start_graph(graph, principal=ADA)).id
    await begun.wait()
    await service.durability.close()  # the process ends in the middle of the call
    later = Service(service.storage)
    later.registry.environment.emitter.add(heard)
    later.registry.add(SchemaTool(spec=spec, run=slow))
    await later.runs.follow()
    (asked,) = (await later.runs.wait(run_id, principal=ADA)).result.pending
    answer = {"answer": "happened", "output": "sent"}
    await later.runs.answer(run_id, asked.id, answer, principal=BOSS)
    ended = await later.runs.wait(run_id, principal=ADA)
    await later.durability.close()
    await later.feed.close()
    unknown, answered = sorted(heard.told, key=lambda told: told[0] != "unknown")

    assert ended.result.state == "completed"
    assert unknown[:3] == ("unknown", run_id, "")
    assert {name: unknown[3][name] for name in ("step", "principal")} == {
        "step": "send",
        "principal": "ada",
    }
    assert answered == (
        "answered",
        run_id,
        "boss",
        {
            "step": "send",
            "asked": "unknown",
            "answer": "happened",
            "digest": digest_of([answer]),
        },
    )


async def test_a_stand_in_that_was_cancelled_is_told_like_any_other(heard: Heard) -> None:
    begun = asyncio.Event()

    async def slow(_arguments: Any, _ctx: ToolContext[Any]) -> Any:
        begun.set()
        await asyncio.sleep(60)

    async with MemoryStorage() as storage:
        service = Service(storage, heal=lambda *_, **__: Substitute(tool="post", instead_of="gone"))
        service.registry.environment.emitter.add(heard)
        spec = ToolSpec(name="post", effect=Effect.READ, input_schema={"type": "object"})
        service.registry.add(SchemaTool(spec=spec, run=slow))
        graph = Graph(nodes=(Node(id="send", tool="gone"),))
        run_id = (await service.runs.start_graph(graph, principal=ADA)).id
        await begun.wait()
        await service.runs.cancel(run_id, principal=BOSS)
        await until_ended(service, run_id)
        echo = Graph(nodes=(Node(id="echo", tool="echo"),))
        later = (await service.runs.start_graph(echo, principal=ADA)).id
        seen = [event.kind async for event in service.runs.events(later, principal=ADA)]
        await service.durability.close()
        await service.feed.close()

    told = [detail for action, *_, detail in heard.told if action == "healed"]
    expected = {"step": "send~2", "tool": "post", "instead_of": "gone", "state": "cancelled"}
    assert told == [{**expected, "principal": "ada"}]
    assert seen[-1] == "run_finished"  # what is told of one run holds up no other
