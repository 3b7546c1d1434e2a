"""What nodes can be: one file a kind."""

from pegboard.graphs.kinds.protocol import NodeKind
from pegboard.graphs.kinds.table import KINDS

__all__ = ["KINDS", "NodeKind"]
