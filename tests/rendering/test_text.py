import pytest
from tests.graphs.made import after, call

from pegboard.core.graph import Edge, ForEach, Graph, Node, NodeState, Wait
from pegboard.core.run import NodeRun, RunResult
from pegboard.rendering.text import mermaid, tree, waterfall

GRAPH = Graph(
    name="shop",
    nodes=(
        call("fetch", "web__fetch", title='The "page" <b>'),
        call("sum", edges=(Edge(node="fetch", when="steps.fetch.output.n > 1"),)),
        call("mend", edges=after("fetch", outcome="failed")),
        Node(id="wait", kind="wait", wait=Wait(question="?"), edges=after("sum", "mend")),
        call("each", for_each=ForEach(items=[1]), when="true"),
        call("lost", "read", "nowhere"),
    ),
)
RESULT = RunResult(
    run_id="r",
    state=NodeState.COMPLETED,
    nodes=(
        NodeRun(
            id="fetch",
            state=NodeState.COMPLETED,
            started_at=100.0,
            duration_ms=250.0,
            tool="web__fetch",
        ),
        NodeRun(
            id="sum",
            state=NodeState.FAILED,
            started_at=100.25,
            duration_ms=750.0,
            parts=(
                NodeRun(id="sum[0]", state=NodeState.UNKNOWN, started_at=100.625, duration_ms=1.0),
            ),
        ),
        NodeRun(id="mend", state=NodeState.SKIPPED, reason="'fetch' is\x1b[31m completed"),
    ),
)


def test_a_graph_is_drawn_as_mermaid() -> None:
    assert mermaid(GRAPH) == (
        "flowchart TD\n"
        '    n0["The #quot;page#quot; #lt;b#gt;: web__fetch"]\n'
        '    n1["sum: read"]\n'
        '    n2["mend: read"]\n'
        '    n3(["wait"])\n'
        '    n4["each: read"]\n'
        '    n5["lost: read"]\n'
        '    n0 -->|"steps.fetch.output.n #gt; 1"| n1\n'
        '    n0 -->|"failed"| n2\n'
        "    n1 --> n3\n"
        "    n2 --> n3\n"
    )


def test_a_run_gives_each_node_the_class_of_its_state() -> None:
    assert mermaid(GRAPH, RESULT).splitlines()[-3:] == [
        "    class n0 completed",
        "    class n1 failed",
        "    class n2 skipped",
    ]


def test_a_graph_is_drawn_as_a_tree() -> None:
    assert tree(GRAPH) == (
        "shop\n"
        "├─ fetch: web__fetch\n"
        "│  ├─ sum: read\n"
        "│  └─ mend: read\n"
        "│     └─ wait: wait  (after sum)\n"
        "├─ each: read for each when true\n"
        "└─ lost: read\n"
    )
    assert tree(GRAPH, RESULT).splitlines()[1:3] == ["├─ ✓ fetch: web__fetch", "│  ├─ ✗ sum: read"]


def test_a_run_is_drawn_as_a_waterfall() -> None:
    assert waterfall(RESULT, width=8) == (
        "✓ fetch  |██      | 250 ms  web__fetch\n"
        "✗ sum    |  ██████| 750 ms\n"
        "? sum[0] |     █  | 1 ms\n"
        "· mend   |        | 'fetch' is [31m completed\n"
    )


def test_a_run_in_which_nothing_began_is_drawn_too() -> None:
    result = RunResult(
        run_id="r", state=NodeState.CANCELLED, nodes=(NodeRun(id="a", state=NodeState.CANCELLED),)
    )

    assert waterfall(result, width=4) == "⊘ a |    |\n"
    assert waterfall(RunResult(run_id="r", state=NodeState.COMPLETED)) == "\n"


@pytest.mark.parametrize(
    ("node", "said"),
    [
        (call("read", "read"), "read"),
        (call("fetch", "read", title="read"), "fetch: read"),
        (call("fetch", "read", title="Look up"), "Look up: read"),
        (Node(id="wait", kind="wait", wait=Wait(question="?")), "wait"),
    ],
    ids=["the id is the tool", "the title is the tool", "a title", "the id is the kind"],
)
def test_a_name_is_not_said_twice(node: Node, said: str) -> None:
    assert said in mermaid(Graph(nodes=(node,))).replace('"', "\n").splitlines()
