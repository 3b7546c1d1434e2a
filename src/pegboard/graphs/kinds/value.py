"""A node whose input is its output: it collects, renames and sets values."""

from collections.abc import Iterator

from pegboard.core.graph import Node, NodeState
from pegboard.core.run import NodeRun
from pegboard.core.tool import JsonSchema
from pegboard.graphs.node_kind import NodeContext, SchemaOf


class ValueNode:
    """Returns its input with paths resolved. It has no effect, so its output is not recorded."""

    name = "value"
    fields: frozenset[str] = frozenset()

    def faults(self, node: Node) -> Iterator[tuple[str, str, str]]:  # noqa: ARG002 - anything is a value
        yield from ()

    def output_schema(self, node: Node, schema_of: SchemaOf) -> JsonSchema | None:
        return schema_of(node.input)

    async def run(self, context: NodeContext) -> NodeRun:
        output = context.value(context.node.input)
        started_at = context.ready_at  # not recorded, and every attempt must report the same
        if started_at is None:
            started_at = await context.compute_once("?", context.now)
        state = NodeState.COMPLETED
        return NodeRun(id=context.step, state=state, output=output, started_at=started_at)
