"""What no longer works when a tool fails, with what could stand in."""

import pytest

from pegboard.core.tool import ToolSpec
from pegboard.errors import DependencyNotFound
from pegboard.features.dependencies import find_impact
from pegboard.registry.dependencies import DependencyGraph, GraphChange, VersionedDependencies


def spec(name: str) -> ToolSpec:
    return ToolSpec(name=name, input_schema={"type": "object"})


def graph(*edges: tuple[str, str]) -> DependencyGraph:
    made = VersionedDependencies()
    nodes = dict.fromkeys(node for edge in edges for node in edge)
    made.apply(GraphChange(add_nodes=tuple(nodes), add_edges=edges), origin="api")
    return made.current


CHAIN = graph(("a_v1", "b_v1"), ("b_v1", "c_v1"), ("a_v1", "twin_v1"))


def test_without_a_stand_in_all_that_needs_it_breaks() -> None:
    found = find_impact(CHAIN, "a_v1")

    assert found.to_dict({"b_v1": "b"}) == {
        "version": 1,
        "tool": "a_v1",
        "breaks": [
            {"tool": "b_v1", "name": "b", "because": "a_v1"},
            {"tool": "twin_v1", "name": "", "because": "a_v1"},
            {"tool": "c_v1", "name": "", "because": "b_v1"},
        ],
        "stand_ins": [],
    }


def test_what_depends_on_a_tool_that_is_stood_in_for_goes_on() -> None:
    served = {"b_v1": [spec("other")]}

    found = find_impact(CHAIN, "a_v1", substitutes_of=lambda gone: served.get(gone, []))

    assert [item.tool for item in found.broken] == ["b_v1", "twin_v1"]
    assert found.to_dict({})["stand_ins"] == [{"tool": "b_v1", "by": "other_v1", "name": "other"}]


def test_what_would_fail_along_stands_in_for_nothing() -> None:
    served = {"b_v1": [spec("twin")]}
    seen = CHAIN.only(["a_v1", "b_v1", "c_v1"])

    found = find_impact(seen, "a_v1", whole=CHAIN, substitutes_of=lambda gone: served.get(gone, []))

    assert [item.tool for item in found.broken] == ["b_v1", "c_v1"]
    assert found.substitutes == {}


def test_a_tool_that_is_not_in_the_graph_is_refused() -> None:
    with pytest.raises(DependencyNotFound, match="'d_v1'"):
        find_impact(CHAIN, "d_v1")
