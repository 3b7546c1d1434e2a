"""Opens connections only to addresses that the policy has just allowed.

It imports the HTTP library, so the module itself is imported on the first request.
"""

import asyncio
import ssl
from collections.abc import Iterable, Sequence
from ipaddress import ip_address
from typing import cast

import anyio
import httpcore2

from pegboard.errors import InvalidRequest
from pegboard.network.addresses import METADATA_KIND, IPAddress
from pegboard.network.resolver import Resolver
from pegboard.network.ssrf_policy import SsrfPolicy

_MAX_ADDRESSES_TRIED = 4


class PinnedBackend(httpcore2.AsyncNetworkBackend):
    """Resolves a name once, checks every address, and connects to a checked address.

    The name is not resolved a second time between the check and the connection, so DNS rebinding
    has no effect. TLS, the certificate check and the `Host` header use the name.
    """

    def __init__(self, policy: SsrfPolicy, resolver: Resolver) -> None:
        self._policy = policy
        self._resolver = resolver
        # The library hides the class behind a fallback for machines without anyio.
        self._inner = cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first checked address that answers.

        Raises:
            InvalidRequest: The policy refuses one of the addresses.
        """
        try:
            async with asyncio.timeout(timeout):
                addresses = await self._resolve_checked(host, port)
                return await self._connect_to_first(
                    addresses, port, timeout=timeout, local_address=local_address,
                    socket_options=socket_options,
                )  # fmt: skip
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(error) from error

    async def sleep(self, seconds: float) -> None:
        """Wait between attempts."""
        await asyncio.sleep(seconds)

    async def _resolve_checked(self, host: str, port: int) -> Sequence[IPAddress]:
        addresses = await self._resolve(host, port)
        for address in addresses:
            kind = self._policy.refusal(host, port, address)
            if kind:
                # The address itself is for the operator: it would map the network for a prober.
                raise InvalidRequest(
                    f"Refused to connect to '{host}' port {port}: it leads to a {kind} address. "
                    f"{_how_to_allow(host, port, kind)}",
                    is_guarded=True,
                ) from PermissionError(f"{host}:{port} is at {address}")
        return addresses

    async def _resolve(self, host: str, port: int) -> Sequence[IPAddress]:
        try:
            return (ip_address(host),)
        except ValueError:
            pass
        try:
            found = [ip_address(text) for text in await self._resolver(host, port)]
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError("its name does not resolve") from error
        if not found:
            raise httpcore2.ConnectError("its name has no address")
        return found

    async def _connect_to_first(
        self,
        addresses: Sequence[IPAddress],
        port: int,
        *,
        timeout: float | None,  # noqa: ASYNC109 - each attempt gets its share of it
        local_address: str | None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None,
    ) -> httpcore2.AsyncNetworkStream:
        tried = addresses[:_MAX_ADDRESSES_TRIED]
        share = None if timeout is None else timeout / len(tried)
        failure: Exception = httpcore2.ConnectError("no address answers")
        for address in tried:
            try:
                stream = await self._inner.connect_tcp(
                    str(address), port, share, local_address, socket_options
                )
                return _ClosedOnFailure(stream)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure


def _how_to_allow(host: str, port: int, kind: str) -> str:
    """The setting that allows the address; a metadata service takes an exact network."""
    if kind == METADATA_KIND:
        return "Only 'allow_networks' under 'network' of the board can allow it."
    named = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return f"The operator can allow it on the board: network: {{allow_hosts: ['{named}']}}."


class _ClosedOnFailure(httpcore2.AsyncNetworkStream):
    """A connection that closes its socket when the TLS handshake is cancelled.

    The library closes it after an error only; a deadline would leave it open.
    """

    def __init__(self, inner: httpcore2.AsyncNetworkStream) -> None:
        self._inner = inner
        self.read = inner.read
        self.write = inner.write
        self.aclose = inner.aclose
        self.get_extra_info = inner.get_extra_info

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's signature
    ) -> httpcore2.AsyncNetworkStream:
        """Start TLS on this connection."""
        try:
            return await self._inner.start_tls(ssl_context, server_hostname, timeout)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._inner.aclose()
            raise
