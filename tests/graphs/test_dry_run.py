from typing import Any

import pytest
from tests.graphs.boards import BOARD, any_, fetch
from tests.graphs.made import after

from pegboard import SchemaTool, ToolRegistry, ToolSpec
from pegboard.core.graph import Fallback, ForEach, Graph, Node, Wait
from pegboard.core.tool import Effect, Retry
from pegboard.graphs import preview

SECONDS = {"web__fetch": 2.0, "any__thing": 0.5}


def test_a_preview_says_in_which_order_with_which_effect_and_who_is_asked() -> None:
    graph = Graph(
        nodes=(
            fetch(),
            any_("a", "fetch"),
            any_("b", "fetch"),
            Node(id="pay", tool="shop__pay", edges=after("a", "b")),
            Node(id="sub", kind="graph", graph=Graph(nodes=(Node(id="p", tool="shop__pay"),))),
            any_("lost", tool="no__tool"),
        )
    )

    seen = preview(graph, board=BOARD)

    assert seen.layers == (("fetch", "sub", "lost"), ("a", "b"), ("pay",))
    assert seen.effects == {"pay": "admin", "sub": "admin", "lost": "write"}
    assert seen.approvals == ("pay", "sub")
    assert [fault.code for fault in seen.faults if not fault.is_note] == ["tool_unknown"]
    assert seen.to_dict()["layers"][2] == ["pay"]
    assert seen.to_dict()["faults"][0]["severity"] == "note"


def test_a_graph_with_a_cycle_has_no_layers() -> None:
    seen = preview(Graph(nodes=(any_("a", "b"), any_("b", "a"))), board=BOARD)

    assert (seen.layers, seen.seconds, seen.longest) == ((), None, None)


def test_the_time_is_that_of_the_longest_way() -> None:
    inner = Graph(nodes=(any_("x"), any_("y", "x")))
    graph = Graph(
        nodes=(
            fetch(),
            any_("a", "fetch"),
            any_("b"),
            Node(id="w", kind="wait", wait=Wait(seconds=1), edges=after("b")),
            Node(id="v", kind="value", edges=after("w")),
            Node(id="g", kind="graph", graph=inner, edges=after("v")),
        )
    )

    assert preview(graph, board=BOARD, duration=SECONDS.get).seconds == 2.5
    assert preview(graph, board=BOARD).seconds is None
    assert preview(graph, board=BOARD, duration={"any__thing": 1.0}.get).seconds is None
    waits = Graph(nodes=(Node(id="w", kind="wait", wait=Wait(event="e")),))
    assert preview(waits, board=BOARD, duration=SECONDS.get).seconds is None


def limited(name: str, timeout: float | None, **changes: Any) -> SchemaTool:
    async def run(_arguments: Any, _ctx: Any) -> None:
        return None

    fields: dict[str, Any] = {"effect": Effect.READ, "input_schema": {"type": "object"}}
    return SchemaTool(spec=ToolSpec(name=name, timeout=timeout, **(fields | changes)), run=run)


LIMITED = ToolRegistry(
    [
        limited("one", 1.0),
        limited("two", 2.0),
        limited("none", None),
        limited("again", 1.0, retry=Retry()),
    ]
)


@pytest.mark.parametrize(
    ("node", "longest"),
    [
        (Node(id="a", tool="one"), 1.0),
        (Node(id="a", tool="one", fallbacks=(Fallback(tool="two"),)), 3.0),
        (Node(id="a", tool="one", timeout=0.5), 0.5),
        (Node(id="a", tool="none"), None),
        (Node(id="a", tool="again"), None),
        (Node(id="a", tool="missing"), None),
        (Node(id="a", tool="one", for_each=ForEach(items=[1])), None),
        (Node(id="a", kind="wait", wait=Wait(event="e", timeout=9.0)), 9.0),
        (Node(id="a", kind="value"), 0.0),
    ],
)
def test_the_longest_time_is_what_timeouts_allow(node: Node, longest: float | None) -> None:
    assert preview(Graph(nodes=(node,)), board=LIMITED).longest == longest
