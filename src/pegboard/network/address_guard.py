"""Resolves hosts to addresses that the policy allows, for clients that connect by themselves."""

import socket
from collections.abc import Callable, Sequence
from ipaddress import ip_address

from pegboard.errors import InvalidRequest
from pegboard.network.ssrf_policy import SsrfPolicy


def look_up(host: str, port: int) -> Sequence[str]:
    """The addresses of a host, as the system knows them.

    Raises:
        OSError: The name has no address.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


class PolicyAddressGuard:
    """The `AddressGuard` of a board.

    The client connects to the address that was checked, so that DNS rebinding has no effect.

    Args:
        policy: Which addresses may be reached.
        resolver: Resolves a name in the thread of its caller.
    """

    def __init__(
        self, policy: SsrfPolicy, *, resolver: Callable[[str, int], Sequence[str]] = look_up
    ) -> None:
        self._policy = policy
        self._resolver = resolver

    def resolve(self, host: str, port: int) -> str:
        """One address of a host.

        Raises:
            InvalidRequest: The policy refuses one of the addresses.
            OSError: The name has no address.
        """
        found = [ip_address(text.partition("%")[0]) for text in self._resolver(host, port)]
        for address in found:
            kind = self._policy.refusal(host, port, address)
            if kind:
                # The address itself is for the operator: it would map the network for a prober.
                raise InvalidRequest(
                    f"Refused to connect to '{host}' port {port}: it leads to a {kind} address. "
                    f"The operator can allow it: network: {{allow_hosts: ['{host}']}}.",
                    is_guarded=True,
                ) from PermissionError(f"{host}:{port} is at {address}")
        if not found:
            raise OSError(f"{host} has no address")
        return str(found[0])
