"""What the checker knows of the data of a graph."""

from typing import Any

import pytest
from tests.graphs.boards import BOARD, a_tool, any_, closed, fetch

from pegboard import ToolRegistry
from pegboard.core.graph import Fallback, ForEach, Graph, Node, Repeat
from pegboard.core.principal import LOCAL
from pegboard.graphs import KINDS, check
from pegboard.graphs.checks.context import CheckContext
from pegboard.graphs.checks.data import path_faults
from pegboard.graphs.checks.faults import Fault
from pegboard.graphs.checks.tools import tool_faults
from pegboard.graphs.checks.type_inference import GraphTypes
from pegboard.graphs.expressions.references import parse_reference

TREE = {
    "type": "object",
    "properties": {"left": {"$ref": "#/$defs/t"}},
    "$defs": {"t": {"type": "string"}},
}
OTHER = {
    "type": "object",
    "properties": {"left": {"$ref": "#/$defs/t"}},
    "$defs": {"t": {"type": "integer"}},
}
BROKEN = {"type": "object", "properties": {"x": {"type": "string", "pattern": "("}}}


def look(*nodes: Node, board: ToolRegistry = BOARD, **more: Any) -> GraphTypes:
    return GraphTypes(
        Graph(nodes=nodes, **more), CheckContext(board=board, principal=LOCAL, kinds=KINDS)
    )


def schema(seen: GraphTypes, path: str, node: Node | None = None) -> Any:
    return seen.infer_path(parse_reference(path), node).schema


def test_what_a_program_lets_graphs_read_need_not_be_what_a_board_file_can_say() -> None:
    env = {"stage": "test", "regions": ["eu", "us"]}
    seen = GraphTypes(
        Graph(nodes=()), CheckContext(board=BOARD, principal=LOCAL, kinds=KINDS, env=env)
    )

    assert schema(seen, "$.env.stage") == {"type": "string", "const": "test"}
    assert schema(seen, "$.env.regions[0]") is None


def test_what_is_known_of_each_root() -> None:
    each = any_("each", for_each=ForEach(items=["a", "b"]))
    seen = look(
        fetch(),
        each,
        any_("round", repeat=Repeat(until="true")),
        params=closed(n={"type": "integer"}),
    )

    assert schema(seen, "$.params.n") == {"type": "integer"}
    assert schema(seen, "$.env.A") is None  # a text, a number or a boolean
    assert schema(seen, "$.env") is None
    assert schema(seen, "$.index") == {"type": "integer", "minimum": 0}
    assert schema(seen, "$.item", each) == {"anyOf": [{"const": "a"}, {"const": "b"}]}
    assert schema(seen, "$.item") is None
    assert schema(seen, "$.item", fetch()) is None
    assert schema(seen, "$.steps.fetch.output.words") == {"type": "integer"}
    assert schema(seen, "$.steps.fetch.error.code") == {"type": "string"}
    assert schema(seen, "$.steps.fetch.nothing") is None
    assert schema(seen, "$.steps.nothing.output") is None
    assert schema(seen, "$.steps") is None


def test_an_item_of_an_empty_list_is_not_known() -> None:
    each = any_("each", for_each=ForEach(items=[]))

    assert schema(look(each), "$.item", each) is None


def test_what_one_of_several_tools_gives_is_what_any_of_them_gives() -> None:
    board = ToolRegistry(
        [
            a_tool("one", gives=TREE),
            a_tool("two", gives={"type": "null"}),
            a_tool("three", gives=OTHER),
            a_tool("four"),
        ]
    )

    def of(*names: str) -> Any:
        node = Node(
            id="a", tool=names[0], fallbacks=tuple(Fallback(tool=name) for name in names[1:])
        )
        return look(node, board=board).output_of(node)

    assert of("one") is TREE
    assert of("one", "two") == {"anyOf": [TREE, {"type": "null"}], "$defs": TREE["$defs"]}
    assert of("one", "three") == {}, "definitions of one may mean something else in the other"
    assert of("one", "four") is None
    assert of("one", "missing") is None


def test_a_list_of_outputs_brings_their_definitions_along() -> None:
    board = ToolRegistry([a_tool("one", gives=TREE)])
    node = Node(id="a", tool="one", for_each=ForEach(items=[1]))

    assert look(node, board=board).output_of(node) == {
        "type": "array",
        "items": TREE,
        "$defs": TREE["$defs"],
    }


def test_a_value_that_is_made_of_itself_is_not_looked_at_for_ever() -> None:
    node = Node(id="v", kind="value", input={"x": "$.output"}, repeat=Repeat(until="true"))

    assert look(node).output_of(node) is not None


def test_an_unknown_kind_gives_nothing_that_is_known() -> None:
    node = Node(id="a", kind="other")

    assert look(node).output_of(node) is None


def test_a_path_that_is_none_is_open_and_told_elsewhere() -> None:
    seen = look(any_())

    assert seen.schema_of("$.nothing", None) == {}
    assert [fault.code for fault in path_faults(seen, ["$.nothing"], None, "at")] == [
        "path_malformed"
    ]


@pytest.mark.parametrize("path", ["$.steps", "$.params", "$.env"])
def test_a_whole_root_is_no_fault(path: str) -> None:
    assert look(any_()).reference_fault(parse_reference(path), any_(), "at") is None


def test_a_tool_with_a_broken_schema_is_told() -> None:
    # a schema that is made on first use is not checked when the tool is registered
    board = ToolRegistry([a_tool("one", lambda: BROKEN)])
    found = check(Graph(nodes=(Node(id="a", tool="one", input={"x": "y"}),)), board=board)

    assert [(fault.place, fault.code) for fault in found] == [("nodes[0].input.x", "schema_broken")]


def test_a_parameter_that_takes_anything_takes_any_path() -> None:
    board = ToolRegistry([a_tool("one", {"type": "object", "properties": {"x": True}})])
    node = Node(id="a", tool="one", input={"x": "$.params.y"})

    assert list(tool_faults(look(node, board=board), node, "nodes[0]")) == []


def test_a_fault_is_a_problem_of_an_error() -> None:
    problem = Fault(code="cycle", place="nodes", message="round").to_problem()

    assert (problem.kind, str(problem)) == ("cycle", "nodes: round")
