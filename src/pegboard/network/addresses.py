"""Classifies IP addresses as public or special-purpose.

The tables follow IANA's registries of special-purpose IPv4 and IPv6 addresses. Python's own
`is_global` differs between patch releases and checks few of the IPv6 forms that embed an IPv4
address.
"""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

IPAddress = IPv4Address | IPv6Address
IPNetwork = IPv4Network | IPv6Network

METADATA_KIND = "cloud metadata"
"""Services from which a cloud machine reads its own credentials."""

_METADATA = frozenset(
    ip_address(text)
    for text in (
        "169.254.169.254",  # AWS, Azure, Google Cloud, DigitalOcean, OpenStack
        "169.254.170.2",  # AWS ECS task credentials
        "169.254.170.23",  # AWS EKS pod identity
        "100.100.100.200",  # Alibaba Cloud
        "168.63.129.16",  # Azure wire server: inside public address space
        "192.0.0.192",  # Oracle Cloud
        "fd00:ec2::254",  # AWS
        "fd00:ec2::23",  # AWS EKS pod identity
        "fd20:ce::254",  # Google Cloud
    )
)

_V4_KINDS = tuple(
    (IPv4Network(network), kind)
    for network, kind in (
        ("0.0.0.0/8", "unspecified"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "carrier-grade NAT"),
        ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "reserved"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "benchmarking"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)

_V6_KINDS = tuple(
    (IPv6Network(network), kind)
    for network, kind in (
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "private"),
        ("ff00::/8", "multicast"),
        ("2001::/23", "reserved"),
        ("2001:db8::/32", "documentation"),
        ("3fff::/20", "documentation"),
    )
)
_V6_PUBLIC = IPv6Network("2000::/3")

# Prefixes whose last 32 bits are an IPv4 address.
_V4_IN_LAST_BITS = tuple(
    IPv6Network(network)
    for network in (
        "::ffff:0:0/96",  # IPv4-mapped, RFC 4291
        "::ffff:0:0:0/96",  # IPv4-translated, RFC 2765
        "64:ff9b::/96",  # NAT64, RFC 6052
        "::/96",  # IPv4-compatible, RFC 4291
    )
)
_SIX_TO_FOUR = IPv6Network("2002::/16")
_TEREDO = IPv6Network("2001::/32")
_ISATAP = (0x00005EFE, 0x02005EFE)


def classify(address: IPAddress) -> str:
    """Return the kind of a non-public address, such as `loopback`; empty for a public one.

    An IPv6 address that embeds IPv4 addresses gets the most dangerous of their kinds.
    """
    if address in _METADATA:
        return METADATA_KIND
    if isinstance(address, IPv4Address):
        return _first(address, _V4_KINDS)
    inner = extract_ipv4(address)
    kinds = [classify(item) for item in inner or _isatap(address)]
    if METADATA_KIND in kinds:
        return METADATA_KIND
    found = next(filter(None, kinds), "")
    if found or inner:
        return found
    return _first(address, _V6_KINDS) or ("" if address in _V6_PUBLIC else "reserved")


def extract_ipv4(address: IPv6Address) -> tuple[IPv4Address, ...]:
    """Return the IPv4 addresses that an address of an IPv6 transition prefix embeds."""
    bits = int(address)
    if bits <= 1:  # `::` and `::1` mean themselves
        return ()
    if any(address in network for network in _V4_IN_LAST_BITS):
        return (IPv4Address(bits & 0xFFFFFFFF),)
    if address in _SIX_TO_FOUR:
        return (IPv4Address((bits >> 80) & 0xFFFFFFFF),)
    if address in _TEREDO:  # the server, and the client with its bits inverted
        return (IPv4Address((bits >> 64) & 0xFFFFFFFF), IPv4Address(~bits & 0xFFFFFFFF))
    return ()


def _isatap(address: IPv6Address) -> tuple[IPv4Address, ...]:
    """The IPv4 address in an ISATAP interface identifier (RFC 5214), under any prefix."""
    bits = int(address)
    return (IPv4Address(bits & 0xFFFFFFFF),) if (bits >> 32) & 0xFFFFFFFF in _ISATAP else ()


def _first(address: IPAddress, kinds: Iterable[tuple[IPNetwork, str]]) -> str:
    return next((kind for network, kind in kinds if address in network), "")
