"""Agents: who answers, with which instructions, model and tools."""

from pegboard.features.agents.model_choices import ModelChoice, ModelChoices
from pegboard.features.agents.service import AgentProfile, Agents, AgentToolSelection

__all__ = ["AgentProfile", "AgentToolSelection", "Agents", "ModelChoice", "ModelChoices"]
