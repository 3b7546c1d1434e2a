"""How tools are doing, what they need taken into account."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.core.health import HEALTHY, Health, HealthStatus
from pegboard.core.tool import Status, ToolSpec
from pegboard.registry.dependencies import DependencyGraph, GraphChange, VersionedDependencies
from pegboard.registry.dependencies.changes import Edge
from pegboard.registry.health import (
    UNKNOWN,
    health_by_definition,
    propagate_health,
    update_health,
    worse,
)

DOWN = Health(status=HealthStatus.UNHEALTHY, reason="HTTP 503")
SLOW = Health(status=HealthStatus.DEGRADED, reason="is slow")


def graph(*edges: Edge) -> DependencyGraph:
    nodes = tuple(dict.fromkeys(node for edge in edges for node in edge))
    return VersionedDependencies().apply(GraphChange(add_nodes=nodes, add_edges=edges))


CHAIN = graph(("fetch_v1", "parse_v1"), ("parse_v1", "report_v1"))


def test_the_reason_travels_from_what_fails_to_all_that_need_it() -> None:
    health = propagate_health(CHAIN, {"fetch_v1": DOWN, "parse_v1": HEALTHY, "report_v1": HEALTHY})

    assert health["fetch_v1"] == DOWN
    assert health["parse_v1"] == Health(
        status=HealthStatus.DEGRADED,
        reason="needs 'fetch_v1', which is unhealthy: HTTP 503",
    )
    assert health["report_v1"] == Health(
        status=HealthStatus.DEGRADED,
        reason="needs 'parse_v1', which is degraded: "
        "needs 'fetch_v1', which is unhealthy: HTTP 503",
    )


def test_a_slow_tool_still_serves_what_needs_it() -> None:
    health = propagate_health(CHAIN, {"fetch_v1": SLOW, "parse_v1": HEALTHY})

    assert health == {"fetch_v1": SLOW, "parse_v1": HEALTHY, "report_v1": UNKNOWN}


def test_a_tool_that_fails_itself_keeps_its_own_reason() -> None:
    own = Health(status=HealthStatus.UNHEALTHY, reason="no disk")

    assert propagate_health(CHAIN, {"fetch_v1": DOWN, "parse_v1": own})["parse_v1"] == own


def test_a_slow_tool_tells_both_reasons() -> None:
    health = propagate_health(CHAIN, {"fetch_v1": DOWN, "parse_v1": SLOW})

    assert health["parse_v1"].reason == "is slow; needs 'fetch_v1', which is unhealthy: HTTP 503"


def test_of_many_causes_some_are_told() -> None:
    needed = [f"t{number}" for number in range(5)]
    many = graph(*((node, "all") for node in needed))

    reason = propagate_health(many, dict.fromkeys(needed, DOWN))["all"].reason

    assert reason.count("HTTP 503") == 3
    assert reason.endswith("; and 2 more")


def test_a_long_chain_keeps_its_first_cause() -> None:
    nodes = [f"a_rather_long_name_{number}_v1" for number in range(30)]
    chain = graph(*pairwise(nodes))

    reason = propagate_health(chain, {nodes[0]: DOWN})[nodes[-1]].reason

    assert reason.startswith(f"needs '{nodes[-2]}'")
    assert reason.endswith("is unhealthy: HTTP 503")
    assert len(reason) < 550


def test_without_a_reason_there_is_none_to_tell() -> None:
    gone = Health(status=HealthStatus.UNHEALTHY)

    reason = propagate_health(CHAIN, {"fetch_v1": gone})["parse_v1"].reason

    assert reason == "needs 'fetch_v1', which is unhealthy"


@pytest.mark.parametrize(
    ("changes", "health"),
    [
        ({}, UNKNOWN),
        ({"status": Status.DEPRECATED}, UNKNOWN),
        ({"status": Status.FAILED}, Health(status=HealthStatus.UNHEALTHY, reason="is failed")),
        ({"unavailable": "no key"}, Health(status=HealthStatus.UNHEALTHY, reason="no key")),
    ],
    ids=["nothing", "deprecated", "failed", "unavailable"],
)
def test_a_definition_says_how_a_tool_is_doing(changes: dict[str, object], health: Health) -> None:
    spec = ToolSpec(name="t", input_schema={}).replace(**changes)

    assert health_by_definition(spec) == health


def test_the_graver_of_two_holds() -> None:
    assert worse(SLOW, DOWN) is DOWN
    assert worse(DOWN, SLOW) is DOWN
    assert worse(HEALTHY, UNKNOWN) is UNKNOWN


NODES = [f"n{number}" for number in range(7)]
SOME = st.sampled_from(["", "a", "b"]).flatmap(
    lambda reason: st.sampled_from(
        [HEALTHY, UNKNOWN, *(Health(status=s, reason=reason) for s in HealthStatus)]
    )
)
PAIRS = st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda two: two[0] < two[1])


@pytest.mark.slow
@given(
    st.lists(PAIRS, max_size=12),
    st.dictionaries(st.sampled_from(NODES), SOME),
    st.dictionaries(st.sampled_from([*NODES, "stranger"]), SOME),
)
def test_what_is_updated_is_what_would_be_found_anew(
    pairs: list[tuple[int, int]], before: dict[str, Health], changes: dict[str, Health]
) -> None:
    edges = tuple((NODES[one], NODES[other]) for one, other in pairs)
    whole = VersionedDependencies().apply(GraphChange(add_nodes=tuple(NODES), add_edges=edges))
    after = before | changes

    assert update_health(
        whole, after, propagate_health(whole, before), changes
    ) == propagate_health(whole, after)
