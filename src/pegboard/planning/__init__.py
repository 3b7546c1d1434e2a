"""Which tools in which order: a goal or capabilities become a graph; nothing is run."""

from pegboard.planning.planner import Planner
from pegboard.planning.request import ChainLink, PlanRequest
from pegboard.planning.result import Choice, Plan

__all__ = ["ChainLink", "Choice", "Plan", "PlanRequest", "Planner"]
