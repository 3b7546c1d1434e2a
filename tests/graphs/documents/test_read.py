"""Graphs as JSON: both forms, both ways, and what is wrong with a document."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.graphs.made import after, call

from pegboard.core.graph import Edge, Fallback, ForEach, Graph, Node, Repeat, Wait
from pegboard.core.tool import Retry
from pegboard.errors import GraphInvalid, InvalidRequest, RateLimited
from pegboard.graphs import read_graph, write_graph, write_plan
from pegboard.graphs.documents.models import GraphForm
from pegboard.graphs.documents.plan_models import PlanForm
from pegboard.graphs.documents.write import write_retry

RFC: dict[str, Any] = {
    "task_id": "task_123",
    "plan_id": "plan_456",
    "steps": [
        {"step_id": 1, "tool_id": "web_fetcher_v1", "input_mapping": {"url": "$.params.url"}},
        {
            "step_id": 2,
            "tool_id": "text_cleaner_v2",
            "input_mapping": {"text": "$.steps[0].output.content"},
            "depends_on": [1],
        },
        {
            "step_id": 3,
            "tool_id": "summarizer_llm_v3",
            "input_mapping": {"text": "$.steps[1].output.cleaned_text"},
            "depends_on": [2],
        },
    ],
}
FULL = Graph(
    id="g1",
    name="everything",
    task_id="t1",
    params={"type": "object"},
    output={"x": "$.steps.a.output"},
    concurrency=3,
    timeout=60.0,
    nodes=(
        Node(
            id="a",
            title="A",
            tool="t",
            input={"x": [1, "$.params.x"]},
            for_each=ForEach(items="$.params.l", concurrency=2, on_failure="continue"),
            repeat=Repeat(until="output.ok", most=3),
            fallbacks=(Fallback(tool="u"), Fallback(tool="v", input={"y": 1})),
            retry=Retry(max_retries=1, backoff=0.5, on=("rate_limited",)),
            timeout=5.0,
            on_failure="skip",
            inferred={"x": "same name"},
        ),
        Node(
            id="b",
            kind="graph",
            edges=(Edge(node="a", when="steps.a.output.ok", outcome="any"),),
            join="any",
            when="true",
            graph=Graph(
                nodes=(
                    Node(id="w", kind="wait", wait=Wait(question="?", schema={"type": "string"})),
                )
            ),
        ),
        Node(id="c", kind="loop", config={"x": 1}),
    ),
)


def test_a_graph_comes_back_as_it_was_written() -> None:
    document = json.loads(json.dumps(write_graph(FULL)))

    assert read_graph(document) == FULL


def test_what_is_at_its_default_is_not_written() -> None:
    assert write_graph(Graph(nodes=(call("a"),))) == {"nodes": [{"id": "a", "tool": "read"}]}


def test_the_plan_of_the_rfc_is_read_as_it_stands() -> None:
    graph = read_graph(RFC)

    assert (graph.id, graph.task_id) == ("plan_456", "task_123")
    assert graph.nodes[1] == Node(
        id="2",
        tool="text_cleaner_v2",
        input={"text": "$.steps[0].output.content"},
        edges=(Edge(node="1"),),
    )
    assert write_plan(graph) == RFC


def test_a_plan_says_more_than_the_rfc_does() -> None:
    document = {
        "plan_id": "p",
        "task_id": "",
        "name": "n",
        "params": {"type": "object"},
        "concurrency": 2,
        "steps": [
            {"step_id": "a", "tool_id": "x", "title": "first"},
            {
                "step_id": "b",
                "tool_id": "y",
                "depends_on": ["a"],
                "when": "steps.a.output.ok",
                "for_each": {"items": "$.steps.a.output.l", "concurrency": 8, "on_failure": "fail"},
                "fallbacks": [{"tool_id": "z"}, {"tool_id": "q", "input_mapping": {"k": 1}}],
                "retry": {"max_retries": 5},
                "timeout": 3.0,
                "on_failure": "continue",
                "inferred": {"k": "same name"},
            },
        ],
    }

    assert write_plan(read_graph(document)) == document


def test_short_forms_stand_for_long_ones() -> None:
    plan = read_graph(
        {
            "steps": [
                {
                    "step_id": "a",
                    "tool_id": "x",
                    "for_each": "$.params.l",
                    "fallbacks": ["y"],
                    "retry": {"max_retries": 3, "backoff_ms": 1000},
                }
            ]
        }
    )
    graph = read_graph(
        {
            "nodes": [
                {"id": 1, "tool": "x", "fallbacks": ["y"]},
                {"id": 2, "tool": "z", "edges": [1]},
            ]
        }
    )

    assert plan.nodes[0].for_each == ForEach(items="$.params.l")
    assert plan.nodes[0].fallbacks == (Fallback(tool="y"),)
    assert plan.nodes[0].retry == Retry(max_retries=3, backoff=1.0)
    assert graph.nodes[1].edges == after("1")


@pytest.mark.parametrize(
    ("document", "problems"),
    [
        (
            {"steps": [{"step_id": True, "tool_id": "", "dependson": []}, {"tool_id": "x"}]},
            ["steps[0].step_id", "steps[0].tool_id", "steps[0].dependson", "steps[1].step_id"],
        ),
        (
            {"nodes": [{"id": "a", "edges": [{"outcome": "done"}], "retry": {"max_retries": -1}}]},
            ["nodes[0].edges[0].node", "nodes[0].edges[0].outcome", "nodes[0].retry.max_retries"],
        ),
        ({"nodes": [{"id": "a", "graph": {"nodes": [{}]}}]}, ["nodes[0].graph.nodes[0].id"]),
        ({"nodes": {}, "timeout": 0}, ["nodes", "timeout"]),
        ({}, ["nodes"]),
        ({"steps": [{"step_id": "a", "tool_id": "x", "retry": 3}]}, ["steps.a.retry"]),
    ],
)
def test_every_fault_of_a_document_is_told_with_its_place(
    document: dict[str, Any], problems: list[str]
) -> None:
    with pytest.raises(GraphInvalid) as caught:
        read_graph(document)

    assert [problem.path for problem in caught.value.problems] == problems


def test_a_fault_says_what_kind_it_is() -> None:
    with pytest.raises(GraphInvalid) as caught:
        read_graph({"nodes": [{"ids": "a"}], "name": "mine"})

    assert [(p.kind, p.message) for p in caught.value.problems] == [
        ("missing", "missing, required"),
        ("unknown", "unknown key; did you mean 'id'?"),
    ]
    assert str(caught.value).startswith("mine cannot run")


def test_a_document_that_is_too_deep_is_refused() -> None:
    document: dict[str, Any] = {"nodes": []}
    for _ in range(2_000):
        document = {"nodes": [{"id": "a", "kind": "graph", "graph": document}]}

    with pytest.raises(GraphInvalid, match="too many"):
        read_graph(document)


@pytest.mark.parametrize(
    "node",
    [
        Node(id="x", kind="value"),
        call("x", repeat=Repeat(until="true")),
        call("x", edges=after("a", outcome="failed")),
        call("x", "read", "a", join="any"),
    ],
    ids=["kind", "repeat", "outcome", "join"],
)
def test_what_a_plan_cannot_say_is_refused_and_named(node: Node) -> None:
    with pytest.raises(InvalidRequest, match=r"are: x\."):
        write_plan(Graph(nodes=(call("a"), node)))


def test_errors_in_a_retry_are_written_by_their_codes() -> None:
    assert write_retry(Retry(on=(RateLimited, "timeout"))) == {"on": ["rate_limited", "timeout"]}
    with pytest.raises(InvalidRequest, match="KeyError"):
        write_retry(Retry(on=(KeyError,)))


def test_both_forms_have_a_json_schema() -> None:
    definitions = GraphForm.model_json_schema()["$defs"]
    assert definitions["GraphForm"]["properties"].keys() >= {"nodes", "params"}
    assert PlanForm.model_json_schema()["properties"].keys() >= {"steps", "plan_id"}


IDS = st.sampled_from(["a", "b-1", "7", "0x"])


@pytest.mark.slow
@given(
    st.builds(
        Graph,
        id=st.text(max_size=5),
        nodes=st.lists(
            st.builds(
                Node,
                id=IDS,
                tool=st.just("t"),
                input=st.dictionaries(
                    st.text(max_size=3), st.none() | st.integers() | st.text(max_size=3)
                ),
                edges=st.lists(st.builds(Edge, node=IDS), max_size=3).map(tuple),
                timeout=st.none() | st.floats(0.1, 10),
                on_failure=st.sampled_from(["fail", "skip", "continue"]),
            ),
            max_size=4,
        ).map(tuple),
    )
)
def test_any_graph_comes_back(graph: Graph) -> None:
    assert read_graph(json.loads(json.dumps(write_graph(graph)))) == graph
    edges = {node.id: node.depends_on for node in read_graph(write_plan(graph))}
    assert edges == {node.id: node.depends_on for node in graph}
