"""Engines: who decides the next call. Every engine is a kind of graph node."""

from pegboard.engines.agent import AgentConfig, AgentSetup, Engine
from pegboard.engines.agent_limits import AgentLimits
from pegboard.engines.answer_schema import AnswerSchema
from pegboard.engines.context import ContextLimits, ContextState
from pegboard.engines.dag import GoalNode, place_event
from pegboard.engines.react import AgentNode
from pegboard.engines.structured_call import SchemaAnswer, structured_llm_call

__all__ = [
    "AgentConfig",
    "AgentLimits",
    "AgentNode",
    "AgentSetup",
    "AnswerSchema",
    "ContextLimits",
    "ContextState",
    "Engine",
    "GoalNode",
    "SchemaAnswer",
    "place_event",
    "structured_llm_call",
]
