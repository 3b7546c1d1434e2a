"""Parses URLs once and strictly, so that the checked host is the host connected to."""

import re
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING

from pegboard.errors import InvalidRequest

if TYPE_CHECKING:
    import httpx2

_PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
# A host whose last label is a number is an IPv4 address to most resolvers, in decimal, octal or
# hexadecimal and with one to four parts; see https://url.spec.whatwg.org/#ends-in-a-number-checker
_NUMERIC_END = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The destination of a request.

    Attributes:
        host: Lower case, ASCII, no trailing dot; an IPv6 address in its canonical form.
        path: Path and query as they are sent, without the fragment.
    """

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """The value of the `Host` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port.

        Errors name only these, since a path or query may hold a secret.
        """
        return f"{self.scheme}://{self.authority}"

    def __str__(self) -> str:
        return self.origin + self.path

    def join(self, location: str) -> "Target":
        """Return the target of a redirect from here.

        Raises:
            InvalidRequest: The location is not a valid http(s) URL.
        """
        import httpx2

        try:
            joined = httpx2.URL(str(self)).join(location)
        except (httpx2.InvalidURL, ValueError) as error:
            raise InvalidRequest(f"{self.origin} redirects to a malformed URL.") from error
        return _check(joined, f"{self.origin} redirects to a URL that")


def parse_url(url: str) -> Target:
    """Parse a URL strictly.

    Raises:
        InvalidRequest: It is malformed, not http(s), has a user name, or its host is an IP address
            in an unusual form.
    """
    import httpx2

    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError, TypeError) as error:
        raise InvalidRequest(
            "The URL is malformed; write it as 'https://host/path?query'."
        ) from error
    return _check(parsed, "The URL")


def _check(url: "httpx2.URL", subject: str) -> Target:
    if url.scheme not in _PORTS:
        raise InvalidRequest(f"{subject} must start with http:// or https://.")
    if url.userinfo:
        raise InvalidRequest(
            f"{subject} must not carry a user name or password; send an Authorization header."
        )
    port = _PORTS[url.scheme] if url.port is None else url.port
    if not 0 < port < 65536:
        raise InvalidRequest(f"{subject} has a port outside 1 to 65535.")
    return Target(
        scheme=url.scheme,
        host=_host(url.raw_host.decode("ascii"), subject),
        port=port,
        path=url.raw_path.decode("ascii"),
    )


def _host(raw: str, subject: str) -> str:
    host = raw.lower().removesuffix(".")
    if _is_address(host) and not raw.endswith("."):
        address = ip_address(host)
        if isinstance(address, IPv6Address) and address.scope_id is not None:
            raise InvalidRequest(f"{subject} must not name a network interface.")
        return str(address)
    if _NUMERIC_END.fullmatch(host):
        raise InvalidRequest(
            f"{subject} has an IP address in an unusual form; write four decimal numbers."
        )
    if len(host) > 253 or not _NAME.fullmatch(host):
        raise InvalidRequest(f"{subject} has no valid host name.")
    return host


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
