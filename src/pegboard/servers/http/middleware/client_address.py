"""ASGI middleware: the address of a client behind reverse proxies.

The headers are those of nginx and others (`X-Forwarded-For`) and of RFC 7239 (`Forwarded`).
"""

import logging
import re
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from pegboard.core.ports.accounts.identity_store import BrowserClient
from pegboard.features.identity.browser_names import name_browser

_LOG = logging.getLogger("pegboard.http")

Address = IPv4Address | IPv6Address

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # noqa: S105 - of the grammar of HTTP
_PAIR = rf'({_TOKEN})=({_TOKEN}|"[^"\\,;]*")'
_ELEMENT = re.compile(rf"\s*{_PAIR}(?:;{_PAIR})*\s*")
_PAIRS = re.compile(_PAIR)
_WITH_PORT = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::\d{1,5})?|([0-9.]+):\d{1,5}")


class TrustedProxies:
    """The reverse proxies whose word about the address of a client is taken.

    Args:
        text: Addresses and networks, separated by commas; empty for none.

    Raises:
        ValueError: One of them is none.
    """

    def __init__(self, text: str) -> None:
        self._networks = tuple(ip_network(part.strip()) for part in text.split(",") if part.strip())

    def __bool__(self) -> bool:
        return bool(self._networks)

    def trust(self, address: str) -> bool:
        """Whether a proxy has this address."""
        parsed = parse_address(address)
        return parsed is not None and self._trust(parsed)

    def find_client(self, peer: str, headers: Headers) -> str:
        """The address of the client of a request.

        Each proxy appends the address from which it got the request, so they are read from the
        right, and only as long as a trusted proxy has written them: what stands to the left comes
        from the client, who may write anything. Where one is no address, the client has that of the
        proxy which wrote it. The same holds where both headers are there and contradict each other,
        since a proxy that writes one lets the client's other one pass.

        Args:
            peer: The address of the connection.
            headers: Those of the request.
        """
        nearest = parse_address(peer)
        if nearest is None or not self._trust(nearest):
            return peer
        found = {
            self._walk(nearest, read(headers.getlist(name)))
            for name, read in (("x-forwarded-for", _read_list), ("forwarded", _read_forwarded))
            if name in headers
        }
        return str(found.pop() if len(found) == 1 else nearest)

    def _walk(self, nearest: Address, hops: Iterator[Address | None]) -> Address:
        for hop in hops:
            if hop is None:
                return nearest
            nearest = hop
            if not self._trust(hop):
                return hop
        return nearest

    def _trust(self, address: Address) -> bool:
        return any(address in network for network in self._networks)


class ClientAddress:
    """ASGI middleware: gives a request that came through trusted proxies its client's address.

    Args:
        app: The application behind it.
        proxies: The trusted proxies.
    """

    def __init__(self, app: ASGIApp, proxies: TrustedProxies) -> None:
        self._app = app
        self._proxies = proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        client = scope.get("client")
        if client:
            address = self._proxies.find_client(str(client[0]), Headers(scope=scope))
            if address != client[0]:
                scope["client"] = (address, 0)
        await self._app(scope, receive, send)


class UntrustedProxyWarning:
    """ASGI middleware: says once that requests come through a proxy which no setting names.

    All its clients then count as one where requests of an address are limited.

    Args:
        app: The application behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._is_due = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if self._is_due and _is_from_unknown_proxy(scope):
            self._is_due = False
            _LOG.warning(
                "requests come through a proxy at %s (X-Forwarded-For), and all count as from "
                "one address: set PEGBOARD_TRUSTED_PROXIES to the address of the proxy",
                scope["client"][0],
            )
        await self._app(scope, receive, send)


def _is_from_unknown_proxy(scope: Scope) -> bool:
    client = scope.get("client")
    if not client or not any(name == b"x-forwarded-for" for name, _ in scope.get("headers", ())):
        return False
    address = parse_address(str(client[0]))
    return address is not None and address.is_private  # as loopback is; others may write anything


def parse_address(text: str) -> Address | None:
    """An IP address, perhaps with a port; None if the text is none.

    An IPv4 address that a socket for both families shows as IPv6 is the IPv4 address.
    """
    text = text.strip()
    match = _WITH_PORT.fullmatch(text)
    if match is not None:
        text = match[1] or match[2]
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def limit_key(scope: Scope) -> str:
    """What the limits of an address count by: of IPv6 the network, as one client has all of it."""
    client = scope.get("client")
    address = str(client[0]) if client else ""
    parsed = parse_address(address)
    if isinstance(parsed, IPv6Address):
        return str(IPv6Network((int(parsed) >> 64 << 64, 64)))
    return address if parsed is None else str(parsed)


def browser_client(scope: Scope) -> BrowserClient:
    """Where a request came from, for the person whose session it is to see."""
    client = scope.get("client")
    address = parse_address(str(client[0])) if client else None
    return BrowserClient(
        address="" if address is None else str(address),
        browser=name_browser(Headers(scope=scope).get("user-agent", "")),
    )


def _read_list(lines: list[str]) -> Iterator[Address | None]:
    for part in reversed(",".join(lines).split(",")):
        yield parse_address(part)


def _read_forwarded(lines: list[str]) -> Iterator[Address | None]:
    """The `for` of each element, from the right.

    It is split at each comma, also in quotes: no address has one, and a quote that a client leaves
    open would otherwise take in what the proxy appends.
    """
    for element in reversed(",".join(lines).split(",")):
        pairs = _PAIRS.findall(element) if _ELEMENT.fullmatch(element) else []
        names = [value.strip('"') for name, value in pairs if name.lower() == "for"]
        yield parse_address(names[0]) if len(names) == 1 else None
