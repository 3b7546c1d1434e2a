"""The guarded HTTP client: every request that the board sends goes through it."""

from pegboard.network.address_guard import PolicyAddressGuard
from pegboard.network.client import GuardedClient
from pegboard.network.ssrf_policy import SsrfPolicy

__all__ = ["GuardedClient", "PolicyAddressGuard", "SsrfPolicy"]
