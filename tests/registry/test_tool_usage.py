"""Usage as a preference of search: whose calls count, and for how much."""

from typing import Any

import pytest
from tests.registry.made import a_tool

from pegboard import ToolRegistry
from pegboard.core.event import CallRecord
from pegboard.core.principal import LOCAL, Principal
from pegboard.registry.tool_usage import ToolUsage

ADA = Principal(id="ada", tenant="acme")


def record(tool: str, principal: Principal = LOCAL, **known: Any) -> CallRecord:
    fields: dict[str, Any] = {"status": "completed", "started_at": 0.0, "duration_ms": 1.0}
    return CallRecord(call_id="c", tool=tool, principal=principal, **(fields | known))


def weather(name: str, description: str = "Tell the weather of a city.") -> Any:
    return a_tool(name, description)


def find(registry: ToolRegistry, principal: Principal = LOCAL) -> list[str]:
    return [tool.spec.name for tool in registry.search("weather of a city", principal=principal)]


def test_of_tools_that_match_equally_the_one_that_is_used_comes_first() -> None:
    registry = ToolRegistry([weather("b__weather"), weather("c__weather")])
    before = find(registry)
    registry.usage.on_event(record("c__weather"))

    assert (before, find(registry)) == (["b__weather", "c__weather"], ["c__weather", "b__weather"])


def test_usage_never_beats_a_tool_that_matches_better() -> None:
    registry = ToolRegistry([weather("b__weather"), weather("c__forecast", "The weather.")])
    for _ in range(1_000):
        registry.usage.on_event(record("c__forecast"))

    assert find(registry) == ["b__weather", "c__forecast"]


def test_the_calls_of_a_tenant_count_for_its_callers_alone() -> None:
    registry = ToolRegistry([weather("b__weather"), weather("c__weather")])
    registry.usage.on_event(record("c__weather", ADA))
    bob, eve = Principal(id="bob", tenant="acme"), Principal(id="eve", tenant="other")

    assert find(registry, bob)[0] == "c__weather"
    assert find(registry, eve)[0] == find(registry, LOCAL)[0] == "b__weather"


@pytest.mark.parametrize(
    "known", [{"status": "failed"}, {"replayed": True}], ids=["failed", "replayed"]
)
def test_a_call_that_did_nothing_does_not_count(known: dict[str, Any]) -> None:
    usage = ToolUsage()
    usage.on_event(record("a", **known))

    assert usage.prefer(LOCAL) is None


def test_stored_calls_count_and_the_preference_ends_at_one() -> None:
    usage = ToolUsage()
    usage.load([{"tenant": "", "principal": "local", "tool": "a"}] * 500)
    usage.load([{"tenant": "", "principal": "local", "tool": "b"}])
    prefer = usage.prefer(LOCAL)
    assert prefer is not None

    assert prefer(weather("a")) == 1.0
    assert 0.0 < prefer(weather("b")) < 1.0
    assert prefer(weather("c")) == 0.0
