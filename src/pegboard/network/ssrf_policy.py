"""The operator's policy: which non-public addresses the board may reach."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address, ip_network

from pegboard.errors import ConfigError
from pegboard.network.addresses import METADATA_KIND, IPAddress, IPNetwork, classify, extract_ipv4


@dataclass(frozen=True, slots=True)
class _HostPattern:
    host: str
    port: int | None

    def matches(self, host: str, port: int) -> bool:
        if self.port not in (None, port):
            return False
        if self.host.startswith("*."):
            return host.endswith(self.host[1:])
        return self.host in ("*", host)


@dataclass(frozen=True, slots=True, kw_only=True)
class SsrfPolicy:
    """The non-public addresses that the board may reach.

    ```python
    SsrfPolicy(allow_hosts=("localhost:8080", "*.corp.example"), allow_networks=("10.2.0.0/16",))
    ```

    Attributes:
        allow_hosts: `host`, `host:port`, `*.host` (its subdomains, not itself) or `*`; an IPv6
            address with a port is written in brackets. Such a host may have any address, except the
            one of a cloud metadata service: that takes `allow_networks`, since a name that a third
            party resolves must not lead to the machine's credentials.
        allow_networks: CIDR blocks or single addresses.
    """

    allow_hosts: Sequence[str] = ()
    allow_networks: Sequence[str] = ()
    _patterns: tuple[_HostPattern, ...] = field(init=False, repr=False, compare=False)
    _networks: tuple[IPNetwork, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "allow_hosts", tuple(self.allow_hosts))
        object.__setattr__(self, "allow_networks", tuple(self.allow_networks))
        object.__setattr__(self, "_patterns", tuple(map(_pattern, self.allow_hosts)))
        object.__setattr__(self, "_networks", tuple(map(_network, self.allow_networks)))

    def refusal(self, host: str, port: int, address: IPAddress) -> str:
        """Return the kind of the address if the policy refuses it; empty if it allows it.

        Args:
            host: The host of the URL, normalised: lower case, ASCII, no trailing dot, no brackets.
            port: The port of the connection.
            address: An address to which the host resolves.
        """
        kind = classify(address)
        if not kind or self._has_network_of(address):
            return ""
        if kind == METADATA_KIND:
            return kind
        allowed = any(pattern.matches(host, port) for pattern in self._patterns)
        return "" if allowed else kind

    def _has_network_of(self, address: IPAddress) -> bool:
        if any(address in network for network in self._networks):
            return True
        inner = extract_ipv4(address) if isinstance(address, IPv6Address) else ()
        return bool(inner) and all(
            not classify(item) or any(item in network for network in self._networks)
            for item in inner
        )


def _network(text: str) -> IPNetwork:
    try:
        return ip_network(text.strip(), strict=False)
    except ValueError as error:
        raise ConfigError(
            f"allow_networks: {text!r} is not a network; write one as '10.2.0.0/16'"
        ) from error


def _pattern(text: str) -> _HostPattern:
    host, port = _split_port(text.strip().lower())
    try:
        host = str(ip_address(host))
    except ValueError:
        host = _ascii(host, text)
    return _HostPattern(host, port)


def _split_port(text: str) -> tuple[str, int | None]:
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        port = rest.removeprefix(":")
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
    else:
        return text, None
    if not port:
        return host, None
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise _bad_host(text)
    return host, int(port)


def _ascii(host: str, text: str) -> str:
    import idna

    if host == "*":
        return host
    wildcard = "*." if host.startswith("*.") else ""
    bare = host.removeprefix(wildcard).removesuffix(".")
    try:
        encoded = bare if bare.isascii() else idna.encode(bare).decode("ascii")
    except idna.IDNAError as error:
        raise _bad_host(text) from error
    if not encoded or not encoded.replace("-", "").replace("_", "").replace(".", "").isalnum():
        raise _bad_host(text)
    return wildcard + encoded


def _bad_host(text: str) -> ConfigError:
    return ConfigError(
        f"allow_hosts: {text!r} is not a host; write 'host', 'host:port' or '*.host', no scheme"
    )
