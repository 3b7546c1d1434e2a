"""Doing one call well: an ordered list of small steps, compiled once per tool."""

from pegboard.execution.kit import Kit, Settings
from pegboard.execution.pipeline import Pipeline

__all__ = ["Kit", "Pipeline", "Settings"]
