"""The address that the server listens on; without a strong token only loopback."""

import errno
import logging
import socket
from ipaddress import ip_address
from typing import Any

from pegboard.errors import ConfigError
from pegboard.runtime import Settings

_LOG = logging.getLogger("pegboard.http")
_LEAST_LENGTH = 16
_LEAST_VARIETY = 8  # "changemechangeme" has 7 different characters, 32 hex digits have about 14


def bind_socket(settings: Settings) -> socket.socket:
    """Bind a socket to the address of the settings; it does not listen yet.

    Raises:
        ConfigError: The address does not exist or is in use, or is not loopback and no token is
            set or a weak one.
    """
    family, address = _resolve(settings)
    _check_token(settings, is_loopback=ip_address(address[0].partition("%")[0]).is_loopback)
    # asyncio sets TCP_NODELAY only with an explicit protocol; else streams lag by 40 ms
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listening.bind(address)
    except OSError as error:
        listening.close()
        raise address_error(settings, error) from error
    return listening


def _check_token(settings: Settings, *, is_loopback: bool) -> None:
    """Refuse a missing or weak token beyond loopback; warn of a weak one on loopback."""
    if settings.token is None:
        if not is_loopback:
            raise ConfigError(
                f"Listening on {settings.host} lets other machines in: set PEGBOARD_TOKEN to what "
                "they must send, or listen on 127.0.0.1"
            )
        return
    token = settings.token.get_secret_value()
    if len(token) >= _LEAST_LENGTH and len(set(token)) >= _LEAST_VARIETY:
        return
    weakness = (
        f"PEGBOARD_TOKEN is easy to guess: it needs at least {_LEAST_LENGTH} characters, "
        f"{_LEAST_VARIETY} of them different. Make one with 'openssl rand -hex 32'"
    )
    if not is_loopback:
        raise ConfigError(f"{weakness}, or listen on 127.0.0.1")
    _LOG.warning("http: %s", weakness)


def address_error(settings: Settings, error: OSError) -> ConfigError:
    """The error for an address that cannot be bound."""
    where = f"{settings.host}:{settings.port}"
    if error.errno == errno.EADDRINUSE:
        return ConfigError(
            f"{where} is in use: end what listens there, or choose another port with --port or "
            "PEGBOARD_PORT (0 picks one)"
        )
    if error.errno == errno.EACCES:
        return ConfigError(f"{where} is not allowed for this user: choose a port above 1023")
    return ConfigError(f"{where} cannot be listened on: {error.strerror or error}")


def url_of(listening: socket.socket) -> str:
    """The URL of a listening socket."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def local_url(listening: socket.socket) -> str:
    """The URL of a listening socket for this machine itself."""
    url = url_of(listening)
    return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")


def _resolve(settings: Settings) -> tuple[socket.AddressFamily, Any]:
    """The first address of the host, IPv4 before IPv6."""
    try:
        found = socket.getaddrinfo(
            settings.host or None,
            settings.port,
            type=socket.SOCK_STREAM,
            flags=socket.AI_PASSIVE,
        )
    except (OSError, UnicodeError) as error:
        raise ConfigError(
            f"PEGBOARD_HOST: '{settings.host}' is not an address of this machine"
        ) from error
    family, _, _, _, address = min(found, key=lambda item: item[0] != socket.AF_INET)
    return family, address
