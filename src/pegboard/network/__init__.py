"""The one guarded way out to other machines."""

from pegboard.network.client import GuardedClient
from pegboard.network.ssrf_policy import GuardPolicy

__all__ = ["GuardPolicy", "GuardedClient"]
