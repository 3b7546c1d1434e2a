"""What a planner knows of tools beyond their specs: how they are doing."""

from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
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


UNKNOWN = Standing()


class Knowledge(Protocol):
    """How tools are doing."""

    def standing(self, tool: str) -> Standing:
        """Of the tool of this wire name; `UNKNOWN` when nothing is known."""
        ...


class NoKnowledge:
    """Knows nothing; for a registry that keeps no records."""

    def standing(self, tool: str) -> Standing:  # noqa: ARG002 - the port's shape
        """Always `UNKNOWN`."""
        return UNKNOWN
