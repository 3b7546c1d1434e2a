"""Plans as graphs, and what models are shown of them."""

from pegboard.core.graph import Edge
from pegboard.engines.dag.plan import (
    GoalStep,
    StepOutcome,
    describe_plan,
    leave_out_done,
    plan_graph,
    shorten_outcomes,
)

A = GoalStep(id="a", title="First {{ x }}", task="Do {{ params.secret }}.")
B = GoalStep(id="b", title="B", task="Do b.", dependencies=("a", "old"), model_hint="fast")
OLD = StepOutcome(id="old", title="Old", state="completed", text="from before")


def test_a_plan_is_a_graph_of_agents() -> None:
    graph, params = plan_graph("Win.", [A, B], {"old": OLD}, {"agent": "x"}, fast_model="f:m")
    a, b = graph.nodes

    assert [node.kind for node in graph] == ["agent", "agent"]
    assert b.edges == (Edge(node="a"),)
    assert {node.on_failure for node in graph} == {"skip"}
    assert a.config == {"agent": "x", "is_step": True, "steering": "steer-a"}
    assert b.config["model"] == "f:m"
    assert params["tasks"]["b"] == "Do b.\n\nResult of the step 'Old':\nfrom before"


def test_what_a_model_writes_is_never_a_template() -> None:
    graph, params = plan_graph("{{ env.KEY }}", [A, B], {"old": OLD}, {})

    assert params["tasks"]["a"] == "Do {{ params.secret }}."
    for node in graph:
        assert "secret" not in node.input["message"]
        assert "env.KEY" not in node.input["message"]
        assert "First (( x ))" in node.input["message"] or node.id == "a"


def test_a_step_that_failed_may_be_planned_again() -> None:
    failed = StepOutcome(id="a", title="A", state="failed", text="no way")
    graph, params = plan_graph("Win.", [A, B], {"a": failed, "old": OLD}, {})

    assert graph.nodes[1].edges == (Edge(node="a"),)
    assert "no way" not in params["tasks"]["b"]


def test_steps_that_are_done_are_left_out() -> None:
    assert leave_out_done([A, B], {"a"}) == [B]


def test_a_plan_has_two_steps_and_at_most_six() -> None:
    steps = describe_plan(least=2)["properties"]["steps"]

    assert (steps["minItems"], steps["maxItems"]) == (2, 6)


def test_outcomes_share_half_of_a_request() -> None:
    long = [StepOutcome(id=f"s{n}", title="s", state="completed", text="x" * 9_000) for n in (1, 2)]

    assert [len(item.text) for item in shorten_outcomes(long, None)] == [8_002, 8_002]
    assert [len(item.text) for item in shorten_outcomes(long, 2_000)] == [1_002, 1_002]
    assert shorten_outcomes([OLD], 10) == [OLD]
