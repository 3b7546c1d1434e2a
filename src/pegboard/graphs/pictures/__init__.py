"""Graphs and runs as SVG: one file for a page, with no script and nothing to load."""

from pegboard.graphs.pictures.chart import chart
from pegboard.graphs.pictures.dependencies import dependencies
from pegboard.graphs.pictures.svg import STYLE_HASH
from pegboard.graphs.pictures.timeline import timeline

__all__ = ["STYLE_HASH", "chart", "dependencies", "timeline"]
