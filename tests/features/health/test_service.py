import asyncio
from collections.abc import Callable

import pytest
from tests.execution.made import virtually

from pegboard import ToolFailed, ToolRegistry, tool
from pegboard.core.context import ToolContext
from pegboard.core.event import BoardChanged, CallRecord, SourceChanged
from pegboard.core.health import Health, HealthStatus
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.tool import Tool, ToolSpec
from pegboard.errors import HostUnavailable
from pegboard.execution import CallEnvironment
from pegboard.features.health import BoardHealth
from pegboard.registry.dependencies import VersionedDependencies, declare
from pegboard.testing.fake_clock import FakeClock
from pegboard.tools import SchemaTool


@tool(effect="read")
def good(text: str = "") -> str:
    """Work."""
    return text


@tool(effect="read")
def bad() -> str:
    """Break."""
    raise ToolFailed("The carrier refuses.")


def needing(name: str, *needs: str, source: str = "", unavailable: str = "") -> Tool:
    async def run(arguments: object, ctx: object) -> str:
        return "done"

    spec = ToolSpec(
        name=name,
        input_schema={"type": "object"},
        dependencies=needs,
        source=source,
        unavailable=unavailable,
    )
    return SchemaTool(spec=spec, run=run)


def made(*tools: object, kit: CallEnvironment | None = None) -> tuple[ToolRegistry, BoardHealth]:
    registry, graph = ToolRegistry(tools, environment=kit), VersionedDependencies()
    declare(graph, [item.spec for item in registry])
    health = BoardHealth(registry, clock=FakeClock(), graph=lambda: graph.current)
    registry.environment.emitter.add(health)
    return registry, health


async def test_calls_that_go_well_make_a_tool_healthy() -> None:
    registry, health = made(good)
    await registry.call("good", {"text": "x"})

    standing = health.health_of("good")

    assert (standing.health, standing.failures) == ("healthy", 0.0)
    assert standing.latency_ms is not None


async def test_failures_in_a_row_make_it_unhealthy_and_what_needs_it_degraded() -> None:
    registry, health = made(bad, needing("report", "bad_v1"))
    for _ in range(3):
        await registry.call("bad", {})

    assert health.tool("bad_v1").status is HealthStatus.UNHEALTHY
    assert health.tool("report_v1") == Health(
        status=HealthStatus.DEGRADED,
        reason="needs 'bad_v1', which is unhealthy: The carrier refuses.",
    )
    assert health.to_dict("report_v1")["own_status"] == "unknown"


async def test_calls_that_never_reached_the_tool_say_nothing_of_it() -> None:
    registry, health = made(good)
    await registry.call("good", {"text": "x", "unknown": 1})

    assert health.health_of("good").health == "unknown"


async def test_a_callers_address_that_is_away_makes_no_tool_unhealthy() -> None:
    @tool(effect="read")
    def ask(host: str) -> str:
        """Ask it."""
        raise HostUnavailable(f"Cannot reach {host}.")

    registry, health = made(ask)
    for _ in range(3):
        await registry.call("ask", {"host": "away"})

    assert health.own("ask_v1").status is HealthStatus.UNKNOWN


async def test_a_refused_credential_of_one_caller_makes_no_tool_unhealthy() -> None:
    @tool(effect="read")
    def refuse() -> str:
        error = ToolFailed("The API answered 401.")
        error.is_about_caller = True
        raise error

    registry, health = made(refuse)
    for _ in range(3):
        await registry.call("refuse", {})

    assert health.tool("refuse_v1").status is HealthStatus.UNKNOWN


