"""The guarded HTTP client: every request that the board sends goes through it."""

from pegboard.network.client import GuardedClient
from pegboard.network.ssrf_policy import GuardPolicy

__all__ = ["GuardPolicy", "GuardedClient"]
