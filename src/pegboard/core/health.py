"""`Health`: the health of a source or a tool."""

from enum import StrEnum

from msgspec import Struct


class HealthStatus(StrEnum):
    """The health status of a source or a tool."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    UNHEALTHY = "unhealthy"
    UNKNOWN = "unknown"


class Health(Struct, frozen=True, kw_only=True):
    """A status; unless it is healthy, with the reason and what to do about it."""

    status: HealthStatus
    reason: str = ""


HEALTHY = Health(status=HealthStatus.HEALTHY)
