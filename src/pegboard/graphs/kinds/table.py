"""The kinds of nodes that there are wherever graphs run."""

from collections.abc import Mapping
from types import MappingProxyType

from pegboard.graphs.kinds.protocol import NodeKind
from pegboard.graphs.kinds.subgraph import GraphNode
from pegboard.graphs.kinds.tool import ToolNode
from pegboard.graphs.kinds.value import ValueNode
from pegboard.graphs.kinds.wait import WaitNode

KINDS: Mapping[str, NodeKind] = MappingProxyType(
    {kind.name: kind for kind in (ToolNode(), GraphNode(), ValueNode(), WaitNode())}
)
