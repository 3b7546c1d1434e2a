"""What a planner knows of tools beyond their specs: how they are doing."""

from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolHealth:
    """How a tool has been doing.

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
    """How tools are doing."""

    def health_of(self, tool: str) -> ToolHealth:
        """Of the tool of this wire name; `UNKNOWN` when nothing is known."""
        ...


class NoToolHealth:
    """Knows nothing; for a registry that keeps no records."""

    def health_of(self, tool: str) -> ToolHealth:  # noqa: ARG002 - the port's shape
        """Always `UNKNOWN`."""
        return UNKNOWN
