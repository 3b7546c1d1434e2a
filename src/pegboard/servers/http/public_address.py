"""The public address of a server, which links, redirects and metadata are made from."""

from ipaddress import ip_address

from pegboard.errors import InvalidRequest
from pegboard.runtime import Settings


def find_public_url(settings: Settings) -> str:
    """The address under which browsers reach the server; never that of the `Host` header.

    Raises:
        InvalidRequest: The server listens beyond loopback, and PEGBOARD_PUBLIC_URL is not set.
    """
    if settings.public_url:
        return settings.public_url.rstrip("/")
    host = settings.host
    if not _is_loopback(host):
        raise InvalidRequest(
            "Set PEGBOARD_PUBLIC_URL to the address that browsers use, as https://board.example."
        )
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{settings.port}"


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
