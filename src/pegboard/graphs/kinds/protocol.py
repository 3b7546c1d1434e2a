"""What a kind of node must do."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from pegboard.core.graph import Node
from pegboard.core.run import NodeRun
from pegboard.core.tool import JsonSchema

if TYPE_CHECKING:
    from pegboard.graphs.engine.node_execution import NodeExecution

SchemaOf = Callable[[Any], JsonSchema]


class NodeKind(Protocol):
    """One kind of node; a runner is given a table of them by name."""

    @property
    def name(self) -> str:
        """What `Node.kind` says."""
        ...

    @property
    def fields(self) -> frozenset[str]:
        """Which of `tool`, `graph`, `wait`, `config`, `fallbacks`, `retry` a node may use."""
        ...

    def faults(self, node: Node) -> Iterator[tuple[str, str, str]]:
        """What is wrong with a node by itself: field, code and a sentence."""
        ...

    def output_schema(self, node: Node, schema_of: SchemaOf) -> JsonSchema | None:
        """JSON Schema of its output; None when nothing is known, or its tool says it.

        Args:
            node: Without its `for_each`.
            schema_of: The schema of a value with paths in it.
        """
        ...

    async def run(self, doing: "NodeExecution") -> NodeRun:
        """Run it once; raising an error of ours is a failure of the node.

        What has an effect goes through `perform`, so that it happens once in however many
        plays of the run.
        """
        ...
