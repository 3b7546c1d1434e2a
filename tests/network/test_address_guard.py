"""A client that connects by itself gets an address that the policy allows, or none."""

import pytest

from pegboard.errors import InvalidRequest
from pegboard.network import PolicyAddressGuard, SsrfPolicy
from pegboard.network.address_guard import look_up


@pytest.mark.parametrize(
    ("addresses", "kind"),
    [
        (["10.1.2.3"], "private"),
        (["8.8.8.8", "127.0.0.1"], "loopback"),
        (["169.254.169.254"], "cloud metadata"),
        (["::ffff:192.168.0.1"], "private"),
        (["fe80::1%eth0"], "link-local"),
    ],
    ids=["private", "one of several", "metadata", "mapped", "with a zone"],
)
def test_a_name_that_leads_to_a_private_address_is_refused(addresses: list[str], kind: str) -> None:
    guard = PolicyAddressGuard(SsrfPolicy(), resolver=lambda _host, _port: addresses)

    with pytest.raises(InvalidRequest, match=f"'db.example' port 5432: it leads to a {kind}") as it:
        guard.resolve("db.example", 5432)
    assert addresses[-1] not in str(it.value)


def test_the_first_of_the_public_addresses_is_used() -> None:
    guard = PolicyAddressGuard(SsrfPolicy(), resolver=lambda _host, _port: ["8.8.8.8", "1.1.1.1"])

    assert guard.resolve("db.example", 5432) == "8.8.8.8"


def test_the_operator_allows_a_private_host() -> None:
    policy = SsrfPolicy(allow_hosts=("localhost:5432",))
    guard = PolicyAddressGuard(policy)

    assert guard.resolve("localhost", 5432) in look_up("localhost", 5432)
    with pytest.raises(InvalidRequest):
        guard.resolve("localhost", 5433)


def test_a_name_without_an_address_is_an_error_of_the_system() -> None:
    guard = PolicyAddressGuard(SsrfPolicy(), resolver=lambda _host, _port: [])

    with pytest.raises(OSError, match="has no address"):
        guard.resolve("db.example", 5432)
