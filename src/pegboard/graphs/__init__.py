"""Checking and running graphs."""

from pegboard.graphs.checks.check import check
from pegboard.graphs.checks.faults import Fault
from pegboard.graphs.documents.read import read_graph
from pegboard.graphs.documents.write import write_graph, write_plan
from pegboard.graphs.dry_run import Preview, preview
from pegboard.graphs.kinds import KINDS
from pegboard.graphs.node_kind import NodeContext, NodeKind
from pegboard.graphs.runner import GraphRunner, run_graph

__all__ = [
    "KINDS",
    "Fault",
    "GraphRunner",
    "NodeContext",
    "NodeKind",
    "Preview",
    "check",
    "preview",
    "read_graph",
    "run_graph",
    "write_graph",
    "write_plan",
]
