"""The node kinds of every graph: one module a kind."""

from pegboard.graphs.kinds.table import KINDS
from pegboard.graphs.node_kind import NodeKind

__all__ = ["KINDS", "NodeKind"]
