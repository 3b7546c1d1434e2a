"""Health by what is seen: checks, and how calls end."""

import pytest

from pegboard.core.health import HEALTHY, Health, HealthStatus
from pegboard.registry.health import UNKNOWN
from pegboard.registry.health_stats import Figures, HealthStats
from pegboard.testing import FakeClock

DOWN = Health(status=HealthStatus.UNHEALTHY, reason="HTTP 503")
SLOW = Health(status=HealthStatus.DEGRADED, reason="is slow")


@pytest.fixture
def seen(clock: FakeClock) -> HealthStats:
    return HealthStats(clock)


def called(seen: HealthStats, tool: str, *failures: str) -> None:
    for failure in failures:
        seen.record_call(tool, failure=failure)


@pytest.mark.parametrize(
    ("ends", "health"),
    [
        ([], UNKNOWN),
        ([""], HEALTHY),
        (
            ["timeout"],
            Health(status=HealthStatus.DEGRADED, reason="its last call failed: timeout"),
        ),
        (
            ["timeout", "", "HTTP 503", ""],
            Health(status=HealthStatus.DEGRADED, reason="2 of its last 4 calls failed: HTTP 503"),
        ),
        (["", "timeout", "timeout", "HTTP 503"], DOWN),
        (
            ["a", "b", "c", ""],
            Health(status=HealthStatus.DEGRADED, reason="3 of its last 4 calls failed: c"),
        ),
        (["a", *[""] * 20], HEALTHY),
    ],
    ids=["none", "well", "one bad", "some bad", "three in a row", "one well after", "long ago"],
)
def test_calls_tell_how_a_tool_is_doing(seen: HealthStats, ends: list[str], health: Health) -> None:
    called(seen, "t_v1", *ends)

    assert seen.tool("t_v1") == health


def test_what_is_old_says_nothing(seen: HealthStats, clock: FakeClock) -> None:
    called(seen, "t_v1", "a", "b", "c")
    seen.record_check("u_v1", DOWN)
    seen.record_source_check("shop", DOWN)
    clock.advance(1000)

    assert seen.tool("t_v1") == UNKNOWN
    assert seen.tool("u_v1", source="shop") == UNKNOWN
    assert seen.source("shop", tools=["t_v1"]) == UNKNOWN


def test_a_check_and_calls_count_both(seen: HealthStats) -> None:
    seen.record_check("t_v1", SLOW)
    only_checked = seen.tool("t_v1")
    called(seen, "t_v1", "")
    checked_and_well = seen.tool("t_v1")
    called(seen, "t_v1", "x", "y", "HTTP 503")

    assert (only_checked, checked_and_well, seen.tool("t_v1")) == (SLOW, SLOW, DOWN)


def test_a_source_that_is_down_takes_its_tools_along(seen: HealthStats) -> None:
    called(seen, "t_v1", "")
    seen.record_source_check("shop", DOWN)

    assert seen.tool("t_v1", source="shop") == Health(
        status=HealthStatus.UNHEALTHY, reason="source 'shop' is unhealthy: HTTP 503"
    )


def test_a_source_that_is_well_speaks_for_tools_that_nobody_has_called(seen: HealthStats) -> None:
    seen.record_source_check("shop", HEALTHY)
    called(seen, "t_v1", "timeout")

    assert seen.tool("u_v1", source="shop") == HEALTHY
    assert seen.tool("t_v1", source="shop").status is HealthStatus.DEGRADED


def test_a_check_of_a_source_goes_before_its_tools(seen: HealthStats) -> None:
    called(seen, "t_v1", "a", "b", "c")
    seen.record_source_check("shop", HEALTHY)

    assert seen.source("shop", tools=["t_v1"]) == HEALTHY


def test_a_source_without_a_check_is_as_its_tools_are(seen: HealthStats) -> None:
    called(seen, "well_v1", "")
    called(seen, "bad_v1", "a", "b", "HTTP 503")

    assert seen.source("shop") == UNKNOWN
    assert seen.source("shop", tools=["well_v1", "never_called_v1"]) == HEALTHY
    assert seen.source("shop", tools=["well_v1", "bad_v1"]) == Health(
        status=HealthStatus.DEGRADED, reason="1 of 2 tools called lately: HTTP 503"
    )
    assert seen.source("shop", tools=["bad_v1"]) == Health(
        status=HealthStatus.UNHEALTHY, reason="all its tools: HTTP 503"
    )


def test_the_reason_of_a_source_tells_nothing_of_some_tools(seen: HealthStats) -> None:
    tools = ["well_v1", "bad_v1", "worse_v1"]
    called(seen, "well_v1", "")
    called(seen, "bad_v1", "a", "b", "HTTP 503")
    called(seen, "worse_v1", "a", "b", "HTTP 504")

    def reason_for(*known: str) -> str:
        return seen.source("shop", tools=tools, may_tell=known.__contains__).reason

    assert reason_for(*tools) == "2 of 3 tools called lately: HTTP 503"
    assert reason_for("well_v1", "worse_v1") == "some of its tools fail: HTTP 504"
    assert reason_for("well_v1") == "some of its tools fail"


def test_what_is_forgotten_says_nothing(seen: HealthStats) -> None:
    called(seen, "t_v1", "a")
    seen.record_check("t_v1", DOWN)
    seen.record_source_check("shop", DOWN)
    seen.forget("t_v1")
    seen.forget_source("shop")

    assert seen.tool("t_v1", source="shop") == UNKNOWN


def test_only_the_tools_that_are_still_there_are_kept(seen: HealthStats) -> None:
    called(seen, "t_v1", "a")
    called(seen, "u_v1", "a")
    seen.record_check("w_v1", DOWN)

    seen.retain({"u_v1"}.__contains__)

    assert (seen.tool("t_v1"), seen.tool("w_v1")) == (UNKNOWN, UNKNOWN)
    assert seen.tool("u_v1").status is HealthStatus.DEGRADED


def test_figures_are_of_the_latest_fifty_calls_however_long_ago(
    seen: HealthStats, clock: FakeClock
) -> None:
    seen.record_call("t_v1", failure="long ago", took_ms=1)
    for number in range(50):
        seen.record_call("t_v1", failure="" if number % 5 else "timeout", took_ms=number)
    clock.advance(1000)

    assert seen.figures("t_v1") == Figures(calls=50, failures=0.2, latency_ms=26)
    assert seen.figures("u_v1") == Figures()


def test_without_a_call_that_went_well_no_duration_is_known(seen: HealthStats) -> None:
    called(seen, "t_v1", "timeout")

    assert seen.figures("t_v1") == Figures(calls=1, failures=1.0)


def test_what_was_wrong_with_a_source_may_be_over_and_what_went_well_stays(
    seen: HealthStats,
) -> None:
    seen.record_source_check("shop", DOWN)
    seen.record_source_check("std", HEALTHY)

    for source in ("shop", "std", "new"):
        seen.record_source_recovery(source)

    assert [seen.source(name) for name in ("shop", "std", "new")] == [UNKNOWN, HEALTHY, UNKNOWN]