@virtually
async def test_a_caller_in_a_hurry_makes_no_tool_unhealthy(clock: FakeClock) -> None:
    async def run(arguments: object, ctx: object) -> None:
        await asyncio.sleep(30)

    def slow(name: str, timeout: float | None) -> Tool:
        spec = ToolSpec(name=name, input_schema={"type": "object"}, timeout=timeout)
        return SchemaTool(spec=spec, run=run)

    kit = CallEnvironment(now=clock.time, monotonic=clock.monotonic)
    registry, health = made(slow("patient", None), slow("prompt", 0.05), kit=kit)
    for _ in range(3):
        hurried = ToolContext(deadline=clock.monotonic() + 0.02)
        await registry.call("patient", {}, hurried)
        await registry.call("prompt", {})

    assert health.own("patient_v1").status is HealthStatus.UNKNOWN
    assert health.own("prompt_v1").status is HealthStatus.UNHEALTHY


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("ok", HealthStatus.UNKNOWN),
        ("degraded", HealthStatus.DEGRADED),
        ("failed", HealthStatus.UNHEALTHY),
    ],
)
def test_a_source_is_as_its_listing(status: str, expected: HealthStatus) -> None:
    _, health = made(needing("shop__a", source="shop"))

    health.on_event(SourceChanged(source="shop", status=status, reason="it is down"))

    assert health.source("shop").status is expected
    assert health.tool("shop__a_v1").status is expected


@pytest.mark.parametrize(
    ("checked", "after"),
    [
        (HealthStatus.HEALTHY, HealthStatus.HEALTHY),
        (HealthStatus.DEGRADED, HealthStatus.UNKNOWN),
        (HealthStatus.UNHEALTHY, HealthStatus.UNKNOWN),
    ],
)
def test_a_list_ends_what_was_wrong_and_nothing_else(
    checked: HealthStatus, after: HealthStatus
) -> None:
    _, health = made(needing("shop__a", source="shop"))
    health.record_source_check("shop", Health(status=checked))

    health.on_event(SourceChanged(source="shop", status="ok"))

    assert health.source("shop").status is after


def test_a_check_of_a_source_counts_for_its_tools() -> None:
    _, health = made(needing("shop__a", source="shop"))

    health.record_source_check("shop", Health(status=HealthStatus.DEGRADED, reason="slow"))

    assert health.own("shop__a_v1").reason == "source 'shop' is degraded: slow"


@pytest.mark.parametrize(
    ("ask", "reason"),
    [
        (lambda health: health.own("away_v1"), "there is no such tool"),
        (lambda health: health.tool("needy_v1"), "needs 'away_v1', which is unhealthy: "),
        (lambda health: health.tool("lost_v1"), "no key"),
    ],
    ids=["gone", "needs what is gone", "cannot be used"],
)
def test_what_is_not_there_is_unhealthy(ask: Callable[[BoardHealth], Health], reason: str) -> None:
    _, health = made(needing("needy", "away_v1"), needing("lost", unavailable="no key"))

    assert ask(health).reason.startswith(reason)


def test_of_an_unknown_tool_nothing_is_known() -> None:
    _, health = made()

    assert health.health_of("nobody").health == "unknown"


def versions(**meant: tuple[str, str]) -> BoardChanged:
    """What is told of names that meant one version and now mean another."""
    told = {name: {"before": before, "after": after} for name, (before, after) in meant.items()}
    return BoardChanged(kind="catalogue", action="registered", at=0, detail={"versions": told})


async def failed(registry: ToolRegistry, *names: str) -> None:
    for name in names * 3:
        await registry.call(name, {})


async def test_a_tool_that_is_registered_anew_begins_anew() -> None:
    registry, health = made(bad, needing("report", "bad_v1"))
    await failed(registry, "bad")
    health.on_event(versions(bad=("1.0.0", "1.0.0"), report=("", "1.0.0")))
    before = health.own("bad_v1")

    health.on_event(versions(bad=("1.0.0", "1.0.1")))

    assert before.status is HealthStatus.UNHEALTHY
    assert health.own("bad_v1").status is HealthStatus.UNKNOWN
    assert health.to_dict("bad_v1")["calls"] == 0


