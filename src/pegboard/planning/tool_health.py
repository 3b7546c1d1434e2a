"""What a planner knows of tools beyond their specs: their health and figures."""

from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolHealth:
    """The health and figures of a tool.

    Attributes:
        health: As its checks and calls say.
        reason: Why it is not healthy; empty when it is.
        latency_ms: Of a usual call; None when unknown.
        failures: Share of calls that failed lately, from 0 to 1; None when unknown.
        cost: Of a usual call in US dollars; None when unknown.
    """

    health: Literal["healthy", "degraded", "unhealthy", "unknown"] = "unknown"
    reason: str = ""
    latency_ms: float | None = None
    failures: float | None = None
    cost: float | None = None


UNKNOWN = ToolHealth()


class ToolHealthSource(Protocol):
    """Port: the health of tools."""

    def health_of(self, tool: str) -> ToolHealth:
        """The health of the tool of this wire name; `UNKNOWN` when nothing is known."""
        ...


class NoToolHealth:
    """Health is always unknown; for a registry without records."""

    def health_of(self, tool: str) -> ToolHealth:  # noqa: ARG002 - the port's shape
        """Always `UNKNOWN`."""
        return UNKNOWN
