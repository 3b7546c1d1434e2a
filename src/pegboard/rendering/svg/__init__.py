"""Graphs and runs as SVG: one file for a page, with no script and nothing to load."""

from pegboard.rendering.svg.dependency_graph import dependencies
from pegboard.rendering.svg.elements import STYLE_HASH
from pegboard.rendering.svg.flow_chart import chart
from pegboard.rendering.svg.timeline import timeline

__all__ = ["STYLE_HASH", "chart", "dependencies", "timeline"]
