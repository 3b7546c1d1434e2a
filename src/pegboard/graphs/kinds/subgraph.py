"""A node that runs a graph of its own, to any depth."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from pegboard.core.graph import Node
from pegboard.core.run import NodeRun
from pegboard.core.tool import JsonSchema
from pegboard.errors import InvalidRequest
from pegboard.graphs.node_kind import NodeContext, SchemaOf


class SubgraphNode:
    """The node's input is the inner graph's params; the inner graph's output is the node's."""

    name = "graph"
    fields = frozenset({"graph"})

    def faults(self, node: Node) -> Iterator[tuple[str, str, str]]:
        if node.graph is None:
            yield "graph", "graph_missing", "A node of kind 'graph' needs a graph to run."

    def output_schema(self, node: Node, schema_of: SchemaOf) -> JsonSchema | None:  # noqa: ARG002 - its paths are about the inner graph
        output = None if node.graph is None else node.graph.output
        if not isinstance(output, Mapping):
            return None
        properties = dict.fromkeys(cast("Mapping[str, Any]", output), True)
        return {"type": "object", "properties": properties, "additionalProperties": False}

    async def run(self, context: NodeContext) -> NodeRun:
        graph = context.node.graph
        if graph is None:
            raise InvalidRequest(f"'{context.step}' has no graph to run.")
        return await context.run_graph(graph, context.arguments())
