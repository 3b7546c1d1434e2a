"""Checking and running graphs."""

from pegboard.graphs.check import check
from pegboard.graphs.documents import read_graph, write_graph, write_plan
from pegboard.graphs.faults import Fault
from pegboard.graphs.kinds import KINDS, NodeKind
from pegboard.graphs.preview import Preview, preview
from pegboard.graphs.runner import GraphRunner, run_graph

__all__ = [
    "KINDS",
    "Fault",
    "GraphRunner",
    "NodeKind",
    "Preview",
    "check",
    "preview",
    "read_graph",
    "run_graph",
    "write_graph",
    "write_plan",
]
