from tests.planning.board import a_tool

from pegboard.core.tool import Status
from pegboard.planning.candidates import rank
from pegboard.planning.tool_health import NoToolHealth, ToolHealth


class Sick:
    def health_of(self, tool: str) -> ToolHealth:
        return ToolHealth(health="unhealthy", reason="HTTP 503")


def test_a_deprecated_tool_comes_after_others() -> None:
    old = a_tool("a", status=Status.DEPRECATED)
    new = a_tool("b")

    first, second = rank([old, new], NoToolHealth(), {"a": 1.0, "b": 0.5})

    assert (first.spec.name, second.spec.name) == ("b", "a")
    assert second.reason.endswith("deprecated")
    assert NoToolHealth().health_of("a").health == "unknown"


def test_the_reason_of_bad_health_is_told() -> None:
    (only,) = rank([a_tool("a")], Sick(), {})

    assert only.reason == "0 % of its required inputs can be given, unhealthy (HTTP 503)"
