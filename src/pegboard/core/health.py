"""How a source or a tool is doing."""

from enum import StrEnum

from msgspec import Struct


class HealthStatus(StrEnum):
    """From fine to gone."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    UNHEALTHY = "unhealthy"
    UNKNOWN = "unknown"


class Health(Struct, frozen=True, kw_only=True):
    """A status and, unless it is fine, the reason with what to do about it."""

    status: HealthStatus
    reason: str = ""


HEALTHY = Health(status=HealthStatus.HEALTHY)
