"""The outbound HTTP client."""

from pegboard.core.ports.http import HttpClient
from pegboard.runtime.board_file.models import NetworkEntry


def http_client(entry: NetworkEntry) -> HttpClient:
    """The one guarded client of a board.

    Raises:
        ConfigError: A host pattern or a network that cannot be read.
    """
    from pegboard.network import GuardedClient, GuardPolicy

    policy = GuardPolicy(allow_hosts=entry.allow_hosts, allow_networks=entry.allow_networks)
    return GuardedClient(policy=policy)
