"""What tools were is remembered, and only what could be of use."""

from collections.abc import Sequence
from typing import Any

import pytest

from pegboard import ToolRegistry
from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.catalogue_stores import LastKnownTool
from pegboard.core.tool import Effect, Limits, Retry, Status, Tool, ToolSpec
from pegboard.errors import Unavailable
from pegboard.execution import CallEnvironment
from pegboard.features.health.last_known_tools import LastKnownTools
from pegboard.storage.memory.last_known_tools import MemorySeenTools
from pegboard.testing import FakeClock
from pegboard.tools import SchemaTool

DAY = 86_400.0


class Store(MemorySeenTools):
    """Says what was written, and fails when it is told to."""

    def __init__(self) -> None:
        super().__init__(ClosableLock(), most=100)
        self.written: list[list[str]] = []
        self.error: Exception | None = None

    async def put(self, tools: Sequence[LastKnownTool]) -> None:
        if self.error is not None:
            raise self.error
        self.written.append([tool.id for tool in tools])
        await super().put(tools)


def a_tool(name: str = "shop__find", **changes: Any) -> Tool:
    async def run(arguments: Any, ctx: Any) -> str:
        return name

    fields: dict[str, Any] = {
        "input_schema": {"type": "object", "properties": {"q": {"type": "string"}}},
        "output_schema": {"type": "object"},
        "capabilities": ("find",),
        "effect": Effect.READ,
        "source": "shop",
    }
    return SchemaTool(spec=ToolSpec(name=name, **(fields | changes)), run=run)


async def seen_by(store: Store, *tools: Tool, clock: FakeClock | None = None) -> LastKnownTools:
    registry = ToolRegistry(tools, environment=CallEnvironment(now=(clock or FakeClock()).time))
    seen = LastKnownTools(registry, store)
    await seen.load()
    await seen.refresh()
    return seen


async def test_after_a_restart_it_is_known_what_a_tool_was() -> None:
    store = Store()
    tool = a_tool(
        version="2.1.0",
        retry=Retry(max_retries=2),
        limits=Limits(concurrency=3),
        scopes=("shop",),
        tags=("b", "a"),
        status=Status.DISABLED,
    )
    await seen_by(store, tool)
    later = await seen_by(store)

    for name in ("shop__find", "shop__find_v2"):
        spec = later.find(name)
        assert spec is not None
        assert (spec.id, spec.version, spec.capabilities) == ("shop__find_v2", "2.1.0", ("find",))
        assert (spec.input_schema, spec.output_schema) == (
            tool.spec.input_schema,
            tool.spec.output_schema,
        )
        assert (spec.status, spec.effect, spec.scopes, spec.limits) == (
            Status.DISABLED,
            Effect.READ,
            ("shop",),
            Limits(concurrency=3),
        )
    assert later.find("shop__pay") is None


async def test_only_what_could_be_of_use_is_kept() -> None:
    store = Store()
    await seen_by(
        store,
        a_tool("shop__dull", capabilities=()),
        a_tool("loose", source=""),
        a_tool("shop__held", unavailable="it waits for approval"),
    )

    assert store.written == []


async def test_who_may_know_of_a_tool_is_kept_also_once_nothing_could_stand_in_for_it() -> None:
    store = Store()
    await seen_by(store, a_tool())
    await seen_by(store, a_tool(capabilities=(), scopes=("admin",)))

    spec = (await seen_by(store)).find("shop__find")
    assert spec is not None
    assert (spec.capabilities, spec.scopes) == ((), ("admin",))


async def test_a_tool_is_written_again_when_it_is_another_or_a_day_has_passed() -> None:
    store, clock = Store(), FakeClock()
    for tool in (a_tool(), a_tool(), a_tool(description="finds more")):
        await seen_by(store, tool, clock=clock)
    clock.advance(DAY - 1)
    await seen_by(store, a_tool(description="finds more"), clock=clock)
    clock.advance(1)
    await seen_by(store, a_tool(description="finds more"), clock=clock)

    assert store.written == [["shop__find_v1"]] * 3


async def test_a_tool_that_stays_is_looked_at_once() -> None:
    made: list[str] = []

    def schema() -> dict[str, Any]:
        made.append("once")
        return {"type": "object"}

    registry = ToolRegistry([a_tool(input_schema=schema)])
    seen = LastKnownTools(registry, Store())
    for _ in range(3):
        await seen.refresh()

    assert made == ["once"]


async def test_of_very_many_tools_those_are_known_that_were_seen_last() -> None:
    clock = FakeClock()
    registry = ToolRegistry(environment=CallEnvironment(now=clock.time))
    seen = LastKnownTools(registry, Store(), most=2)
    for name in ("shop__a", "shop__b", "shop__c"):
        registry.add(a_tool(name))
        await seen.refresh()
        registry.remove(name)
        clock.advance(1)

    known = [name for name in ("shop__a", "shop__b", "shop__c") if seen.find(name) is not None]
    assert known == ["shop__b", "shop__c"]


async def test_what_could_not_be_written_is_written_the_next_time() -> None:
    store = Store()
    store.error = Unavailable("away")
    registry = ToolRegistry([a_tool()])
    seen = LastKnownTools(registry, store)
    with pytest.raises(Unavailable):
        await seen.refresh()
    store.error = None
    await seen.refresh()

    assert store.written == [["shop__find_v1"]]


async def test_a_schema_that_cannot_be_made_keeps_nothing_from_others() -> None:
    def broken() -> dict[str, Any]:
        raise RuntimeError("a foreign document")

    store = Store()
    await seen_by(store, a_tool("shop__broken", input_schema=broken), a_tool())

    assert store.written == [["shop__find_v1"]]


@pytest.mark.parametrize(
    "definition",
    [
        {},
        {"version": "1.0.0"},
        {"name": "x", "version": "1.0.0"},
        {"name": "x", "version": "1.0.0", "input_schema": {}, "status": "odd"},
    ],
)
async def test_what_a_store_has_that_is_no_definition_is_as_if_it_had_nothing(
    definition: dict[str, Any],
) -> None:
    store = Store()
    kept = LastKnownTool(
        id="shop__find_v1", name="shop__find", digest="", definition=definition, seen_at=0
    )
    await store.put([kept])

    assert (await seen_by(store)).find("shop__find") is None
