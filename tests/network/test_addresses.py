from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.network.addresses import METADATA_KIND, classify

CLOSED_V4 = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "224.0.0.0/4",
    "240.0.0.0/4",
]
CLOSED_V6 = ["::/127", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8", "2001:db8::/32"]

closed_v4 = st.sampled_from(CLOSED_V4).flatmap(lambda net: st.ip_addresses(network=net))
closed_v6 = st.sampled_from(CLOSED_V6).flatmap(lambda net: st.ip_addresses(network=net))
public_v4 = st.ip_addresses(v=4).filter(lambda address: not classify(address))


def mapped(inner: IPv4Address) -> IPv6Address:
    return IPv6Address(f"::ffff:{inner}")


def translated(inner: IPv4Address) -> IPv6Address:
    return IPv6Address(f"::ffff:0:{inner}")


def compatible(inner: IPv4Address) -> IPv6Address:
    return IPv6Address(int(inner))


def nat64(inner: IPv4Address) -> IPv6Address:
    return IPv6Address(f"64:ff9b::{inner}")


def six_to_four(inner: IPv4Address) -> IPv6Address:
    return IPv6Address((0x2002 << 112) | (int(inner) << 80) | 0x1234)


def teredo_client(inner: IPv4Address) -> IPv6Address:
    return IPv6Address((0x20010000 << 96) | (0x08080808 << 64) | (~int(inner) & 0xFFFFFFFF))


def teredo_server(inner: IPv4Address) -> IPv6Address:
    return IPv6Address((0x20010000 << 96) | (int(inner) << 64) | (~0x08080808 & 0xFFFFFFFF))


def isatap(inner: IPv4Address) -> IPv6Address:
    return IPv6Address((0x2A00 << 112) | (0x02005EFE << 32) | int(inner))


CARRIERS = [
    mapped, translated, compatible, nat64, six_to_four, teredo_client, teredo_server, isatap,
]  # fmt: skip


@given(address=closed_v4 | closed_v6)
def test_addresses_of_special_networks_are_not_public(address: IPv4Address | IPv6Address) -> None:
    assert classify(address)


@given(address=st.ip_addresses())
def test_what_is_public_here_is_global_to_python_too(address: IPv4Address | IPv6Address) -> None:
    python_agrees = address.is_global and not address.is_multicast
    carries_v4 = isinstance(address, IPv6Address) and any(
        address in IPv6Network(net) for net in ("::/80", "64:ff9b::/96", "2001::/32", "2002::/16")
    )

    assert classify(address) or python_agrees or carries_v4


@pytest.mark.parametrize("carry", CARRIERS)
@given(inner=closed_v4)
def test_an_ipv6_address_is_no_better_than_the_ipv4_address_in_it(carry, inner) -> None:
    outer = carry(inner)

    assert classify(outer), f"{outer} carries {inner}"


@pytest.mark.parametrize("carry", CARRIERS)
@given(inner=public_v4)
def test_an_ipv6_address_that_carries_a_public_one_is_public(carry, inner) -> None:
    assert classify(carry(inner)) == ""


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("169.254.169.254", METADATA_KIND),
        ("100.100.100.200", METADATA_KIND),
        ("168.63.129.16", METADATA_KIND),
        ("fd00:ec2::254", METADATA_KIND),
        ("::ffff:169.254.169.254", METADATA_KIND),
        ("127.0.0.1", "loopback"),
        ("::1", "loopback"),
        ("::ffff:127.0.0.1", "loopback"),
        ("0.0.0.0", "unspecified"),
        ("::", "unspecified"),
        ("10.1.2.3", "private"),
        ("100.64.0.1", "carrier-grade NAT"),
        ("fe80::1", "link-local"),
        ("64:ff9b:1::8.8.8.8", "reserved"),
        ("fe80::200:5efe:8.8.8.8", "link-local"),
        ("2001:2::1", "reserved"),
        ("4000::1", "reserved"),
        ("255.255.255.255", "reserved"),
        ("8.8.8.8", ""),
        ("2606:4700:4700::1111", ""),
        ("2a00:1450:4001::200e", ""),
    ],
)
def test_known_addresses_are_what_they_are_known_for(text: str, kind: str) -> None:
    assert classify(ip_address(text)) == kind


@pytest.mark.parametrize("network", CLOSED_V4)
def test_both_ends_of_a_special_network_belong_to_it(network: str) -> None:
    block = IPv4Network(network)

    assert classify(block.network_address)
    assert classify(block.broadcast_address)