async def test_changes_of_the_board_that_are_not_of_tools_leave_health_alone() -> None:
    registry, health = made(bad)
    await failed(registry, "bad")

    health.on_event(BoardChanged(kind="policy", action="changed", at=0))
    health.on_event(BoardChanged(kind="catalogue", action="registered", at=0))

    assert health.own("bad_v1").status is HealthStatus.UNHEALTHY


async def test_a_tool_that_took_the_place_of_another_begins_anew() -> None:
    registry, health = made(bad)
    await failed(registry, "bad")
    registry.remove("bad")
    registry.add(needing("bad"))

    assert health.own("bad_v1").status is HealthStatus.UNKNOWN


def test_a_call_of_an_older_version_says_nothing_of_the_newest() -> None:
    _, health = made(bad)
    call = CallRecord(
        call_id="c1",
        tool="bad",
        version="0.9.0",
        status="failed",
        started_at=0,
        duration_ms=1,
        principal=LOCAL,
        attempts=1,
    )

    health.on_event(call)

    assert health.to_dict("bad_v1")["calls"] == 0


async def test_of_a_source_that_goes_nothing_is_kept() -> None:
    registry, health = made(needing("shop__a", source="shop"), bad)
    await failed(registry, "bad")
    await registry.call("shop__a", {})
    health.record_source_check("shop", Health(status=HealthStatus.UNHEALTHY, reason="down"))

    health.forget_source("shop")

    assert health.source("shop").status is HealthStatus.UNKNOWN
    assert health.to_dict("shop__a_v1")["calls"] == 0
    assert health.own("bad_v1").status is HealthStatus.UNHEALTHY


async def test_tools_that_are_gone_do_not_pile_up() -> None:
    registry, health = made(bad)
    await failed(registry, "bad")
    for number in range(1_100):
        registry.add(needing(f"t{number}"))
        await registry.call(f"t{number}", {})
        registry.remove(f"t{number}")

    assert len(health._specs) < 1_010
    assert health.own("bad_v1").status is HealthStatus.UNHEALTHY
    assert health._observed.figures("t0_v1").calls == 0


async def test_how_long_a_tool_takes_is_known_once_it_was_called() -> None:
    registry, health = made(good, bad)
    await registry.call("good", {})
    took = health.seconds("good")

    assert took is not None
    assert took > 0
    assert (health.seconds("bad"), health.seconds("nobody")) == (None, None)


async def test_a_caller_is_not_told_of_the_calls_of_a_tool_that_it_may_not_see() -> None:
    async def fail(arguments: object, ctx: object) -> str:
        raise ToolFailed("shop__ledger: account 4711 is closed.")

    spec = ToolSpec(
        name="shop__ledger", source="shop", input_schema={"type": "object"}, scopes=("ledger",)
    )
    registry, health = made(needing("shop__a", source="shop"), SchemaTool(spec=spec, run=fail))
    await registry.call("shop__ledger", {})
    await registry.call("shop__a", {})
    bob, eve = (Principal(id=name, scopes=scopes) for name, scopes in
                (("bob", frozenset({"ledger"})), ("eve", frozenset[str]())))  # fmt: skip

    assert "4711" in health.source("shop").reason
    assert health.source("shop", principal=bob) == health.source("shop")
    assert health.source("shop", principal=eve) == Health(
        status=HealthStatus.DEGRADED, reason="some of its tools fail"
    )


class CountedTool:
    """A tool that counts how often it is looked at."""

    def __init__(self, inner: Tool) -> None:
        self.looks = 0
        self.run = inner.run
        self._inner = inner

    @property
    def spec(self) -> ToolSpec:
        self.looks += 1
        return self._inner.spec


def test_the_health_of_a_source_looks_at_its_own_tools_alone() -> None:
    others = [CountedTool(needing(f"bank__pay{n}", source="bank")) for n in range(5)]
    _, health = made(needing("shop__find", source="shop"), *others)
    health.source("shop")
    looked = sum(tool.looks for tool in others)

    health.source("shop")

    assert sum(tool.looks for tool in others) == looked
