"""A node whose input is its output: it gathers, renames, and sets."""

from collections.abc import Iterator

from pegboard.core.graph import Node, NodeState
from pegboard.core.run import NodeRun
from pegboard.core.tool import JsonSchema
from pegboard.graphs.engine.node_execution import NodeExecution
from pegboard.graphs.kinds.protocol import SchemaOf


class ValueNode:
    """Gives what its paths resolve to. It has no effect, so nothing of it is recorded."""

    name = "value"
    fields: frozenset[str] = frozenset()

    def faults(self, node: Node) -> Iterator[tuple[str, str, str]]:  # noqa: ARG002 - anything is a value
        yield from ()

    def output_schema(self, node: Node, schema_of: SchemaOf) -> JsonSchema | None:
        return schema_of(node.input)

    async def run(self, doing: NodeExecution) -> NodeRun:
        output = doing.value(doing.node.input)
        began = doing.since  # nothing of it is recorded, and each play has to tell the same
        if began is None:
            began = await doing.note("?", doing.session.now)
        return NodeRun(id=doing.step, state=NodeState.COMPLETED, output=output, started_at=began)
