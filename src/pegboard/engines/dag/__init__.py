"""DAG: a goal is planned as a graph of steps, each the work of an agent, and judged at the end."""

from pegboard.engines.dag.goal_node import GoalNode
from pegboard.engines.dag.step_events import place_event

__all__ = ["GoalNode", "place_event"]
