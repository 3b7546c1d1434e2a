"""ReAct: a model reasons, calls tools, and looks at the results, until it answers."""

from pegboard.engines.react.agent_node import AgentNode

__all__ = ["AgentNode"]
