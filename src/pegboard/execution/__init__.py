"""Doing one call well: an ordered list of small steps, compiled once per tool."""

from pegboard.execution.environment import CallDefaults, CallEnvironment
from pegboard.execution.pipeline import Pipeline

__all__ = ["CallDefaults", "CallEnvironment", "Pipeline"]
