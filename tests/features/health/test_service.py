from collections.abc import Callable

import pytest

from pegboard import ToolFailed, ToolRegistry, tool
from pegboard.core.event import SourceChanged
from pegboard.core.health import Health, HealthStatus
from pegboard.core.tool import Tool, ToolSpec
from pegboard.features.health import BoardHealth
from pegboard.registry.dependencies import Dependencies, declare
from pegboard.testing.clock import FakeClock
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


def made(*tools: object) -> tuple[ToolRegistry, BoardHealth]:
    registry, graph = ToolRegistry(tools), Dependencies()
    declare(graph, [item.spec for item in registry])
    health = BoardHealth(registry, clock=FakeClock(), graph=lambda: graph.current)
    registry.kit.emitter.add(health)
    return registry, health


async def test_calls_that_go_well_make_a_tool_healthy() -> None:
    registry, health = made(good)
    await registry.call("good", {"text": "x"})

    standing = health.standing("good")

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

    assert health.standing("good").health == "unknown"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("ok", HealthStatus.HEALTHY),
        ("degraded", HealthStatus.DEGRADED),
        ("failed", HealthStatus.UNHEALTHY),
    ],
)
def test_a_source_is_as_its_listing(status: str, expected: HealthStatus) -> None:
    _, health = made(needing("shop__a", source="shop"))

    health.on_event(SourceChanged(source="shop", status=status, reason="it is down"))

    assert health.source("shop").status is expected
    assert health.tool("shop__a_v1").status is expected


def test_a_check_of_a_source_counts_for_its_tools() -> None:
    _, health = made(needing("shop__a", source="shop"))

    health.checked_source("shop", Health(status=HealthStatus.DEGRADED, reason="slow"))

    assert health.own("shop__a_v1").reason == "source 'shop' is degraded: slow"


@pytest.mark.parametrize(
    ("ask", "reason"),
    [
        (lambda health: health.own("away_v1"), "there is no such tool now"),
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

    assert health.standing("nobody").health == "unknown"
