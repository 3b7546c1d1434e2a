"""Where the author of a plan finds a fault."""

from typing import Any

import pytest
from tests.graphs.boards import BOARD

from pegboard.core.graph import Graph, Node
from pegboard.errors import GraphInvalid, Problem
from pegboard.graphs import check, read_graph
from pegboard.graphs.documents.plan_locations import PlanLocations, faults_in_plan, invalid_plan
from pegboard.graphs.documents.read import is_plan

PLACES = PlanLocations(["price", "1", "twice", "twice", "not plain"])


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("nodes[0].input.kg", "steps.price.input_mapping.kg"),
        ("nodes[0].input.tool", "steps.price.input_mapping.tool"),
        ("nodes[0].input.edges[0].node", "steps.price.input_mapping.edges[0].node"),
        ("nodes[1].tool", "steps.1.tool_id"),
        ("nodes[0].fallbacks[2].tool", "steps.price.fallbacks[2].tool_id"),
        ("nodes[0].fallbacks[0].input.a.b", "steps.price.fallbacks[0].input_mapping.a.b"),
        ("nodes[0].edges", "steps.price.depends_on"),
        ("nodes[0].edges[1].node", "steps.price.depends_on[1]"),
        ("nodes[0].when", "steps.price.when"),
        ("nodes[0].for_each.items", "steps.price.for_each.items"),
        ("nodes[0]", "steps.price"),
        ("nodes[0].id", "steps[0].step_id"),
        ("nodes[2].tool", "steps[2].tool_id"),
        ("nodes[4].tool", "steps[4].tool_id"),
        ("nodes[9].tool", "steps[9].tool_id"),
        ("nodes", "steps"),
        ("params.kg", "params.kg"),
        ("output", "output"),
        ("", ""),
    ],
)
def test_a_place_is_told_in_the_words_of_a_plan(place: str, told: str) -> None:
    assert PLACES.locate(place) == told


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("steps[0].retry", "steps.price.retry"),
        ("steps[2].retry", "steps[2].retry"),
        ("steps[0].step_id", "steps[0].step_id"),
        ("steps", "steps"),
    ],
)
def test_a_place_of_what_cannot_be_read_has_the_id_of_its_step(place: str, told: str) -> None:
    assert PLACES.name_step(place) == told


PLAN: dict[str, Any] = {
    "steps": [
        {"step_id": "get", "tool_id": "web__fetch", "input_mapping": {"link": "u"}},
        {
            "step_id": "sum",
            "tool_id": "text__sum",
            "input_mapping": {"text": "$.steps.get.output.words", "most": 0},
            "depends_on": ["get", "gone"],
            "when": "steps.nothing.output == 1",
            "fallbacks": [{"tool_id": "no__tool", "input_mapping": {"x": "$.params.y"}}],
        },
        {"step_id": "each", "tool_id": "any__thing", "for_each": {"items": "$.params.z"}},
    ],
    "params": {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
    "output": "$.steps.none.output",
}


def test_every_fault_of_a_wrong_plan_is_where_its_author_wrote_it() -> None:
    graph = read_graph(PLAN)

    places = {fault.place for fault in faults_in_plan(graph, check(graph, board=BOARD))}

    assert places == {
        "steps.get.input_mapping.link",
        "steps.get.input_mapping.url",
        "steps.sum.input_mapping.text",
        "steps.sum.input_mapping.most",
        "steps.sum.depends_on[1]",
        "steps.sum.when",
        "steps.sum.fallbacks[0].tool_id",
        "steps.sum.fallbacks[0].input_mapping.x",
        "steps.each.for_each.items",
        "output",
    }


def test_a_refusal_says_it_too() -> None:
    problem = Problem(path="nodes[0].tool", message="no", kind="tool_unknown")
    told = invalid_plan(Graph(nodes=(Node(id="a"),), name="g"), GraphInvalid("g", (problem,)))

    assert [(item.path, item.kind) for item in told.problems] == [
        ("steps.a.tool_id", "tool_unknown")
    ]
    assert "steps.a.tool_id" in str(told)


@pytest.mark.parametrize(
    ("document", "is_so"), [({"steps": []}, True), ({"nodes": [], "steps": []}, False), ({}, False)]
)
def test_a_plan_has_steps_and_no_nodes(document: dict[str, Any], is_so: bool) -> None:
    assert is_plan(document) is is_so
