"""The node kinds of every graph, by name."""

from collections.abc import Mapping
from types import MappingProxyType

from pegboard.graphs.kinds.subgraph import SubgraphNode
from pegboard.graphs.kinds.tool import ToolNode
from pegboard.graphs.kinds.value import ValueNode
from pegboard.graphs.kinds.wait import WaitNode
from pegboard.graphs.node_kind import NodeKind

KINDS: Mapping[str, NodeKind] = MappingProxyType(
    {kind.name: kind for kind in (ToolNode(), SubgraphNode(), ValueNode(), WaitNode())}
)
