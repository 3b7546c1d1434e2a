"""Addresses of servers: which are of this machine, and whether one answers."""

from http import HTTPStatus
from ipaddress import ip_address
from urllib.parse import urlsplit

_CONNECT_SECONDS = 10.0


async def is_reachable(url: str) -> bool:
    """Whether a Pegboard on this machine answers at this address."""
    import httpx2

    try:
        async with httpx2.AsyncClient(trust_env=False, timeout=_CONNECT_SECONDS) as client:
            return (await client.get(f"{url}/healthz")).status_code == HTTPStatus.OK
    except httpx2.HTTPError:
        return False


def is_loopback(url: str) -> bool:
    """Whether an address is one of this machine alone."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
