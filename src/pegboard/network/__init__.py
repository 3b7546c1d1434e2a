"""The one guarded way out to other machines."""

from pegboard.network.client import GuardedClient
from pegboard.network.policy import GuardPolicy

__all__ = ["GuardPolicy", "GuardedClient"]
